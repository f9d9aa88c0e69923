"""`jellyframe rdf validate`: check that a Jelly stream follows all rules and has the expected content."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli.arguments import (
    CommandParser,
    add_command,
    add_dialect,
    add_format,
    add_input,
    add_limits,
    limits_of,
)
from jellyframe.cli.console import standard_output
from jellyframe.cli.frame_ranges import frame_range
from jellyframe.cli.wording import option_words

if TYPE_CHECKING:
    from jellyframe.ops.validation_report import ValidationReport

DELIMITED = {"either": None, "true": True, "false": False}


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "validate",
        run,
        help="check a stream against every rule of the format, and against other data",
        description="Check a Jelly stream against every rule of the format, and compare it to other data if asked to.\n"
        "The result is on standard output, and in the exit code: 0 valid, 1 invalid or different. Memory is bounded,\n"
        "unless the comparison has no order.",
        examples="""
jellyframe rdf validate people.jelly
jellyframe rdf validate people.jelly --compare-to-rdf-file people.nt
jellyframe rdf validate graphs.jelly --compare-to-rdf-file first.trig --compare-frame-indices 0..3
jellyframe rdf validate message.jelly --delimited=false --options-file expected.jelly --json
""",
    )
    add_input(parser)
    parser.add_path("--compare-to-rdf-file", metavar="FILE", help="a file that must have the same statements")
    add_format(parser, "--compare-to-format", known=formats.FORMATS)
    parser.add_switch(
        "--compare-ordered", default=False, help="whether the order matters; if not, blank nodes are mapped as needed"
    )
    parser.add_argument(
        "--compare-frame-indices",
        metavar="RANGE",
        type=frame_range,
        default="..",
        help="the frames to compare, from 0: 3, ..3, 3.., 1..5, 4..=6; all frames are checked in any case",
    )
    add_checks(parser, "a Jelly file that must have the same stream options")
    parser.add_switch("--concatenated", default=False, help="the input consists of several streams")
    add_dialect(
        parser,
        "what the stream, and Jelly files that it is compared to, have to be: the released format (by default) or its "
        "draft 1.0.0",
        default="released",
    )
    add_dialect(
        parser,
        "what the file is that has to hold the same statements, if it is Jelly; by default as --dialect",
        option="--compare-to-dialect",
        default=None,
    )
    add_limits(parser)
    parser.add_switch("--json", default=False, help="the report as JSON")


def add_checks(parser: CommandParser, options_file: str) -> None:
    """Add the options for what is checked of streams of all kinds. `options_file` is a help text."""
    parser.add_path("--options-file", metavar="FILE", help=options_file)
    parser.add_argument(
        "--delimited",
        choices=tuple(DELIMITED),
        default="either",
        help="whether frames must be delimited",
    )
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47) too")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import progress_callback
    from jellyframe.ops.validating import validate
    from jellyframe.storage.sources import InputFile

    with InputFile(arguments.input, limits=limits_of(arguments)) as source:
        report = validate(
            source,
            delimited=DELIMITED[arguments.delimited],
            expected_options=arguments.options_file,
            compare_to=arguments.compare_to_rdf_file,
            compare_format=arguments.compare_to_format,
            compare_ordered=arguments.compare_ordered,
            compare_frames=arguments.compare_frame_indices,
            validate_terms=arguments.validate_terms,
            concatenated=arguments.concatenated,
            limits=limits_of(arguments),
            progress=progress_callback(arguments.console),
            dialect=arguments.dialect,
            compare_dialect=arguments.compare_to_dialect,
        )
    return print_report(report, arguments)


def print_report(report: ValidationReport, arguments: argparse.Namespace) -> int:
    """Print what a validation found, and return the exit code."""
    from jellyframe.storage.sinks import ByteSink

    arguments.console.end_progress()
    with ByteSink(standard_output()) as sink:
        if arguments.json:
            sink.write_text(report.as_json(option_words))
        elif not arguments.quiet:
            sink.write_text(report.as_text(option_words))
    return 0 if report.is_valid else 1
