"""Sources for readers that are less convenient than a file."""

from __future__ import annotations

import io
from typing import Any


class Pipe(io.RawIOBase):
    """A source that cannot seek and hands out a byte or two at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(memoryview(buffer)[:2])
