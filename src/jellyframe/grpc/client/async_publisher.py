"""A publication of the client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame
from jellyframe.errors import JellyError, RemoteError, UsageError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.calling import AsyncCalls
from jellyframe.grpc.client.failures import acknowledged_early, closed, remote_error
from jellyframe.grpc.client.publishing import AnyPublisher, PublicationState

if TYPE_CHECKING:
    from jellyframe.grpc.client.publishing import AsyncPublishable, Publishable


class AsyncPublisher(AnyPublisher):
    """A publication that is being written, by one task at a time.

    Data is sent frame by frame. `flush` returns when the server has acknowledged all of it; `close` flushes.
    """

    def __init__(self, client: AsyncCalls, state: PublicationState) -> None:
        """Start a publication; use `AsyncClient.publisher` to create one for a topic."""
        super().__init__(state)
        self._client = client
        self._call: Any = None
        self._is_closed = False
        self._is_in_use = False

    async def write(self, data: AsyncPublishable) -> None:
        """Publish statements, batches, frames, raw frames or a table.

        Args:
            data: as for `AsyncClient.publish`
        """
        if isinstance(data, AsyncIterable):
            async for items in _in_groups(data, self._encoder.group_size):
                await self._send_all(self._encoder.encode(items))
        else:
            await self._send_all(self._encoder.encode(data))

    def declare_namespace(self, name: str, iri: str) -> None:
        """Declare a short name for an IRI, at this position of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for
        """
        self._encoder.declare_namespace(name, iri)

    async def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the current frame, even if it is empty, add metadata to it, and send it.

        Args:
            metadata: the metadata of the frame: bytes by name
        """
        await self._send_all(self._encoder.end_frame(metadata))

    async def flush(self) -> None:
        """Send all that has been written, and wait until the server has acknowledged it."""
        await self._send_all(self._encoder.flush())
        await self._acknowledge()

    async def close(self) -> None:
        """Flush and end the publication. Without statements it is one frame with the options."""
        await self._close(even_if_empty=True)

    def discard(self) -> None:
        """Abort the call. Frames that have not been acknowledged may or may not be published."""
        self._is_closed = True
        if self._call is not None:
            self._call.cancel()
            self._call = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        if kind is None:
            await self.close()
        elif issubclass(kind, Exception) and not issubclass(kind, RemoteError):
            # An error of the caller: statements accepted before it are still published.
            with suppress(JellyError):
                await self._close(even_if_empty=False)
        else:
            self.discard()

    # ---- implementation ----

    async def _close(self, *, even_if_empty: bool) -> None:
        if self._is_closed:
            return
        try:
            await self.flush()
            if even_if_empty and not self._waiting.acknowledged:
                await self._send_all(self._encoder.finish_empty())
                await self._acknowledge()
        finally:
            self.discard()

    async def _send_all(self, frames: Iterable[bytes]) -> None:
        self._client._check_usable()
        if self._is_closed:
            raise closed("publisher")
        if self._is_in_use:
            raise UsageError("the publisher is in use: two tasks used it at the same time; use one for each task")
        self._is_in_use = True
        try:
            for frame in frames:
                if self._waiting.ends_before(frame):
                    await self._acknowledge()
                self._waiting.add(frame)
                if self._call is None:
                    await self._client._await_subscriptions()
                    self._call = self._begin()
                if not await self._write(frame):
                    await self._repeat(await self._end())
        finally:
            self._is_in_use = False

    async def _write(self, frame: bytes) -> bool:
        """Send a frame, and return whether the call is still open."""
        import grpc

        try:
            await self._call.write(frame)
        except (grpc.RpcError, asyncio.InvalidStateError):
            return False
        return True

    async def _end(self) -> RemoteError | None:
        """End the stream of frames, and return the error that the server returns, or None."""
        import grpc

        call = self._call
        # A call that ends before its last frame was not read to its end.
        is_early = call.done()
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            await call.done_writing()
        try:
            await call
        except grpc.RpcError as error:
            self._client._check_usable()
            return remote_error(error, self._client.address)
        return acknowledged_early(self._client.address) if is_early else None

    async def _acknowledge(self) -> None:
        """Wait until the server has acknowledged all sent frames."""
        if self._call is None:
            return
        while (error := await self._end()) is not None:
            await self._repeat(error)
        self._call = None
        self._state.acknowledged()

    async def _repeat(self, error: RemoteError | None) -> None:
        """Repeat a failed call, with all frames that were sent in it."""
        is_sent = False
        while not is_sent:
            failure = error or acknowledged_early(self._client.address)
            await asyncio.sleep(self._state.pause_after(failure, asyncio.get_running_loop().time()))
            self._call = self._begin()
            for frame in self._waiting.frames:
                is_sent = await self._write(frame)
                if not is_sent:
                    error = await self._end()
                    break

    def _begin(self) -> Any:
        method = self._client._channel().stream_unary(protocol.PUBLISH)
        return method(metadata=self._state.metadata, timeout=self._state.timeout)


async def _in_groups(items: AsyncIterable[Any], size: int) -> AsyncIterator[Publishable]:
    """Yield items as they arrive, in lists of limited length; items before an error are yielded first."""
    group: list[Any] = []
    try:
        async for item in items:
            group.append(item)
            if len(group) >= size or isinstance(item, Batch | Frame | bytes | bytearray | memoryview):
                yield group
                group = []
    except Exception:
        if group:
            yield group
        raise
    if group:
        yield group
