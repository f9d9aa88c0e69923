"""The blocking client: one connection, with any number of publications and subscriptions on it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from weakref import WeakSet

from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import RemoteError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.failures import closed, forked, remote_error
from jellyframe.grpc.client.publisher import Publisher
from jellyframe.grpc.client.publishing import PublicationState, PublisherSettings, options_for
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection, ConnectionSettings
from jellyframe.grpc.client.subscribing import SUBSCRIPTION_SECONDS, Reconnect, SubscriptionState
from jellyframe.grpc.client.subscription import Receiver, Subscription
from jellyframe.grpc.protocol import Start, TopicInfo
from jellyframe.options import DialectName, StreamOptions
from jellyframe.storage.closing import Closeable

if TYPE_CHECKING:
    from jellyframe.grpc.client.publishing import Publishable

_T = TypeVar("_T")


def connect(address: str, **settings: Unpack[ConnectionSettings]) -> Client:
    """Return a client of the server at an address. It connects when it is first used.

    Args:
        address: HOST:PORT, or `unix:PATH`
        tls: whether to use TLS (false); implied by `ca`, `certificate` and `server_name`
        ca: a file with the certificates of trusted authorities (PEM); by default those of gRPC
        certificate: a file with the client's own certificate, for mutual TLS (PEM)
        key: a file with the key of that certificate (PEM)
        server_name: the name in the server's certificate, if it is not the host
        token: a bearer token; it is sent only over TLS or to the local machine
        limits: the limits for data from the server; `max_frame_bytes` is also the limit of gRPC messages
        connect_timeout: seconds for which to try to connect at first (10)
        reconnect_timeout: seconds for which to try to reconnect after the connection is lost (300)
        keepalive: seconds of silence after which the connection is checked (300), 0 for never; many servers drop
            clients that check more often than every five minutes, ours do not
        settings: `tls` to `keepalive`, as keyword arguments

    Raises:
        OptionsError: if the settings exclude each other
        OSError: if a file of certificates cannot be read
    """
    return Client(Connection(address, **settings))


class Client(Closeable):
    """A connection to a server. Any number of threads may use it at the same time."""

    def __init__(self, connection: Connection) -> None:
        """Create a client; use `connect` to create one from an address."""
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
        # Without serializers, messages are bytes as on the wire.
        self._publish = self._channel.stream_unary(protocol.PUBLISH)
        self._subscribe = self._channel.unary_stream(protocol.SUBSCRIBE)
        self._list_topics = self._channel.unary_unary(protocol.LIST_TOPICS)
        # Subscriptions that the server has not answered yet.
        self._unanswered: WeakSet[Receiver] = WeakSet()

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._connection.address

    def publish(
        self, topic: str, data: Publishable, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> int:
        """Publish all of the data, and return the number of frames when the server has acknowledged them.

        Delivery is at least once: when the connection is lost, frames that the server has not acknowledged are sent
        again, though it may have received them. With `resend=False` that is an error instead.

        Args:
            topic: where to publish
            data: a statement, batch, frame or raw frame (bytes), or any iterable of them; an Arrow table, record batch
                or reader; or a reader of Jelly, whose frames and options are kept
            options: the options of the stream, which by default allow any statement; raw frames have their own
            frame_rows: rows after which a frame is cut, None for no limit; by default (`auto`) 2048, or after a batch
                or the available statements if there are at least 256
            frame_bytes: bytes after which a frame is cut (1,000,000), None for no limit
            acknowledge_every: about how many bytes may be unacknowledged (4 MiB)
            resend: whether to send frames again that may have been lost (true)
            timeout: seconds that each call, of about `acknowledge_every` bytes, may take
            dialect: the dialect of the publication, `released` (by default) or `draft`: raw frames must have it, and
                namespaces of a reader are left out of the draft, which has none
            settings: `frame_rows` to `dialect`, as keyword arguments

        Raises:
            RemoteError: if the server refuses the data or cannot be reached; acknowledged frames are published
            EncodeError: if a statement cannot be written; those before it are published
        """
        with self.publisher(topic, options_for(data, options, settings), **settings) as publisher:
            publisher.write(data)
        return publisher.acknowledged_frames

    def publisher(
        self, topic: str, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> Publisher:
        """Start a publication that is written incrementally, and return it.

        Args:
            topic: where to publish
            options: the options of the stream
            settings: the keyword arguments of `publish`
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
        """Subscribe to a topic and return the subscription, which has the views of other readers.

        Args:
            topic: the topic
            options: what the stream is to be like, such as `StreamOptions.small()`; by default the server chooses
            from_: where to start, on a server that keeps frames: `earliest`, `latest`, or an offset (see
                `Subscription.offset`); by default the server chooses, ours `latest`
            reconnect: what to do when the connection is lost: `resume` continues if frames have offsets, so that there
                is no gap, and raises if they have none; `always` continues and accepts gaps; `never` raises
            timeout: seconds after which the subscription ends with an error
            batch_rows: the maximum number of statements in a batch; batches are smaller if frames arrive slowly
            dialect: the dialect to ask for, `released` or `draft`, whose frames have no offsets

        Raises:
            OptionsError: if the arguments are invalid; errors of the server are raised by the views
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
        """Return the topics of the server, sorted by name. Only our servers list their topics.

        Args:
            timeout: seconds that the call may take

        Raises:
            RemoteError: if the server cannot be reached or does not list its topics
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
        """Return one topic of the server, which opens it if it is not in use. Only our servers list their topics.

        Args:
            name: the topic
            timeout: seconds that each call may take

        Raises:
            RemoteError: if the server refuses the topic, cannot be reached or does not list its topics
        """
        import grpc

        for _attempt in range(2):
            for topic in self.topics(timeout=timeout):
                if topic.name == name:
                    return topic
            # The server opens a topic that it keeps when a client subscribes to it.
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

    # ---- calls ----

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise forked("client")
        if self._is_closed:
            raise closed("client")

    def _await_subscriptions(self) -> None:
        """Wait briefly until earlier subscriptions are accepted, so that they receive what is published now."""
        for receiver in list(self._unanswered):
            receiver.started(SUBSCRIPTION_SECONDS)
            self._unanswered.discard(receiver)

    def _call(self, method: Callable[..., _T], request: Any, metadata: Any, timeout: float | None) -> _T:
        self._check_usable()
        try:
            return method(request, metadata=metadata, timeout=timeout)
        except ValueError:
            # Another thread has closed the channel meanwhile.
            raise closed("client") from None
