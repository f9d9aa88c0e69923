"""Read patches after damage, so that a transaction that is partly lost has no effect.

Losses are found as in `jellyframe.stream.recovery`; in a text a loss is a line. Rows before a loss have already been
returned, so this module adds rows:

- A transaction that is partly lost ends with an abort.
- If bytes are lost in the middle of a patch, a punctuation mark ends that patch.
- After a loss it is unknown whether rows are in a transaction that started in the lost part. They are put into a
  separate transaction. It ends with a commit before a row that shows that they were in none (a start, a punctuation
  mark, the end of the input), and with an abort before a row that shows that they were in one (a commit, an abort) or
  before another loss. In a FRAME stream the end of the frame decides: no transaction spans frames, and losses are whole
  frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from functools import partial
from typing import Any, Final

from jellyframe.batch import Batch
from jellyframe.kernel.patch_fields import (
    PATCH_HEADER,
    PATCH_LOST,
    PATCH_LOST_ROW,
    PATCH_PUNCTUATION,
    PATCH_TRANSACTION_ABORT,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.options import Limits
from jellyframe.patch.batches import row_batches, rows_with
from jellyframe.patch.decoder import PatchStreamDecoder
from jellyframe.patch.groups import TRANSACTION_ENDS
from jellyframe.patch.options import PatchOptions, PatchStreamType
from jellyframe.patch.rows import PatchRow, Punctuation, TransactionAbort, TransactionCommit, TransactionStart
from jellyframe.stream.kinds import StreamKind
from jellyframe.stream.recovery import RecoveringBatches

# The rows that show whether rows are in a transaction, as bits.
_TELLING: Final = sum(
    1 << op
    for op in (
        PATCH_LOST,
        PATCH_LOST_ROW,
        PATCH_TRANSACTION_START,
        PATCH_TRANSACTION_COMMIT,
        PATCH_TRANSACTION_ABORT,
        PATCH_PUNCTUATION,
    )
)
_ROW_TAGS: Final = bytes(field << 3 | 2 for field in (*range(1, 9), *range(11, 16)))


def patch_streams(*, strict: bool) -> StreamKind:
    """Return how restart points of patch streams are recognised: their options begin with the statement type."""
    return StreamKind(b"\x08", _ROW_TAGS, (partial(_restarted_decoder, strict),))


def _restarted_decoder(strict: bool, limits: Limits) -> PatchStreamDecoder:
    return PatchStreamDecoder(limits=limits, strict=strict, self_contained=True)


class _Place(Enum):
    """The position of rows with respect to transactions."""

    OUTSIDE = auto()
    TRANSACTION = auto()
    # A transaction that is partly lost.
    BROKEN_TRANSACTION = auto()
    UNKNOWN = auto()
    # A transaction that was inserted, because it is unknown whether the rows are in one.
    OWN_TRANSACTION = auto()


class RowsAroundLosses:
    """Inserts the rows that are needed around lost parts of a stream, batch by batch."""

    def __init__(self) -> None:
        self._place = _Place.OUTSIDE
        self._is_patch_open = False
        self._has_graph = True
        # The frame number of inserted rows.
        self._frame = 0

    def of(self, batch: Batch) -> Iterator[Batch]:
        """Yield the rows of a batch, with the rows to insert between them."""
        self._has_graph = batch.has_graph
        self._frame = batch.first_frame
        # Rows from `start` have not been yielded yet.
        start = row = 0
        for telling in (*rows_with(batch, _TELLING), len(batch)):
            own_start = self._own_start(batch, row, telling)
            if own_start is not None:
                yield from _rows(batch, start, own_start)
                yield self._mark(TransactionStart())
                start = own_start
            row = telling
            if row == len(batch):
                break
            op = batch.operations[row]
            is_kept = self._is_kept(op)
            marks = self._marks_before(op)
            if marks or not is_kept:
                yield from _rows(batch, start, row)
                yield from marks
                start = row if is_kept else row + 1
            if op > PATCH_LOST_ROW:
                self._is_patch_open = op != PATCH_PUNCTUATION
            row += 1
        if start == 0:
            yield batch
        else:
            yield from _rows(batch, start, len(batch))

    def loss(self, stream_type: PatchStreamType | None) -> Iterator[Batch]:
        """Yield the rows to insert where bytes of a stream are lost."""
        yield from self._marks_before(PATCH_LOST)
        if self._is_patch_open and stream_type is PatchStreamType.PUNCTUATED:
            yield self._mark(Punctuation())
            self._is_patch_open = False
        if stream_type is PatchStreamType.FRAME:
            self._place = _Place.OUTSIDE

    def end(self) -> Iterator[Batch]:
        """Yield the rows to insert at the end."""
        if self._place is _Place.OWN_TRANSACTION:
            yield self._mark(TransactionCommit())
            self._place = _Place.OUTSIDE

    def _own_start(self, batch: Batch, start: int, stop: int) -> int | None:
        """Return the row before which a separate transaction has to start; None if there is none.

        The rows are statements, namespaces and headers. Headers can be outside of the transaction.
        """
        self._is_patch_open = self._is_patch_open or start < stop
        if self._place is not _Place.UNKNOWN:
            return None
        for row in range(start, stop):
            if batch.operations[row] != PATCH_HEADER:
                self._place = _Place.OWN_TRANSACTION
                return row
        return None

    def _is_kept(self, op: int) -> bool:
        """Return whether a row that starts or ends something is kept."""
        if op in TRANSACTION_ENDS:
            return self._place in (_Place.OUTSIDE, _Place.TRANSACTION)
        return op not in (PATCH_LOST, PATCH_LOST_ROW)

    def _marks_before(self, op: int) -> list[Batch]:
        """Return the rows to insert before a row that starts or ends something, or in place of it."""
        place = self._place
        if op == PATCH_LOST_ROW:
            if place is _Place.TRANSACTION:
                self._place = _Place.BROKEN_TRANSACTION
            return []
        is_own, is_broken = place is _Place.OWN_TRANSACTION, place is _Place.BROKEN_TRANSACTION
        if op == PATCH_LOST:
            self._place = _Place.UNKNOWN
            ends = is_own or is_broken or place is _Place.TRANSACTION
            return [self._mark(TransactionAbort())] if ends else []
        if op in TRANSACTION_ENDS:
            self._place = _Place.OUTSIDE
            return [self._mark(TransactionAbort())] if is_own or is_broken else []
        self._place = _Place.TRANSACTION if op == PATCH_TRANSACTION_START else _Place.OUTSIDE
        if is_own:
            return [self._mark(TransactionCommit())]
        return [self._mark(TransactionAbort())] if is_broken else []

    def _mark(self, row: PatchRow) -> Batch:
        (batch,) = row_batches([row], has_graph=self._has_graph)
        return batch.replace(first_frame=self._frame)


def _rows(batch: Batch, start: int, stop: int) -> Iterator[Batch]:
    if start < stop:
        yield batch.slice(start, stop)


class RecoveringPatches(RecoveringBatches[PatchOptions]):
    """The batches of a source of patches, without the parts that cannot be read."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._rows = RowsAroundLosses()

    def _release(self, batch: Batch) -> None:
        self._ready.extend(self._rows.of(batch))

    def _on_loss(self) -> None:
        options = self.options
        self._ready.extend(self._rows.loss(None if options is None else options.stream_type))

    def _on_end(self) -> None:
        super()._on_end()
        self._ready.extend(self._rows.end())
