"""Reading partitions: pieces of files to record batches of exactly the schema that Spark has declared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN, ArrowView
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.ops.filters import RowFilter
from jellyframe.spark.options import FAILFAST, PERMISSIVE, ReadOptions, StreamReadOptions
from jellyframe.spark.schema import FILE_COLUMN, Columns
from jellyframe.storage.finding import find_files
from jellyframe.stream.reader import JellyReader, open_reader
from jellyframe.stream.splits import Piece, frames_before, plan_pieces, restart_offsets

# What each batch costs by itself matters below this; filters may leave little of one.
_MIN_BATCH_ROWS = 4096
_T = TypeVar("_T")
_BAD_INPUT = (ParseError, LimitError, OptionsError)


class JellyPartition(InputPartition):
    """What one task reads."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


class JellyBatchReader(DataSourceReader):
    """Reads a set of files that is fixed when the query is planned."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        if options.stream != StreamReadOptions():
            raise OptionsError("there is an option that is for streams only: use spark.readStream")
        self.options = options
        self.columns = Columns.of(schema, options)
        # Terms that are none are better refused here than by every task.
        RowFilter(options.filters)

    def partitions(self) -> list[InputPartition]:
        files = find_files(self.options.paths)
        number_frames = FRAME_COLUMN in self.columns
        planned = plan_pieces(files, self.options.partition_bytes, number_frames=number_frames)
        return [JellyPartition(pieces) for pieces in planned]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where there is nothing to read, Spark makes a partition of its own.
        pieces = partition.pieces if isinstance(partition, JellyPartition) else ()
        return read_pieces(pieces, self.options, self.columns)


def read_pieces(pieces: tuple[Piece, ...], options: ReadOptions, columns: Columns) -> Iterator[pa.RecordBatch]:
    """The statements of some pieces of files, as record batches. A consumer that stops early closes the files."""
    rows = PieceRows(options, columns)
    return without_small(batch for piece in pieces for batch in rows.of_piece(piece))


def without_small(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, small batches joined."""
    small: list[pa.RecordBatch] = []
    small_rows = 0
    for batch in batches:
        if len(batch) >= _MIN_BATCH_ROWS and not small:
            yield batch
            continue
        small.append(batch)
        small_rows += len(batch)
        if small_rows >= _MIN_BATCH_ROWS:
            yield _joined(small)
            small, small_rows = [], 0
    if small_rows:
        yield _joined(small)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def read_on(
    piece: Piece, read: Callable[[Piece], Iterator[_T]], on_error: Callable[[JellyError], Iterator[_T]]
) -> Iterator[_T]:
    """What `read` makes of a piece; where that fails, what `on_error` makes of it, and then the rest of the piece.

    A bad frame costs what is up to the next restart point.
    """
    rest: Piece | None = piece
    while rest is not None:
        try:
            yield from read(rest)
            return
        except _BAD_INPUT as error:
            error.source = piece.file.name
            if error.frame is not None:
                # Counted from where reading began, it means nothing unless we know what number that frame has.
                error.frame = error.frame + rest.first_frame if rest.first_frame or not rest.start else None
            yield from on_error(error)
            rest = _after(rest, error)


@contextmanager
def opened(piece: Piece, options: ReadOptions) -> Iterator[JellyReader]:
    """A reader of a piece."""
    with (
        piece.file.open() as source,
        open_reader(
            source,
            limits=options.limits,
            concatenated=options.concatenated,
            batch_rows=options.batch_rows,
            byte_range=piece.byte_range,
        ) as reader,
    ):
        yield reader


class PieceRows:
    """Makes record batches of pieces. `prepare` may change the batches of a piece beforehand."""

    def __init__(
        self, options: ReadOptions, columns: Columns, prepare: Callable[[Batch, Piece], Batch] | None = None
    ) -> None:
        self._options = options
        self._columns = columns
        self._prepare = prepare
        self._filter = RowFilter(options.filters)
        self._view = ArrowView(columns.layout, True, columns=columns.statement) if columns.statement else None

    def of_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """The rows of a piece of a Jelly file."""

        def read(rest: Piece) -> Iterator[pa.RecordBatch]:
            with opened(rest, self._options) as reader:
                yield from self.of_batches(reader.batches(), rest)

        return read_on(piece, read, lambda error: self.report(piece, error))

    def of_batches(self, batches: Iterable[Batch], piece: Piece) -> Iterator[pa.RecordBatch]:
        """The rows of batches, which come from a piece of any file."""
        if self._prepare is not None:
            prepare = self._prepare
            batches = (prepare(batch, piece) for batch in batches)
        if self._filter:
            batches = map(self._filter.apply, batches)
        if METADATA_COLUMN in self._columns:
            converted = self._with_metadata(batches, piece)
        else:
            converted = (self._convert(batch, piece) for batch in batches)
        return (batch for batch in converted if len(batch))

    def _convert(self, batch: Batch, piece: Piece, metadata: pa.Array | None = None) -> pa.RecordBatch:
        terms: dict[str, pa.Array] = {}
        if self._view is not None:
            terms = dict(zip(self._columns.statement, self._view.convert(batch).columns, strict=True))
        arrays = []
        for field in self._columns.arrow:
            if field.name in terms:
                array = terms[field.name]
            elif field.name == FRAME_COLUMN:
                array = pc.add(_row_numbers(batch), pa.scalar(piece.first_frame, pa.int64()))
            elif field.name == FILE_COLUMN:
                array = pa.repeat(piece.file.name, len(batch))
            elif field.name == METADATA_COLUMN:
                array = metadata
            else:
                array = pa.nulls(len(batch), field.type)
            arrays.append(_fitted(array, field))
        return pa.RecordBatch.from_arrays(arrays, schema=self._columns.arrow)

    def _with_metadata(self, batches: Iterable[Batch], piece: Piece) -> Iterator[pa.RecordBatch]:
        """Record batches with the metadata of each row's frame, which may stand at the end of the frame."""
        waiting: deque[Batch] = deque()
        known: dict[int, dict[str, bytes]] = {}
        for batch in batches:
            waiting.append(batch)
            known.update(batch.metadata)
            complete = _last_frame(batch) - batch.last_frame_open
            while waiting and _last_frame(waiting[0]) <= complete:
                ready = waiting.popleft()
                yield self._convert(ready, piece, self._metadata(ready, known))
                for number in [number for number in known if number < ready.first_frame]:
                    del known[number]
        for batch in waiting:
            yield self._convert(batch, piece, self._metadata(batch, known))

    def _metadata(self, batch: Batch, known: dict[int, dict[str, bytes]]) -> pa.Array:
        kind = self._columns.arrow.field(METADATA_COLUMN).type
        maps = [list(known.get(span.number, {}).items()) for span in batch.frame_spans()]
        return pa.array(maps, kind).take(pc.subtract(_row_numbers(batch), pa.scalar(batch.first_frame, pa.int64())))

    def report(self, piece: Piece, error: JellyError) -> Iterator[pa.RecordBatch]:
        """What the mode makes of bad input: an error, nothing, or a row that tells of it and holds no statement."""
        if self._options.mode == FAILFAST:
            raise error
        if self._options.mode != PERMISSIVE or self._columns.corrupt is None:
            return
        known: dict[str, Any] = {
            self._columns.corrupt or "": str(error),
            FILE_COLUMN: piece.file.name,
            FRAME_COLUMN: error.frame,
        }
        schema = self._columns.arrow
        yield pa.RecordBatch.from_arrays(
            [pa.array([known.get(field.name)], field.type) for field in schema], schema=schema
        )


def _last_frame(batch: Batch) -> int:
    return batch.first_frame + max(0, len(batch.frame_ends or ()) - 1)


def _row_numbers(batch: Batch) -> pa.Array:
    """The number of the frame of each row, counted from where the piece begins."""
    from jellyframe.arrow.layouts import frame_numbers

    return frame_numbers(batch)


def _after(piece: Piece, error: JellyError) -> Piece | None:
    """What is left of a piece behind the place of an error, if it has a restart point there."""
    if error.offset is None:
        return None
    with piece.file.open() as source:
        points = [point for point in restart_offsets(source, piece.file.size) if error.offset < point < piece.end]
        if not points:
            return None
        frame = frames_before(source, points[:1])[0]
    return replace(piece, start=points[0], stop=piece.end, first_frame=frame)


def _fitted(array: pa.Array, field: pa.Field) -> pa.Array:
    """An array as Spark has declared it: some fields of a struct, and nothing null that may not be."""
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
