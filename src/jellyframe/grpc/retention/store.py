"""The interface of stores: append frames, make them visible in order, and read back those that are kept."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from jellyframe.errors import JellyError
from jellyframe.grpc.publications import CheckedFrame, Publication

Deliver: TypeAlias = Callable[["Message"], None]


class Message(NamedTuple):
    """A frame and its offset in a topic."""

    offset: int
    frame: CheckedFrame


class OffsetError(JellyError):
    """An offset whose frame is no longer kept, or not yet published."""


class ReadOnlyError(JellyError):
    """A topic that nothing can be published to."""


class StoreReader(ABC):
    """Reads the frames that are kept, in order. Its methods may block, so they are called in a thread."""

    @abstractmethod
    def read(self, max_bytes: int) -> list[Message]:
        """Return the next frames, of about `max_bytes`; none when all visible ones have been read.

        Raises OffsetError if the next one has been removed.
        """

    def close(self) -> None:
        """Close the reader."""
        return


class Store(ABC):
    """The frames of a topic.

    A store assigns offsets to frames, which increase by one. It passes each frame to `deliver`, in order and in the
    event loop, when it is visible: from then on the frame is kept for as long as the store keeps frames.

    Attributes:
        retention: the name of the kind of store
        is_retained: whether frames are kept, so that `reader` returns them
        is_finite: whether the topic has an end, at which subscriptions end
    """

    retention = ""
    is_retained = True
    is_finite = False

    async def start(self, deliver: Deliver) -> None:
        """Open the store. `deliver` is called with each frame that becomes visible from now on."""
        self._deliver = deliver

    @property
    @abstractmethod
    def first_offset(self) -> int:
        """The offset of the oldest frame that is kept; `next_offset` if there is none."""

    @property
    @abstractmethod
    def next_offset(self) -> int:
        """The offset after that of the last visible frame."""

    @property
    def kept_bytes(self) -> int:
        """The number of bytes that are kept, if it is known."""
        return 0

    @abstractmethod
    async def append(self, frame: CheckedFrame) -> None:
        """Store a frame, waiting until there is room. Raises if frames cannot be kept."""

    async def commit(self, publication: Publication) -> None:
        """Wait until all frames of a publication are as safe as the store can make them, and visible."""
        return

    def reader(self, offset: int) -> StoreReader:
        """Return a reader of the frames from an offset.

        Raises OffsetError if the offset is not between `first_offset` and `next_offset`.
        """
        raise OffsetError("the topic keeps no frames")

    async def close(self) -> None:
        """Write all accepted frames to disk, and close the store."""
        return


def require_offset(store: Store, offset: int) -> None:
    """Raise OffsetError unless a reader can start at an offset."""
    if offset < store.first_offset:
        raise OffsetError(f"the frame at offset {offset} is no longer kept: the oldest one is at {store.first_offset}")
    if offset > store.next_offset:
        raise OffsetError(f"there is no frame at offset {offset} yet: the next one will be at {store.next_offset}")


def offset_of_now() -> int:
    """Return the first offset of a store that does not survive a restart: above all that it assigned before."""
    return time.time_ns() // 1000
