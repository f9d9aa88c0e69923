"""`jellyframe patch validate`: whether a stream of patches keeps all rules."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_format, add_input, limits_of
from jellyframe.cli.patch.options import add_patch_reading_options
from jellyframe.cli.validate import DELIMITED, add_checks, print_report


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "validate",
        run,
        help="check patches against every rule of the format",
        description="Check Jelly-Patch or RDF Patch text against every rule of the format, those of transactions too.\n"
        "The result is on standard output, and in the exit code: 0 valid, 1 invalid. Memory is bounded.",
        examples="""
jellyframe patch validate changes.jellyp
jellyframe patch validate changes.rdfp.gz --validate-terms
jellyframe patch validate changes.jellyp --strict=false --delimited=true --options-file monday.jellyp --json
""",
    )
    add_input(parser)
    add_format(parser, "--in-format", "--input-format", known=formats.PATCH_FORMATS)
    add_checks(parser, "a file of patches that must have the same options")
    add_patch_reading_options(parser)
    parser.add_switch("--json", default=False, help="the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import progress_callback
    from jellyframe.ops.patches.validating import validate_patches
    from jellyframe.storage.sources import InputFile

    with InputFile(arguments.input, limits=limits_of(arguments)) as source:
        report = validate_patches(
            source,
            formats.patch_input_format(arguments.in_format, arguments.input),
            strict=arguments.strict,
            lenient=arguments.lenient,
            delimited=DELIMITED[arguments.delimited],
            expected_options=arguments.options_file,
            validate_terms=arguments.validate_terms,
            concatenated=arguments.concatenated,
            patch_ends=arguments.patch_ends,
            limits=limits_of(arguments),
            progress=progress_callback(arguments.console),
        )
    return print_report(report, arguments)
