"""Write changes of graphs and stores to a patch, in transactions or one by one."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from jellyframe.errors import UsageError
from jellyframe.patch import (
    PatchRow,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
    row_batches,
    rows_of,
)
from jellyframe.patch.journal import Journal

if TYPE_CHECKING:
    from jellyframe.formats.patches import PatchOutput

_GraphT = TypeVar("_GraphT")
# Rows that become one batch in the journal.
_ROWS_AT_A_TIME = 1024


class Undo(Protocol):
    """An object in which changes can be undone."""

    def undo(self, row: PatchRow) -> None:
        """Undo a change."""


class Recorder:
    """Writes changes as rows: immediately, or in a transaction when it is committed.

    Args:
        writer: the writer of the patch
    """

    def __init__(self, writer: PatchOutput) -> None:
        self._writer = writer
        # The object in which changes are undone.
        self.target: Undo | None = None
        self._journal: Journal | None = None
        self._waiting: list[PatchRow] = []

    @property
    def has_graph(self) -> bool:
        """Whether statements of the patch have graphs."""
        return self._writer.options.has_graph

    def note(self, row: PatchRow) -> None:
        """Record a change that has been made. If the writer refuses it, it is undone."""
        if self._journal is None:
            try:
                self._writer.write([row])
            except BaseException:
                self._undo(row)
                raise
            return
        self._waiting.append(row)
        if len(self._waiting) >= _ROWS_AT_A_TIME:
            self._pass_on(self._journal)

    def note_all(self, rows: Iterator[PatchRow]) -> None:
        """Record changes that have been made. If the writer refuses one, it and all after it are undone."""
        for row in rows:
            try:
                self.note(row)
            except BaseException:
                for other in rows:
                    self._undo(other)
                raise

    def begin(self) -> None:
        """Start a transaction."""
        if self._journal is not None:
            raise UsageError("a transaction is open, and a recording has only one at a time; leave its block first")
        self._journal = Journal()

    def commit(self) -> None:
        """Write the transaction, if it has changes."""
        journal = self._open_journal()
        self._pass_on(journal)
        if journal.rows:
            self._writer.write([TransactionStart()])
            try:
                for batch in journal.batches():
                    self._writer.write_batch(batch.fitted(has_graph=self.has_graph))
            except BaseException:
                self._writer.write([TransactionAbort()])
                raise
            self._writer.write([TransactionCommit()])
        self._end(journal)

    def roll_back(self) -> None:
        """Undo the changes of the transaction, the last one first, and write nothing."""
        journal = self._open_journal()
        try:
            for row in reversed(self._waiting):
                self._undo(row)
            for batch in journal.reversed_batches():
                for row in rows_of(batch):
                    self._undo(row)
        finally:
            self._end(journal)

    def _undo(self, row: PatchRow) -> None:
        if self.target is not None:
            self.target.undo(row)

    def _open_journal(self) -> Journal:
        if self._journal is None:
            raise UsageError("no transaction is open")
        return self._journal

    def _pass_on(self, journal: Journal) -> None:
        for batch in row_batches(self._waiting, has_graph=True):
            journal.append(batch)
        self._waiting.clear()

    def _end(self, journal: Journal) -> None:
        self._waiting.clear()
        journal.close()
        self._journal = None


class Recording(Generic[_GraphT]):
    """A graph or store whose changes are recorded. As a context manager it is a transaction.

    When the block ends, its changes are written as a transaction. If it raises, or the writer refuses a row, they are
    undone, and the patch has no committed row of them. A recording can be entered again for the next transaction.
    Changes to `graph` outside of a block are written immediately, without a transaction. Calls that change nothing,
    such as adding a statement that exists, are not recorded.

    Attributes:
        graph: use this instead of the original graph or store; both have the same statements
    """

    def __init__(self, graph: _GraphT, recorder: Recorder, target: Undo) -> None:
        self.graph = graph
        self._recorder = recorder
        recorder.target = target

    def __enter__(self) -> _GraphT:
        self._recorder.begin()
        return self.graph

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            try:
                self._recorder.commit()
            except BaseException:
                self._recorder.roll_back()
                raise
        else:
            self._recorder.roll_back()
