"""Batches on their way from a reader to a writer: some of their frames, without graphs, with terms that are checked."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jellyframe.batch import Batch

NO_PLACE_FOR_GRAPHS = "use --merge-graphs to leave out which graph statements are in"


class FrameRange(NamedTuple):
    """Frames from `start` up to, but without, `stop`; None for no end."""

    start: int = 0
    stop: int | None = None

    @property
    def is_all(self) -> bool:
        return self == FrameRange()


def frame_range(text: str) -> FrameRange:
    """A range as in Rust: `3`, `..3`, `3..`, `1..5`, `4..=6`."""
    first, dots, last = text.strip().partition("..")
    is_inclusive = last.startswith("=") and last != "="
    last = last.removeprefix("=") if is_inclusive else last
    if not all(not part or (part.isascii() and part.isdigit()) for part in (first, last)) or not (first or dots):
        raise argparse.ArgumentTypeError(f"{text!r} is no range of frames such as 3, ..3, 3.., 1..5 or 4..=6")
    if not dots:
        return FrameRange(int(first), int(first) + 1)
    return FrameRange(int(first or 0), int(last) + is_inclusive if last else None)


def part_of(batch: Batch, start: int, stop: int) -> Batch:
    """Some rows of a batch as a batch that has no frames, over the same terms."""
    from jellyframe.batch import Batch

    graph = None if batch.g is None else batch.g[start:stop]
    return Batch((batch.s[start:stop], batch.p[start:stop], batch.o[start:stop], graph), batch.terms)


def take_frames(batches: Iterable[Batch], frames: FrameRange) -> Iterator[Batch]:
    """The statements of some frames only. Stops reading behind the last one."""
    for batch in batches:
        if frames.stop is not None and batch.first_frame >= frames.stop:
            return
        spans = [
            span
            for span in batch.frame_spans()
            if span.number >= frames.start and (frames.stop is None or span.number < frames.stop)
        ]
        if spans and spans[-1].stop > spans[0].start:
            yield part_of(batch, spans[0].start, spans[-1].stop)


def without_graphs(batches: Iterable[Batch], *, merge: bool, target: str, source: str | None) -> Iterator[Batch]:
    """Batches of triples, for a target without graphs. A statement in a named graph is an error unless they merge."""
    from jellyframe.batch import Batch

    before = 0
    for batch in batches:
        if batch.g is not None:
            if not merge:
                _require_default_graph(batch, before, target, source)
            yield Batch(
                (batch.s, batch.p, batch.o, None),
                batch.terms,
                first_frame=batch.first_frame,
                frame_ends=batch.frame_ends,
                last_frame_open=batch.last_frame_open,
                metadata=batch.metadata,
                namespaces=batch.namespaces,
            )
        else:
            yield batch
        before += len(batch)


def has_named_graph(batch: Batch) -> bool:
    """Whether some statement of a batch is in a named graph."""
    return batch.g is not None and bool(_named_graphs(batch))


def _named_graphs(batch: Batch) -> set[int]:
    from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH

    kinds = batch.terms.buffers()[0]
    assert batch.g is not None
    return {term for term in set(batch.g) if kinds[term] != KIND_DEFAULT_GRAPH}


def _require_default_graph(batch: Batch, before: int, target: str, source: str | None) -> None:
    named = _named_graphs(batch)
    if not named:
        return
    from jellyframe.errors import EncodeError

    assert batch.g is not None
    row = next(row for row, term in enumerate(batch.g) if term in named)
    (statement,) = batch.statements(row, row + 1)
    raise EncodeError(
        f"statement {before + row + 1} is in a named graph, which {target} cannot hold: {statement.to_line()} "
        f"({NO_PLACE_FOR_GRAPHS})",
        source=source,
    )


def checked(batches: Iterable[Batch], source: str | None) -> Iterator[Batch]:
    """The same batches; the first term that is not valid is an error."""
    from jellyframe.batch.validation import check_batch

    before = 0
    for batch in batches:
        check_batch(batch, before, source)
        yield batch
        before += len(batch)
