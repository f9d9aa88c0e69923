"""`jellyframe spark apply`: apply patches to a data set."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, first_and_others, job_session, report
from jellyframe.cli.spark.output import add_data_options, add_target, output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "apply",
        run,
        help="apply patches to a data set",
        description="Apply patches to a data set, in the order in which they are named, within folders in the order\n"
        "of the file names. Of all operations on a statement the last one counts. Transactions that were aborted or\n"
        "not finished are ignored.",
        examples="""
jellyframe spark apply people changes.jellyp --to people-now
jellyframe spark apply people.nt.gz monday.jellyp log/ --to people-now --out-format nq
""",
        inputs="the data (a file, a folder or a pattern), then patches: files, folders and patterns",
        has_patches=True,
    )
    add_target(parser)
    add_data_options(parser)


def run(arguments: argparse.Namespace) -> int:
    data, patches = first_and_others(arguments, "the data", "the patches")
    settings = output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import apply

        summary = apply(spark, data, patches, arguments.to, **settings)
    return report(summary, arguments)
