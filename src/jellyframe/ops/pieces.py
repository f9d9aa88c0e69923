"""The pieces of a parallel transcoding: each begins at a restart point of a file, and can be read separately."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from jellyframe.ops.fitting import Fitting
from jellyframe.ops.regroup import Framing, WriterSettings
from jellyframe.stream.cutting import cut_offsets
from jellyframe.stream.kinds import StreamKind

if TYPE_CHECKING:
    from jellyframe.options import DialectName, Limits, StreamOptions
    from jellyframe.storage.types import Compression

# Small reads: larger blocks are allocated by the system each time, which costs more than reading.
_READ_BYTES = 1 << 16


class Span(NamedTuple):
    """A part of a file, from a restart point to another; the whole file if there is no `byte_range`."""

    path: str
    size: int
    byte_range: tuple[int, int] | None = None


class Output(NamedTuple):
    """The output for the joined stream: its path, compression, and whether it has an index."""

    path: str
    compression: Compression | None
    has_index: bool


class Rewriting(NamedTuple):
    """Settings for rewriting batches: the arguments of `write_frames`, and options for reading the input."""

    options: StreamOptions
    settings: WriterSettings
    framing: Framing
    limits: Limits
    concatenated: bool
    fitting: Fitting
    dialect: DialectName = "released"


class Rewritten(NamedTuple):
    """Counts of a rewritten stream."""

    statements: int
    options: StreamOptions | None


def pieces_of(paths: Iterable[str], piece_bytes: int, kind: StreamKind) -> Iterator[list[Span]]:
    """Yield the files in pieces of at least `piece_bytes`, in order. Files are scanned on demand."""
    piece: list[Span] = []
    for path in paths:
        for span in _spans(path, piece_bytes, kind):
            piece.append(span)
            if sum(span.size for span in piece) >= piece_bytes:
                yield piece
                piece = []
    if piece:
        yield piece


def _spans(path: str, at_least: int, kind: StreamKind) -> Iterator[Span]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        offsets = chain(cut_offsets(file, size, at_least, _READ_BYTES, kind), [size])
        for start, stop in pairwise(offsets):
            yield Span(path, stop - start, None if (start, stop) == (0, size) else (start, stop))
