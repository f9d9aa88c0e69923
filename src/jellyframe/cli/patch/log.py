"""`jellyframe patch log`: what patches did, as a table."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import add_command, limits_of
from jellyframe.cli.console import print_text
from jellyframe.cli.patch.options import add_patch_reading_options
from jellyframe.cli.patch.outputs import add_patch_format

_EXAMPLES = """
jellyframe patch log changes.jellyp
jellyframe patch log 'day-*.jellyp' --order time
jellyframe patch log monday.jellyp tuesday.jellyp --each-patch --json
"""
_DESCRIPTION = """\
Show what patches did: when, how many statements each adds and deletes, how many namespaces it changes, its size, its
transactions, and its headers `id` and `prev`. What was not committed does not count as added or deleted.

The time is that of a header such as `time`, `date` or `created`, else that of the file."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "log",
        run,
        help="show the changes of patches, by time and size",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("patches: files, folders, or patterns; standard input if none or `-`")
    parser.add_switch("--each-patch", default=False, help="a line for each patch; by default for each file")
    parser.add_argument(
        "--order",
        choices=("name", "time", "size"),
        default="name",
        help="by name; by time; or by the number of statements that they change, the largest first",
    )
    add_patch_format(parser)
    add_patch_reading_options(parser, text=False)
    parser.add_switch("--json", default=False, help="a list of objects as JSON, instead of a table")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, progress_callback
    from jellyframe.ops.patches.history import log
    from jellyframe.report.patch_log import log_json, log_table
    from jellyframe.storage.sources import InputFile

    entries = log(
        [InputFile(None) if name is None else name for name in named_inputs(arguments.inputs)],
        each_patch=arguments.each_patch,
        order=arguments.order,
        patch_format=arguments.patch_format,
        strict=arguments.strict,
        concatenated=arguments.concatenated,
        limits=limits_of(arguments),
        progress=progress_callback(arguments.console),
    )
    arguments.console.end_progress()
    print_text(log_json(entries) if arguments.json else log_table(entries))
    return 0
