"""Apply patches to graphs, stores and sets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, MutableSet
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, cast

from jellyframe.batch import Batch
from jellyframe.formats.patches import open_patch_input
from jellyframe.integrations.patch_targets import StatementTarget, target_of
from jellyframe.kernel.patch_fields import PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_START
from jellyframe.ops.patches.committed import MARKS
from jellyframe.patch import Add, Delete, NamespaceAdd, NamespaceDelete, PatchReader, PatchRow, row_batches, rows_of
from jellyframe.patch.batches import rows_with
from jellyframe.patch.journal import Journal

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

    from jellyframe.integrations.patch_targets import AddsAndRemoves
    from jellyframe.storage.types import Source
    from jellyframe.terms import Quad, Triple


class AppliedRows(NamedTuple):
    """The result of `apply_patch`.

    Attributes:
        added: adds of statements that were applied, including those of existing statements
        deleted: deletes of statements that were applied
        committed: transactions that were applied
        left_out: transactions that were aborted or not finished, and not applied
    """

    added: int
    deleted: int
    committed: int
    left_out: int


def apply_patch(
    patch: Source | PatchReader | Iterable[PatchRow],
    target: rdflib.Graph | pyoxigraph.Store | MutableSet[Quad] | MutableSet[Triple] | AddsAndRemoves,
    *,
    strict: bool = True,
) -> AppliedRows:
    """Apply a patch, row by row, to a graph or dataset of rdflib, a store of pyoxigraph, a set, or a similar object.

    Rows of a transaction are collected, on disk if they are many, and applied when it is committed. A transaction that
    is aborted, or not finished when the patch ends or cannot be read further, has no effect. All terms are checked
    before the first one changes the target. Rows outside of transactions are applied as they are read.

    Sets, and objects with `add` and `remove`, get statements as in the stream: triples or quads. rdflib keeps
    namespaces, but cannot remove them. Graphs of rdflib other than datasets take statements of the default graph only.

    Args:
        patch: a source (path, bytes, binary file object), a reader, or rows
        target: the object to change
        strict: whether transactions out of turn, or an unfinished one, are errors

    Raises:
        TypeError: if the target is none of these
        JellyError: if the patch cannot be read, or a term or graph does not fit into the target
    """
    opened = target_of(target)
    with ExitStack() as stack:
        batches: Iterator[Batch]
        if isinstance(patch, PatchReader):
            batches = patch.batches()
        elif _is_source(patch):
            batches = stack.enter_context(open_patch_input(cast("Source", patch), strict=strict)).batches()
        else:
            batches = row_batches(cast("Iterable[PatchRow]", patch), has_graph=True)
        return _Applying(opened, stack.enter_context(Journal())).run(batches)


def _is_source(patch: object) -> bool:
    """Return whether a patch is a source to open: a path, bytes or a file object."""
    return isinstance(patch, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(patch, "read")


class _Applying:
    """Applies rows, and collects those of the open transaction."""

    def __init__(self, target: StatementTarget, held: Journal) -> None:
        self._target = target
        self._held = held
        self._is_inside = False
        self._added = self._deleted = self._committed = self._left_out = 0

    def run(self, batches: Iterator[Batch]) -> AppliedRows:
        for batch in batches:
            start = 0
            for row in rows_with(batch, MARKS):
                self._take(batch, start, row)
                start = row + 1
                self._mark(batch.operations[row])
            self._take(batch, start, len(batch))
        self._left_out += self._is_inside
        return AppliedRows(self._added, self._deleted, self._committed, self._left_out)

    def _take(self, batch: Batch, start: int, stop: int) -> None:
        if stop <= start:
            return
        if self._is_inside:
            self._held.append(batch.slice(start, stop))
        else:
            self._apply(rows_of(batch, start, stop))

    def _mark(self, op: int) -> None:
        if self._is_inside:
            if op == PATCH_TRANSACTION_COMMIT:
                for batch in self._held.batches():
                    for row in rows_of(batch):
                        if isinstance(row, Add | Delete):
                            self._target.check(row.statement)
                for batch in self._held.batches():
                    self._apply(rows_of(batch))
                self._committed += 1
            else:
                self._left_out += 1
        self._held.clear()
        self._is_inside = op == PATCH_TRANSACTION_START

    def _apply(self, rows: Iterator[PatchRow]) -> None:
        for row in rows:
            match row:
                case Add():
                    self._target.add(row.statement)
                    self._added += 1
                case Delete():
                    self._target.remove(row.statement)
                    self._deleted += 1
                case NamespaceAdd():
                    self._target.bind(row.name, row.iri.value)
                case NamespaceDelete():
                    self._target.bind(row.name, None)
