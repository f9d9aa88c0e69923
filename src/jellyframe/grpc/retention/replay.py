"""Frames that are kept in memory, up to a number of bytes and an age."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import NamedTuple

from jellyframe.grpc.publications import CheckedFrame
from jellyframe.grpc.retention.standalone import StandaloneEncoder, decode_standalone
from jellyframe.grpc.retention.store import Message, Store, StoreReader, offset_of_now, require_offset
from jellyframe.options import Limits


class _Kept(NamedTuple):
    data: bytes
    time: float


class ReplayStore(Store):
    """Keeps frames in memory.

    Args:
        max_bytes: the maximum number of bytes kept; the last frame is kept whatever its size
        max_age: seconds for which frames are kept, None for no limit
        limits: the limits for reading frames
    """

    retention = "replay"

    def __init__(self, *, max_bytes: int, max_age: float | None = None, limits: Limits | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._limits = limits or Limits()
        self._kept: deque[_Kept] = deque()
        self._bytes = 0
        self._first = offset_of_now()
        self._encoder = StandaloneEncoder()
        # Readers are in other threads.
        self._lock = threading.RLock()

    @property
    def first_offset(self) -> int:
        with self._lock:
            self._remove_old()
            return self._first

    @property
    def next_offset(self) -> int:
        return self._first + len(self._kept)

    @property
    def kept_bytes(self) -> int:
        """Bytes that are kept."""
        return self._bytes

    async def append(self, frame: CheckedFrame) -> None:
        data = self._encoder.encode(frame)
        with self._lock:
            offset = self.next_offset
            self._kept.append(_Kept(data, time.monotonic()))
            self._bytes += len(data)
            self._remove_old()
        self._deliver(Message(offset, frame))

    def _remove_old(self) -> None:
        while self._kept and (self._is_old(self._kept[0]) or (self._bytes > self._max_bytes and len(self._kept) > 1)):
            self._bytes -= len(self._kept.popleft().data)
            self._first += 1

    def _is_old(self, kept: _Kept) -> bool:
        return self._max_age is not None and time.monotonic() - kept.time > self._max_age

    def reader(self, offset: int) -> StoreReader:
        require_offset(self, offset)
        return _ReplayReader(self, offset)

    def messages(self, offset: int, max_bytes: int) -> list[Message]:
        """Return frames from an offset, of about `max_bytes`."""
        with self._lock:
            require_offset(self, offset)
            taken: list[bytes] = []
            size = 0
            for index in range(offset - self._first, len(self._kept)):
                taken.append(self._kept[index].data)
                size += len(taken[-1])
                if size >= max_bytes:
                    break
        return [Message(offset + i, decode_standalone(data, self._limits)) for i, data in enumerate(taken)]


class _ReplayReader(StoreReader):
    def __init__(self, store: ReplayStore, offset: int) -> None:
        self._store = store
        self._offset = offset

    def read(self, max_bytes: int) -> list[Message]:
        messages = self._store.messages(self._offset, max_bytes)
        self._offset += len(messages)
        return messages
