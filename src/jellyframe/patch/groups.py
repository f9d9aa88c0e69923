"""The patches and the transactions of a stream, read as they are iterated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from jellyframe.batch import Batch
from jellyframe.errors import UsageError
from jellyframe.kernel.patch_fields import (
    PATCH_HEADER,
    PATCH_PUNCTUATION,
    PATCH_TRANSACTION_ABORT,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.patch.batches import rows_of, rows_with
from jellyframe.patch.options import PatchStreamType
from jellyframe.patch.rows import Header, HeaderValue, PatchRow

TRANSACTION_ENDS: Final = (PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_ABORT)


class Part(NamedTuple):
    """Rows of a batch that are part of a group, whether the group ends with them, and the row that ends it."""

    batch: Batch
    is_end: bool
    end_op: int | None = None


Parts: TypeAlias = Iterator[Part]


class RowGroup:
    """Consecutive rows of a stream, which can be iterated once and are read then.

    Going to the next group skips the remaining rows of this one; reading them after that is an error.

    Args:
        parts: the batches that hold the rows, up to the end of the group
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._waiting: Part | None = None
        self._end: Part | None = None
        self._is_passed = False

    @property
    def is_complete(self) -> bool:
        """Whether the end of the group has been read; false if the stream ends before it."""
        return self._end is not None and self._waiting is None

    def batches(self) -> Iterator[Batch]:
        """Return the rows that have not been read yet, in batches with the column `op`."""
        while (part := self._next_part()) is not None:
            if len(part.batch):
                yield part.batch

    def rows(self) -> Iterator[PatchRow]:
        """Return the rows that have not been read yet."""
        for batch in self.batches():
            yield from rows_of(batch)

    def __iter__(self) -> Iterator[PatchRow]:
        return self.rows()

    def pass_over(self) -> None:
        """Skip to the end of the group."""
        has_rows = False
        while (part := self._next_part()) is not None:
            has_rows = has_rows or len(part.batch) > 0
        self._is_passed = has_rows

    def _next_part(self) -> Part | None:
        if self._is_passed:
            raise UsageError("the rows of this part of the stream have been skipped; read them before the next part")
        part, self._waiting = self._waiting, None
        if part is not None:
            return part
        if self._end is not None:
            return None
        part = next(self._parts, None)
        if part is not None and part.is_end:
            self._end = part
        return part

    def _peek(self) -> Part | None:
        """Return the next part that has rows, and keep it."""
        while True:
            part = self._next_part()
            if part is None or len(part.batch):
                self._waiting = part
                return part


class Patch(RowGroup):
    """One patch of a stream: an iterator over its rows, which can be read once.

    Args:
        parts: the batches that hold the rows, up to the end of the patch
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._headers: dict[str, HeaderValue] | None = None

    @property
    def headers(self) -> dict[str, HeaderValue]:
        """The headers at the start of the patch, which are read if necessary; the rows include them too."""
        if self._headers is None:
            self._headers = {}
            part = self._peek()
            if part is not None and part.batch.op is not None:
                ops = part.batch.op.tolist()
                count = next((row for row, op in enumerate(ops) if op != PATCH_HEADER), len(ops))
                for row in rows_of(part.batch, 0, count):
                    assert isinstance(row, Header)
                    self._headers[row.key] = row.value
        return self._headers


class Transaction(RowGroup):
    """The rows of a transaction, without those that start and end it; or rows outside of transactions.

    Args:
        parts: the batches that hold the rows, up to the end of the transaction
        is_explicit: whether a row starts the transaction; false for rows outside of transactions
    """

    def __init__(self, parts: Parts, *, is_explicit: bool) -> None:
        super().__init__(parts)
        self.is_explicit = is_explicit

    @property
    def is_committed(self) -> bool | None:
        """Whether the transaction was committed. None if it has no end, or has not been read to its end."""
        if self._end is None or not self.is_complete:
            return None
        return not self.is_explicit or self._end.end_op == PATCH_TRANSACTION_COMMIT


def patches_of(batches: Iterator[Batch], stream_type: PatchStreamType) -> Iterator[Patch]:
    """Yield the patches of a stream of this type."""
    if stream_type is PatchStreamType.FLAT:
        yield Patch(_whole_stream(batches))
        return
    parts = _frame_parts(batches) if stream_type is PatchStreamType.FRAME else _punctuated_parts(batches)
    while True:
        patch = Patch(parts)
        # A patch of a FRAME stream may be empty; of a PUNCTUATED one only if a mark ends it.
        part = patch._next_part()
        if part is None:
            return
        patch._waiting = part
        yield patch
        patch.pass_over()


def transactions_of(batches: Iterator[Batch]) -> Iterator[Transaction]:
    """Yield the transactions of a stream, and the groups of rows between them."""
    cuts = _TransactionCuts(batches)
    while cuts.advance():
        transaction = Transaction(cuts.parts(), is_explicit=cuts.is_inside)
        yield transaction
        transaction.pass_over()


def _whole_stream(batches: Iterator[Batch]) -> Parts:
    for batch in batches:
        yield Part(batch, False)
    yield Part(Batch.from_statements(()), True)


def _frame_parts(batches: Iterator[Batch]) -> Parts:
    for batch in batches:
        for span in batch.frame_spans():
            yield Part(_rows(batch, span.start, span.stop), span.is_complete)


def _punctuated_parts(batches: Iterator[Batch]) -> Parts:
    for batch in batches:
        start = 0
        for row in rows_with(batch, 1 << PATCH_PUNCTUATION):
            yield Part(_rows(batch, start, row), True)
            start = row + 1
        if start < len(batch):
            yield Part(batch.slice(start), False)


def _rows(batch: Batch, start: int, stop: int) -> Batch:
    return batch.slice(start, stop) if stop > start else batch.take(())


class _TransactionCuts:
    """The batches of a stream, cut where transactions start and end."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._batch: Batch | None = None
        self._ops: list[int] = []
        self._row = 0
        self.is_inside = False

    def advance(self) -> bool:
        """Move to the first row of the next group; false at the end of the stream."""
        self.is_inside = False
        if not self._has_row():
            return False
        if self._ops[self._row] == PATCH_TRANSACTION_START:
            self.is_inside = True
            self._row += 1
        return True

    def parts(self) -> Parts:
        """Yield the rows up to the end of the group, which has no end row if another start ends it."""
        while self._has_row():
            batch, start = self._batch, self._row
            assert batch is not None
            for row in range(start, len(self._ops)):
                op = self._ops[row]
                if self.is_inside and op in TRANSACTION_ENDS:
                    self._row = row + 1
                    yield Part(_rows(batch, start, row), True, op)
                    return
                if op == PATCH_TRANSACTION_START:
                    self._row = row
                    yield Part(_rows(batch, start, row), not self.is_inside)
                    return
            self._row = len(self._ops)
            yield Part(batch.slice(start), False)
        if not self.is_inside:
            yield Part(Batch.from_statements(()), True)

    def _has_row(self) -> bool:
        while self._batch is None or self._row >= len(self._ops):
            batch = next(self._batches, None)
            if batch is None:
                return False
            self._batch, self._ops, self._row = batch, batch.operations.tolist(), 0
        return True
