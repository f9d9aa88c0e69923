"""`jellyframe patch from-jelly`: Jelly-Patch into RDF Patch text."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_output, limits_of
from jellyframe.cli.patch.options import ABORTS, add_patch_reading_options
from jellyframe.cli.recovering import Losses, add_recover
from jellyframe.cli.stream_options import add_compression, compression_of

_EXAMPLES = """
jellyframe patch from-jelly changes.jellyp --to changes.rdfp
jellyframe patch from-jelly changes.jellyp | grep '^D'
jellyframe patch from-jelly monday.jellyp tuesday.jellyp --to week.rdfp.gz
jellyframe patch from-jelly changes.jellyp --recover --to rest.rdfp
"""
_DESCRIPTION = """\
Convert Jelly-Patch to RDF Patch text.

The text has no row for the end of a patch; a comment, `# end of patch`, says it, which `to-jelly` understands. Nor has
it a place for the IRI of a namespace that is deleted, which is left out."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "from-jelly",
        run,
        help="convert Jelly-Patch to RDF Patch text",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("the input files; standard input if none or `-`")
    add_output(parser)
    add_compression(parser)
    add_recover(parser, ABORTS)
    add_patch_reading_options(parser, text=False)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.ops.patches.converting import convert_patches, require_format

    inputs = named_inputs(arguments.inputs)
    for path in inputs:
        require_format(path, formats.JELLY_PATCH, "patch to-jelly reads RDF Patch text")
    require_format(arguments.to, formats.RDF_PATCH, "patch transcode writes Jelly-Patch")
    compression = compression_of(arguments)
    losses = Losses(arguments)
    convert_patches(
        inputs,
        output_sink(arguments.to, is_binary=compression is not None, force=arguments.force),
        in_format=formats.JELLY_PATCH.name,
        out_format=formats.RDF_PATCH.name,
        strict=arguments.strict,
        concatenated=arguments.concatenated,
        limits=limits_of(arguments),
        on_damage=losses.on_damage,
        progress=progress_callback(arguments.console),
        compression=compression,
    )
    return losses.exit_code
