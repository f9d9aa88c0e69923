"""`jellyframe spark neo4j`: CSV files for Neo4j's importer."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, read_settings, report
from jellyframe.cli.spark.output import add_table_target, table_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "neo4j",
        run,
        help="write nodes and relationships as CSV files for the import into Neo4j",
        description="Write IRIs and blank nodes as nodes with their literals as properties, and other statements as\n"
        "relationships, into CSV files with a header for each kind; the command that imports them is shown at the end.",
        examples="""
jellyframe spark neo4j people.jelly --to graph
jellyframe spark neo4j dump/*.nt.gz --to graph --overwrite --json
""",
    )
    add_table_target(parser)


def run(arguments: argparse.Namespace) -> int:
    paths = input_paths(arguments)
    with job_session(arguments) as spark:
        from jellyframe.integrations.neo4j_files import import_command
        from jellyframe.spark.jobs import neo4j

        summary = neo4j(spark, paths, arguments.to, **read_settings(arguments), **table_settings(arguments))
    arguments.console.note(import_command(summary.output))
    return report(summary, arguments)
