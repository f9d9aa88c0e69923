"""Count the rows, patches, transactions and sizes of a stream of patches in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jellyframe.arrow.operations import OP_NAMES
from jellyframe.errors import clipped
from jellyframe.formats.patches import open_patch_input, patch_format
from jellyframe.formats.rdf_patch import PatchEnds, patch_text
from jellyframe.kernel.patch_fields import PATCH_ADD, PATCH_DELETE, PATCH_HEADER
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.sources import CountedSource
from jellyframe.ops.survey import ContentSurvey
from jellyframe.options import Limits
from jellyframe.patch.batches import rows_of
from jellyframe.patch.marks import with_marks
from jellyframe.patch.rows import Header

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.patch.options import PatchOptions
    from jellyframe.storage.types import Source
    from jellyframe.stream.decoder import LookupEntries

# The maximum number of headers kept for a patch; others are only counted.
MAX_HEADERS = 20


@dataclass
class PatchCounts:
    """Counts of one patch, or of all patches together.

    Attributes:
        number: the number of the patch, from 0
        rows: the number of rows of each operation, by its word in RDF Patch
        headers: the first headers, the values in N-Triples syntax
        committed: transactions that end with a commit
        aborted: transactions that end with an abort
    """

    number: int = 0
    rows: dict[str, int] = field(default_factory=lambda: {name: 0 for name in OP_NAMES.values() if name != "P"})
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def all_rows(self) -> int:
        """The number of rows, without the ends of patches."""
        return sum(self.rows.values())

    @property
    def committed(self) -> int:
        """The number of commits."""
        return self.rows["TC"]

    @property
    def aborted(self) -> int:
        """The number of aborts."""
        return self.rows["TA"]

    def add(self, other: PatchCounts) -> None:
        """Add the counts of another patch, but not its headers."""
        for name, number in other.rows.items():
            self.rows[name] += number


@dataclass
class PatchSurvey:
    """Counts of a stream of patches.

    Attributes:
        options: the options of the stream; for text, those it would have
        counts: the rows of all patches
        patches: the number of patches
        frames: the number of frames; 0 for text
        delimited: whether the frames are delimited; None for text
        lookup_entries: the entries of lookup tables; None for text
        input_bytes: the size of the stored file
        text_bytes: the size as RDF Patch text, if requested
        content: the predicates of the statements, if requested
    """

    options: PatchOptions | None = None
    counts: PatchCounts = field(default_factory=PatchCounts)
    patches: int = 0
    frames: int = 0
    delimited: bool | None = None
    lookup_entries: LookupEntries | None = None
    input_bytes: int = 0
    text_bytes: int | None = None
    content: ContentSurvey | None = None


def inspect_patches(
    source: Source,
    format: str | None = None,  # noqa: A002
    *,
    content: bool = False,
    strict: bool = True,
    lenient: bool = False,
    concatenated: bool = False,
    patch_ends: PatchEnds = "headers",
    limits: Limits | None = None,
    on_patch: Callable[[PatchSurvey, PatchCounts], object] | None = None,
    progress: ProgressCallback | None = None,
) -> PatchSurvey:
    """Count the rows and patches of a stream of any format, in one pass.

    Args:
        source: a path, a URI, bytes, or a binary file object
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        content: also find the size as RDF Patch text and the most frequent predicates, which takes longer
        strict: refuse transactions that start or end where they must not, or are open at the end
        lenient: for text: accept IRIs that are not absolute
        concatenated: for Jelly-Patch: every options row begins a new stream
        patch_ends: for text: where the patches end (see `open_patch_input`)
        limits: the limits for untrusted input
        on_patch: called with the survey so far and the counts of each patch
        progress: called with a `Progress` now and then
    """
    found = patch_format(format, source)
    survey = PatchSurvey()
    if content:
        survey.text_bytes, survey.content = 0, ContentSurvey()
    with CountedSource(source, limits=limits) as counted:
        reader = open_patch_input(
            counted,
            found,
            limits=limits,
            strict=strict,
            lenient=lenient,
            concatenated=concatenated,
            patch_ends=patch_ends,
        )
        with reader:
            survey.options = reader.options
            collector = _Collector(survey, on_patch)
            for batch in ProgressMeter(progress, counted.total_bytes).over(reader.batches(), counted):
                survey.delimited = reader.is_delimited
                if survey.delimited is not None:
                    survey.frames += sum(span.is_complete for span in batch.frame_spans())
                for marked in with_marks((batch,), survey.options.stream_type):
                    collector.add(marked)
            survey.lookup_entries = reader.lookup_entries
        collector.end()
        survey.input_bytes = counted.bytes_read
    return survey


class _Collector:
    """Counts batches into patches."""

    def __init__(self, survey: PatchSurvey, on_patch: Callable[[PatchSurvey, PatchCounts], object] | None) -> None:
        self._survey = survey
        self._on_patch = on_patch
        self._patch = PatchCounts()

    def add(self, batch: Batch) -> None:
        ops = batch.operations.tolist()
        start = 0
        marks = [row for row, op in enumerate(ops) if OP_NAMES[op] == "P"]
        for stop in (*marks, len(ops)):
            self._count(batch, ops[start:stop], start)
            if stop < len(ops):
                self._end_patch()
            start = stop + 1
        if self._survey.content is not None:
            assert self._survey.text_bytes is not None
            self._survey.text_bytes += sum(map(len, patch_text(batch)))
            statements = batch.filter([op in (PATCH_ADD, PATCH_DELETE) for op in ops])
            if len(statements):
                self._survey.content.add(statements)

    def end(self) -> None:
        """End the last patch, if no mark ends it."""
        if self._patch.all_rows:
            self._end_patch()

    def _count(self, batch: Batch, ops: list[int], start: int) -> None:
        for op, name in OP_NAMES.items():
            if name != "P":
                self._patch.rows[name] += ops.count(op)
        headers = self._patch.headers
        if PATCH_HEADER in ops and len(headers) < MAX_HEADERS:
            for row, op in enumerate(ops, start):
                if op == PATCH_HEADER and len(headers) < MAX_HEADERS:
                    (header,) = rows_of(batch, row, row + 1)
                    assert isinstance(header, Header)
                    headers.setdefault(clipped(header.key), clipped(str(header.value)))

    def _end_patch(self) -> None:
        self._survey.patches += 1
        self._survey.counts.add(self._patch)
        if self._on_patch is not None:
            self._on_patch(self._survey, self._patch)
        self._patch = PatchCounts(self._survey.patches)
