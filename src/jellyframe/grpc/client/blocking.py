"""The blocking client: one connection, with any number of publications and subscriptions on it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from jellyframe.batch import Batch
from jellyframe.errors import JellyError, RemoteError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.failures import acknowledged_early, closed, forked, remote_error
from jellyframe.grpc.client.publishing import PublicationState, PublisherSettings, options_for
from jellyframe.grpc.client.queues import MessageQueue
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection, ConnectionSettings
from jellyframe.grpc.client.subscribing import Reconnect, SubscriptionState, offset_of
from jellyframe.grpc.protocol import Start, TopicInfo
from jellyframe.options import DialectName, StreamOptions
from jellyframe.stream.decoder import DEFAULT_BATCH_ROWS
from jellyframe.stream.exclusive import Exclusive
from jellyframe.stream.reader import StatementReader

if TYPE_CHECKING:
    from jellyframe.grpc.client.publishing import Publishable

_T = TypeVar("_T")


def connect(address: str, **settings: Unpack[ConnectionSettings]) -> Client:
    """Return a client of the server at an address. It connects when it is first used.

    Args:
        address: HOST:PORT, or `unix:PATH`
        tls: whether to use TLS (false); implied by `ca`, `certificate` and `server_name`
        ca: a file with the certificates of authorities that are trusted (PEM); by default those of gRPC
        certificate: a file with the client's own certificate, for mutual TLS (PEM)
        key: a file with the key of that certificate (PEM)
        server_name: the name that the server's certificate has, if it is not the host
        token: a bearer token; over TLS, or to this machine, only
        limits: what is accepted from the server, see `Limits`; `max_frame_bytes` is also the limit of gRPC's messages
        connect_timeout: for how many seconds to try to reach the server at first (10)
        reconnect_timeout: for how many seconds to try again when the connection is lost (300)
        keepalive: seconds of silence after which to ask whether the server is still there (300), 0 for never; many
            servers drop clients that ask more often than every five minutes, ours do not
        settings: `tls` to `keepalive`, by name

    Raises:
        OptionsError: if the settings do not go together
        OSError: if a file of certificates cannot be read
    """
    return Client(Connection(address, **settings))


class Client:
    """A connection to a server. Any number of threads may use it at the same time."""

    def __init__(self, connection: Connection) -> None:
        """Make a client; `connect` does so from an address."""
        import grpc

        self._connection = connection
        self._process = os.getpid()
        self._is_closed = False
        credentials = connection.credentials()
        options = connection.channel_options()
        self._channel: Any = (
            grpc.insecure_channel(connection.address, options)
            if credentials is None
            else grpc.secure_channel(connection.address, credentials, options)
        )
        # Without serializers messages are the bytes that they are on the wire.
        self._publish = self._channel.stream_unary(protocol.PUBLISH)
        self._subscribe = self._channel.unary_stream(protocol.SUBSCRIBE)
        self._list_topics = self._channel.unary_unary(protocol.LIST_TOPICS)

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._connection.address

    def publish(
        self, topic: str, data: Publishable, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> int:
        """Publish all of the data, and return the number of frames when the server has acknowledged them.

        Delivery is at least once: when the connection is lost, frames that the server may have received already, but
        has not acknowledged, are sent again. With `resend=False` that is an error instead.

        Args:
            topic: where to publish
            data: statements, batches, frames or raw frames (bytes), one or any iterable of them; an Arrow table, record
                batch or reader; or a reader of Jelly, whose frames and options are kept
            options: the options of the stream, by default such that any statement is allowed; raw frames have their own
            frame_rows: rows after which a frame is cut (256), None for no limit
            frame_bytes: bytes after which a frame is cut (1,000,000), None for no limit
            acknowledge_every: bytes that may be without an acknowledgement, about (4 MiB)
            resend: whether to send again what may have been lost (true)
            timeout: seconds that each call may take, which sends `acknowledge_every` bytes
            dialect: the dialect of the publication, `released` (by default) or `draft`: raw frames must have it, and
                namespaces of a reader are left out of the draft, which has none
            settings: `frame_rows` to `dialect`, by name

        Raises:
            RemoteError: if the server refuses the data or cannot be reached; what was acknowledged before is published
            EncodeError: if a statement cannot be written; those before it are published
        """
        with self.publisher(topic, options_for(data, options, settings), **settings) as publisher:
            publisher.write(data)
        return publisher.acknowledged_frames

    def publisher(
        self, topic: str, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> Publisher:
        """Begin a publication that is written incrementally, and return it.

        Args:
            topic: where to publish
            options: the options of the stream
            settings: as for `publish`, by name
        """
        self._check_usable()
        return Publisher(self, PublicationState(self._connection, topic, options, **settings))

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
    ) -> Subscription:
        """Subscribe to a topic and return the subscription: a reader with the views that other readers have.

        Args:
            topic: what to subscribe to
            options: what the stream is to be like, such as `StreamOptions.small()`; by default the server chooses
            from_: where to start, on a server that keeps frames: `earliest`, `latest`, or an offset (see
                `Subscription.offset`); by default the server chooses, ours `latest`
            reconnect: what to do when the connection is lost: `resume` goes on where frames have offsets, so that there
                is no gap, and raises where they have none; `always` goes on and accepts gaps; `never` raises
            timeout: seconds after which the subscription ends with an error
            batch_rows: statements in a batch, at most; batches are smaller where frames come slowly
            dialect: the dialect to ask for, `released` or `draft`, whose frames have no offsets

        Raises:
            OptionsError: if the arguments make no sense; errors of the server are raised by the views
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
        deadline = None if timeout is None else time.monotonic() + timeout
        return Subscription(Receiver(self, state, deadline), f"{self.address} {topic}")

    def topics(self, *, timeout: float | None = None) -> list[TopicInfo]:
        """Return the topics of a server of ours, in the order of their names.

        Args:
            timeout: seconds that this may take

        Raises:
            RemoteError: if the server cannot be reached, or is none of ours
        """
        import grpc

        backoff = Backoff(self._connection.connect_timeout)
        while True:
            try:
                answer = self._call(self._list_topics, b"", self._connection.call_metadata(), timeout)
                return sorted(protocol.decode_topics(answer), key=lambda topic: topic.name)
            except grpc.RpcError as error:
                time.sleep(backoff.pause_after(remote_error(error, self.address), time.monotonic()))

    def topic(self, name: str, *, timeout: float | None = None) -> TopicInfo:
        """Return one topic of a server of ours, which is opened there if it is not in use.

        Args:
            name: the topic
            timeout: seconds that each call may take

        Raises:
            RemoteError: if the server refuses the topic, cannot be reached, or is none of ours
        """
        import grpc

        for _attempt in range(2):
            for topic in self.topics(timeout=timeout):
                if topic.name == name:
                    return topic
            # Servers open topics that they keep when someone asks for them.
            request = protocol.encode_subscription(protocol.Subscription(name))
            metadata = self._connection.call_metadata() + protocol.subscription_metadata(protocol.LATEST)
            call = self._call(self._subscribe, request, metadata, timeout)
            call.initial_metadata()
            if call.done() and call.code() is not grpc.StatusCode.OK:
                raise remote_error(call, self.address)
            call.cancel()
        raise RemoteError(f"the server does not list the topic {name!r}", status="NOT_FOUND", source=self.address)

    def close(self) -> None:
        """End the connection, with all publications and subscriptions on it."""
        if not self._is_closed and self._process == os.getpid():
            self._channel.close()
        self._is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # ---- calls ----

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise forked("client")
        if self._is_closed:
            raise closed("client")

    def _call(self, method: Callable[..., _T], request: Any, metadata: Any, timeout: float | None) -> _T:
        self._check_usable()
        try:
            return method(request, metadata=metadata, timeout=timeout)
        except ValueError:
            # Closed by another thread since.
            raise closed("client") from None


class Publisher:
    """A publication that is being written. A publisher is for one thread at a time.

    What is written goes out frame by frame. `flush` returns when the server has acknowledged it all; `close` flushes.
    """

    def __init__(self, client: Client, state: PublicationState) -> None:
        """Begin a publication; `Client.publisher` does so for a topic."""
        self._client = client
        self._state = state
        self._encoder = state.encoder
        self._waiting = state.waiting
        self._call: _PublishCall | None = None
        self._is_closed = False
        self._exclusive = Exclusive("the publisher")

    @property
    def acknowledged_frames(self) -> int:
        """The number of frames that the server has acknowledged."""
        return self._waiting.acknowledged

    @property
    def statements_written(self) -> int:
        """The number of statements written so far, raw frames aside."""
        return self._encoder.statements

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
        """Declare a short name for an IRI, at this place of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for
        """
        with self._exclusive:
            self._check_open()
            self._encoder.declare_namespace(name, iri)

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the frame, even an empty one, give it metadata, and send it.

        Args:
            metadata: bytes under names of your choice
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
        """Flush, and end the publication. One without statements is a frame with its options."""
        self._close(even_if_empty=True)

    def discard(self) -> None:
        """Give up: what has not been acknowledged may be published or not."""
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
            # The caller's own error: what was accepted before it is published all the same.
            with suppress(JellyError):
                self._close(even_if_empty=False)
        else:
            self.discard()

    # ---- the mechanism ----

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
        """Wait until the server has acknowledged what has been sent."""
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
        """Make the call again, with all that has been sent in it, after it has failed."""
        assert self._call is not None
        is_sent = False
        while not is_sent:
            error = error or self._call.finish(self._client) or acknowledged_early(self._client.address)
            time.sleep(self._state.pause_after(error, time.monotonic()))
            self._call = self._begin()
            error = None
            is_sent = all(map(self._call.send, self._waiting.frames))

    def _begin(self) -> _PublishCall:
        return _PublishCall(self._client, self._state.metadata, self._state.timeout)


class _PublishCall:
    """One call of PublishRdf: frames go into a queue, from which a thread of gRPC takes them."""

    def __init__(self, client: Client, metadata: Any, timeout: float | None) -> None:
        self._queue = MessageQueue()
        self._call = client._call(client._publish.future, iter(self._queue), metadata, timeout)
        # When the server has answered, nobody takes what is waiting.
        self._call.add_done_callback(lambda _call: self._queue.close())

    def send(self, frame: bytes) -> bool:
        """Send a frame, and return whether the call goes on."""
        return self._queue.put(frame)

    def finish(self, client: Client) -> RemoteError | None:
        """End the stream of frames, and return the error that the server answers with, or None."""
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


class Subscription(StatementReader):
    """A topic that is being read. Its views are those of `JellyReader`; they share one position, and raise once closed.

    A subscription is for one thread at a time, but any thread may close it.
    """

    def __init__(self, batches: Receiver, source_name: str) -> None:
        """Begin to read; `Client.subscribe` does so for a topic."""
        super().__init__(batches, source_name)
        self._receiver = batches

    @property
    def offset(self) -> int | None:
        """The offset to go on from in another subscription: behind what the views have given out and gone past.

        What was given out last counts when the next is asked for, or the stream is over: whoever stores this offset
        after each step reads everything at least once. None where nothing has been read or frames have no offsets.
        """
        return self._receiver.offset

    def cancel(self) -> None:
        """End the subscription. Views that wait for frames in other threads raise."""
        self.close()


class Receiver:
    """Receives the messages of a subscription in a thread and decodes them into batches. Reconnects when necessary."""

    def __init__(self, client: Client, state: SubscriptionState, deadline: float | None) -> None:
        self._client = client
        self._state = state
        self._deadline = deadline
        self._given: int | None = None
        self._is_closed = threading.Event()
        self._failure: RemoteError | None = None
        self._call: Any = None
        self._queue = MessageQueue()
        self.offset: int | None = None
        self._begin()

    @property
    def options(self) -> StreamOptions | None:
        """The options of the stream, once they are known."""
        return self._state.options

    @property
    def is_delimited(self) -> bool:
        """Whether the frames have their lengths in front: gRPC says how long they are."""
        return False

    def next_batch(self) -> Batch | None:
        """Return the next batch, or None if the server has ended the stream."""
        self.offset = self._given
        batch = self._next_batch()
        if batch is not None and (offset := offset_of(batch)) is not None:
            self._given = offset + 1
        return batch

    def close(self) -> None:
        """End the call."""
        self._is_closed.set()
        self._call.cancel()
        self._queue.close()

    # ---- the mechanism ----

    def _next_batch(self) -> Batch | None:
        state = self._state
        while True:
            if self._is_closed.is_set():
                raise closed("subscription")
            self._client._check_usable()
            try:
                batch = state.next_batch()
                if batch is None and not self._receive():
                    # With nothing left to decode, a batch need not be full.
                    batch = state.next_batch(partial=True)
                    if batch is None and not state.is_over:
                        self._wait()
                        continue
            except JellyError:
                self._call.cancel()
                raise
            if batch is not None or state.is_over:
                return batch

    def _receive(self) -> bool:
        """Hand on the messages that have come, and return whether there were any."""
        messages = self._queue.take()
        for message in messages:
            self._state.push(message)
        return bool(messages)

    def _wait(self) -> None:
        """Wait for messages, or for the call to end; make another call if it has failed."""
        self._queue.wait()
        if not self._queue.is_over or self._is_closed.is_set():
            return
        if self._failure is None:
            self._state.finish()
            return
        self._client._check_usable()
        pause = self._state.pause_after(self._failure, time.monotonic())
        self._is_closed.wait(pause)
        if not self._is_closed.is_set():
            self._begin()

    def _begin(self) -> None:
        left = None if self._deadline is None else max(0.001, self._deadline - time.monotonic())
        client, state = self._client, self._state
        self._failure = None
        self._queue = MessageQueue()
        self._call = client._call(client._subscribe, state.request, state.call_metadata(), left)
        threading.Thread(
            target=self._pump, args=(self._call, self._queue), name="jelly-subscription", daemon=True
        ).start()

    def _pump(self, call: Any, queue: MessageQueue) -> None:
        """Move messages from the call into the queue."""
        import grpc

        try:
            for message in call:
                if not queue.put(message):
                    call.cancel()
                    return
        except grpc.RpcError as error:
            self._failure = remote_error(error, self._client.address)
        finally:
            queue.end()
