"""Arguments of commands that make patches of patches."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli.arguments import CommandParser, add_format, add_output, limits_of
from jellyframe.cli.patch.options import (
    add_patch_reading_options,
    add_patch_stream_options,
    option_changes,
    patch_writer_settings,
)
from jellyframe.cli.patch.outputs import add_patch_format, add_summary, patch_sink

if TYPE_CHECKING:
    from jellyframe.storage.types import Sink


def add_rewriting(parser: CommandParser) -> None:
    """Add the arguments of commands that read patches in order and write patches."""
    parser.add_inputs("patches, in order: files, folders, or patterns; standard input if none or `-`")
    add_output(parser)
    add_patch_format(parser)
    add_format(parser, "--out-format", known=formats.PATCH_FORMATS)
    add_patch_stream_options(parser)
    add_patch_reading_options(parser, text=False)
    add_summary(parser)


def rewriting_arguments(arguments: argparse.Namespace) -> tuple[list[Any], Sink | None, dict[str, Any]]:
    """Return the sources, the sink, and the other arguments by their names in `ops.patches`."""
    from jellyframe.cli.streams import named_inputs, progress_callback
    from jellyframe.patch.options import PatchOptions
    from jellyframe.storage.sources import InputFile

    sources = [InputFile(None) if name is None else name for name in named_inputs(arguments.inputs)]
    sink, out_format = patch_sink(arguments)
    changes = option_changes(arguments)
    return (
        sources,
        sink,
        {
            "patch_format": arguments.patch_format,
            "out_format": out_format,
            # What is not said is for the patches to say.
            "options": PatchOptions().replace(**changes) if changes else None,
            "strict": arguments.strict,
            "concatenated": arguments.concatenated,
            "limits": limits_of(arguments),
            "progress": progress_callback(arguments.console),
            **patch_writer_settings(arguments),
        },
    )
