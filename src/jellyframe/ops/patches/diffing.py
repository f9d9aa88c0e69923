"""The changes between two data sets, as a patch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, Unpack, get_args

from jellyframe.batch.lines import row_line
from jellyframe.errors import Advice, OptionsError
from jellyframe.kernel.fingerprint_cy import mask_of_blank_nodes
from jellyframe.kernel.patch_fields import PATCH_ADD
from jellyframe.ops.patches.core import Stream, diff_batches
from jellyframe.ops.patches.namespaces import namespace_differences
from jellyframe.ops.patches.sources import DataSource
from jellyframe.ops.patches.writing import patch_target
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.options import check_word
from jellyframe.patch import NamespaceAdd, NamespaceDelete

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format
    from jellyframe.options import Limits
    from jellyframe.patch import PatchOptions
    from jellyframe.patch.rows import HeaderValue
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.storage.types import Sink, Source

BlankNodes: TypeAlias = Literal["label", "refuse", "match"]
BLANK_NODES: tuple[BlankNodes, ...] = get_args(BlankNodes)


class PatchDifference(NamedTuple):
    """The result of `diff`.

    Attributes:
        added: statements that only the new data has
        deleted: statements that only the old data has
        namespaces_added: namespaces that only the new data has
        namespaces_deleted: namespaces that only the old data has
    """

    added: int
    deleted: int
    namespaces_added: int
    namespaces_deleted: int

    @property
    def is_equal(self) -> bool:
        """Whether there are no changes."""
        return not any(self)


def diff(
    old: Source,
    new: Source,
    to: Sink | None = None,
    *,
    old_format: str | None = None,
    new_format: str | None = None,
    out_format: str | None = None,
    blank_nodes: BlankNodes = "label",
    namespaces: bool = True,
    headers: Mapping[str, HeaderValue] | None = None,
    transaction: bool = True,
    options: PatchOptions | None = None,
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    **settings: Unpack[PatchWriterSettings],
) -> PatchDifference:
    """Find the changes that turn one data set into another, and write them as a patch.

    Data is a set of statements: neither their order nor their repetition matters. Deletes come before adds, each in the
    order of the data. Both data sets are read twice. Statements are compared by keyed hashes of 128 bits, on
    disk if there are many, so memory does not grow with the data; with `blank_nodes="match"` it grows with the
    number of statements with blank nodes.

    Args:
        old: a path (of a file, of a folder, which means all files of known formats in it, or a pattern), a
            URI, bytes, or a binary file object
        new: another
        to: the output: a path or a binary file object; None to only count the changes
        old_format: the format of the old data; by default that of the file name, or otherwise Jelly
        new_format: the format of the new data
        out_format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        blank_nodes: `label`: two nodes are the same if their labels are equal; `refuse`: a blank node is an error;
            `match`: nodes of the new data are paired with nodes of the old data with the same statements, and have the
            label of their partner in the patch, or a new one
        namespaces: whether to compare namespaces, if the formats of both have them
        headers: headers of the patch, by their keys
        transaction: whether the changes are in a transaction
        options: the options of the stream, by default quads with a punctuation mark
        concatenated: whether every options row of Jelly data begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`; both passes over the data count
        settings: `frame_rows` to `filesystem`, as in `open_patch_writer`

    Raises:
        OptionsError: if blank nodes are to be refused and there are any, or the old data has some without stable
            labels, as in RDF/XML
    """
    check_blank_nodes(blank_nodes)
    with ExitStack() as stack:
        first = stack.enter_context(
            DataSource(old, old_format, argument="old_format", limits=limits, concatenated=concatenated)
        )
        second = stack.enter_context(
            DataSource(new, new_format, argument="new_format", limits=limits, concatenated=concatenated)
        )
        readings = 3 if blank_nodes == "match" else 2
        meter = ProgressMeter(progress, _total(first, second, readings))
        before, after = _checked(first, meter, blank_nodes, is_old=True), _checked(second, meter, blank_nodes)
        if blank_nodes == "match":
            from jellyframe.ops.patches.matching import matched_stream

            after = matched_stream(before, after)
        target = stack.enter_context(patch_target(to, out_format, options, settings))
        counts = _Counts(diff_batches(before, after))
        # The namespaces are known when both data sets have been read, that is, at the first change.
        changes = counts.batches()
        waiting = next(changes, None)
        renamed: list[NamespaceAdd | NamespaceDelete] = []
        if namespaces and first.has_namespaces and second.has_namespaces:
            renamed = list(namespace_differences(first.namespaces, second.namespaces))
        target.write_patch(headers or {}, renamed, _all(waiting, changes), transaction=transaction)
        added = sum(isinstance(row, NamespaceAdd) for row in renamed)
        return PatchDifference(counts.added, counts.deleted, added, len(renamed) - added)


def check_blank_nodes(blank_nodes: BlankNodes) -> None:
    """Raise an OptionsError if the value is unknown.

    Args:
        blank_nodes: `label`, `refuse` or `match`
    """
    check_word("blank_nodes", blank_nodes, BLANK_NODES)


def _all(first: Batch | None, others: Iterator[Batch]) -> Iterator[Batch]:
    if first is not None:
        yield first
        yield from others


def _total(first: DataSource, second: DataSource, readings: int) -> int | None:
    sizes = (first.total_bytes, second.total_bytes)
    return None if sizes[0] is None or sizes[1] is None else readings * (sizes[0] + sizes[1])


class _Counts:
    """Counts adds and deletes."""

    def __init__(self, changes: Iterator[Batch]) -> None:
        self._changes = changes
        self.added = self.deleted = 0

    def batches(self) -> Iterator[Batch]:
        for batch in self._changes:
            if batch.operations[0] == PATCH_ADD:
                self.added += len(batch)
            else:
                self.deleted += len(batch)
            yield batch


def _checked(source: DataSource, meter: ProgressMeter, blank_nodes: BlankNodes, *, is_old: bool = False) -> Stream:
    """Return the data as a stream, with blank nodes checked."""
    check = BlankNodeCheck(blank_nodes, source.formats if is_old else ())
    if not check:
        return lambda: source.batches(meter)

    def batches() -> Iterator[Batch]:
        for batch in source.batches(meter):
            check(batch, source.name)
            yield batch

    return batches


class BlankNodeCheck:
    """Refuses blank nodes if a patch could not refer to them, or if the caller refuses them.

    Args:
        blank_nodes: `label`, `refuse` or `match`
        old_formats: the formats of the old data, to whose nodes a patch refers; none for the new data
    """

    def __init__(self, blank_nodes: BlankNodes, old_formats: Iterable[Format]) -> None:
        self._is_refused = blank_nodes == "refuse"
        self._unstable = next((found for found in old_formats if not found.has_stable_labels), None)

    def __bool__(self) -> bool:
        """Whether there is anything to check."""
        return self._is_refused or self._unstable is not None

    def __call__(self, batch: Batch, source: str) -> None:
        """Raise an OptionsError if a batch has a blank node.

        Args:
            batch: statements
            source: the name of the data in errors
        """
        mask = mask_of_blank_nodes(batch.columns, batch.terms) if self else None
        if mask is None:
            return
        statement = row_line(batch, mask.find(1))
        if self._is_refused:
            raise OptionsError(
                f"a statement with a blank node, which were to be refused: {statement}",
                source=source,
                advice=Advice("argument", "blank_nodes", "label"),
            )
        assert self._unstable is not None
        raise OptionsError(
            f"a statement with a blank node, and {self._unstable.title} has no labels that a patch could refer to; "
            f"convert the file, for instance to N-Quads, and use that: {statement}",
            source=source,
        )
