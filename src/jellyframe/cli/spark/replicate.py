"""`jellyframe spark replicate`: keep snapshots of a data set up to date with a growing set of patches."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import positive
from jellyframe.cli.spark.jobs import add_job, first_and_others, job_session, report
from jellyframe.cli.spark.output import add_data_options, output_settings
from jellyframe.defaults import SNAPSHOTS_KEPT


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "replicate",
        run,
        help="apply new patches to the newest snapshot of a data set, and write the next snapshot",
        description="Apply new patches to the newest snapshot of a data set, and write the next snapshot. Each patch\n"
        "is applied exactly once, however often the command is run or killed. The link `current` in the folder of\n"
        "snapshots points to the newest one, and the manifest of a snapshot lists the patches applied so far.",
        examples="""
jellyframe spark replicate people log/ --to replica
jellyframe spark replicate replica log/
""",
        inputs="the folder of snapshots (with --to: data to begin with), then patches: files, folders and patterns",
        has_patches=True,
    )
    parser.add_path("--to", "--output", metavar="FOLDER", help="the folder of snapshots, if IN is initial data")
    parser.add_argument(
        "--keep",
        metavar="N",
        type=positive,
        default=SNAPSHOTS_KEPT,
        help=f"how many snapshots to keep ({SNAPSHOTS_KEPT})",
    )
    parser.add_switch(
        "--allow-late",
        default=False,
        help="also apply new patches that sort before applied ones, after them",
    )
    add_data_options(parser)


def run(arguments: argparse.Namespace) -> int:
    snapshot, patches = first_and_others(arguments, "the folder of snapshots", "the patches")
    settings = output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import replicate

        done = replicate(
            spark,
            snapshot,
            patches,
            to=arguments.to,
            keep=arguments.keep,
            allow_late=arguments.allow_late,
            **settings,
        )
    return report(done, arguments)
