"""`jellyframe spark compact`: combine many patches into one."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_patch_options, add_target, patch_output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "compact",
        run,
        help="combine many patches into one with the same effect",
        description="Write one patch that has the same effect as many: the last operation on each statement and each\n"
        "namespace, and the last value of each header, but the first value of `prev`. Patches are read in the order\n"
        "in which they are named, within folders in the order of the file names.",
        examples="""
jellyframe spark compact log/ --to compacted
jellyframe spark compact monday.jellyp tuesday.rdfp --to both --compress zstd
""",
        inputs="patches: files, folders and patterns",
        has_data=False,
        has_patches=True,
    )
    add_target(parser)
    add_patch_options(parser, stream_type="flat")


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), patch_output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import compact

        summary = compact(spark, paths, arguments.to, **settings)
    return report(summary, arguments)
