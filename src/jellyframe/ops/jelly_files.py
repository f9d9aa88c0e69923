"""Arrow record batches as Jelly files in a folder: what one task writes.

plan = FilePlan.of(JellyFileOptions(sort=("s",)), table.schema)
target = Target.of("people", uuid4().hex)
files = write_files(table.to_batches(), plan, target, target.file_prefix(task=0, attempt=0))
target.publish(files, "append")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow.grouping import Groups
from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN
from jellyframe.arrow.sorting import sorted_runs
from jellyframe.arrow.tables import arrow_schema
from jellyframe.arrow.terms import BatchMaker, find_layout
from jellyframe.batch import Batch
from jellyframe.errors import NamedGraphError, OptionsError, TableError
from jellyframe.ops.rows import FILE_COLUMN
from jellyframe.options import VERSION_1_1, LogicalType, PhysicalType, StreamOptionChanges, StreamOptions
from jellyframe.storage.commit import Target
from jellyframe.storage.rolling import RollingFiles
from jellyframe.stream.encoding import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS, DEFAULT_RESTART_EVERY
from jellyframe.stream.writer import JellyWriter, open_writer

if TYPE_CHECKING:
    from jellyframe.storage.types import Compression

_SUFFIXES = {None: ".jelly", "gzip": ".jelly.gz", "zstd": ".jelly.zst"}
# Columns that reads can ask for: what was read with them can be written again.
_READ_COLUMNS = (FRAME_COLUMN, FILE_COLUMN, METADATA_COLUMN)


@dataclass(frozen=True, kw_only=True)
class JellyFileOptions:
    """How Jelly files are written.

    `layout` is that of the columns, by default told by their names and types. `stream` has the options of streams that
    were named, and no others. `sort` names columns by which runs of `sort_rows` rows are sorted. Rows with the same
    value in the column `group_by`, which have to follow each other, become one frame of a grouped stream. The others
    are those of `open_writer`; `index=None` writes an index where it is of use.
    """

    layout: str | None = None
    stream: StreamOptionChanges = field(default_factory=StreamOptionChanges)
    frame_rows: int | None = DEFAULT_FRAME_ROWS
    frame_bytes: int | None = DEFAULT_FRAME_BYTES
    restart_every: int | None = DEFAULT_RESTART_EVERY
    index: bool | None = None
    compression: Compression | None = None
    sort: tuple[str, ...] = ()
    sort_rows: int = 500_000
    group_by: str | None = None
    max_records_per_file: int | None = None

    def stream_options(self, *, has_graph: bool) -> StreamOptions:
        """Return the options of the streams, given what kind of statements the data has."""
        physical = self.stream.get("physical_type")
        logical = self.stream.get("logical_type", LogicalType.UNSPECIFIED)
        if physical is not None:
            has_graph = physical is not PhysicalType.TRIPLES
        elif logical is not LogicalType.UNSPECIFIED:
            has_graph = logical.base not in (LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS)
        stream = StreamOptions().resolved(has_graph=has_graph)
        if self.group_by is not None:
            stream = stream.replace(logical_type=LogicalType.DATASETS if has_graph else LogicalType.GRAPHS)
        stream = stream.replace(**self.stream)
        stream.check()
        return stream


@dataclass(frozen=True)
class FilePlan:
    """File options, checked against the columns that there are."""

    options: JellyFileOptions
    stream: StreamOptions
    layout: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, options: JellyFileOptions, schema: pa.Schema) -> FilePlan:
        layout = find_layout(schema, options.layout)
        columns = tuple(name for name in arrow_schema(layout, True).names if name in schema.names)
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
    if column in arrow_schema("flat").names:
        return (
            f"column {column!r} belongs to the layout flat, and without o_kind the columns are in the layout {layout}"
        )
    return f"column {column!r} has no place in a Jelly stream: drop it, or rename it"


def write_files(
    record_batches: Iterable[pa.RecordBatch], plan: FilePlan, target: Target, prefix: str
) -> tuple[str, ...]:
    """Write one task's statements to files whose names begin with `prefix`. With no statements there is no file."""
    options = plan.options
    with JellyFiles(plan, target, prefix) as files:
        if options.sort:
            record_batches = sorted_runs(iter(record_batches), options.sort, options.sort_rows)
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
    """Jelly files, written one after the other by one task."""

    def __init__(self, plan: FilePlan, target: Target, prefix: str) -> None:
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
