"""Grouped streams: rows that follow each other and have the same value in a column make up one frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import METADATA_COLUMN
from jellyframe.errors import TableError


class GroupRows(NamedTuple):
    """Rows of one group in a record batch; one that is not new continues the last group of the batch before."""

    start: int
    stop: int
    is_new: bool
    metadata: dict[str, bytes] | None


class Groups:
    """Finds the groups in record batches that follow each other."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._has_last = False
        self._last: object = None
        self._seen: set[int] = set()

    def of(self, record_batch: pa.RecordBatch) -> Iterator[GroupRows]:
        """Return the groups of a record batch, which must have rows."""
        column = record_batch[self._column]
        metadata = record_batch[METADATA_COLUMN] if METADATA_COLUMN in record_batch.schema.names else None
        starts = [0, *changes(column)]
        for start, stop in zip(starts, [*starts[1:], len(column)], strict=True):
            value = column[start].as_py()
            is_new = not self._has_last or value != self._last
            if is_new:
                self._begin(value)
            entries = None if metadata is None or not is_new else metadata[start].as_py()
            yield GroupRows(start, stop, is_new, dict(entries) if entries else None)

    def _begin(self, value: object) -> None:
        self._has_last, self._last = True, value
        # Hashes take less memory than values, and two groups hardly ever have the same.
        mark = hash(repr(value))
        if mark in self._seen:
            name = self._column
            raise TableError(
                f"group_by: {name} = {value!r} occurs again after another group; sort the rows by group "
                f"with df.repartition({name!r}).sortWithinPartitions({name!r})"
            )
        self._seen.add(mark)


def changes(column: pa.Array) -> list[int]:
    """Return the rows whose value differs from that of the row before."""
    if pa.types.is_struct(column.type):
        leaves = [column.is_null(), *column.flatten()]
        return sorted({row for leaf in leaves for row in changes(leaf)})
    codes = pc.fill_null(column.dictionary_encode().indices, pa.scalar(-1, pa.int32()))
    differs = pc.not_equal(codes.slice(1), codes.slice(0, len(codes) - 1))
    return [row + 1 for row in pc.indices_nonzero(differs).to_pylist()]
