"""The part that all Spark commands share: options, the session, and the summary."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli.arguments import (
    CommandParser,
    add_command,
    add_dialect,
    add_format,
    add_limits,
    key_and_value,
    size_or_off,
)
from jellyframe.cli.console import UsageError, print_text
from jellyframe.cli.wording import reworded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jellyframe.cli.console import Console
    from jellyframe.ops.summary import Summary

_MODES = ("FAILFAST", "DROPMALFORMED", "PERMISSIVE")


def add_job(
    subparsers: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    help: str,  # noqa: A002
    description: str | None = None,
    examples: str,
    inputs: str = "files, folders and patterns; formats follow from names, and may be mixed",
    has_mode: bool = True,
    has_data: bool = True,
    has_patches: bool = False,
) -> CommandParser:
    """Add a command that runs a job: any number of inputs, how they are read, and where Spark runs.

    The inputs are data, or patches, or both.
    """
    parser = add_command(subparsers, name, run, help=help, description=description, examples=examples)
    parser.add_inputs(inputs)
    if has_data:
        add_format(parser, "--in-format", "--input-format", known=formats.FOLDER_FORMATS)
    if has_patches:
        add_format(parser, "--patch-format", known=formats.PATCH_FORMATS)
        parser.add_switch(
            "--strict",
            default=True,
            help="whether transactions that start or end out of turn, or are open at the end of a file, are errors",
        )
    if has_mode:
        parser.add_argument(
            "--mode",
            choices=_MODES,
            default="FAILFAST",
            type=str.upper,
            help="at bad lines or frames: stop (FAILFAST, the default), leave them out (DROPMALFORMED), or leave them "
            "out and report them (PERMISSIVE)",
        )
    parser.add_argument(
        "--partition-size", metavar="SIZE", type=size_or_off, help="size of the input of a task, such as 64MiB"
    )
    parser.add_switch(
        "--concatenated",
        default=False,
        help="allow Jelly files that consist of several streams with different options",
    )
    parser.add_switch(
        "--lenient",
        default=False,
        help="accept what the specifications of text formats forbid, such as relative IRIs",
    )
    if has_data:
        add_dialect(
            parser,
            "the dialect of Jelly files: the released format (the default) or its draft 1.0.0",
            default="released",
        )
    add_limits(parser)
    spark = parser.add_argument_group("Spark")
    spark.add_argument(
        "--master", metavar="URL", help="local[*] by default; the URL of a cluster, or sc://host of Spark Connect"
    )
    spark.add_argument(
        "--conf",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        type=key_and_value,
        help="a Spark setting; repeatable",
    )
    spark.add_argument("--ui", action="store_true", help="start Spark's web UI and print its address")
    return parser


def read_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the reading options as arguments of the functions in `jellyframe.spark.jobs`."""
    settings = {
        "partition_bytes": arguments.partition_size,
        "read_options": {
            "concatenated": arguments.concatenated,
            "lenient": arguments.lenient,
            "dialect": getattr(arguments, "dialect", None),
            **dict(arguments.limit),
        },
    }
    named = ("in_format", "patch_format", "strict", "mode")
    return {**settings, **{name: getattr(arguments, name) for name in named if hasattr(arguments, name)}}


def input_paths(arguments: argparse.Namespace) -> list[str]:
    if not arguments.inputs:
        raise UsageError("no input is named: name files, folders or patterns")
    return list(arguments.inputs)


def first_and_others(arguments: argparse.Namespace, first: str, others: str) -> tuple[str, list[str]]:
    """Return the first input and the others, at least one. `first` and `others` describe them in the error."""
    paths = input_paths(arguments)
    if len(paths) < 2:
        raise UsageError(f"only one input is named: name {first}, then {others}")
    return paths[0], paths[1:]


@contextmanager
def job_session(arguments: argparse.Namespace) -> Iterator[SparkSession]:
    """Open a session, which is stopped after the block. Errors of workers are raised as their original classes."""
    from jellyframe.cli.spark.progress import following
    from jellyframe.spark.jobs.errors import plain_errors

    console: Console = arguments.console
    with plain_errors():
        spark = _start(arguments)
        try:
            if arguments.ui:
                _tell_ui(spark, console)
            with following(spark, console):
                yield spark
        finally:
            console.end_progress()
            spark.stop()


def _start(arguments: argparse.Namespace) -> SparkSession:
    from jellyframe.spark.sessions import session

    status = arguments.console.status_line()
    if status is not None:
        status.show("starting Spark …")
    with _own_error_output(is_shown=arguments.debug):
        spark = session(
            arguments.master, config=dict(arguments.conf), ui=arguments.ui, quiet=not arguments.debug, app_name=_name()
        )
    arguments.console.end_progress()
    return spark


def _name() -> str:
    return f"jellyframe {' '.join(sys.argv[1:3])}"


@contextmanager
def _own_error_output(*, is_shown: bool) -> Iterator[None]:
    """Discard the standard error of processes started in the block: their errors are raised as exceptions."""
    if is_shown:
        yield
        return
    if sys.stderr is not None:
        sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as unseen:
        os.dup2(unseen.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _tell_ui(spark: SparkSession, console: Console) -> None:
    from jellyframe.cli.spark.progress import is_remote

    address = None if is_remote(spark) else spark.sparkContext.uiWebUrl
    if address is None:
        console.warn("there is no web page of Spark to show: a server that one connects to has its own")
    else:
        console.note(f"Spark's web pages are at {address}")


def report(summary: Summary, arguments: argparse.Namespace) -> int:
    """Print the summary of a job, with --json as JSON on standard output, and return the exit code."""
    summary = replace(summary, problems=[reworded(problem) for problem in summary.problems])
    for problem in summary.problems:
        arguments.console.warn(problem)
    arguments.console.note(summary.as_text())
    if arguments.json:
        print_text(summary.as_json())
    return 0
