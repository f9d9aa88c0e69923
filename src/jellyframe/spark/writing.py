"""Writing: each task makes streams of its own, which appear when all tasks are done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from jellyframe.arrow.grouping import Groups
from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN
from jellyframe.arrow.sorting import sorted_runs
from jellyframe.arrow.terms import BatchMaker, find_layout
from jellyframe.batch import Batch
from jellyframe.errors import NamedGraphError, OptionsError, TableError
from jellyframe.ops.rows import FILE_COLUMN
from jellyframe.options import VERSION_1_1, StreamOptions
from jellyframe.spark.options import WriteOptions
from jellyframe.spark.schema import exact_arrow_schema, layout_columns
from jellyframe.storage.commit import APPEND, OVERWRITE, Target
from jellyframe.storage.rolling import RollingFiles
from jellyframe.stream.writer import JellyWriter, open_writer

_SUFFIXES = {None: ".jelly", "gzip": ".jelly.gz", "zstd": ".jelly.zst"}
# Columns that reads can ask for: what was read with them can be written again.
_READ_COLUMNS = (FRAME_COLUMN, FILE_COLUMN, METADATA_COLUMN)


@dataclass
class JellyCommitMessage(WriterCommitMessage):
    """The files that a task has made, in its staging folder."""

    files: tuple[str, ...]


class JellyBatchWriter(DataSourceArrowWriter):
    """Writes a DataFrame into a folder."""

    def __init__(self, options: WriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self.plan = WritePlan.of(options, exact_arrow_schema(schema))
        self.overwrite = overwrite
        self.target = Target.of(options.path, uuid4().hex)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> JellyCommitMessage:
        context = TaskContext.get()
        assert context is not None
        folder = self.target.attempt_folder(context.taskAttemptId())
        prefix = f"{folder}/part-{context.partitionId():05d}-{self.target.job}"
        return JellyCommitMessage(write_files(iterator, self.plan, self.target, prefix))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        files = [file for message in messages if isinstance(message, JellyCommitMessage) for file in message.files]
        self.target.publish(files, OVERWRITE if self.overwrite else APPEND)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self.target.discard()


@dataclass(frozen=True)
class WritePlan:
    """What was asked for, held against the columns that there are."""

    options: WriteOptions
    stream: StreamOptions
    layout: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, options: WriteOptions, schema: pa.Schema) -> WritePlan:
        layout = find_layout(schema, options.layout)
        columns = tuple(name for name in layout_columns(layout) if name in schema.names)
        for name in schema.names:
            if name not in (*columns, *_READ_COLUMNS, options.group_by):
                raise TableError(_no_place(name, layout))
        if options.group_by is not None and options.group_by not in schema.names:
            raise OptionsError(
                f"group_by: there is no column {options.group_by!r}; there are {', '.join(schema.names)}"
            )
        if options.group_by is not None and options.sort:
            raise OptionsError("sort does not go with group_by; use df.sortWithinPartitions(group, …)")
        for name in options.sort:
            if name not in schema.names and name != "g":
                raise OptionsError(f"sort: there is no column {name!r}")
        if options.group_by is not None and options.index:
            raise OptionsError("index is a frame with no statements, which in a grouped stream is an empty graph")
        stream = options.stream_options(has_graph="g" in schema.names)
        if stream.logical_type.is_grouped is not (options.group_by is not None):
            raise OptionsError(
                f"logical_type {stream.logical_type.name} has one graph or dataset in each frame: "
                "name the column that tells them apart with the option group_by"
                if options.group_by is None
                else f"group_by makes grouped streams; logical_type {stream.logical_type.name} is not grouped"
            )
        return cls(options, stream, layout, columns)

    @property
    def has_index(self) -> bool:
        """An index lets a later read be planned in no time, but needs version 1.1 of the format."""
        options = self.options
        if options.index is not None:
            return options.index
        can_split = options.compression is None and options.restart_every is not None
        return can_split and options.group_by is None and self.stream.version in (0, VERSION_1_1)


def _no_place(column: str, layout: str) -> str:
    if column in layout_columns("flat"):
        return (
            f"column {column!r} belongs to the layout flat, and without o_kind the columns are in the layout {layout}"
        )
    return f"column {column!r} has no place in a Jelly stream: drop it, or rename it"


def write_files(
    record_batches: Iterator[pa.RecordBatch], plan: WritePlan, target: Target, prefix: str
) -> tuple[str, ...]:
    """Write one task's statements to files whose names begin with `prefix`. With no statements there is no file."""
    options = plan.options
    with JellyFiles(plan, target, prefix) as files:
        if options.sort:
            record_batches = sorted_runs(record_batches, options.sort, options.sort_rows)
        groups = Groups(options.group_by) if options.group_by else None
        maker: BatchMaker | None = None
        for record_batch in record_batches:
            if not len(record_batch):
                continue
            statements = record_batch.select(list(plan.columns))
            maker = maker or BatchMaker(statements.schema, plan.layout)
            batch = maker.make(statements)
            if not plan.stream.has_graph and batch.has_graph:
                batch = without_graphs(batch)
            if groups is None:
                files.write(batch)
            else:
                for start, stop, is_new, metadata in groups.of(record_batch):
                    files.write_group(batch, start, stop, is_new, metadata)
    return tuple(files.paths)


def without_graphs(batch: Batch) -> Batch:
    """Return triples for a stream of triples; quads will do if they are all in the default graph."""
    try:
        return batch.without_graph()
    except NamedGraphError as error:
        raise NamedGraphError(
            "the column 'g' names graphs, and physical_type is TRIPLES; drop the column, or write QUADS"
        ) from error


class JellyFiles(RollingFiles):
    """The streams of one task."""

    def __init__(self, plan: WritePlan, target: Target, prefix: str) -> None:
        options = plan.options
        super().__init__(target, prefix, _SUFFIXES[options.compression], options.max_records_per_file)
        self._plan = plan
        self._writer: JellyWriter | None = None
        self._group_metadata: dict[str, bytes] | None = None

    def write_group(self, batch: Batch, start: int, stop: int, is_new: bool, metadata: dict[str, bytes] | None) -> None:
        """Write rows of one group. A group is never cut, so files are ended between groups only."""
        if is_new:
            self._end_group()
            self._group_metadata = metadata
            self._ready()
        self._write(batch, start, stop)

    def _end_group(self) -> None:
        if self._writer is not None:
            self._writer.end_frame(self._group_metadata)

    def _open(self, sink: Any) -> None:
        plan, options = self._plan, self._plan.options
        stream = plan.stream
        if options.group_by is not None and stream.version == 0:
            # Metadata may come with any group, when it is too late to raise the version.
            stream = stream.replace(version=VERSION_1_1)
        self._writer = open_writer(
            sink,
            stream,
            frame_rows=options.frame_rows,
            frame_bytes=options.frame_bytes,
            compression=options.compression,
            restart_every=options.restart_every,
            index=plan.has_index,
        )

    def _write_rows(self, batch: Batch, start: int, stop: int) -> None:
        assert self._writer is not None
        self._writer.write_batch(batch, start, stop)

    def _finish(self) -> None:
        assert self._writer is not None
        self._writer.close()
        self._writer = None

    def _discard(self) -> None:
        if self._writer is not None:
            self._writer.discard()

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None and self._plan.options.group_by is not None:
            self._end_group()
        super().__exit__(kind, *error)
