"""A bounded channel for bytes from a worker thread to the event loop that sends them."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable

from jellyframe.storage.types import Buffer

WAITING_BYTES = 4 << 20
# Small writes are sent together.
PIECE_BYTES = 256 << 10


class _LeftError(BrokenPipeError):
    """The receiver has disconnected: the work ends."""


class Channel:
    """A binary sink for a thread. Writing blocks while the receiver is slow, and raises once it has disconnected."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrived = asyncio.Event()
        self._change = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._is_left = self._is_complete = False
        self._error: BaseException | None = None

    # ---- in the thread ----

    def write(self, data: Buffer, /) -> int:
        """Pass bytes to the receiver."""
        with self._change:
            while self._waiting > WAITING_BYTES and not self._is_left:
                self._change.wait()
            if self._is_left:
                raise _LeftError("the client has left")
            self._pieces.append(bytes(data))
            self._waiting += len(data)
            if self._waiting >= PIECE_BYTES:
                self._wake()
        return len(data)

    def run(self, work: Callable[[Channel], object]) -> None:
        """Run the function that writes to this channel, and pass its exception on."""
        try:
            work(self)
        except _LeftError:
            pass
        except BaseException as error:
            self._error = error
        with self._change:
            self._is_complete = True
            self._wake()

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:
            # The event loop has been closed: there is no receiver any more.
            self._is_left = True

    # ---- in the event loop ----

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Yield the data as it is written, and raise the error that ended the work: at once if nothing was yielded."""
        is_first = True
        while True:
            await self._arrived.wait()
            with self._change:
                self._arrived.clear()
                pieces, self._pieces = self._pieces, deque()
                self._waiting = 0
                is_complete = self._is_complete
                self._change.notify()
            if self._error is not None and is_first:
                raise self._error
            if pieces:
                yield b"".join(pieces)
                is_first = False
            if is_complete:
                break
        if self._error is not None:
            raise self._error

    def leave(self) -> None:
        """Tell the thread that the receiver has disconnected."""
        with self._change:
            self._is_left = True
            self._change.notify()


async def work_in_thread(work: Callable[[Channel], object]) -> AsyncGenerator[bytes, None]:
    """Run a function in a separate thread, and yield the data that it writes to its channel."""
    channel = Channel(asyncio.get_running_loop())
    threading.Thread(target=channel.run, args=(work,), daemon=True).start()
    try:
        async for piece in channel.pieces():
            yield piece
    finally:
        channel.leave()
