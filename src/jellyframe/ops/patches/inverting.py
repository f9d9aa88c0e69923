"""Invert patches: write patches that undo others."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Unpack

from jellyframe.batch import Batch
from jellyframe.errors import EncodeError, shortened
from jellyframe.kernel.patch_fields import (
    PATCH_HEADER,
    PATCH_NAMESPACE_DELETE,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_START,
)
from jellyframe.ops.patches.committed import MARKS
from jellyframe.ops.patches.compacting import PREVIOUS, LastHeaders
from jellyframe.ops.patches.sources import PatchSources
from jellyframe.ops.patches.writing import patch_target
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.patch import (
    Header,
    NamespaceDelete,
    TransactionCommit,
    TransactionStart,
    row_batches,
    rows_of,
)
from jellyframe.patch.batches import headers_of, rows_with
from jellyframe.patch.journal import Journal
from jellyframe.terms import Literal

if TYPE_CHECKING:
    from jellyframe.options import Limits
    from jellyframe.patch import Patch, PatchOptions, PatchRow
    from jellyframe.patch.rows import HeaderValue
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.storage.types import Sink, Source

IDENTITY: Final = "id"
# A journal holds no marks: they are headers with this key, and real headers have another prefix.
_MARK: Final = "mark"
_START, _COMMIT, _END = Header(_MARK, Literal("start")), Header(_MARK, Literal("commit")), Header(_MARK, Literal("end"))
_REAL: Final = "header "


class Inverted(NamedTuple):
    """The result of `invert`.

    Attributes:
        patches: patches
        rows: adds and deletes, of statements and namespaces
    """

    patches: int
    rows: int


def invert(
    patches: Source | Sequence[Source],
    to: Sink | None = None,
    *,
    patch_format: str | None = None,
    out_format: str | None = None,
    options: PatchOptions | None = None,
    strict: bool = True,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    **settings: Unpack[PatchWriterSettings],
) -> Inverted:
    """Write patches that undo others: the last one first, each from its end to its start, with adds for deletes.

    They restore the original data if each row of the patches changed something, as the rows of `diff` and of
    recording do. Transactions are kept, except those that are aborted or not finished.
    Headers are kept, except `id`, which becomes the `prev` of the inverse patch. Memory does not grow with the
    patches: rows are collected on disk.

    Args:
        patches: one source, or several in order; a folder means the patches in it, in the order of their names
        to: the output: a path or a binary file object; None to only count
        patch_format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        out_format: the same for the output
        options: the options of the stream; by default with punctuation marks, and quads if one of the patches has them
        strict: whether to refuse patches whose transactions start or end out of turn, or are open at the end
        concatenated: whether every options row of Jelly-Patch begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
        settings: `frame_rows` to `filesystem`, as in `open_patch_writer`

    Raises:
        EncodeError: if a namespace is deleted without its IRI, so that it cannot be added again
    """
    with ExitStack() as stack:
        sources = stack.enter_context(
            PatchSources(patches, patch_format, limits=limits, strict=strict, concatenated=concatenated)
        )
        meter = ProgressMeter(progress, sources.total_bytes)
        target = stack.enter_context(patch_target(to, out_format, options, settings, has_graph=sources.has_graph()))
        return invert_patches(sources.patches(meter), target)


class RowTarget(Protocol):
    """The target of inverted patches."""

    def write_rows(self, rows: Iterable[PatchRow], /) -> None:
        """Write rows given as objects."""

    def write_batch(self, batch: Batch, /) -> None:
        """Write the rows of a batch."""

    def end_patch(self) -> None:
        """End a patch, in streams that have more than one."""


def invert_patches(patches: Iterable[Patch], target: RowTarget) -> Inverted:
    """Write patches that undo others, the last one first; rows are collected on disk."""
    with Journal() as journal:
        for patch in patches:
            _note(patch.batches(), journal)
        return _write_back(journal, target)


def _note(batches: Iterator[Batch], journal: Journal) -> None:
    """Add the committed rows of a patch to a journal, followed by its headers and a mark."""
    headers = LastHeaders()
    # A transaction is added once it is known to be committed.
    is_inside = False
    with Journal() as held:
        for batch in batches:
            start = 0
            for row in rows_with(batch, MARKS):
                (held if is_inside else journal).append(_rows(batch, start, row, headers))
                start = row + 1
                if batch.operations[row] == PATCH_TRANSACTION_COMMIT and is_inside:
                    journal.append(_mark(_START))
                    for one in held.batches():
                        journal.append(one)
                    journal.append(_mark(_COMMIT))
                held.clear()
                is_inside = batch.operations[row] == PATCH_TRANSACTION_START
            (held if is_inside else journal).append(_rows(batch, start, len(batch), headers))
    for key, value in reversed(_undoing(headers).items()):
        journal.append(_mark(Header(_REAL + key, value)))
    journal.append(_mark(_END))


def _rows(batch: Batch, start: int, stop: int, headers: LastHeaders) -> Batch:
    """Return the rows of statements and namespaces, and collect the headers among them."""
    part = batch.slice(start, stop) if stop > start else batch.take(())
    found = list(headers_of(part))
    for header in found:
        headers.add(header)
    return part.filter([op != PATCH_HEADER for op in part.operations.tolist()]) if found else part


def _undoing(headers: LastHeaders) -> dict[str, HeaderValue]:
    """Return the headers of the inverse of a patch with these headers."""
    values = {key: value for key, value in headers.values.items() if key not in (IDENTITY, PREVIOUS)}
    if IDENTITY in headers.values:
        values[PREVIOUS] = headers.values[IDENTITY]
    return values


def _mark(header: Header) -> Batch:
    return next(row_batches([header], has_graph=True))


def _write_back(journal: Journal, target: RowTarget) -> Inverted:
    """Write the rows of the journal from the end to the start."""
    patches = rows = 0
    for batch in journal.reversed_batches():
        if batch.operations[0] != PATCH_HEADER:
            target.write_batch(_undone(batch))
            rows += len(batch)
            continue
        header = next(rows_of(batch))
        assert isinstance(header, Header)
        if header.key.startswith(_REAL):
            target.write_rows([Header(header.key.removeprefix(_REAL), header.value)])
        elif header == _END:
            if patches:
                target.end_patch()
            patches += 1
        else:
            target.write_rows([TransactionStart() if header == _COMMIT else TransactionCommit()])
    if patches:
        target.end_patch()
    return Inverted(patches, rows)


def _undone(batch: Batch) -> Batch:
    """Return rows with adds and deletes exchanged."""
    for place in rows_with(batch, 1 << PATCH_NAMESPACE_DELETE):
        row = next(rows_of(batch, place, place + 1))
        if isinstance(row, NamespaceDelete) and row.iri is None:
            raise EncodeError(
                f"the namespace {shortened(row.name)} is deleted without its IRI, so that it cannot be added again; "
                "RDF Patch text does not have that IRI, Jelly-Patch has"
            )
    # The numbers of an add and its delete differ in their last bit.
    bits = int.from_bytes(array("i", [1] * len(batch)).tobytes(), "little")
    flipped = (int.from_bytes(batch.operations.tobytes(), "little") ^ bits).to_bytes(4 * len(batch), "little")
    return batch.replace(op=memoryview(flipped).cast("i"))
