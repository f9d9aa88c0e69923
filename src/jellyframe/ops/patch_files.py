"""The Jelly-Patch files that one task writes into a folder."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from jellyframe import formats
from jellyframe.arrow.operations import OP_COLUMN
from jellyframe.batch import Batch
from jellyframe.errors import OptionsError, TableError
from jellyframe.kernel.patch_fields import (
    PATCH_PUNCTUATION,
    PATCH_TRANSACTION_ABORT,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.ops.stream_files import StreamFileOptions, StreamFilePlan, StreamFiles
from jellyframe.patch.options import PatchOptionChanges, PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.patch.writer import PatchWriter, open_patch_writer
from jellyframe.storage.commit import Target
from jellyframe.storage.types import Sink


@dataclass(frozen=True, kw_only=True)
class PatchFileOptions(StreamFileOptions):
    """Options of files of patches. `stream` has only the stream options that were given.

    Rows with the same value in the column `group_by` become one patch. A file ends after `max_records_per_file` rows,
    but never inside a transaction or, if the stream has several patches, inside a patch.
    """

    stream: PatchOptionChanges = field(default_factory=PatchOptionChanges)

    def stream_options(self, *, has_graph: bool) -> PatchOptions:
        """Return the options of the streams, given whether the data has graphs."""
        kind = PatchStatementType.QUADS if has_graph else PatchStatementType.TRIPLES
        options = PatchOptions(statement_type=kind).replace(**self.stream)
        options.check_writable()
        return options


@dataclass(frozen=True)
class PatchFilePlan(StreamFilePlan):
    """Options of files of patches, checked against the columns of the data."""

    options: PatchFileOptions
    stream: PatchOptions
    layout: str
    columns: tuple[str, ...]
    type_option: ClassVar[str] = "statement_type"

    @classmethod
    def of(cls, options: PatchFileOptions, schema: pa.Schema) -> PatchFilePlan:
        if OP_COLUMN not in schema.names:
            raise TableError(f"there is no column {OP_COLUMN!r}, which has the operation of each row of a patch")
        layout, columns = options.term_columns(schema, "a patch", others=(OP_COLUMN,))
        options.require_group_column(schema)
        stream = options.stream_options(has_graph="g" in schema.names)
        if options.group_by is not None and stream.stream_type is PatchStreamType.FLAT:
            raise OptionsError("group_by makes several patches, and a stream of type FLAT is one patch")
        if options.group_by is None and stream.stream_type is PatchStreamType.FRAME:
            raise OptionsError(
                "stream_type FRAME has one patch in each frame: name the column that distinguishes them with group_by"
            )
        return cls(options, stream, layout, (OP_COLUMN, *columns))

    @property
    def has_graph(self) -> bool:
        return self.stream.has_graph

    @property
    def has_index(self) -> bool:
        """Whether files end with an index of their restart points."""
        if self.options.index is not None:
            return self.options.index
        return self.options.can_split and self.stream.stream_type is not PatchStreamType.FRAME

    def files(self, target: Target, prefix: str) -> PatchFiles:
        return PatchFiles(self, target, prefix)


class PatchFiles(StreamFiles[PatchWriter]):
    """Files of patches, written one after the other by one task."""

    def __init__(self, plan: PatchFilePlan, target: Target, prefix: str) -> None:
        super().__init__(target, prefix, formats.JELLY_PATCH, plan.options)
        self._plan = plan
        self._in_transaction = False
        # Whether the file may end here.
        self._may_end = True

    def write(self, batch: Batch) -> None:
        """Write the rows of a batch, to as many files as necessary."""
        if self._plan.options.max_records_per_file is None:
            super().write(batch)
            return
        ends = self._possible_ends(batch)
        start = 0
        while start < len(batch):
            self._ready()
            found = bisect_left(ends, start + max(self._rows_left, 1))
            stop = ends[found] if found < len(ends) else len(batch)
            self._write(batch, start, stop)
            self._may_end = stop in ends[found : found + 1]
            start = stop

    def _possible_ends(self, batch: Batch) -> list[int]:
        """Return the rows of a batch after which a file may end."""
        ends_at_marks = self._plan.stream.stream_type is PatchStreamType.PUNCTUATED
        ends: list[int] = []
        for row, op in enumerate(batch.operations.tolist(), 1):
            if op == PATCH_TRANSACTION_START:
                self._in_transaction = True
            elif op in (PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_ABORT):
                self._in_transaction = False
            if op == PATCH_PUNCTUATION or not (self._in_transaction or ends_at_marks):
                ends.append(row)
        return ends

    def _ready(self) -> None:
        if self._may_end or not self._is_open:
            super()._ready()

    def _end_group(self) -> None:
        if self._writer is not None:
            self._writer.end_patch()

    def _open_writer(self, sink: Sink) -> PatchWriter:
        options = self._plan.options
        return open_patch_writer(
            sink,
            self._plan.stream,
            frame_rows=options.frame_rows,
            frame_bytes=options.frame_bytes,
            compression=options.compression,
            restart_every=options.restart_every,
            index=self._plan.has_index,
        )
