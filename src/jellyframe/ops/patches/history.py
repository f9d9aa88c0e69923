"""The history of files of patches: the changes of each, its time and its size."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.kernel.patch_fields import (
    PATCH_ADD,
    PATCH_DELETE,
    PATCH_TRANSACTION_ABORT,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.ops.patches.committed import MARKS, NAMESPACES
from jellyframe.ops.patches.sources import PatchSources
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.options import check_word
from jellyframe.patch.batches import headers_of, rows_with
from jellyframe.terms import Literal as RdfLiteral

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import Limits
    from jellyframe.patch import Patch
    from jellyframe.storage.types import Source

LogOrder: TypeAlias = Literal["name", "time", "size"]
LOG_ORDERS: tuple[LogOrder, ...] = get_args(LogOrder)
# Headers with the time of a patch, the best first; their case is ignored.
TIME_HEADERS = ("time", "date", "datetime", "timestamp", "created", "issued", "modified")
# The number of characters of a header's value that are kept.
_MOST_OF_VALUE = 200


class LogEntry(NamedTuple):
    """The changes of one file of patches, or of one patch. Changes that were not committed do not count.

    Attributes:
        file: the name of the file
        patch: the number of the patch in the file, from 0; None for the whole file
        patches: the number of patches
        id: the header `id`, of the last patch
        previous: the header `prev`, of the first patch
        time: the time of a header, or otherwise the modification time of the file; None if unknown
        bytes: the size of the file; None for one patch of many, or if it is unknown
        added: committed adds of statements
        deleted: committed deletes of statements
        namespaces: committed changes of namespaces
        committed: transactions that are committed
        aborted: transactions that are aborted or not finished
        left_out: rows in those
    """

    file: str
    patch: int | None
    patches: int
    id: str | None
    previous: str | None
    time: datetime | None
    bytes: int | None
    added: int
    deleted: int
    namespaces: int
    committed: int
    aborted: int
    left_out: int


def log(
    patches: Source | Sequence[Source],
    *,
    each_patch: bool = False,
    order: LogOrder = "name",
    patch_format: str | None = None,
    strict: bool = True,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
) -> list[LogEntry]:
    """Return the changes of patches, file by file or patch by patch.

    Args:
        patches: one source, or several; a folder means the patches in it
        each_patch: whether there is an entry for each patch; by default for each file
        order: `name`, as the files are found; `time`; or `size`, the number of changed statements
        patch_format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        strict: whether to refuse patches whose transactions start or end out of turn, or are open at the end
        concatenated: whether every options row of Jelly-Patch begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
    """
    check_word("order", order, LOG_ORDERS)
    with PatchSources(patches, patch_format, limits=limits, strict=strict, concatenated=concatenated) as sources:
        meter = ProgressMeter(progress, sources.total_bytes)
        entries: list[LogEntry] = []
        for number in range(len(sources)):
            entries += _entries(sources, number, meter, each_patch=each_patch)
    if order == "time":
        entries.sort(key=lambda entry: entry.time or datetime.min.replace(tzinfo=UTC))
    elif order == "size":
        entries.sort(key=lambda entry: entry.added + entry.deleted, reverse=True)
    return entries


def _entries(sources: PatchSources, number: int, meter: ProgressMeter, *, each_patch: bool) -> Iterator[LogEntry]:
    name = sources.name(number)
    size, changed = _file_facts(sources.path(number))
    whole = _Counts()
    for place, patch in enumerate(sources.patches_of(number, meter)):
        counts = _Counts() if each_patch else whole
        counts.add_patch(patch)
        if each_patch:
            yield counts.entry(name, place, None, changed)
    if not each_patch:
        yield whole.entry(name, None, size, changed)


def _file_facts(path: str | None) -> tuple[int | None, datetime | None]:
    if path is None or not os.path.isfile(path):
        return None, None
    facts = os.stat(path)
    return facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC)


class _Counts:
    """Counts the changes of one patch, or of several consecutive ones."""

    def __init__(self) -> None:
        self.patches = self.added = self.deleted = self.namespaces = 0
        self.committed = self.aborted = self.left_out = 0
        self._first: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self._held: tuple[int, int, int] | None = None

    def add_patch(self, patch: Patch) -> None:
        self.patches += 1
        for batch in patch.batches():
            start = 0
            for row in rows_with(batch, MARKS):
                self._count(batch.slice(start, row) if row > start else None)
                start = row + 1
                self._mark(batch.operations[row])
            self._count(batch.slice(start) if start < len(batch) else None)
        if self._held is not None:
            self._mark(PATCH_TRANSACTION_ABORT)

    def _mark(self, op: int) -> None:
        if self._held is not None:
            added, deleted, namespaces = self._held
            if op == PATCH_TRANSACTION_COMMIT:
                self.added += added
                self.deleted += deleted
                self.namespaces += namespaces
                self.committed += 1
            else:
                self.left_out += added + deleted + namespaces
                self.aborted += 1
        self._held = (0, 0, 0) if op == PATCH_TRANSACTION_START else None

    def _count(self, batch: Batch | None) -> None:
        if batch is None:
            return
        counts = (_rows(batch, 1 << PATCH_ADD), _rows(batch, 1 << PATCH_DELETE), _rows(batch, NAMESPACES))
        if self._held is None:
            self.added += counts[0]
            self.deleted += counts[1]
            self.namespaces += counts[2]
        else:
            self._held = (self._held[0] + counts[0], self._held[1] + counts[1], self._held[2] + counts[2])
        for row in headers_of(batch):
            key = row.key.lower()
            if key in ("id", "prev", *TIME_HEADERS):
                text = row.value.lex if isinstance(row.value, RdfLiteral) else str(row.value)
                self._first.setdefault(key, text[:_MOST_OF_VALUE])
                self._last[key] = text[:_MOST_OF_VALUE]

    def entry(self, file: str, patch: int | None, size: int | None, changed: datetime | None) -> LogEntry:
        told = (_time(self._last[key]) for key in TIME_HEADERS if key in self._last)
        return LogEntry(
            file,
            patch,
            self.patches,
            self._last.get("id"),
            self._first.get("prev"),
            next((time for time in told if time is not None), changed),
            size,
            self.added,
            self.deleted,
            self.namespaces,
            self.committed,
            self.aborted,
            self.left_out,
        )


def _rows(batch: Batch, operations: int) -> int:
    mask = mask_of_operations(batch.operations, operations)
    return 0 if mask is None else mask.count(1)


def _time(text: str) -> datetime | None:
    """Return the time of a text, in UTC if it has no time zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
