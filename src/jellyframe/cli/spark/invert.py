"""`jellyframe spark invert`: patches that undo others."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.spark.jobs import add_job, input_paths, job_session, report
from jellyframe.cli.spark.output import add_patch_options, add_target, patch_output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "invert",
        run,
        help="write patches that undo others",
        description="Write patches that undo others: the last patch first, each from its end to its start, with adds\n"
        "and deletes exchanged. They restore the original data if each row of the patches changed the data. The files\n"
        "are to be applied in the order of their names.",
        examples="""
jellyframe spark invert log/ --to undo
jellyframe spark invert changes.jellyp --to undo --compress zstd
""",
        inputs="patches: files, folders and patterns",
        has_mode=False,
        has_data=False,
        has_patches=True,
    )
    add_target(parser, may_append=False)
    add_patch_options(parser, stream_type="punctuated", has_files=False)


def run(arguments: argparse.Namespace) -> int:
    paths, settings = input_paths(arguments), patch_output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import invert

        summary = invert(spark, paths, arguments.to, **settings)
    return report(summary, arguments)
