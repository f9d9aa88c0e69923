"""Batches as Parquet and CSV files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.arrow.layouts import ArrowView
from jellyframe.errors import OptionsError

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format
    from jellyframe.storage.sinks import SinkFile

PARQUET_GROUP_ROWS = 262_144


def write_table_file(
    batches: Iterable[Batch], sink: SinkFile, target: Format, layout: str | None, *, has_graph: bool
) -> None:
    """Write batches as a table, in a layout of `read_table`."""
    if target is formats.CSV:
        if layout == "struct":
            raise OptionsError("--layout struct: CSV has no columns within columns; use ntriples or flat")
        import pyarrow.csv as arrow_csv

        view = ArrowView(layout or "ntriples", has_graph)
        writer: Any = arrow_csv.CSVWriter(sink, view.schema)
    else:
        import pyarrow.parquet as arrow_parquet

        view = ArrowView(layout or "struct", has_graph)
        writer = arrow_parquet.ParquetWriter(sink, view.schema, compression="zstd")
    with writer:
        if target is formats.CSV:
            for batch in batches:
                writer.write_batch(view.convert(batch))
        else:
            _write_groups(writer, (view.convert(batch) for batch in batches), view.schema)


def _write_groups(writer: Any, record_batches: Iterable[Any], schema: Any) -> None:
    """Parquet likes its row groups larger than our batches are."""
    import pyarrow as pa

    waiting: list[Any] = []
    for record_batch in record_batches:
        waiting.append(record_batch)
        if sum(map(len, waiting)) >= PARQUET_GROUP_ROWS:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting = []
    if waiting:
        writer.write_table(pa.Table.from_batches(waiting, schema))
