"""Pieces of files of any format as batches, and as record batches of the schema that Spark has declared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, ParseError, TextError
from jellyframe.formats import ntriples
from jellyframe.formats.lines import LinePlace, LineRange
from jellyframe.spark.jobs.inputs import LINE_FORMATS, PER_FILE, Inputs
from jellyframe.spark.options import FAILFAST
from jellyframe.spark.reading import PieceRows, opened, read_on, without_small
from jellyframe.spark.schema import Columns
from jellyframe.stream.splits import Piece

OnError = Callable[[JellyError], object]
# A piece with more bad lines than this is most likely no text of ours; the others are only counted.
MAX_REPORTS = 1000


def statement_rows(pieces: Iterable[Piece], inputs: Inputs, columns: Columns) -> Iterator[pa.RecordBatch]:
    """The rows of some pieces, as Spark has declared them. Bad input is dealt with as the mode says."""
    prepare = _relabelled if inputs.blank_nodes == PER_FILE else None
    rows = PieceRows(inputs.options, columns, prepare)
    return without_small(batch for piece in pieces for batch in _rows_of(piece, inputs, rows))


def _rows_of(piece: Piece, inputs: Inputs, rows: PieceRows) -> Iterator[pa.RecordBatch]:
    if inputs.formats[piece.file] == formats.JELLY:
        yield from rows.of_piece(piece)
        return
    bad = BadRecords(inputs)
    for record_batch in rows.of_batches(_read(piece, inputs, bad.add), piece):
        yield record_batch
        for error in bad.take():
            yield from rows.report(piece, error)
    for error in bad.rest(piece):
        yield from rows.report(piece, error)


class BadRecords:
    """Bad input that the mode lets pass: the first errors, and how many there were."""

    def __init__(self, inputs: Inputs) -> None:
        self._fails_fast = inputs.options.mode == FAILFAST
        self._errors: list[JellyError] = []
        self.count = 0

    def add(self, error: JellyError) -> None:
        if self._fails_fast:
            raise error
        self.count += 1
        if self.count <= MAX_REPORTS:
            self._errors.append(error)

    def take(self) -> list[JellyError]:
        """The errors that have come since the last time."""
        errors, self._errors = self._errors, []
        return errors

    def rest(self, piece: Piece) -> list[JellyError]:
        """The last of them, and one that tells how many are not told of."""
        errors = self.take()
        if self.count > MAX_REPORTS:
            errors.append(JellyError(f"{self.count - MAX_REPORTS} more bad lines", source=piece.file.name))
        return errors


def piece_batches(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """The statements of a piece, as read for the writers of jobs. Bad input goes to `on_error`, which may raise."""
    from jellyframe.ops.filters import RowFilter

    batches = _read(piece, inputs, on_error)
    if inputs.blank_nodes == PER_FILE:
        batches = (_relabelled(batch, piece) for batch in batches)
    row_filter = RowFilter(inputs.options.filters)
    return map(row_filter.apply, batches) if row_filter else batches


def _read(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    found = inputs.formats[piece.file]
    if found == formats.JELLY:
        return _read_jelly(piece, inputs, on_error)
    if found == formats.PARQUET:
        return _read_parquet(piece, inputs, on_error)
    if found in LINE_FORMATS:
        return _read_lines(piece, inputs, on_error)
    return _read_document(piece, inputs, on_error)


def _read_jelly(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    def read(rest: Piece) -> Iterator[Batch]:
        with opened(rest, inputs.options) as reader:
            yield from reader.batches()

    def report(error: JellyError) -> Iterator[Batch]:
        on_error(error)
        return iter(())

    return read_on(piece, read, report)


def _read_lines(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    with piece.file.open() as source:
        lines: Any = source if piece.stop is None else LineRange(source, piece)
        place = LinePlace(piece, 0 if piece.stop is None else lines.start)

        def bad_line(error: TextError) -> None:
            place.complete(error)
            on_error(error)

        try:
            yield from ntriples.read(
                lines,
                quads=inputs.formats[piece.file].has_graphs,
                generalized=True,
                batch_rows=inputs.options.batch_rows,
                limits=inputs.options.limits,
                on_error=bad_line,
            )
        except JellyError as error:
            # What is wrong with no line: damaged compression, most likely.
            error.source = piece.file.name
            on_error(error)


def _read_document(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """A file that is read whole or not at all beyond its first error, by pyoxigraph."""
    from jellyframe.formats.oxigraph import OxigraphInput

    storage = piece.file.storage
    base = Path(piece.file.path).as_uri() if storage.is_local else storage.display(piece.file.path)
    with piece.file.open() as source:
        try:
            document = OxigraphInput(source, inputs.formats[piece.file], base_iri=base, strict=False)
            yield from document.batches()
        except JellyError as error:
            error.source = piece.file.name
            on_error(error)


def _read_parquet(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """The groups of rows that begin in a piece."""
    import pyarrow.parquet

    from jellyframe.arrow.terms import BatchMaker

    maker: BatchMaker | None = None
    try:
        file = pyarrow.parquet.ParquetFile(piece.file.path, filesystem=piece.file.storage.fs)
        metadata = file.metadata
        begins = [metadata.row_group(group).column(0).data_page_offset for group in range(metadata.num_row_groups)]
        groups = [group for group, begin in enumerate(begins) if piece.start <= begin < piece.end]
        for record_batch in file.iter_batches(inputs.options.batch_rows, groups):
            maker = maker or BatchMaker(record_batch.schema)
            yield maker.make(record_batch)
    except pa.ArrowException as error:
        on_error(ParseError(f"the Parquet file is damaged: {error}", source=piece.file.name))
    except JellyError as error:
        error.source = piece.file.name
        on_error(error)


def _relabelled(batch: Batch, piece: Piece) -> Batch:
    """The batch with labels of blank nodes that no other file has: what stands before them is made of its name."""
    from jellyframe.kernel.columns_cy import prefix_labels

    digest = hashlib.blake2b(piece.file.name.encode(), digest_size=5).hexdigest()
    prefix_labels(batch.terms, f"f{digest}-".encode())
    return batch
