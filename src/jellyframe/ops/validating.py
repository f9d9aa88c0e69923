"""Check a Jelly stream against the rules of the format, and against other data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from jellyframe.batch.selection import FrameRange, take_frames
from jellyframe.errors import JellyError, LimitError, OptionsError
from jellyframe.ops.comparing import Comparer, StatementSource, comparer_for, name_of_source
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.sources import CountedSource
from jellyframe.ops.validation_report import ValidationReport
from jellyframe.options import StreamOptions
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.stream.reader import open_reader

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import DialectName, Limits
    from jellyframe.storage.types import Path, Source

_SHAPES = {True: "frames with their lengths in front", False: "one bare frame"}


def validate(
    source: Source,
    *,
    delimited: bool | None = None,
    expected_options: StreamOptions | Path | None = None,
    compare_to: Source | None = None,
    compare_format: str | None = None,
    compare_ordered: bool = False,
    compare_frames: tuple[int, int | None] = (0, None),
    validate_terms: bool = False,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    dialect: DialectName = "released",
    compare_dialect: DialectName | None = None,
) -> ValidationReport:
    """Read a whole Jelly stream and return a report of its errors.

    Memory is bounded, unless data is compared without order.

    Args:
        source: a path or a URI (a folder or a pattern, if it has one file), bytes, or a binary file object
        delimited: whether the frames must be delimited; by default both are valid
        expected_options: the options that the stream must have, or the path of a Jelly file that has them
        compare_to: RDF data that must hold the same statements
        compare_format: its format; by default that of its name
        compare_ordered: whether the statements must be in the same order
        compare_frames: the frames of the stream to compare, from a number to another, without the latter
        validate_terms: also check IRIs (RFC 3987) and language tags (BCP 47)
        concatenated: whether every options row begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
        dialect: the dialect of the stream, and of the file with the expected options: `released` or `draft`
        compare_dialect: the dialect of Jelly that is compared to; by default the same

    Raises:
        LimitError: if the stream is above a limit, which says nothing about its validity
        JellyError: if the data compared to has an error
    """
    source = _one_stream(source)
    options, options_name = _expected(expected_options, dialect)
    with ExitStack() as opened:
        comparer = None
        if compare_to is not None:
            reference = opened.enter_context(
                StatementSource(
                    compare_to,
                    compare_format,
                    argument="compare_format",
                    dialect=compare_dialect or dialect,
                    dialect_argument="compare_dialect",
                )
            )
            name = name_of_source(compare_to, "the data compared to")
            comparer = comparer_for(reference, name, ordered=compare_ordered)
        counted = opened.enter_context(CountedSource(source, limits=limits))
        report = ValidationReport(counted.name)
        batches = _checked_batches(counted, report, limits, concatenated=concatenated, dialect=dialect)
        for batch in ProgressMeter(progress, counted.total_bytes).over(batches, counted):
            report.count(batch)
            if validate_terms:
                report.check_terms(batch)
            if comparer is not None:
                # An error in the data compared to is not a problem of the stream, so it is not caught here.
                _compare(batch, comparer, FrameRange(*compare_frames))
        if delimited is not None and report.delimited is not None and delimited != report.delimited:
            report.add("delimiting", delimiting_problem(report.delimited))
        if options is not None and report.options is not None:
            report.check_options(options, options_name)
        if comparer is not None and report.is_complete:
            report.add_all("comparison", comparer.differences())
    return report


def delimiting_problem(delimited: bool) -> str:
    """Return the problem if frames are delimited and should not be, or the reverse."""
    return f"the input is {_SHAPES[delimited]}, not {_SHAPES[not delimited]}"


def _one_stream(source: Source) -> Source:
    """Return the file of a source, which must be one."""
    sources: Sequence[Source] = resolve_inputs([source])
    if len(sources) > 1:
        raise OptionsError(
            f"{name_of_source(source, '')} has {len(sources)} files, and a report is about one: "
            "validate them one by one"
        )
    return sources[0]


def _checked_batches(
    source: CountedSource, report: ValidationReport, limits: Limits | None, *, concatenated: bool, dialect: DialectName
) -> Iterator[Batch]:
    """Yield the batches of the stream; an error that ends it is added to the report."""
    with open_reader(source, limits=limits, concatenated=concatenated, dialect=dialect) as reader:
        try:
            yield from reader.batches()
            report.options = reader.options
            report.is_complete = True
        except LimitError:
            # A stream above a limit may still be valid.
            raise
        except JellyError as error:
            report.add_error(error)
        report.delimited = reader.is_delimited


def _compare(batch: Batch, comparer: Comparer, frames: FrameRange) -> None:
    for part in take_frames((batch,), frames):
        comparer.add(part.statements())


def _expected(expected: StreamOptions | Path | None, dialect: DialectName) -> tuple[StreamOptions | None, str]:
    if expected is None or isinstance(expected, StreamOptions):
        return expected, "the expected options"
    with open_reader(expected, dialect=dialect) as reader:
        return reader.options, os.fspath(expected)
