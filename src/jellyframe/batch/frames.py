"""Streams frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jellyframe.batch.batch import Batch

if TYPE_CHECKING:
    from jellyframe.terms import Quad, Triple


class Frame:
    """One frame: its statements, metadata and namespaces. In a grouped stream it is a graph or a dataset.

    Attributes:
        number: the number of the frame in its stream, from 0
        metadata: bytes under names that the writer chose
        namespaces: the short names that the frame declares, each with its IRI
    """

    __slots__ = ("_parts", "metadata", "namespaces", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.metadata: dict[str, bytes] = {}
        self.namespaces: list[tuple[str, str]] = []
        self._parts: list[tuple[Batch, int, int]] = []

    def __len__(self) -> int:
        return sum(stop - start for _batch, start, stop in self._parts)

    def statements(self) -> list[Triple | Quad]:
        """Return the statements of the frame, in their order."""
        if len(self._parts) == 1:
            batch, start, stop = self._parts[0]
            return batch.statements(start, stop)
        return [statement for batch, start, stop in self._parts for statement in batch.statements(start, stop)]

    def __iter__(self) -> Iterator[Triple | Quad]:
        return iter(self.statements())

    def parts(self) -> list[tuple[Batch, int, int]]:
        """Return the batches that the statements are in, each with the first row and the one after the last."""
        return list(self._parts)

    def to_batch(self) -> Batch:
        """Return the statements as one batch, without a copy if they are in one."""
        slices = [batch.slice(start, stop) for batch, start, stop in self._parts]
        if not slices:
            return Batch.from_statements(())
        return slices[0] if len(slices) == 1 else Batch.concat(slices)

    def __repr__(self) -> str:
        return f"<Frame {self.number} of {len(self)} statements>"


def frames_of(batches: Iterable[Batch]) -> Iterator[Frame]:
    """Yield the frames of `batches`. The parts of a frame that spans several of them are joined."""
    frame: Frame | None = None
    for batch in batches:
        namespaces: dict[int, list[tuple[str, str]]] = {}
        for declaration in batch.namespaces:
            namespaces.setdefault(declaration.frame, []).append((declaration.name, declaration.iri))
        for number, start, stop, is_complete in batch.frame_spans():
            if frame is None:
                frame = Frame(number)
            if stop > start:
                frame._parts.append((batch, start, stop))
            if batch.metadata:
                frame.metadata.update(batch.metadata.get(number, {}))
            if namespaces:
                frame.namespaces += namespaces.get(number, ())
            if is_complete:
                yield frame
                frame = None
    if frame is not None:
        yield frame
