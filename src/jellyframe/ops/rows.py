"""Pieces of files as record batches: statements in a layout, and their origin."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN, ArrowView, frame_numbers
from jellyframe.arrow.operations import OP_COLUMN
from jellyframe.arrow.tables import joined_batches
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, OptionsError
from jellyframe.ops.bad_input import PERMISSIVE, BadRecords
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.stream.splits import Piece

FILE_COLUMN = "file"
# Columns with the origin of a statement.
ORIGIN_COLUMNS = {
    FRAME_COLUMN: pa.int64(),
    FILE_COLUMN: pa.string(),
    METADATA_COLUMN: pa.map_(pa.string(), pa.binary()),
}


@dataclass(frozen=True)
class Columns:
    """The columns to make: `statement` names those of the layout, and of patches `op`; `corrupt` reports bad input."""

    layout: str
    arrow: pa.Schema
    statement: tuple[str, ...]
    corrupt: str | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.arrow.names


def read_rows(pieces: Iterable[Piece], inputs: Inputs, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Yield the rows of pieces. Bad input is handled according to the mode. Closing the iterator closes the files."""
    rows = PieceRows(inputs, columns)
    # Filters may leave few rows of a batch.
    return joined_batches(batch for piece in pieces for batch in rows.of_piece(piece))


def rows_of_batches(batches: Iterable[Batch], columns: Columns) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches without a file: all columns are those of the layout."""
    view = ArrowView(columns.layout, True, columns=columns.statement)
    for batch in batches:
        for part in view.parts(batch):
            arrays = zip(view.convert(part).columns, columns.arrow, strict=True)
            yield pa.RecordBatch.from_arrays([_fitted(*pair) for pair in arrays], schema=columns.arrow)


class PieceRows:
    """Makes record batches from pieces."""

    def __init__(self, inputs: Inputs, columns: Columns) -> None:
        self._inputs = inputs
        self._columns = columns
        wanted = columns.statement
        has_op = OP_COLUMN in wanted
        self._view = ArrowView(columns.layout, True, op_column=has_op, columns=wanted) if wanted else None

    def of_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a piece."""
        bad = BadRecords(self._inputs.options.mode)
        batches = piece_batches(piece, self._inputs, bad.add)
        if self._view is not None:
            view = self._view
            batches = (some for batch in batches for some in view.parts(batch))
        if METADATA_COLUMN in self._columns:
            converted = self._with_metadata(batches, piece)
        else:
            converted = (self._convert(batch, piece) for batch in batches)
        for record_batch in converted:
            if len(record_batch):
                yield record_batch
            yield from self._reports(piece, bad.take())
        yield from self._reports(piece, bad.rest(piece.file.name))

    def _convert(self, batch: Batch, piece: Piece, metadata: pa.Array | None = None) -> pa.RecordBatch:
        terms: dict[str, pa.Array] = {}
        if self._view is not None:
            terms = dict(zip(self._columns.statement, self._view.convert(batch).columns, strict=True))
        arrays = []
        for field in self._columns.arrow:
            if field.name in terms:
                array = terms[field.name]
            elif field.name == FRAME_COLUMN:
                array = pc.add(frame_numbers(batch), pa.scalar(piece.first_frame, pa.int64()))
            elif field.name == FILE_COLUMN:
                array = pa.repeat(piece.file.name, len(batch))
            elif field.name == METADATA_COLUMN:
                array = metadata
            else:
                array = pa.nulls(len(batch), field.type)
            arrays.append(_fitted(array, field))
        return pa.RecordBatch.from_arrays(arrays, schema=self._columns.arrow)

    def _with_metadata(self, batches: Iterable[Batch], piece: Piece) -> Iterator[pa.RecordBatch]:
        """Yield record batches with the metadata of each row's frame, which may be at the end of the frame."""
        waiting: deque[Batch] = deque()
        known: dict[int, dict[str, bytes]] = {}
        for batch in batches:
            waiting.append(batch)
            known.update(batch.metadata)
            complete = batch.last_frame - batch.last_frame_open
            while waiting and waiting[0].last_frame <= complete:
                ready = waiting.popleft()
                yield self._convert(ready, piece, self._metadata(ready, known))
                for number in [number for number in known if number < ready.first_frame]:
                    del known[number]
        for batch in waiting:
            yield self._convert(batch, piece, self._metadata(batch, known))

    def _metadata(self, batch: Batch, known: dict[int, dict[str, bytes]]) -> pa.Array:
        kind = self._columns.arrow.field(METADATA_COLUMN).type
        maps = [list(known.get(span.number, {}).items()) for span in batch.frame_spans()]
        return pa.array(maps, kind).take(pc.subtract(frame_numbers(batch), pa.scalar(batch.first_frame, pa.int64())))

    def _reports(self, piece: Piece, errors: Iterable[JellyError]) -> Iterator[pa.RecordBatch]:
        """Yield a row without a statement for each error, if the mode and the columns have reports."""
        if self._inputs.options.mode != PERMISSIVE or self._columns.corrupt is None:
            return
        schema = self._columns.arrow
        for error in errors:
            known: dict[str, Any] = {
                self._columns.corrupt: str(error),
                FILE_COLUMN: piece.file.name,
                FRAME_COLUMN: error.frame,
            }
            yield pa.RecordBatch.from_arrays(
                [pa.array([known.get(field.name)], field.type) for field in schema], schema=schema
            )


def _fitted(array: pa.Array, field: pa.Field) -> pa.Array:
    """Return an array with the type of the schema: some fields of a struct, and no nulls if they are not allowed."""
    if array.null_count and not field.nullable:
        raise OptionsError(f"schema: column {field.name!r} is declared NOT NULL, and the data has nulls there")
    if array.type == field.type:
        return array
    if pa.types.is_struct(field.type) and pa.types.is_struct(array.type):
        parts = [_fitted(array.field(part.name), part) for part in field.type]
        return pa.StructArray.from_arrays(
            parts, fields=list(field.type), mask=array.is_null() if array.null_count else None
        )
    return array.cast(field.type)
