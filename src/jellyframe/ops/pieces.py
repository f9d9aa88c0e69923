"""Inputs cut into pieces that can be read on their own: large files at restart points, small ones put together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jellyframe.storage.sources import ByteSource
from jellyframe.stream.framing import looks_delimited
from jellyframe.stream.index import each_restart_point

# Little at a time: blocks of memory large enough to come from the system each time cost more than reading does.
_READ_BYTES = 1 << 16


class Span(NamedTuple):
    """A part of a file, from a restart point to another; all of it, where there is no `byte_range`."""

    path: str
    size: int
    byte_range: tuple[int, int] | None = None


def cut(paths: Iterable[str], piece_bytes: int) -> Iterator[list[Span]]:
    """The files in pieces of at least so many bytes, in order; files are gone through as pieces are asked for."""
    piece: list[Span] = []
    for path in paths:
        for span in _spans(path, piece_bytes):
            piece.append(span)
            if sum(span.size for span in piece) >= piece_bytes:
                yield piece
                piece = []
    if piece:
        yield piece


def _spans(path: str, at_least: int) -> Iterator[Span]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        is_compressed = ByteSource(file).compression is not None
        file.seek(0)
        if is_compressed or not looks_delimited(file.read(3)):
            yield Span(path, size)
            return
        start = 0
        for point in each_restart_point(file, _READ_BYTES):
            if point.offset - start >= at_least:
                yield Span(path, point.offset - start, (start, point.offset))
                start = point.offset
        yield Span(path, size - start, (start, size))
