"""What jobs write: folders of Jelly, N-Quads, N-Triples or Parquet files, which appear all together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any
from uuid import uuid4

from jellyframe import formats
from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.tables import arrow_schema
from jellyframe.batch import Batch
from jellyframe.errors import OptionsError, StorageError
from jellyframe.formats import Format
from jellyframe.formats.ntriples import text_pieces
from jellyframe.formats.tables import RowGroup
from jellyframe.ops.inputs import READ_FORMATS
from jellyframe.spark.jobs.inputs import option_texts
from jellyframe.spark.options import WriteOptions
from jellyframe.spark.writing import JellyFiles, WritePlan
from jellyframe.storage.commit import Target
from jellyframe.storage.names import is_hidden
from jellyframe.storage.rolling import RollingFiles
from jellyframe.storage.sinks import ByteSink

OUT_FORMATS = (formats.JELLY, formats.NQUADS, formats.NTRIPLES, formats.PARQUET)
ERROR, OVERWRITE, APPEND = "error", "overwrite", "append"
SAVE_MODES = (ERROR, OVERWRITE, APPEND)
MANIFEST = "manifest.json"
_COMPRESSION_SUFFIXES = {None: "", "gzip": ".gz", "zstd": ".zst"}


def is_replaced(name: str) -> bool:
    """Whether an overwrite replaces a file of this name: data of any format that jobs read."""
    return name == MANIFEST or formats.format_by_path(name, READ_FORMATS) is not None


@dataclass(frozen=True)
class Output:
    """Where a job writes, and how. It can be sent to workers."""

    target: Target
    format: Format
    plan: WritePlan
    layout: str
    save: str

    @classmethod
    def of(
        cls,
        path: str | PathLike[str],
        *,
        has_graph: bool,
        out_format: str = "jelly",
        save: str = ERROR,
        layout: str | None = None,
        **options: Any,
    ) -> Output:
        """The options are those of the data source. `layout` is that of Parquet files, `struct` by default."""
        found = formats.format_by_name(out_format, OUT_FORMATS)
        if save not in SAVE_MODES:
            raise OptionsError(f"save is {save!r}, and must be one of {', '.join(SAVE_MODES)}")
        write = WriteOptions.read(option_texts({**options, "path": fspath(path)}))
        if write.group_by is not None:
            raise OptionsError("jobs write flat streams: group_by is for DataFrames")
        if found != formats.JELLY and write.stream:
            raise OptionsError(f"{', '.join(write.stream)}: options of Jelly streams, and the output is {found.title}")
        if found == formats.PARQUET and "compression" not in options:
            write = replace(write, compression="zstd")
        plan = WritePlan.of(write, arrow_schema("ntriples", has_graph))
        target = Target.of(fspath(path), uuid4().hex)
        if save == ERROR and any(not is_hidden(info.base_name) for info in target.storage.children(target.path)):
            raise StorageError(f"{fspath(path)}: there is something already; overwrite it, or append to it")
        return cls(target, found, plan, layout or "struct", save)

    @property
    def has_graph(self) -> bool:
        """Whether what is written can tell graphs."""
        return self.plan.stream.has_graph and self.format != formats.NTRIPLES

    def files(self, prefix: str) -> RollingFiles:
        """The files of one task."""
        if self.format == formats.JELLY:
            return JellyFiles(self.plan, self.target, prefix)
        if self.format == formats.PARQUET:
            return _ParquetFiles(self, prefix)
        return _TextFiles(self, prefix)

    def fitting(self, batch: Batch) -> Batch:
        """A batch as the files can hold it; an error where that would lose graphs."""
        return batch if self.has_graph else batch.without_graph()

    def publish(self, staged: list[str]) -> None:
        self.target.publish(staged, overwrite=self.save == OVERWRITE, is_data=is_replaced)


class _TextFiles(RollingFiles):
    """Files of N-Triples or N-Quads."""

    def __init__(self, output: Output, prefix: str) -> None:
        options = output.plan.options
        suffix = f".{output.format.name}{_COMPRESSION_SUFFIXES[options.compression]}"
        super().__init__(output.target, prefix, suffix, options.max_records_per_file)
        self._compression = options.compression
        self._sink: ByteSink | None = None

    def _open(self, sink: Any) -> None:
        self._sink = ByteSink(sink, self._compression)

    def _write_rows(self, batch: Batch, start: int, stop: int) -> None:
        assert self._sink is not None
        for piece in text_pieces(batch, start, stop):
            self._sink.write(bytes(piece))

    def _finish(self) -> None:
        assert self._sink is not None
        self._sink.close()

    def _discard(self) -> None:
        if self._sink is not None:
            self._sink.discard()


class _ParquetFiles(RollingFiles):
    """Tables in a layout of `read_table`. Row groups are larger than our batches are: Parquet likes them so."""

    def __init__(self, output: Output, prefix: str) -> None:
        options = output.plan.options
        super().__init__(output.target, prefix, ".parquet", options.max_records_per_file)
        self._view = ArrowView(output.layout, output.has_graph)
        self._compression = options.compression or "none"
        self._writer: Any = None
        self._group: RowGroup | None = None

    def _open(self, sink: Any) -> None:
        import pyarrow.parquet

        self._writer = pyarrow.parquet.ParquetWriter(sink, self._view.schema, compression=self._compression)
        self._group = RowGroup(self._writer)

    def _write_rows(self, batch: Batch, start: int, stop: int) -> None:
        assert self._group is not None
        for record_batch in self._view.record_batches([batch.slice(start, stop)]):
            self._group.add(record_batch)

    def _finish(self) -> None:
        assert self._group is not None
        self._group.write()
        self._writer.close()

    def _discard(self) -> None:
        self._writer.close()


def ready_batches(batches: Iterator[Batch], output: Output) -> Iterator[Batch]:
    """Batches as the files can hold them, sorted in runs if that is asked for."""
    batches = map(output.fitting, batches)
    options = output.plan.options
    if not options.sort:
        return batches
    from jellyframe.arrow.sorting import sorted_runs
    from jellyframe.arrow.terms import BatchMaker

    view = ArrowView("ntriples", output.has_graph)
    maker = BatchMaker(view.schema)
    return map(maker.make, sorted_runs(view.record_batches(batches), options.sort, options.sort_rows))
