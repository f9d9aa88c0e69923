"""Sources for readers that are less convenient than a file."""

from __future__ import annotations

import io
from typing import Any

from jellyframe.stream.framing import split_frames
from support import wire


class Pipe(io.RawIOBase):
    """A source that cannot seek and hands out a byte or two at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(memoryview(buffer)[:2])


def options_in_each_frame(data: bytes) -> bytes:
    """A delimited stream with its options, of less than 128 bytes, repeated in each frame, as any writer may do."""
    first, *others = split_frames(data)
    options_row = first[: 2 + first[1]]
    return wire.delimited(first, *(options_row + frame for frame in others))
