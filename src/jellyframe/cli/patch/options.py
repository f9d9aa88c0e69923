"""Options that the commands on patches share, for reading and for writing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, cast

from jellyframe.cli import stream_options
from jellyframe.cli.arguments import CommandParser, add_limits

if TYPE_CHECKING:
    from jellyframe.patch.options import PatchOptionChanges
    from jellyframe.patch.writer import PatchWriterSettings

# What --recover does about what is lost of patches.
ABORTS = " A transaction of which something is lost ends with an abort."
PATCH_ENDS = ("headers", "marks", "transactions", "none")
_TABLE_SIZES = [name for name in stream_options.TERM_FIELDS if name.endswith("_table_size")]


def add_patch_stream_options(parser: CommandParser) -> None:
    """Add the options of a patch stream, and of its frames."""
    parser.add_argument(
        "--stream-type",
        choices=("frame", "flat", "punctuated"),
        help="what ends a patch: its frame, the stream, or a punctuation mark",
    )
    parser.add_argument(
        "--statement-type", choices=("triples", "quads"), help="whether statements and namespaces have graphs"
    )
    stream_options.add_term_options(parser)
    stream_options.add_writer_options(parser)


def add_patch_reading_options(parser: CommandParser, *, text: bool = True, jelly: bool = True) -> None:
    """Add what says how patches are read, of RDF Patch text, of Jelly-Patch, or of both."""
    parser.add_switch(
        "--strict",
        default=True,
        help="whether to refuse transactions that start or end out of turn, or are open at the end, graphs in "
        "streams of triples, and namespaces without a graph before the first graph of a stream of quads",
    )
    if text:
        parser.add_argument(
            "--patch-ends",
            choices=PATCH_ENDS,
            default="headers",
            help="where the patches of a text end: before a header that follows other rows, only at lines "
            "`# end of patch` or `Z .`, after each transaction, or with the text; such a line also ends one, but for "
            "`none`",
        )
        parser.add_switch("--lenient", default=False, help="in text, accept IRIs that are not absolute")
    if jelly:
        parser.add_switch(
            "--concatenated", default=False, help="the input consists of several streams with different options"
        )
    add_limits(parser)


def option_changes(arguments: argparse.Namespace) -> PatchOptionChanges:
    """Return the fields of PatchOptions that the command line sets."""
    from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType

    changes: dict[str, Any] = {}
    if arguments.preset is not None:
        preset = PatchOptions.small() if arguments.preset == "small" else PatchOptions.big()
        changes = {name: getattr(preset, name) for name in _TABLE_SIZES}
    changes |= {
        name: getattr(arguments, name) for name in stream_options.TERM_FIELDS if getattr(arguments, name) is not None
    }
    if arguments.stream_type is not None:
        changes["stream_type"] = PatchStreamType[arguments.stream_type.upper()]
    if arguments.statement_type is not None:
        changes["statement_type"] = PatchStatementType[arguments.statement_type.upper()]
    return cast("PatchOptionChanges", changes)


def patch_writer_settings(arguments: argparse.Namespace) -> PatchWriterSettings:
    """Return how the stream lies in its file, for `open_patch_writer`."""
    from jellyframe.patch.writer import PatchWriterSettings

    settings = PatchWriterSettings(
        delimited=arguments.delimited,
        compression=stream_options.compression_of(arguments),
        index=bool(arguments.index),
    )
    stream_options.add_given_frames(settings, arguments)
    return settings
