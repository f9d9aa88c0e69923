"""`jellyframe spark replicate`: a data set kept up to date with a growing set of patches."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import positive
from jellyframe.cli.spark.jobs import add_job, first_and_others, job_session, report
from jellyframe.cli.spark.output import add_data_options, output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "replicate",
        run,
        help="make the next snapshot of a data set, with the patches that have come since",
        description="Make the next snapshot of a data set: the newest one, with the patches applied that it does not\n"
        "hold yet. Each patch is applied once, however often this is run, and wherever a run before was cut off.\n"
        "Snapshots are in a folder, where `current` is the newest one, and a manifest says which patches each holds.",
        examples="""
jellyframe spark replicate people log/ --to replica
jellyframe spark replicate replica log/
""",
        inputs="the folder of snapshots (with --to: data to begin with), then patches: files, folders and patterns",
        has_patches=True,
    )
    parser.add_path("--to", "--output", metavar="FOLDER", help="the folder of snapshots, if IN is other data")
    parser.add_argument("--keep", metavar="N", type=positive, default=2, help="how many snapshots are kept (2)")
    parser.add_switch(
        "--allow-late",
        default=False,
        help="apply also patches that come before others that were applied already, after them",
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
