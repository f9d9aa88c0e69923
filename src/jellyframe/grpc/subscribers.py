"""A subscriber: its queue of frames, bounded in bytes, and how its subscription ends."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Literal, NamedTuple, TypeAlias

import grpc

from jellyframe.options import DialectName, StreamOptions

SlowPolicy: TypeAlias = Literal["end", "block"]
# Bytes that may be queued for a subscriber.
QUEUE_BYTES = 16 << 20


class Ending(NamedTuple):
    """The status that a subscription ends with."""

    code: grpc.StatusCode
    reason: str = ""


class Subscriber:
    """One subscription of a topic.

    Args:
        requested: the options that the client requests, None for none
        with_offsets: whether frames have their offsets
        queue_bytes: bytes that may be queued
        policy: what to do if the queue is full: `end` the subscription, or `block` publishers; None if the frames can
            be read again from the topic's store, so that the queue is dropped
        dialect: the dialect of the frames that the client wants

    Attributes:
        options: the options of the subscription, once they are known
        is_fresh: whether nothing has been sent yet
        is_joined: whether it gets frames as they arrive
        next_offset: the offset after the last frame that was queued
        has_overflowed: whether the queue was dropped, and the frames from `next_offset` have to be read again
        bytes_sent: bytes passed to the connection
    """

    def __init__(
        self,
        requested: StreamOptions | None,
        *,
        with_offsets: bool,
        queue_bytes: int,
        policy: SlowPolicy | None,
        dialect: DialectName = "released",
    ) -> None:
        self.requested = requested
        self.dialect: DialectName = dialect
        self.with_offsets = with_offsets
        self.options: StreamOptions | None = None
        self.is_fresh = True
        self.is_joined = False
        self.next_offset = 0
        self.has_overflowed = False
        self.bytes_sent = 0
        self.frames_sent = 0
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._queue_bytes = queue_bytes
        self._policy = policy
        self._ending: Ending | None = None
        self._is_abrupt = False
        self._waiter: asyncio.Future[None] | None = None
        self._room: asyncio.Event | None = None

    @property
    def queued_bytes(self) -> int:
        """Bytes in the queue."""
        return self._queued_bytes

    @property
    def is_full(self) -> bool:
        """Whether the queue holds more bytes than it should."""
        return self._queued_bytes > self._queue_bytes

    @property
    def ending(self) -> Ending | None:
        """The status to end with, once all queued frames have been sent."""
        return self._ending if not self._queue or self._is_abrupt else None

    def put(self, data: bytes, offset: int) -> None:
        """Queue a frame. If the queue is full, end the subscription or mark it as overflowed, as the policy says."""
        if self._ending is not None or self.has_overflowed:
            return
        if self._queue and self._queued_bytes + len(data) > self._queue_bytes and self._policy != "block":
            if self._policy is None:
                self.has_overflowed = True
            else:
                self.end(
                    grpc.StatusCode.RESOURCE_EXHAUSTED,
                    f"the subscriber is too slow: {self._queued_bytes} bytes wait to be sent, above the limit of "
                    f"{self._queue_bytes}",
                    abrupt=True,
                )
            self._wake()
            return
        self._queue.append(data)
        self._queued_bytes += len(data)
        self.next_offset = offset + 1
        self.is_fresh = False
        self._wake()

    def end(self, code: grpc.StatusCode, reason: str = "", *, abrupt: bool = False) -> None:
        """End the subscription when all queued frames have been sent; at once if `abrupt`."""
        if self._ending is None or (abrupt and not self._is_abrupt):
            self._ending, self._is_abrupt = Ending(code, reason), abrupt
            if abrupt:
                self._queue.clear()
                self._queued_bytes = 0
            self._wake()
            self._make_room()

    async def take(self) -> list[bytes]:
        """Wait for frames and return all that are queued; none when the subscription ends or its queue overflowed."""
        while not self._queue and self._ending is None and not self.has_overflowed:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        frames = list(self._queue)
        self._queue.clear()
        return frames

    def sent(self, size: int, *, queued: bool = True) -> None:
        """Note that a frame has been passed to the connection."""
        self.bytes_sent += size
        self.frames_sent += 1
        if queued:
            self._queued_bytes = max(0, self._queued_bytes - size)
            if not self.is_full:
                self._make_room()

    async def wait_for_room(self) -> None:
        """Wait until the queue has room: this slows down publishers."""
        while self.is_full and self._ending is None and self._policy == "block":
            self._room = self._room or asyncio.Event()
            await self._room.wait()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _make_room(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None
