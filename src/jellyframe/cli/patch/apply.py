"""`jellyframe patch apply`: data as patches leave it behind."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import STANDARD_STREAM, add_command, add_format, add_output, limits_of
from jellyframe.cli.console import UsageError
from jellyframe.cli.patch.options import add_patch_reading_options
from jellyframe.cli.patch.outputs import add_patch_format, add_summary, print_summary
from jellyframe.cli.stream_options import add_compression, compression_of

_EXAMPLES = """
jellyframe patch apply old.nq changes.jellyp --to new.nq
jellyframe patch apply data.jelly monday.jellyp tuesday.rdfp --to data.jelly
jellyframe patch diff old.nq new.nq | jellyframe patch apply old.nq - --to copy.nq
"""
_DESCRIPTION = """\
Apply patches, one after the other, to data of any format, and write what is left in any format. For each statement the
last operation counts. What is in a transaction counts if that is committed; of one that is aborted nothing is left.

What is left of the data is written in its order, then what is new. The output may be the file that is read: it is
replaced when all is done. A folder stands for the patches in it, in the order of their names. Memory does not grow with
the data nor with the patches."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "apply",
        run,
        help="apply patches to data of any format",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_path("data", metavar="DATA", help="the data: a file, a folder, a pattern, or `-`")
    parser.add_path("patches", metavar="PATCH", nargs="+", help="patches, in order: files, folders, patterns, or `-`")
    add_output(parser)
    add_format(parser, "--in-format", known=formats.FORMATS)
    add_patch_format(parser)
    add_format(parser, "--out-format", known=formats.FORMATS)
    add_compression(parser)
    add_patch_reading_options(parser, text=False)
    add_summary(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.ops.converting import output_format
    from jellyframe.ops.patches.applying import apply
    from jellyframe.storage.sources import InputFile

    data, *patches = named_inputs([arguments.data, *arguments.patches])
    if arguments.json and arguments.to is None:
        raise UsageError("--json takes standard output, so the data needs a file: name one with --to")
    if arguments.data == STANDARD_STREAM and arguments.in_format is None:
        raise UsageError("the format of standard input is unknown: use --in-format")
    compression = compression_of(arguments)
    is_binary = output_format(arguments.out_format, arguments.to).is_binary or compression is not None
    done = apply(
        InputFile(None) if data is None else data,
        [InputFile(None) if name is None else name for name in patches],
        output_sink(arguments.to, is_binary=is_binary, force=arguments.force),
        in_format=arguments.in_format,
        patch_format=arguments.patch_format,
        out_format=arguments.out_format,
        compression=compression,
        strict=arguments.strict,
        concatenated=arguments.concatenated,
        limits=limits_of(arguments),
        progress=progress_callback(arguments.console),
    )
    print_summary(arguments, done._asdict())
    return 0
