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
    """Read a whole Jelly stream and return a report of what breaks the rules.

    `source` is a path or a URI (a folder or a pattern, if it stands for one file), bytes, or a binary file object.
    `delimited` says whether the frames must have their lengths in front (by default either will do), and
    `expected_options` which stream options the stream must have: options, or the path of a Jelly file with the same.
    `compare_to` is RDF data that must hold the same statements, in the same order with `compare_ordered`; its format is
    told by its name or by `compare_format`, and `compare_frames` restricts the comparison to some frames of the stream,
    from a number up to, but without, another. `validate_terms` also checks IRIs (RFC 3987) and language tags (BCP 47).
    With `concatenated`, every options row begins a new stream. `limits` bound what is accepted from input that is not
    trusted, and `progress` is called with a `Progress` as the source is read. `dialect` is that of the stream, of
    the file with the expected options, and of Jelly that is compared to, unless `compare_dialect` says another one:
    `released` or `draft`.

    What is refused for its size (a `LimitError`), and errors in the data compared to, are raised: they say nothing
    about the stream. Memory is bounded, unless data is compared without order.
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
    """Return what is wrong where frames have lengths in front, or have not, and the other was asked for."""
    return f"the input is {_SHAPES[delimited]}, not {_SHAPES[not delimited]}"


def _one_stream(source: Source) -> Source:
    """Return the source that a name stands for, which must be one."""
    sources: Sequence[Source] = resolve_inputs([source])
    if len(sources) > 1:
        raise OptionsError(
            f"{name_of_source(source, '')} stands for {len(sources)} files, and a report is about one: "
            "validate them one by one"
        )
    return sources[0]


def _checked_batches(
    source: CountedSource, report: ValidationReport, limits: Limits | None, *, concatenated: bool, dialect: DialectName
) -> Iterator[Batch]:
    """Yield the batches of the stream; the error that ends it goes to the report."""
    with open_reader(source, limits=limits, concatenated=concatenated, dialect=dialect) as reader:
        try:
            yield from reader.batches()
            report.options = reader.options
            report.is_complete = True
        except LimitError:
            # What is refused for its size may well be valid.
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
