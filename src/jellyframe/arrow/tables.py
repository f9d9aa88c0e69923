"""Batches as Arrow record batches, and tables as batches. The layouts are described in `jellyframe.arrow.layouts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import LAYOUTS, ArrowView
from jellyframe.arrow.terms import BatchMaker, find_layout
from jellyframe.batch import BATCH_BYTES
from jellyframe.errors import TableError

if TYPE_CHECKING:
    from jellyframe.arrow.types import ArrowTable
    from jellyframe.batch import Batch
    from jellyframe.options import LayoutName

__all__ = [
    "LAYOUTS",
    "arrow_schema",
    "batch_to_arrow",
    "find_layout",
    "table_to_batches",
]

# More than in a batch of a reader, as a table is in memory anyway.
TABLE_BATCH_ROWS = 65536
# Below this, the overhead of a batch exceeds the cost of its rows.
_SMALL_CHUNK_ROWS = 4096


def arrow_schema(
    layout: LayoutName = "struct",
    has_graph: bool = False,
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
) -> pa.Schema:
    """Return the schema of tables in a layout.

    Args:
        layout: `struct`, `ntriples` or `flat`
        has_graph: whether there is a column for graphs
        frame_column: whether there is a column `frame`
        columns: the columns to choose, in this order; all by default
        dictionary: whether strings are dictionary-encoded
    """
    return ArrowView(layout, has_graph, frame_column=frame_column, columns=columns, dictionary=dictionary).schema


def batch_to_arrow(
    batch: Batch,
    layout: LayoutName = "struct",
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
) -> pa.RecordBatch:
    """Return the statements of a batch as an Arrow record batch.

    Args:
        batch: statements, or rows of a patch
        layout: `struct`, `ntriples` or `flat`
        frame_column: add the number of the frame as a column `frame`
        columns: the columns to make; all by default
        dictionary: encode strings with dictionaries, which are those of the batch

    Raises:
        LimitError: if a column takes more than 2 GiB, which one record batch cannot hold; `ArrowView.record_batches`
            makes several
    """
    view = ArrowView(
        layout,
        batch.has_graph,
        frame_column=frame_column,
        op_column=batch.op is not None,
        columns=columns,
        dictionary=dictionary,
    )
    return view.convert(batch)


def table_to_batches(
    table: ArrowTable, *, layout: LayoutName | None = None, batch_rows: int = TABLE_BATCH_ROWS, is_patch: bool = False
) -> Iterator[Batch]:
    """Return the rows of a table as batches of bounded size.

    The strings of the columns may be of any type: plain, large, dictionary-encoded or views. Columns that belong to no
    layout are ignored.

    Args:
        table: a `pyarrow.Table`, `RecordBatch` or `RecordBatchReader`, or an object with Arrow's stream interface (of
            Polars, DuckDB, pandas, …)
        layout: the layout of the columns; by default it is inferred from them
        batch_rows: rows in a batch, at most; a batch also has at most about 32 MiB of strings
        is_patch: whether the rows are those of a patch, with a column `op`
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        maker = BatchMaker(table.schema, layout, is_patch=is_patch)
        return _batches(maker, joined_batches(table.to_batches(batch_rows)), batch_rows)
    table = record_batch_reader(table)
    return _batches(BatchMaker(table.schema, layout, is_patch=is_patch), table, batch_rows)


def record_batch_reader(table: ArrowTable) -> pa.RecordBatchReader:
    """Return a reader of an object with Arrow's stream interface; TableError if it has none."""
    if isinstance(table, pa.RecordBatchReader):
        return table
    if not hasattr(table, "__arrow_c_stream__"):
        raise TableError(f"a {type(table).__name__} is not an Arrow table, and has no Arrow stream interface")
    return pa.RecordBatchReader.from_stream(table)


def _batches(maker: BatchMaker, record_batches: Iterable[pa.RecordBatch], batch_rows: int) -> Iterator[Batch]:
    for record_batch in record_batches:
        for part in parts_by_bytes(record_batch, batch_rows):
            yield maker.make(part)


def joined_batches(record_batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the same rows, with small record batches joined up to 32 MiB, which Arrow's offsets can hold."""
    small: list[pa.RecordBatch] = []
    rows = size = 0
    for record_batch in record_batches:
        batch_size = sum(map(_string_bytes, record_batch.columns))
        is_small = len(record_batch) < _SMALL_CHUNK_ROWS and not any(map(_has_dictionary, record_batch.schema.types))
        if small and (not is_small or rows >= _SMALL_CHUNK_ROWS or size + batch_size > BATCH_BYTES):
            yield _joined(small)
            small, rows, size = [], 0, 0
        if not is_small:
            yield record_batch
            continue
        small.append(record_batch)
        rows += len(record_batch)
        size += batch_size
    if small:
        yield _joined(small)


def _joined(record_batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(record_batches) == 1:
        return record_batches[0]
    batches = pa.Table.from_batches(record_batches).combine_chunks().to_batches()
    return batches[0] if batches else record_batches[0]


def _has_dictionary(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_has_dictionary(field.type) for field in kind)
    return bool(pa.types.is_dictionary(kind))


def parts_by_bytes(record_batch: pa.RecordBatch, max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield slices of a record batch of up to `max_rows` rows and about 32 MiB of strings; a row is never cut."""
    rows = len(record_batch)
    size = sum(map(_string_bytes, record_batch.columns))
    if rows <= 1 or (rows <= max_rows and size <= BATCH_BYTES):
        if rows:
            yield record_batch
        return
    # This is right for rows of about the same size; parts that are still too large are cut further.
    step = min(max_rows, max(1, rows * BATCH_BYTES // max(size, 1)))
    if step >= rows:
        step = (rows + 1) // 2
    for start in range(0, rows, step):
        yield from parts_by_bytes(record_batch.slice(start, step), max_rows)


def _string_bytes(array: pa.Array) -> int:
    """Return how many bytes the strings of a column take, row by row. Dictionaries do not count."""
    kind = array.type
    if pa.types.is_struct(kind):
        return sum(_string_bytes(array.field(i)) for i in range(kind.num_fields))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_map(kind):
        return int(array.nbytes)
    if pa.types.is_string_view(kind):
        return int(pc.sum(pc.binary_length(array.cast(pa.large_string()))).as_py() or 0)
    return 0
