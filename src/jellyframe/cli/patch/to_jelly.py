"""`jellyframe patch to-jelly`: RDF Patch text into Jelly-Patch."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_output, limits_of
from jellyframe.cli.patch.options import (
    add_patch_reading_options,
    add_patch_stream_options,
    option_changes,
    patch_writer_settings,
)

_EXAMPLES = """
jellyframe patch to-jelly changes.rdfp --to changes.jellyp
jellyframe patch to-jelly changes.rdfp.gz --stream-type flat --statement-type triples --to changes.jellyp
jellyframe patch to-jelly monday.rdfp tuesday.rdfp --patch-ends transactions --to week.jellyp
"""
_DESCRIPTION = """\
Convert RDF Patch text to Jelly-Patch. gzip and Zstandard are recognised by themselves.

The stream is of type PUNCTUATED, with quads, unless said otherwise. A patch ends with its file, at a line
`# end of patch` or `Z .`, and where --patch-ends says; in a FLAT stream all is one patch."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "to-jelly",
        run,
        help="convert RDF Patch text to Jelly-Patch",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("the input files; standard input if none or `-`")
    add_output(parser)
    add_patch_stream_options(parser)
    add_patch_reading_options(parser, jelly=False)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.ops.patches.converting import convert_patches, require_format
    from jellyframe.patch.options import PatchOptions

    inputs = named_inputs(arguments.inputs)
    for path in inputs:
        require_format(path, formats.RDF_PATCH, "patch transcode rewrites Jelly-Patch")
    convert_patches(
        inputs,
        output_sink(arguments.to, is_binary=True, force=arguments.force),
        in_format=formats.RDF_PATCH.name,
        out_format=formats.JELLY_PATCH.name,
        strict=arguments.strict,
        lenient=arguments.lenient,
        limits=limits_of(arguments),
        patch_ends=arguments.patch_ends,
        options=PatchOptions(),
        changes=option_changes(arguments),
        progress=progress_callback(arguments.console),
        **patch_writer_settings(arguments),
    )
    return 0
