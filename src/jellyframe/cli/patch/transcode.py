"""`jellyframe patch transcode`: streams of patches into one, with other options, another type, other frames."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_format, add_output, limits_of
from jellyframe.cli.patch.options import (
    ABORTS,
    add_patch_reading_options,
    add_patch_stream_options,
    option_changes,
    patch_writer_settings,
)
from jellyframe.cli.recovering import Losses, add_recover

_EXAMPLES = """
jellyframe patch transcode changes.jellyp --stream-type flat --preset small --to flat.jellyp
jellyframe patch transcode monday.jellyp tuesday.jellyp --index --to week.jellyp
cat changes.jellyp | jellyframe patch transcode --rows-per-frame 1000 > regrouped.jellyp
jellyframe patch transcode changes.jellyp --recover --to rest.jellyp
"""
_DESCRIPTION = """\
Rewrite streams of patches as one Jelly-Patch stream. Its options are those of the first input, as far as nothing else
is said. Inputs are Jelly-Patch, or RDF Patch text by its name or --in-format.

Patches stay apart, and a patch ends with its file: as frames, or with punctuation marks. A FLAT stream is one patch of
the rows of all. Triples become quads of the default graph; quads become triples if none is in a named graph."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "transcode",
        run,
        help="rewrite streams of patches as one, of another type or with other options",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("the input files; standard input if none or `-`")
    add_format(parser, "--in-format", "--input-format", known=formats.PATCH_FORMATS)
    add_output(parser)
    add_patch_stream_options(parser)
    add_recover(parser, ABORTS)
    add_patch_reading_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.ops.patches.converting import convert_patches, require_format

    inputs = named_inputs(arguments.inputs)
    require_format(arguments.to, formats.JELLY_PATCH, "patch from-jelly writes RDF Patch text")
    losses = Losses(arguments)
    convert_patches(
        inputs,
        output_sink(arguments.to, is_binary=True, force=arguments.force),
        in_format=formats.patch_input_format(arguments.in_format, None) if inputs == [None] else arguments.in_format,
        out_format=formats.JELLY_PATCH.name,
        strict=arguments.strict,
        lenient=arguments.lenient,
        concatenated=arguments.concatenated,
        limits=limits_of(arguments),
        on_damage=losses.on_damage,
        patch_ends=arguments.patch_ends,
        changes=option_changes(arguments),
        progress=progress_callback(arguments.console),
        **patch_writer_settings(arguments),
    )
    return losses.exit_code
