"""The client for asyncio: the names of the blocking one, with `await` and `async for`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, Unpack

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame, frames_of
from jellyframe.errors import JellyError, ParseError, RemoteError, UsageError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.failures import acknowledged_early, closed, forked, remote_error
from jellyframe.grpc.client.publishing import PublicationState, PublisherSettings, options_for
from jellyframe.grpc.client.queues import QUEUE_BYTES
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection, ConnectionSettings
from jellyframe.grpc.client.subscribing import Reconnect, SubscriptionState, offset_of
from jellyframe.grpc.protocol import Start, TopicInfo
from jellyframe.options import DialectName, StreamOptions
from jellyframe.stream.decoder import DEFAULT_BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.grpc.client.publishing import AsyncPublishable, Publishable
    from jellyframe.options import LayoutName
    from jellyframe.terms import Quad, Triple


def connect(address: str, **settings: Unpack[ConnectionSettings]) -> AsyncClient:
    """Return a client of the server at an `address`. It connects when it is first used.

    Args:
        address: HOST:PORT, or `unix:PATH`
        settings: those of `jellyframe.grpc.connect`, by name
    """
    return AsyncClient(Connection(address, **settings))


class AsyncClient:
    """A connection to a server, for one event loop."""

    def __init__(self, connection: Connection) -> None:
        """Make a client; `connect` does so from an address."""
        self._connection = connection
        self._process = os.getpid()
        self._is_closed = False
        self._opened: Any = None

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._connection.address

    async def publish(
        self,
        topic: str,
        data: AsyncPublishable,
        options: StreamOptions | None = None,
        **settings: Unpack[PublisherSettings],
    ) -> int:
        """Publish all of the data, and return the number of frames when the server has acknowledged them.

        Delivery is at least once, as in the blocking client.

        Args:
            topic: where to publish
            data: what the blocking client takes, or an asynchronous iterable of statements, batches, frames or bytes
            options: the options of the stream
            settings: those of the blocking `publish`, by name
        """
        async with self.publisher(topic, options_for(data, options, settings), **settings) as publisher:
            await publisher.write(data)
        return publisher.acknowledged_frames

    def publisher(
        self, topic: str, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> AsyncPublisher:
        """Begin a publication that is written incrementally, and return it: an asynchronous context manager.

        Args:
            topic: where to publish
            options: the options of the stream
            settings: those of the blocking `publish`, by name
        """
        self._check_usable()
        return AsyncPublisher(self, PublicationState(self._connection, topic, options, **settings))

    def subscribe(
        self,
        topic: str,
        options: StreamOptions | None = None,
        *,
        from_: Start | None = None,
        reconnect: Reconnect = "resume",
        timeout: float | None = None,
        batch_rows: int = DEFAULT_BATCH_ROWS,
        dialect: DialectName = "released",
    ) -> AsyncSubscription:
        """Subscribe to a topic and return the subscription, whose views are asynchronous iterators.

        Args:
            topic: what to subscribe to
            options: what the stream is to be like; by default the server chooses
            from_: where to start: `earliest`, `latest`, or an offset
            reconnect: `resume`, `always` or `never`, as in the blocking client
            timeout: seconds after which the subscription ends with an error
            batch_rows: statements in a batch, at most
            dialect: the dialect to ask for, `released` or `draft`, whose frames have no offsets
        """
        self._check_usable()
        state = SubscriptionState(
            self._connection,
            topic,
            options,
            from_=from_,
            reconnect=reconnect,
            batch_rows=batch_rows,
            dialect=dialect,
        )
        return AsyncSubscription(self, state, timeout)

    async def topics(self, *, timeout: float | None = None) -> list[TopicInfo]:
        """Return the topics of a server of ours, in the order of their names.

        Args:
            timeout: seconds that this may take
        """
        import grpc

        backoff = Backoff(self._connection.connect_timeout)
        while True:
            method = self._channel().unary_unary(protocol.LIST_TOPICS)
            try:
                answer = await method(b"", metadata=self._connection.call_metadata(), timeout=timeout)
                return sorted(protocol.decode_topics(answer), key=lambda topic: topic.name)
            except grpc.RpcError as error:
                await asyncio.sleep(backoff.pause_after(remote_error(error, self.address), _now()))

    async def close(self) -> None:
        """End the connection, with all publications and subscriptions on it."""
        self._is_closed = True
        if self._opened is not None and self._process == os.getpid():
            await self._opened.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    # ---- calls ----

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise forked("client")
        if self._is_closed:
            raise closed("client")

    def _channel(self) -> Any:
        """Return the channel, which belongs to the event loop that is running when it is first used."""
        import grpc.aio

        self._check_usable()
        if self._opened is None:
            credentials = self._connection.credentials()
            options = self._connection.channel_options()
            self._opened = (
                grpc.aio.insecure_channel(self.address, options)
                if credentials is None
                else grpc.aio.secure_channel(self.address, credentials, options)
            )
        return self._opened


class AsyncPublisher:
    """A publication that is being written, by one task at a time.

    What is written goes out frame by frame. `flush` returns when the server has acknowledged it all; `close` flushes.
    """

    def __init__(self, client: AsyncClient, state: PublicationState) -> None:
        """Begin a publication; `AsyncClient.publisher` does so for a topic."""
        self._client = client
        self._state = state
        self._encoder = state.encoder
        self._waiting = state.waiting
        self._call: Any = None
        self._is_closed = False
        self._is_in_use = False

    @property
    def acknowledged_frames(self) -> int:
        """The number of frames that the server has acknowledged."""
        return self._waiting.acknowledged

    @property
    def statements_written(self) -> int:
        """The number of statements written so far, raw frames aside."""
        return self._encoder.statements

    async def write(self, data: AsyncPublishable) -> None:
        """Publish statements, batches, frames, raw frames or a table.

        Args:
            data: as for `AsyncClient.publish`
        """
        if isinstance(data, AsyncIterable):
            async for items in _in_groups(data, self._state.group_size):
                await self._send_all(self._encoder.encode(items))
        else:
            await self._send_all(self._encoder.encode(data))

    def declare_namespace(self, name: str, iri: str) -> None:
        """Declare a short name for an IRI, at this place of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for
        """
        self._encoder.declare_namespace(name, iri)

    async def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the frame, even an empty one, give it metadata, and send it.

        Args:
            metadata: bytes under names of your choice
        """
        await self._send_all(self._encoder.end_frame(metadata))

    async def flush(self) -> None:
        """Send all that has been written, and wait until the server has acknowledged it."""
        await self._send_all(self._encoder.flush())
        await self._acknowledge()

    async def close(self) -> None:
        """Flush, and end the publication. One without statements is a frame with its options."""
        await self._close(even_if_empty=True)

    def discard(self) -> None:
        """Give up: what has not been acknowledged may be published or not."""
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
            # The caller's own error: what was accepted before it is published all the same.
            with suppress(JellyError):
                await self._close(even_if_empty=False)
        else:
            self.discard()

    # ---- the mechanism ----

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
                    self._call = self._begin()
                if not await self._write(frame):
                    await self._repeat(await self._end())
        finally:
            self._is_in_use = False

    async def _write(self, frame: bytes) -> bool:
        """Send a frame, and return whether the call goes on."""
        import grpc

        try:
            await self._call.write(frame)
        except (grpc.RpcError, asyncio.InvalidStateError):
            return False
        return True

    async def _end(self) -> RemoteError | None:
        """End the stream of frames, and return the error that the server answers with, or None."""
        import grpc

        call = self._call
        # A call that is over before its last frame is, was not read to its end.
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
        """Wait until the server has acknowledged what has been sent."""
        if self._call is None:
            return
        while (error := await self._end()) is not None:
            await self._repeat(error)
        self._call = None
        self._state.acknowledged()

    async def _repeat(self, error: RemoteError | None) -> None:
        """Make the call again, with all that has been sent in it, after it has failed."""
        is_sent = False
        while not is_sent:
            failure = error or acknowledged_early(self._client.address)
            await asyncio.sleep(self._state.pause_after(failure, _now()))
            self._call = self._begin()
            for frame in self._waiting.frames:
                is_sent = await self._write(frame)
                if not is_sent:
                    error = await self._end()
                    break

    def _begin(self) -> Any:
        method = self._client._channel().stream_unary(protocol.PUBLISH)
        return method(metadata=self._state.metadata, timeout=self._state.timeout)


class AsyncSubscription:
    """A topic that is being read, by one task at a time. Its views share one position, and raise once it is closed."""

    def __init__(self, client: AsyncClient, state: SubscriptionState, timeout: float | None) -> None:
        """Begin to read; `AsyncClient.subscribe` does so for a topic."""
        self._client = client
        self._state = state
        self._deadline = None if timeout is None else _now() + timeout
        self._namespaces: dict[str, str] = {}
        self._offset: int | None = None
        self._given: int | None = None
        self._waiting_batch: Batch | None = None
        self._pump: asyncio.Task[None] | None = None
        self._messages: list[bytes] = []
        self._bytes = 0
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()
        self._failure: RemoteError | None = None
        self._is_closed = False
        self._is_in_use = False

    @property
    def namespaces(self) -> dict[str, str]:
        """The namespaces that what has been read declares: the IRI of each name."""
        return self._namespaces

    @property
    def offset(self) -> int | None:
        """The offset to go on from in another subscription, as in the blocking client."""
        return self._offset

    async def options(self) -> StreamOptions:
        """Return the options of the stream. Reads as far as is needed to see them."""
        while self._state.options is None:
            self._waiting_batch = self._waiting_batch or await self._next_batch()
            if self._waiting_batch is None:
                break
        if self._state.options is None:
            raise ParseError("the stream has ended before its options", source=self._client.address)
        return self._state.options

    # ---- the views ----

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield the stream in batches of at most `batch_rows` statements."""
        while True:
            batch, self._waiting_batch = self._waiting_batch, None
            if batch is None:
                batch = await self._next_batch()
            if batch is None:
                return
            self._namespaces.update((declaration.name, declaration.iri) for declaration in batch.namespaces)
            yield batch

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield the stream frame by frame: in a grouped stream, each is a graph or a dataset."""
        parts: list[Batch] = []
        async for batch in self.batches():
            parts.append(batch)
            if not batch.last_frame_open:
                for frame in frames_of(parts):
                    yield frame
                parts.clear()

    async def statements(self) -> AsyncIterator[Triple | Quad]:
        """Yield the stream statement by statement."""
        async for batch in self.batches():
            for statement in batch.statements():
                yield statement

    async def record_batches(
        self,
        layout: LayoutName = "struct",
        *,
        frame_column: bool = False,
        columns: Sequence[str] | None = None,
        dictionary: bool = False,
    ) -> AsyncIterator[pa.RecordBatch]:
        """Yield what is left of the stream as Arrow record batches.

        Args:
            layout: `struct`, `ntriples` or `flat`, as in `read_table`
            frame_column: add the number of the frame as a column `frame`
            columns: those to make; all by default
            dictionary: encode strings with a dictionary, which is the term table of each batch
        """
        from jellyframe.arrow.layouts import ArrowView

        has_graph = (await self.options()).has_graph
        view = ArrowView(layout, has_graph, frame_column=frame_column, columns=columns, dictionary=dictionary)
        async for batch in self.batches():
            for record_batch in view.record_batches([batch]):
                yield record_batch

    def __aiter__(self) -> AsyncIterator[Triple | Quad]:
        return self.statements()

    async def close(self) -> None:
        """End the subscription. Views that have not come to their end raise from now on."""
        self._is_closed = True
        self._changed.set()
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
            self._pump = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    # ---- the mechanism ----

    async def _next_batch(self) -> Batch | None:
        if self._is_in_use:
            raise UsageError("the subscription is in use: two tasks used it at the same time; use one for each task")
        self._is_in_use = True
        try:
            self._offset = self._given
            batch = await self._decode()
        finally:
            self._is_in_use = False
        if batch is not None and (offset := offset_of(batch)) is not None:
            self._given = offset + 1
        return batch

    async def _decode(self) -> Batch | None:
        state = self._state
        while True:
            if self._is_closed:
                raise closed("subscription")
            self._client._check_usable()
            if self._pump is None:
                self._begin()
            batch = state.next_batch()
            if batch is None and not self._receive():
                # With nothing left to decode, a batch need not be full.
                batch = state.next_batch(partial=True)
                if batch is None and not state.is_over:
                    await self._wait()
                    continue
            if batch is not None or state.is_over:
                return batch

    def _receive(self) -> bool:
        """Hand on the messages that have come, and return whether there were any."""
        messages, self._messages, self._bytes = self._messages, [], 0
        self._has_room.set()
        for message in messages:
            self._state.push(message)
        return bool(messages)

    async def _wait(self) -> None:
        """Wait for messages, or for the call to end; make another call if it has failed."""
        await self._changed.wait()
        self._changed.clear()
        pump = self._pump
        if self._messages or self._is_closed or pump is None or not pump.done():
            return
        if self._failure is None:
            pump.result()
            self._state.finish()
            return
        self._client._check_usable()
        pause = self._state.pause_after(self._failure, _now())
        # `close` sets the event.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), pause)
        if not self._is_closed:
            self._begin()

    def _begin(self) -> None:
        left = None if self._deadline is None else max(0.001, self._deadline - _now())
        method = self._client._channel().unary_stream(protocol.SUBSCRIBE)
        call = method(self._state.request, metadata=self._state.call_metadata(), timeout=left)
        self._failure = None
        self._pump = asyncio.ensure_future(self._move(call))
        # The task counts as done only after it has returned.
        self._pump.add_done_callback(lambda _task: self._changed.set())

    async def _move(self, call: Any) -> None:
        """Move messages from the call to where the decoder takes them, as long as there is room."""
        import grpc

        try:
            async for message in call:
                while self._bytes >= QUEUE_BYTES:
                    self._has_room.clear()
                    await self._has_room.wait()
                self._messages.append(message)
                self._bytes += len(message)
                self._changed.set()
        except grpc.RpcError as error:
            self._failure = remote_error(error, self._client.address)
        finally:
            call.cancel()


async def _in_groups(items: AsyncIterable[Any], size: int) -> AsyncIterator[Publishable]:
    """Yield items as they arrive, in lists of limited length; those before an error first."""
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


def _now() -> float:
    return asyncio.get_running_loop().time()
