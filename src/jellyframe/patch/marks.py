"""Patches of any stream type as rows with punctuation marks, and such rows in a stream of any type."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Protocol

from jellyframe.batch import Batch
from jellyframe.kernel.patch_fields import PATCH_PUNCTUATION
from jellyframe.patch.options import PatchOptions, PatchStreamType


class MarkedOutput(Protocol):
    """The methods of a writer of patches that are used here."""

    @property
    def options(self) -> PatchOptions: ...

    def write_batch(self, batch: Batch, start: int = 0, stop: int | None = None) -> None: ...

    def end_patch(self) -> None: ...


def with_marks(batches: Iterable[Batch], stream_type: PatchStreamType) -> Iterator[Batch]:
    """Yield the rows of a stream with a punctuation mark after each patch; a FLAT stream has none.

    Args:
        batches: batches of a stream, from its reader
        stream_type: the type of the stream, which decides where patches end
    """
    for batch in batches:
        yield _frames_marked(batch) if stream_type is PatchStreamType.FRAME else batch


def write_marked(batch: Batch, output: MarkedOutput) -> None:
    """Write rows in which punctuation marks end patches to an output of any stream type.

    A FLAT stream is one patch with the rows of all patches.

    Args:
        batch: rows of patches
        output: a writer
    """
    stream_type = output.options.stream_type
    if stream_type is PatchStreamType.PUNCTUATED:
        output.write_batch(batch)
        return
    ops = batch.operations.tolist()
    start = 0
    for _ in range(ops.count(PATCH_PUNCTUATION)):
        mark = ops.index(PATCH_PUNCTUATION, start)
        output.write_batch(batch, start, mark)
        if stream_type is PatchStreamType.FRAME:
            output.end_patch()
        start = mark + 1
    output.write_batch(batch, start)


def _frames_marked(batch: Batch) -> Batch:
    """Return a batch with a punctuation mark at the end of each frame. Frames and their metadata are dropped."""
    ends = [span.stop for span in batch.frame_spans() if span.is_complete]
    if not ends:
        return batch
    none = batch.terms.default_graph_term()
    s, p, o = (_inserted(column, ends, none) for column in (batch.s, batch.p, batch.o))
    g = None if batch.g is None else _inserted(batch.g, ends, none)
    op = _inserted(batch.operations, ends, PATCH_PUNCTUATION)
    return batch.replace(columns=(s, p, o, g), op=op, first_frame=0, frame_ends=None, last_frame_open=True, metadata={})


def _inserted(column: memoryview, ends: list[int], value: int) -> memoryview:
    """Return a column with a value inserted after some of its rows."""
    made = array("i")
    start = 0
    for end in ends:
        made.frombytes(column[start:end].cast("B"))
        made.append(value)
        start = end
    made.frombytes(column[start:].cast("B"))
    return memoryview(made)
