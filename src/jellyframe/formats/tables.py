"""Parquet and CSV: batches as tables, in the layouts of `read_table`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.tables import arrow_schema
from jellyframe.arrow.terms import BatchMaker
from jellyframe.errors import Advice, OptionsError, ParseError, locating
from jellyframe.formats.settings import BatchInput, BatchOutput, ReadSettings, WriteSettings
from jellyframe.storage.sinks import SinkFile
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Source

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink

# Row groups of Parquet should be larger than our batches; they are also bounded in bytes.
PARQUET_GROUP_ROWS = 262_144
PARQUET_GROUP_BYTES = 64 << 20
_CSV_BLOCK_BYTES = 4 << 20


# ---- reading ----------------------------------------------------------------------------------------------


def open_parquet(source: Source, _found: Format, settings: ReadSettings) -> BatchInput:
    """Open a Parquet file as batches: an entry of the registry."""
    return ParquetInput(source, settings)


class ParquetInput(BatchInput):
    """The statements of a Parquet file, or of the row groups that begin in a byte range."""

    def __init__(self, source: Any, settings: ReadSettings, *, start: int = 0, stop: int | None = None) -> None:
        import pyarrow.parquet

        self._settings = settings
        self._name = source if isinstance(source, str) else getattr(source, "name", None)
        self._start = start
        self._stop = stop
        try:
            self._file = pyarrow.parquet.ParquetFile(_seekable(source))
        except pa.ArrowException as error:
            raise self._damaged(error) from None

    @property
    def has_graph(self) -> bool:
        return "g" in self._file.schema_arrow.names

    def batches(self) -> Iterator[Batch]:
        metadata = self._file.metadata
        begins = [metadata.row_group(group).column(0).data_page_offset for group in range(metadata.num_row_groups)]
        groups = [
            group
            for group, begin in enumerate(begins)
            if self._start <= begin and (self._stop is None or begin < self._stop)
        ]
        with locating(self._name):
            maker = BatchMaker(self._file.schema_arrow)
            try:
                for record_batch in self._file.iter_batches(self._settings.batch_rows, groups):
                    yield maker.make(record_batch)
            except pa.ArrowException as error:
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> ParseError:
        return ParseError(f"the Parquet file is damaged: {error}", source=self._name)

    def close(self) -> None:
        self._file.close()


def _seekable(source: Any) -> Any:
    """Return a seekable source: Parquet is read from its end, so pipes are read into memory."""
    if isinstance(source, str) or hasattr(source, "closed"):
        return source
    with ByteSource(source) as file:
        pieces = []
        while piece := file.read():
            pieces.append(piece)
    return pa.BufferReader(b"".join(pieces))


def open_csv(source: Source, _found: Format, settings: ReadSettings) -> BatchInput:
    """Open CSV as batches: an entry of the registry."""
    return _CsvInput(source, settings)


class _CsvInput(BatchInput):
    """The statements of a CSV file, in the layout `ntriples` or `flat`, with a header line."""

    def __init__(self, source: Source, settings: ReadSettings) -> None:
        import pyarrow.csv

        self._file = ByteSource(source, settings.limits)
        try:
            self._reader = pyarrow.csv.open_csv(
                pa.PythonFile(_Readable(self._file), mode="r"),
                read_options=pyarrow.csv.ReadOptions(block_size=_CSV_BLOCK_BYTES, use_threads=False),
                parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(arrow_schema("flat", True).names, pa.string()),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=[""],
                ),
            )
        except pa.ArrowException as error:
            raise ParseError(_why_not_csv(error, 0), source=self._file.name) from None

    @property
    def has_graph(self) -> bool:
        return "g" in self._reader.schema.names

    def batches(self) -> Iterator[Batch]:
        with locating(self._file.name):
            maker = BatchMaker(self._reader.schema)
            rows = 0
            try:
                for record_batch in self._reader:
                    yield maker.make(record_batch)
                    rows += record_batch.num_rows
            except pa.ArrowException as error:
                raise ParseError(_why_not_csv(error, rows)) from None

    def close(self) -> None:
        self._reader.close()
        self._file.close()


def _why_not_csv(error: pa.ArrowException, rows: int) -> str:
    if "straddl" in str(error):
        return (
            f"a row longer than {_CSV_BLOCK_BYTES >> 20} MiB after row {rows}: pyarrow, which reads CSV, takes none; "
            "Parquet, N-Triples and Jelly may have it"
        )
    return f"the CSV file cannot be read: {error}"


class _Readable:
    """A byte source as a file object for pyarrow."""

    closed = False

    def __init__(self, file: ByteSource) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Return exactly as many bytes as requested, except at the end: pyarrow treats a short read as the end."""
        wanted = size if size > 0 else _CSV_BLOCK_BYTES
        pieces = []
        while wanted > 0 and (piece := self._file.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


# ---- writing ----------------------------------------------------------------------------------------------


def open_output(sink: ByteSink, found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for Parquet or CSV: an entry of the registry."""
    return _CsvOutput(sink, settings) if found.name == "csv" else _ParquetOutput(sink, settings)


class _CsvOutput(BatchOutput):
    def __init__(self, sink: ByteSink, settings: WriteSettings) -> None:
        import pyarrow.csv

        if settings.layout == "struct":
            raise OptionsError("CSV has no columns within columns", advice=Advice("argument", "layout", "ntriples"))
        self._view = ArrowView(settings.layout or "ntriples", settings.has_graph)
        self._writer = pyarrow.csv.CSVWriter(SinkFile(sink), self._view.schema)

    def write(self, batch: Batch) -> None:
        for record_batch in self._view.record_batches([batch]):
            self._writer.write_batch(record_batch)

    def close(self) -> None:
        self._writer.close()


class _ParquetOutput(BatchOutput):
    def __init__(self, sink: ByteSink, settings: WriteSettings) -> None:
        import pyarrow.parquet

        self._view = ArrowView(settings.layout or "struct", settings.has_graph)
        self._writer = pyarrow.parquet.ParquetWriter(
            SinkFile(sink), self._view.schema, compression=settings.table_compression or "none"
        )
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def write(self, batch: Batch) -> None:
        for record_batch in self._view.record_batches([batch]):
            self._waiting.append(record_batch)
            self._rows += len(record_batch)
            self._bytes += record_batch.nbytes
            if self._rows >= PARQUET_GROUP_ROWS or self._bytes >= PARQUET_GROUP_BYTES:
                self._write_group()

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._view.schema))
        self._waiting = []
        self._rows = self._bytes = 0

    def close(self) -> None:
        self._write_group()
        self._writer.close()

    def discard(self) -> None:
        self._writer.close()
