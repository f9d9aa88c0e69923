"""Compact many patches into one with the same effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, Unpack

from jellyframe.errors import LimitError
from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.kernel.patch_fields import PATCH_ADD
from jellyframe.ops.patches.committed import HEADERS, NAMESPACES, CommittedRows
from jellyframe.ops.patches.core import last_operations
from jellyframe.ops.patches.namespaces import NamespaceChanges
from jellyframe.ops.patches.sources import PatchSources
from jellyframe.ops.patches.writing import patch_target
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.patch import Header, NamespaceAdd, NamespaceDelete, rows_of

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import Limits
    from jellyframe.patch import PatchOptions
    from jellyframe.patch.rows import HeaderValue
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.storage.types import Sink, Source

# The header with the previous patch: of consecutive patches, that of the first one counts.
PREVIOUS = "prev"
# How often patches are read: for their transactions, for headers and namespaces, and twice for their statements.
READINGS = 4
# Bytes of keys and values that are held.
MAX_HEADER_BYTES = 64 << 20


class Compacted(NamedTuple):
    """The result of `compact`.

    Attributes:
        rows_read: committed adds and deletes in the patches
        added: adds that were written
        deleted: deletes that were written
        namespaces: changes of namespaces that were written
    """

    rows_read: int
    added: int
    deleted: int
    namespaces: int


def compact(
    patches: Source | Sequence[Source],
    to: Sink | None = None,
    *,
    patch_format: str | None = None,
    out_format: str | None = None,
    transaction: bool = True,
    options: PatchOptions | None = None,
    strict: bool = True,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    **settings: Unpack[PatchWriterSettings],
) -> Compacted:
    """Write one patch that has the same effect as many, on any data.

    For each statement, and for each namespace of a graph, the last operation is kept, in the order of these operations.
    Transactions that are aborted or not finished are left out. The last value of each header is kept, but the first
    value of `prev`, so that the patch follows the predecessor of the first one. Memory does not grow with the patches.

    Args:
        patches: one source, or several in order; a folder means the patches in it, in the order of their names
        to: the output: a path or a binary file object; None to only count
        patch_format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        out_format: the same for the output
        transaction: whether the changes are in a transaction
        options: the options of the stream; by default with a punctuation mark, and quads if one of the patches has them
        strict: whether to refuse patches whose transactions start or end out of turn, or are open at the end
        concatenated: whether every options row of Jelly-Patch begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
        settings: `frame_rows` to `filesystem`, as in `open_patch_writer`
    """
    with ExitStack() as stack:
        sources = stack.enter_context(
            PatchSources(patches, patch_format, limits=limits, strict=strict, concatenated=concatenated)
        )
        meter = ProgressMeter(progress, None if sources.total_bytes is None else READINGS * sources.total_bytes)
        committed = stack.enter_context(CommittedRows(lambda: sources.batches(meter)))
        headers, namespaces = last_declarations(committed.rows(HEADERS | NAMESPACES))
        target = stack.enter_context(patch_target(to, out_format, options, settings, has_graph=sources.has_graph()))
        counts = _Counts()
        changes = counts.written(last_operations(lambda: counts.read(committed.changes())))
        target.write_patch(headers.values, namespaces, changes, transaction=transaction)
        return Compacted(counts.rows, counts.added, counts.total - counts.added, len(namespaces))


def last_declarations(batches: Iterable[Batch]) -> tuple[LastHeaders, NamespaceChanges]:
    """Return the remaining headers and changes of namespaces of some batches."""
    headers, namespaces = LastHeaders(), NamespaceChanges()
    for batch in batches:
        for row in rows_of(batch):
            if isinstance(row, Header):
                headers.add(row)
            elif isinstance(row, NamespaceAdd | NamespaceDelete):
                namespaces.add(row)
    return headers, namespaces


class LastHeaders:
    """The headers of consecutive patches as those of one: the last value of each key, and the first of `prev`."""

    def __init__(self) -> None:
        self.values: dict[str, HeaderValue] = {}
        self._size = 0

    def add(self, row: Header) -> None:
        """Add a header that follows the others."""
        before = self.values.get(row.key)
        if before is not None and row.key == PREVIOUS:
            return
        self._size += len(str(row.value)) + (len(row.key) if before is None else -len(str(before)))
        if self._size > MAX_HEADER_BYTES:
            raise LimitError(f"the headers of the patches take more than {MAX_HEADER_BYTES >> 20} MiB")
        self.values[row.key] = row.value


class _Counts:
    """Counts the rows of the patches, which are read twice, and the rows that are written."""

    def __init__(self) -> None:
        self.rows = self.total = self.added = 0

    def read(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        rows = 0
        for batch in batches:
            rows += len(batch)
            self.rows = max(self.rows, rows)
            yield batch

    def written(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            adds = mask_of_operations(batch.operations, 1 << PATCH_ADD)
            self.added += 0 if adds is None else adds.count(1)
            self.total += len(batch)
            yield batch
