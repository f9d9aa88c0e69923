"""A publication of the blocking client."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from jellyframe.errors import JellyError, RemoteError
from jellyframe.grpc.client.calling import BlockingCalls
from jellyframe.grpc.client.failures import acknowledged_early, closed, remote_error
from jellyframe.grpc.client.publishing import AnyPublisher, PublicationState
from jellyframe.grpc.client.queues import MessageQueue
from jellyframe.stream.exclusive import Exclusive

if TYPE_CHECKING:
    from jellyframe.grpc.client.publishing import Publishable


class Publisher(AnyPublisher):
    """A publication that is being written. A publisher is for one thread at a time.

    Data is sent frame by frame. `flush` returns when the server has acknowledged all of it; `close` flushes.
    """

    def __init__(self, client: BlockingCalls, state: PublicationState) -> None:
        """Start a publication; use `Client.publisher` to create one for a topic."""
        super().__init__(state)
        self._client = client
        self._call: _PublishCall | None = None
        self._is_closed = False
        self._exclusive = Exclusive("the publisher")

    def write(self, data: Publishable) -> None:
        """Publish statements, batches, frames, raw frames or a table.

        Args:
            data: as for `Client.publish`
        """
        with self._exclusive:
            self._check_open()
            for frame in self._encoder.encode(data):
                self._send(frame)

    def declare_namespace(self, name: str, iri: str) -> None:
        """Declare a short name for an IRI, at this position of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for
        """
        with self._exclusive:
            self._check_open()
            self._encoder.declare_namespace(name, iri)

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the current frame, even if it is empty, add metadata to it, and send it.

        Args:
            metadata: the metadata of the frame: bytes by name
        """
        with self._exclusive:
            self._check_open()
            for frame in self._encoder.end_frame(metadata):
                self._send(frame)

    def flush(self) -> None:
        """Send all that has been written, and wait until the server has acknowledged it."""
        with self._exclusive:
            self._check_open()
            self._flush()

    def close(self) -> None:
        """Flush and end the publication. Without statements it is one frame with the options."""
        self._close(even_if_empty=True)

    def discard(self) -> None:
        """Abort the call. Frames that have not been acknowledged may or may not be published."""
        self._is_closed = True
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        if kind is None:
            self.close()
        elif issubclass(kind, Exception) and not issubclass(kind, RemoteError):
            # An error of the caller: statements accepted before it are still published.
            with suppress(JellyError):
                self._close(even_if_empty=False)
        else:
            self.discard()

    # ---- implementation ----

    def _check_open(self) -> None:
        self._client._check_usable()
        if self._is_closed:
            raise closed("publisher")

    def _close(self, *, even_if_empty: bool) -> None:
        with self._exclusive:
            if self._is_closed:
                return
            try:
                self._flush()
                if even_if_empty and not self._waiting.acknowledged:
                    for frame in self._encoder.finish_empty():
                        self._send(frame)
                    self._acknowledge()
            finally:
                self.discard()

    def _flush(self) -> None:
        for frame in self._encoder.flush():
            self._send(frame)
        self._acknowledge()

    def _send(self, frame: bytes) -> None:
        if self._waiting.ends_before(frame):
            self._acknowledge()
        self._waiting.add(frame)
        if self._call is None:
            self._call = self._begin()
        if not self._call.send(frame):
            self._repeat()

    def _acknowledge(self) -> None:
        """Wait until the server has acknowledged all sent frames."""
        if self._call is None:
            return
        error = self._call.finish(self._client)
        while error is not None:
            self._repeat(error)
            assert self._call is not None
            error = self._call.finish(self._client)
        self._call = None
        self._state.acknowledged()

    def _repeat(self, error: RemoteError | None = None) -> None:
        """Repeat a failed call, with all frames that were sent in it."""
        assert self._call is not None
        is_sent = False
        while not is_sent:
            error = error or self._call.finish(self._client) or acknowledged_early(self._client.address)
            time.sleep(self._state.pause_after(error, time.monotonic()))
            self._call = self._begin()
            error = None
            is_sent = all(map(self._call.send, self._waiting.frames))

    def _begin(self) -> _PublishCall:
        self._client._await_subscriptions()
        return _PublishCall(self._client, self._state.metadata, self._state.timeout)


class _PublishCall:
    """One call of PublishRdf: frames are put into a queue, from which a thread of gRPC takes them."""

    def __init__(self, client: BlockingCalls, metadata: Any, timeout: float | None) -> None:
        self._queue = MessageQueue()
        self._call = client._call(client._publish.future, iter(self._queue), metadata, timeout)
        # After the server has answered, waiting frames are no longer sent.
        self._call.add_done_callback(lambda _call: self._queue.close())

    def send(self, frame: bytes) -> bool:
        """Send a frame, and return whether the call is still open."""
        return self._queue.put(frame)

    def finish(self, client: BlockingCalls) -> RemoteError | None:
        """End the stream of frames, and return the error that the server returns, or None."""
        import grpc

        self._queue.end()
        try:
            self._call.result()
        except grpc.FutureCancelledError:
            raise closed("client") from None
        except grpc.RpcError as error:
            return remote_error(error, client.address)
        return None if self._queue.is_drained else acknowledged_early(client.address)

    def cancel(self) -> None:
        self._queue.close()
        self._call.cancel()
