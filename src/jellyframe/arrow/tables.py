"""Batches as Arrow record batches, and tables as batches. The layouts are described in `jellyframe.arrow.layouts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow.layouts import LAYOUTS, ArrowView
from jellyframe.arrow.terms import BatchMaker, find_layout
from jellyframe.errors import TableError

if TYPE_CHECKING:
    from jellyframe.batch import Batch

__all__ = [
    "LAYOUTS",
    "arrow_schema",
    "batch_to_arrow",
    "find_layout",
    "table_to_batches",
]

DEFAULT_BATCH_ROWS = 65536
# Below this, what a batch costs by itself outweighs what its rows cost.
_SMALL_CHUNK_ROWS = 4096


def arrow_schema(
    layout: str = "struct",
    has_graph: bool = False,
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
) -> pa.Schema:
    """The schema that tables of a layout have; `columns` chooses some of its columns, in that order."""
    return ArrowView(layout, has_graph, frame_column=frame_column, columns=columns).schema


def batch_to_arrow(
    batch: Batch, layout: str = "struct", *, frame_column: bool = False, columns: Sequence[str] | None = None
) -> pa.RecordBatch:
    """The statements of a batch as an Arrow record batch."""
    return ArrowView(layout, batch.has_graph, frame_column=frame_column, columns=columns).convert(batch)


def table_to_batches(table: Any, *, layout: str | None = None, batch_rows: int = DEFAULT_BATCH_ROWS) -> Iterator[Batch]:
    """The rows of a table as batches of up to `batch_rows` rows.

    `table` is a `pyarrow.Table`, `RecordBatch` or `RecordBatchReader`, or any object with Arrow's stream interface
    (of Polars, DuckDB, pandas, …). The columns tell the layout; they may also be large, dictionary-encoded or view
    strings. Columns that belong to no layout are left aside.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        chunks = max(column.num_chunks for column in table.columns) if table.num_columns else 0
        if table.num_rows < _SMALL_CHUNK_ROWS * chunks:
            table = table.combine_chunks()
        return _batches(BatchMaker(table.schema, layout), table.to_batches(batch_rows), batch_rows)
    if not isinstance(table, pa.RecordBatchReader):
        if not hasattr(table, "__arrow_c_stream__"):
            raise TableError(f"a {type(table).__name__} is no Arrow table, and has no Arrow stream interface")
        table = pa.RecordBatchReader.from_stream(table)
    return _batches(BatchMaker(table.schema, layout), table, batch_rows)


def _batches(maker: BatchMaker, record_batches: Any, batch_rows: int) -> Iterator[Batch]:
    for record_batch in record_batches:
        for start in range(0, len(record_batch), batch_rows):
            yield maker.make(record_batch.slice(start, batch_rows))
