"""`jellyframe spark diff`: write the changes between two data sets."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.console import UsageError
from jellyframe.cli.spark.jobs import add_job, first_and_others, job_session, report
from jellyframe.cli.spark.output import add_patch_options, add_target, patch_output_settings


def add_parser(subparsers: Any) -> None:
    parser = add_job(
        subparsers,
        "diff",
        run,
        help="write the changes between two data sets as a patch",
        description="Write the changes that turn one data set into another, as a folder of Jelly-Patch files.\n"
        "Each statement occurs in it at most once.\n"
        "The exit code is 0 if there are no differences, 1 if there are some, and 2 if something went wrong.",
        examples="""
jellyframe spark diff monday tuesday --to changes
jellyframe spark diff old.nt.gz people --to changes --overwrite --files 4
jellyframe spark diff monday tuesday --to changes --blank-nodes refuse
""",
        inputs="the old data and the new data: a file, a folder or a pattern each",
    )
    add_target(parser)
    add_patch_options(parser, stream_type="flat")
    parser.add_argument(
        "--blank-nodes",
        choices=("label", "refuse", "match"),
        default="label",
        help="`label` (the default): two blank nodes are the same if their labels are; `refuse`: blank nodes are an "
        "error; `match` is available in patch diff only, because a task has only a part of the data",
    )
    parser.add_switch("--namespaces", default=True, help="compare namespaces too, if the formats of both have them")


def run(arguments: argparse.Namespace) -> int:
    old, others = first_and_others(arguments, "the old data", "the new data")
    if len(others) > 1:
        raise UsageError("more than two inputs: name a folder or a pattern for data in several files")
    if arguments.blank_nodes == "match":
        raise UsageError(
            "--blank-nodes match needs all of the data in one process, and a task has only a part of it; "
            "use jellyframe patch diff --blank-nodes match"
        )
    settings = patch_output_settings(arguments)
    with job_session(arguments) as spark:
        from jellyframe.spark.jobs import diff

        summary = diff(
            spark,
            old,
            others,
            arguments.to,
            blank_nodes=arguments.blank_nodes,
            namespaces=arguments.namespaces,
            **settings,
        )
    report(summary, arguments)
    return 1 if summary.statements else 0
