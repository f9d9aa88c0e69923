"""Sorting statements before they are written, so that similar ones are adjacent and take fewer bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.tables import parts_by_bytes
from jellyframe.defaults import DEFAULT_BATCH_ROWS

# Bytes per run: sorting holds the rows of a run in memory.
MAX_RUN_BYTES = 128 << 20


def sorted_runs(
    record_batches: Iterator[pa.RecordBatch], columns: Sequence[str], max_rows: int
) -> Iterator[pa.RecordBatch]:
    """Return the rows in runs of about `max_rows` or 128 MiB, each sorted by those of `columns` that exist."""
    run: list[pa.RecordBatch] = []
    rows = size = 0
    for record_batch in (part for some in record_batches for part in parts_by_bytes(some, max_rows)):
        run.append(record_batch)
        rows += len(record_batch)
        size += record_batch.nbytes
        if rows >= max_rows or size >= MAX_RUN_BYTES:
            yield from _sorted(run, columns)
            run, rows, size = [], 0, 0
    if rows:
        yield from _sorted(run, columns)


def _sorted(run: list[pa.RecordBatch], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches(run).combine_chunks()
    keys = {name: _key(table[name]) for name in columns if name in table.column_names}
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    yield from table.take(order).combine_chunks().to_batches(DEFAULT_BATCH_ROWS)


def _key(column: pa.ChunkedArray) -> pa.Array:
    """Return the strings to sort by: of terms in the layout `struct`, their values."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    return pc.struct_field(array, "value") if pa.types.is_struct(array.type) else array
