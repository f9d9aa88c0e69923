"""`jellyframe spark merge`: many files into few."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_output_options, output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "merge",
        run,
        help="merge many files into few, optionally deduplicated or sorted",
        description="Merge many files into few, of about 128 MiB unless --files is given.",
        examples="""
jellyframe spark merge monday tuesday --to both
jellyframe spark merge people --to people --distinct --overwrite
jellyframe spark merge people --to sorted --sort --files 4
""",
    )
    parser.add_switch("--distinct", default=False, help="deduplicate statements")
    parser.add_switch("--sort", default=False, help="sort all statements by graph, subject, predicate and object")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import merge

        summary = merge(spark, paths, arguments.to, distinct=arguments.distinct, sort=arguments.sort, **settings)
    return report(summary, arguments)
