"""The committed rows of a patch: those outside of transactions, and those in committed transactions."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.kernel.patch_fields import (
    PATCH_ADD,
    PATCH_DELETE,
    PATCH_HEADER,
    PATCH_NAMESPACE_ADD,
    PATCH_NAMESPACE_DELETE,
    PATCH_PUNCTUATION,
    PATCH_TRANSACTION_ABORT,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.ops.patches.core import Stream
from jellyframe.patch.batches import rows_with
from jellyframe.storage.closing import Closeable


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


STATEMENTS: Final = _bits(PATCH_ADD, PATCH_DELETE)
NAMESPACES: Final = _bits(PATCH_NAMESPACE_ADD, PATCH_NAMESPACE_DELETE)
HEADERS: Final = _bits(PATCH_HEADER)
PUNCTUATION: Final = _bits(PATCH_PUNCTUATION)
MARKS: Final = _bits(PATCH_TRANSACTION_START, PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_ABORT)
ALL_ROWS: Final = STATEMENTS | NAMESPACES | HEADERS | PUNCTUATION | MARKS

_RANGE: Final = struct.Struct("<QQ")
_IN_MEMORY: Final = 1 << 20


class CommittedRows(Closeable):
    """The committed rows of a patch. One pass finds the ranges of other rows, kept in memory or in a file.

    A transaction that is not finished when the stream ends, or when another one starts, is treated as aborted. Headers
    always count.

    Args:
        patch: the stream of a patch, or of several
    """

    def __init__(self, patch: Stream) -> None:
        self._patch = patch
        self._ranges = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by close
        self.committed = self.aborted = self.unfinished = 0
        try:
            self._note_ranges(patch)
        except BaseException:
            self.close()
            raise

    def _note_ranges(self, patch: Stream) -> None:
        start: int | None = None
        before = 0
        for batch in patch():
            for row in rows_with(batch, MARKS):
                op = batch.operations[row]
                if op != PATCH_TRANSACTION_COMMIT and start is not None:
                    self._ranges.write(_RANGE.pack(start, before + row))
                if op == PATCH_TRANSACTION_START:
                    self.unfinished += start is not None
                    start = before + row
                else:
                    self.committed += op == PATCH_TRANSACTION_COMMIT
                    self.aborted += op == PATCH_TRANSACTION_ABORT
                    start = None
            before += len(batch)
        if start is not None:
            self.unfinished += 1
            self._ranges.write(_RANGE.pack(start, before))

    def rows(self, operations: int) -> Iterator[Batch]:
        """Yield the committed rows with one of some `operations`, which are bits."""
        ranges = self._each_range()
        start, stop = next(ranges)
        before = 0
        for batch in self._patch():
            mask = mask_of_operations(batch.operations, operations)
            end = before + len(batch)
            while start < end:
                first, last = max(start, before) - before, min(stop, end) - before
                if mask is not None:
                    kept = mask_of_operations(batch.operations[first:last], operations & HEADERS)
                    mask[first:last] = bytes(last - first) if kept is None else kept
                if stop > end:
                    break
                start, stop = next(ranges)
            before = end
            if mask is not None and mask.find(1) >= 0:
                yield batch.filter(memoryview(mask)[: len(batch)])

    def changes(self) -> Iterator[Batch]:
        """Yield the committed adds and deletes."""
        return self.rows(STATEMENTS)

    def _each_range(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of rows that are not committed, followed by one beyond all rows."""
        at = 0
        while True:
            # Several iterators may read the ranges.
            self._ranges.seek(at)
            data = self._ranges.read(_RANGE.size)
            at += len(data)
            start, stop = _RANGE.unpack(data) if data else (1 << 63, 1 << 63)
            yield start, stop

    def close(self) -> None:
        """Close the file."""
        self._ranges.close()
