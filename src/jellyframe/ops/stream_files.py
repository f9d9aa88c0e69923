"""Write Arrow record batches as files of streams in a folder, in one task.

    plan = FilePlan.of(JellyFileOptions(sort=("s",)), table.schema)
    target = Target.of("people", uuid4().hex)
    files = write_files(table.to_batches(), plan, target, target.file_prefix(task=0, attempt=0))
    target.publish(files, "append")

`jelly_files` has the plan for streams of statements, `patch_files` the one for patches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from jellyframe.arrow.grouping import Groups
from jellyframe.arrow.layouts import FRAME_COLUMN, METADATA_COLUMN
from jellyframe.arrow.operations import OP_COLUMN
from jellyframe.arrow.sorting import sorted_runs
from jellyframe.arrow.tables import arrow_schema
from jellyframe.arrow.terms import BatchMaker, find_layout
from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS, DEFAULT_RESTART_EVERY
from jellyframe.errors import NamedGraphError, OptionsError, TableError
from jellyframe.formats import Format
from jellyframe.ops.rows import FILE_COLUMN
from jellyframe.storage.commit import Target
from jellyframe.storage.names import compression_suffix
from jellyframe.storage.rolling import RollingFiles
from jellyframe.stream.writing import AnyWriter

if TYPE_CHECKING:
    from jellyframe.storage.types import Compression, Sink

_WriterT = TypeVar("_WriterT", bound=AnyWriter[Any])
# Optional columns of a read. They are ignored when rows are written again.
READ_COLUMNS = (FRAME_COLUMN, FILE_COLUMN, METADATA_COLUMN)


@dataclass(frozen=True, kw_only=True)
class StreamFileOptions:
    """Options of files of streams.

    `layout` is that of the columns, by default inferred from their names and types. Consecutive rows with the same
    value in the column `group_by` are a group. `sort` names columns by which runs of `sort_rows` rows
    are sorted. The others are those of `open_writer`; `index=None` writes an index if it is useful.
    """

    layout: str | None = None
    frame_rows: int | None = DEFAULT_FRAME_ROWS
    frame_bytes: int | None = DEFAULT_FRAME_BYTES
    restart_every: int | None = DEFAULT_RESTART_EVERY
    index: bool | None = None
    compression: Compression | None = None
    sort: tuple[str, ...] = ()
    sort_rows: int = 500_000
    group_by: str | None = None
    max_records_per_file: int | None = None

    def term_columns(
        self, schema: pa.Schema, stream: str, *, others: tuple[str, ...] = ()
    ) -> tuple[str, tuple[str, ...]]:
        """Return the layout of a schema and the names of its columns with terms.

        Raises TableError if there are other columns than those, `others`, and the optional columns of a read. `stream`
        names the kind of stream in the error.
        """
        layout = find_layout(schema, self.layout)
        columns = tuple(name for name in arrow_schema(layout, True).names if name in schema.names)
        for name in schema.names:
            if name not in (*columns, *others, *READ_COLUMNS, self.group_by):
                raise TableError(_misplaced(name, layout, stream))
        return layout, columns

    def require_group_column(self, schema: pa.Schema) -> None:
        """Raise if the column `group_by` does not exist."""
        if self.group_by is not None and self.group_by not in schema.names:
            raise OptionsError(f"group_by: there is no column {self.group_by!r}; there are {', '.join(schema.names)}")

    @property
    def can_split(self) -> bool:
        """Whether files can have restart points."""
        return self.compression is None and self.restart_every is not None


class StreamFiles(RollingFiles, Generic[_WriterT]):
    """Files of streams, written one after the other by one task."""

    def __init__(self, target: Target, prefix: str, found: Format, options: StreamFileOptions) -> None:
        suffix = f".{found.extensions[0]}{compression_suffix(options.compression)}"
        super().__init__(target, prefix, suffix, options.max_records_per_file)
        self._is_grouped = options.group_by is not None
        self._group_metadata: dict[str, bytes] | None = None
        self._writer: _WriterT | None = None

    def write_group(self, batch: Batch, start: int, stop: int, is_new: bool, metadata: dict[str, bytes] | None) -> None:
        """Write rows of one group. A group is never cut, so files end only between groups."""
        if is_new:
            self._end_group()
            self._group_metadata = metadata
            self._ready()
        self._write(batch, start, stop)

    def close(self) -> None:
        if self._is_grouped:
            self._end_group()
        super().close()

    @abstractmethod
    def _end_group(self) -> None:
        """End the current group, if there is one."""

    @abstractmethod
    def _open_writer(self, sink: Sink) -> _WriterT:
        """Return a writer of a stream to a new file."""

    def _open(self, sink: Any) -> None:
        self._writer = self._open_writer(sink)

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


def _misplaced(column: str, layout: str, stream: str) -> str:
    if column in arrow_schema("flat").names:
        return (
            f"column {column!r} belongs to the layout flat, and without o_kind the columns are in the layout {layout}"
        )
    return f"column {column!r} has no place in {stream}: drop it, or rename it"


class StreamFilePlan(ABC):
    """File options, checked against the columns of the data. `columns` are the columns of the terms.

    `type_option` is the option that decides whether the streams have graphs.
    """

    type_option: ClassVar[str]

    options: StreamFileOptions
    layout: str
    columns: tuple[str, ...]

    @property
    @abstractmethod
    def has_graph(self) -> bool:
        """Whether the streams can hold named graphs."""

    def fitting(self, batch: Batch) -> Batch:
        """Return a batch in a form that the streams can hold. Raises NamedGraphError if graphs would be lost."""
        if self.has_graph:
            return batch
        try:
            return batch.without_graph()
        except NamedGraphError as error:
            raise NamedGraphError(
                f"the column 'g' names graphs, and {self.type_option} is TRIPLES; drop the column, or write QUADS"
            ) from error

    @abstractmethod
    def files(self, target: Target, prefix: str) -> StreamFiles[Any]:
        """Return the files of one task, whose names begin with `prefix`."""


def write_files(
    record_batches: Iterable[pa.RecordBatch], plan: StreamFilePlan, target: Target, prefix: str
) -> tuple[str, ...]:
    """Write one task's rows to files whose names begin with `prefix`. Without rows there is no file."""
    options = plan.options
    with plan.files(target, prefix) as files:
        if options.sort:
            record_batches = sorted_runs(iter(record_batches), options.sort, options.sort_rows)
        groups = Groups(options.group_by) if options.group_by else None
        maker: BatchMaker | None = None
        for record_batch in record_batches:
            if not len(record_batch):
                continue
            rows = record_batch.select(list(plan.columns))
            maker = maker or BatchMaker(rows.schema, plan.layout, is_patch=OP_COLUMN in plan.columns)
            batch = plan.fitting(maker.make(rows))
            if groups is None:
                files.write(batch)
            else:
                for start, stop, is_new, metadata in groups.of(record_batch):
                    files.write_group(batch, start, stop, is_new, metadata)
    return tuple(files.paths)
