"""Jelly streams as Arrow tables, and back. The layouts are described in `jellyframe.arrow_layouts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow_layouts import LAYOUTS, ArrowView
from jellyframe.arrow_terms import BatchMaker, find_layout
from jellyframe.errors import TableError

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import StreamOptions
    from jellyframe.reader import JellyReader

__all__ = [
    "LAYOUTS",
    "arrow_schema",
    "batch_to_arrow",
    "find_layout",
    "read_table",
    "record_batch_reader",
    "table_to_batches",
    "write_table",
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


def record_batch_reader(
    reader: JellyReader,
    layout: str = "struct",
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
) -> pa.RecordBatchReader:
    """What is left of a stream as Arrow record batches, made as they are drawn."""
    view = ArrowView(layout, reader.options.has_graph, frame_column=frame_column, columns=columns)
    return pa.RecordBatchReader.from_batches(view.schema, map(view.convert, reader.batches()))


def read_table(
    source: Any,
    layout: str = "struct",
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
    **reader_options: Any,
) -> pa.Table:
    """Read a whole Jelly stream into an Arrow table.

    `layout` is `struct`, `ntriples` or `flat`; `columns` are those to make, all by default; `frame_column` adds
    the number of the frame as a column `frame`. The other options are those of `open_reader`.
    """
    from jellyframe.reader import open_reader

    with open_reader(source, **reader_options) as reader:
        view = ArrowView(layout, reader.options.has_graph, frame_column=frame_column, columns=columns)
        return pa.Table.from_batches(map(view.convert, reader.batches()), view.schema)


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


def write_table(table: Any, sink: Any, options: StreamOptions | None = None, **writer_options: Any) -> None:
    """Write an Arrow table, or what `table_to_batches` takes, as a Jelly stream.

    The options are those of `open_writer`.
    """
    from jellyframe.writer import open_writer

    with open_writer(sink, options, **writer_options) as writer:
        writer.write_table(table)
