"""`jellyframe patch diff`: the changes between two data sets, as a patch."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import STANDARD_STREAM, add_command, add_format, add_limits, add_output, limits_of
from jellyframe.cli.console import UsageError
from jellyframe.cli.patch.options import add_patch_stream_options, option_changes, patch_writer_settings
from jellyframe.cli.patch.outputs import add_headers, add_summary, header_values, patch_sink, print_summary

_EXAMPLES = """
jellyframe patch diff old.nq new.nq --to changes.jellyp
jellyframe patch diff old.ttl new.ttl --blank-nodes match --to changes.rdfp
jellyframe patch diff old.nq new.nq --out-format rdfp | grep '^D'
jellyframe patch diff old.nq new.nq --header id=2 --header prev=1 --json --to changes.jellyp
"""
_DESCRIPTION = """\
Find the changes that turn one data set into another, and write them as a patch: deletes, then adds, in one transaction.
Data of any formats is a set of statements: neither order nor repetition counts. Memory does not grow with the data.

Without --to the patch goes to standard output: as RDF Patch text if that is a terminal, else as Jelly-Patch. The exit
code is that of `diff`: 0 if there are no changes, 1 if there are some, 2 if something went wrong.

Blank nodes: with `label`, two are the same if their labels are. With `match`, nodes of the new data are paired with
those of the old data of which the same is said; the patch has the labels of the old data, so that applying it gives
the new data but for labels. That takes memory for each statement with a blank node. With `refuse` they are an error."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "diff",
        run,
        help="find the changes between two data sets of any formats",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_path("old", metavar="OLD", help="the old data: a file, a folder, a pattern, or `-`")
    parser.add_path("new", metavar="NEW", help="the new data: a file, a folder, a pattern, or `-`")
    add_output(parser)
    parser.add_argument(
        "--blank-nodes",
        choices=("label", "refuse", "match"),
        default="label",
        help="how blank nodes are identified (by default, label)",
    )
    parser.add_switch("--namespaces", default=True, help="compare namespaces too, if both formats have them")
    parser.add_switch("--transaction", default=True, help="whether the changes are in a transaction")
    add_headers(parser)
    add_format(parser, "--old-format", known=formats.FORMATS)
    add_format(parser, "--new-format", known=formats.FORMATS)
    add_format(parser, "--out-format", known=formats.PATCH_FORMATS)
    parser.add_switch("--concatenated", default=False, help="Jelly data may consist of several streams")
    add_patch_stream_options(parser)
    add_limits(parser)
    add_summary(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import progress_callback
    from jellyframe.ops.patches.diffing import diff
    from jellyframe.patch.options import PatchOptions
    from jellyframe.storage.sources import InputFile

    if arguments.old == arguments.new == STANDARD_STREAM:
        raise UsageError("standard input can be read only once")
    sink, out_format = patch_sink(arguments)
    sides = [InputFile(None) if name == STANDARD_STREAM else name for name in (arguments.old, arguments.new)]
    found = diff(
        sides[0],
        sides[1],
        sink,
        old_format=arguments.old_format,
        new_format=arguments.new_format,
        out_format=out_format,
        blank_nodes=arguments.blank_nodes,
        namespaces=arguments.namespaces,
        headers=header_values(arguments),
        transaction=arguments.transaction,
        options=PatchOptions().replace(**option_changes(arguments)),
        concatenated=arguments.concatenated,
        limits=limits_of(arguments),
        progress=progress_callback(arguments.console),
        **patch_writer_settings(arguments),
    )
    print_summary(arguments, {"equal": found.is_equal, **found._asdict()}, "no changes" if found.is_equal else None)
    return 0 if found.is_equal else 1
