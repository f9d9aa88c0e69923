"""Frames that are sent to the current subscribers, and not kept."""

from __future__ import annotations

from jellyframe.grpc.publications import CheckedFrame
from jellyframe.grpc.retention.store import Message, Store, offset_of_now


class LiveStore(Store):
    """Keeps nothing."""

    retention = "live"
    is_retained = False

    def __init__(self) -> None:
        self._next = offset_of_now()

    @property
    def first_offset(self) -> int:
        return self._next

    @property
    def next_offset(self) -> int:
        return self._next

    async def append(self, frame: CheckedFrame) -> None:
        offset = self._next
        self._next += 1
        self._deliver(Message(offset, frame))
