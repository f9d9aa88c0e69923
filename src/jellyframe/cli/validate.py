"""`jellyframe rdf validate`: whether a Jelly stream keeps all rules, and holds what it should."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jellyframe.batch.selection import FrameRange
from jellyframe.cli.arguments import add_command, add_input, add_limits, limits_of
from jellyframe.cli.frame_ranges import frame_range

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.ops.comparing import Comparison
    from jellyframe.ops.validation_report import Report
    from jellyframe.storage.sources import ByteSource

_DELIMITED = {"either": None, "true": True, "false": False}


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "validate",
        run,
        help="check a stream against every rule of the format, and against other data",
        description="Check a Jelly stream against every rule of the format, and compare it to other data if asked to.\n"
        "The answer is on standard output, and in the exit code: 0 valid, 1 invalid or different. Memory is bounded,\n"
        "unless the comparison has no order.",
        examples="""
jellyframe rdf validate people.jelly
jellyframe rdf validate people.jelly --compare-to-rdf-file people.nt
jellyframe rdf validate graphs.jelly --compare-to-rdf-file first.trig --compare-frame-indices 0..3
jellyframe rdf validate message.jelly --delimited=false --options-file expected.jelly --json
""",
    )
    add_input(parser)
    parser.add_path("--compare-to-rdf-file", metavar="FILE", help="a file that has to hold the same statements")
    parser.add_argument(
        "--compare-to-format", metavar="FORMAT", help="its format, if the name does not tell: nt, nq, ttl, trig, …"
    )
    parser.add_switch(
        "--compare-ordered", default=False, help="whether the order counts; else blank nodes are mapped as needed"
    )
    parser.add_argument(
        "--compare-frame-indices",
        metavar="RANGE",
        type=frame_range,
        default=FrameRange(),
        help="the frames to compare, from 0: 3, ..3, 3.., 1..5, 4..=6; all are checked all the same",
    )
    parser.add_path("--options-file", metavar="FILE", help="a Jelly file that has to have the same stream options")
    parser.add_argument(
        "--delimited",
        choices=tuple(_DELIMITED),
        default="either",
        help="whether frames must have their lengths in front",
    )
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47) too")
    parser.add_switch("--concatenated", default=False, help="the input is several streams, one after the other")
    add_limits(parser)
    parser.add_switch("--json", default=False, help="the answer as JSON")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.ops.validation_report import Report
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.sources import InputFile

    comparison = _comparison(arguments)
    expected_options = None
    if arguments.options_file is not None:
        from jellyframe.stream.reader import open_reader

        with open_reader(arguments.options_file) as reference:
            expected_options = reference.options
    with InputFile(arguments.input) as source:
        report = Report(source.name)
        _check_stream(source, arguments, report, comparison)
    if expected_options is not None and report.options is not None:
        report.check_options(expected_options, arguments.options_file)
    if comparison is not None and report.is_whole:
        report.add_all("comparison", comparison.differences())
    with ByteSink(sys.stdout.buffer) as sink:
        if arguments.json:
            sink.write(report.as_json().encode())
        elif not arguments.quiet:
            sink.write(report.as_text().encode())
    return 0 if report.is_valid else 1


def _comparison(arguments: argparse.Namespace) -> Comparison | None:
    name = arguments.compare_to_rdf_file
    if name is None:
        return None
    from jellyframe.ops.comparing import Ordered, Unordered, reference_statements

    reference = reference_statements(name, arguments.compare_to_format)
    return Ordered(reference, name) if arguments.compare_ordered else Unordered(reference, name)


def _check_stream(source: Any, arguments: argparse.Namespace, report: Report, comparison: Comparison | None) -> None:
    """Read the whole stream, and compare it. Only what breaks the rules of the stream goes to the report."""
    from jellyframe.batch.selection import take_frames
    from jellyframe.cli.streams import ProgressOfInputs

    batches = _checked_batches(source, arguments, report)
    for batch in ProgressOfInputs(arguments.console, source.total_bytes).over(batches, source):
        report.count(batch)
        if arguments.validate_terms:
            report.check_terms(batch)
        if comparison is not None:
            # An error in the file compared to is no problem of the stream, so it is not caught here.
            for part in take_frames((batch,), arguments.compare_frame_indices):
                comparison.add(part.statements())
    arguments.console.end_progress()


def _checked_batches(source: Any, arguments: argparse.Namespace, report: Report) -> Iterator[Batch]:
    """Yield the batches of the stream; the error that ends it goes to the report."""
    from jellyframe.errors import JellyError, LimitError
    from jellyframe.storage.sources import ByteSource
    from jellyframe.stream.reader import looks_delimited, open_reader

    try:
        limits = limits_of(arguments)
        beginning = _Beginning(ByteSource(source, limits))
        report.delimited = looks_delimited(beginning.head[:3])
        wanted = _DELIMITED[arguments.delimited]
        if wanted is not None and wanted != report.delimited:
            shapes = {True: "frames with their lengths in front", False: "one bare frame"}
            report.add("delimiting", f"the input is {shapes[report.delimited]}, not {shapes[wanted]}")
        with open_reader(
            beginning, limits=limits, concatenated=arguments.concatenated, delimited=report.delimited
        ) as reader:
            yield from reader.batches()
            report.options = reader.options
        report.is_whole = True
    except LimitError:
        # What is refused for its size may well be valid: that is no answer.
        raise
    except JellyError as error:
        report.add_error(error)


class _Beginning:
    """A source whose first bytes have been looked at."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self.name = source.name
        self.head = b""
        while len(self.head) < 3:
            piece = source.read()
            if not piece:
                break
            self.head += piece
        self._waiting = self.head

    def read(self, size: int) -> bytes:
        waiting, self._waiting = self._waiting, b""
        return waiting or self._source.read(size)
