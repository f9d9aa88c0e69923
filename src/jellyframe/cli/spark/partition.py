"""`jellyframe spark partition`: one folder for each predicate, graph, or bucket of subjects."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import positive
from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_output_options, output_settings
from jellyframe.defaults import SUBJECT_BUCKETS


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "partition",
        run,
        help="split data into one folder for each predicate, graph, or bucket of subjects",
        description="Split data into one folder for each predicate, each graph, or each bucket of subjects.\n"
        "manifest.json maps folders to values.",
        examples="""
jellyframe spark partition people --by predicate --to by-predicate
jellyframe spark partition graphs.nq --by graph --to by-graph
jellyframe spark partition people --by subject --buckets 32 --to shares
""",
    )
    parser.add_argument("--by", choices=("predicate", "graph", "subject"), default="predicate", help="the key")
    parser.add_argument(
        "--buckets",
        metavar="N",
        type=positive,
        default=SUBJECT_BUCKETS,
        help=f"number of buckets of subjects ({SUBJECT_BUCKETS})",
    )
    add_output_options(parser, may_append=False, has_files=False)


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import partition

        summary = partition(spark, paths, arguments.to, by=arguments.by, buckets=arguments.buckets, **settings)
    return report(summary, arguments)
