"""Streams of batches: selecting frames, dropping graphs, checking terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jellyframe.batch.batch import Batch
from jellyframe.errors import Advice, NamedGraphError


class FrameRange(NamedTuple):
    """Frames from `start` to `stop`, which is excluded; None for no end."""

    start: int = 0
    stop: int | None = None

    @property
    def is_all(self) -> bool:
        return self == FrameRange()


def take_frames(batches: Iterable[Batch], frames: FrameRange) -> Iterator[Batch]:
    """Yield the statements of some frames only. Stops reading after the last one."""
    for batch in batches:
        if frames.is_all:
            yield batch
            continue
        if frames.stop is not None and batch.first_frame >= frames.stop:
            return
        ends = [len(batch)] if batch.frame_ends is None else batch.frame_ends
        first = min(max(frames.start - batch.first_frame, 0), len(ends))
        after = len(ends) if frames.stop is None else min(frames.stop - batch.first_frame, len(ends))
        start, stop = (ends[number - 1] if number else 0 for number in (first, after))
        if stop > start:
            yield batch.slice(start, stop)


def without_graphs(batches: Iterable[Batch], *, merge: bool | None, target: str, source: str | None) -> Iterator[Batch]:
    """Yield batches of triples, for a target without graphs.

    A named graph is a NamedGraphError, unless `merge`; that is None where users cannot ask for it.
    """
    before = 0
    for batch in batches:
        try:
            yield batch.without_graph(merge=bool(merge))
        except NamedGraphError as error:
            from jellyframe.batch.lines import row_line

            row = error.row or 0
            raise NamedGraphError(
                f"statement {before + row + 1} is in a named graph, which {target} cannot hold: {row_line(batch, row)}",
                source=source,
                advice=None if merge is None else Advice("argument", "merge_graphs", "True"),
            ) from None
        before += len(batch)


def checked(batches: Iterable[Batch], source: str | None) -> Iterator[Batch]:
    """Yield the same batches, and raise at the first term that is not valid."""
    from jellyframe.batch.validation import check_batch

    before = 0
    for batch in batches:
        check_batch(batch, before, source)
        yield batch
        before += len(batch)
