"""Messages between a thread of gRPC and the thread that encodes or decodes, bounded by their bytes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

# Bytes of messages that may wait.
QUEUE_BYTES = 4 << 20


class MessageQueue:
    """A bounded queue between one producer thread and one consumer thread, each of which waits for the other."""

    def __init__(self, limit: int = QUEUE_BYTES) -> None:
        self._limit = limit
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self._is_ended = False
        self._is_closed = False
        # Whether the iterator has yielded all messages, up to the end.
        self.is_drained = False
        self._changed = threading.Condition()

    def put(self, message: bytes) -> bool:
        """Add a message, and return whether it was accepted: false if the consumer has closed the queue."""
        with self._changed:
            while self._bytes >= self._limit and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return False
            self._messages.append(message)
            self._bytes += len(message)
            self._changed.notify_all()
            return True

    def end(self) -> None:
        """Mark the end of the messages."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()

    def close(self) -> None:
        """Drop the waiting messages, and accept no more."""
        with self._changed:
            self._is_closed = self._is_ended = True
            self._messages.clear()
            self._bytes = 0
            self._changed.notify_all()

    def take(self) -> list[bytes]:
        """Return all messages that are waiting, without waiting for any."""
        with self._changed:
            taken = list(self._messages)
            self._messages.clear()
            self._bytes = 0
            self._changed.notify_all()
            return taken

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for a message or for the end of the messages, and return whether there is either."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._messages) or self._is_ended, seconds)

    @property
    def is_over(self) -> bool:
        """Whether all messages have been taken and there will be no more."""
        with self._changed:
            return self._is_ended and not self._messages

    def __iter__(self) -> Iterator[bytes]:
        """Yield messages one by one, until there are no more."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._messages) or self._is_ended)
                if not self._messages:
                    self.is_drained = not self._is_closed
                    return
                message = self._messages.popleft()
                self._bytes -= len(message)
                self._changed.notify_all()
            yield message
