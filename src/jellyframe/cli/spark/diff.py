"""`jellyframe spark diff`: what changed between two data sets."""

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
        "A statement is in it at most once.\n"
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
        help="what makes two blank nodes the same: their labels, or nothing, so that they are an error; `match` is an "
        "error here, as tasks see a part of the data each: patch diff has it",
    )
    parser.add_switch("--namespaces", default=True, help="compare namespaces too, if the formats of both have them")


def run(arguments: argparse.Namespace) -> int:
    old, others = first_and_others(arguments, "the old data", "the new data")
    if len(others) > 1:
        raise UsageError("more than two inputs: name a folder or a pattern for data in several files")
    if arguments.blank_nodes == "match":
        raise UsageError(
            "--blank-nodes match has to see all of the data, and tasks see a part each; "
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
