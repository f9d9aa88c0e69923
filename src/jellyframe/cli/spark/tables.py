"""`jellyframe spark tables`: a Parquet data set for each class."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, read_settings, report
from jellyframe.cli.spark.output import add_table_target, table_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "tables",
        run,
        help="write a Parquet data set for each class, with one row for each instance",
        description="Write a folder of Parquet files for each class: one row for each instance, one column for each\n"
        "predicate, with types from the XSD datatypes, and lists if a predicate occurs more than once. Subjects\n"
        "without a class are in the folder `untyped`; manifest.json maps folders to classes.",
        examples="""
jellyframe spark tables people.jelly --to tables
jellyframe spark tables dump/*.nt.gz --to tables --overwrite --json
""",
    )
    add_table_target(parser)


def run(arguments: argparse.Namespace) -> int:
    paths = input_paths(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import tables

        summary = tables(spark, paths, arguments.to, **read_settings(arguments), **table_settings(arguments))
    return report(summary, arguments)
