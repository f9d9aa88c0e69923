"""Batches as Parquet and CSV files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.arrow.layouts import ArrowView
from jellyframe.errors import Advice, OptionsError

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format
    from jellyframe.storage.sinks import SinkFile

PARQUET_GROUP_ROWS = 262_144
PARQUET_GROUP_BYTES = 64 << 20


def write_table_file(
    batches: Iterable[Batch], sink: SinkFile, target: Format, layout: str | None, *, has_graph: bool
) -> None:
    """Write batches as a table, in a layout of `read_table`."""
    if target is formats.CSV:
        if layout == "struct":
            raise OptionsError("CSV has no columns within columns", advice=Advice("argument", "layout", "ntriples"))
        import pyarrow.csv as arrow_csv

        view = ArrowView(layout or "ntriples", has_graph)
        writer: Any = arrow_csv.CSVWriter(sink, view.schema)
    else:
        import pyarrow.parquet as arrow_parquet

        view = ArrowView(layout or "struct", has_graph)
        writer = arrow_parquet.ParquetWriter(sink, view.schema, compression="zstd")
    with writer:
        if target is formats.CSV:
            for record_batch in view.record_batches(batches):
                writer.write_batch(record_batch)
        else:
            write_groups(writer, view.record_batches(batches))


def write_groups(writer: Any, record_batches: Iterable[Any]) -> None:
    """Write record batches to a ParquetWriter, joined into row groups, which Parquet likes larger than our batches."""
    group = RowGroup(writer)
    for record_batch in record_batches:
        group.add(record_batch)
    group.write()


class RowGroup:
    """A row group of a Parquet file in the making, bounded by its rows and bytes."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def add(self, record_batch: Any) -> None:
        """Add a record batch. The group is written when it has enough rows or bytes."""
        self._waiting.append(record_batch)
        self._rows += len(record_batch)
        self._bytes += record_batch.nbytes
        if self._rows >= PARQUET_GROUP_ROWS or self._bytes >= PARQUET_GROUP_BYTES:
            self.write()

    def write(self) -> None:
        """Write what has been added."""
        import pyarrow as pa

        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
            self._waiting = []
            self._rows = self._bytes = 0
