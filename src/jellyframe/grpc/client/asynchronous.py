"""The client for asyncio: the same names as in the blocking client, with `await` and `async for`."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Self, Unpack
from weakref import WeakSet

from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.grpc import protocol
from jellyframe.grpc.client.async_publisher import AsyncPublisher
from jellyframe.grpc.client.async_subscription import AsyncSubscription
from jellyframe.grpc.client.failures import closed, forked, remote_error
from jellyframe.grpc.client.publishing import PublicationState, PublisherSettings, options_for
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection, ConnectionSettings
from jellyframe.grpc.client.subscribing import SUBSCRIPTION_SECONDS, Reconnect, SubscriptionState
from jellyframe.grpc.protocol import Start, TopicInfo
from jellyframe.options import DialectName, StreamOptions

if TYPE_CHECKING:
    from jellyframe.grpc.client.publishing import AsyncPublishable


def connect(address: str, **settings: Unpack[ConnectionSettings]) -> AsyncClient:
    """Return a client of the server at an `address`. It connects when it is first used.

    Args:
        address: HOST:PORT, or `unix:PATH`
        settings: the keyword arguments of `jellyframe.grpc.connect`
    """
    return AsyncClient(Connection(address, **settings))


class AsyncClient:
    """A connection to a server, for one event loop."""

    def __init__(self, connection: Connection) -> None:
        """Create a client; use `connect` to create one from an address."""
        self._connection = connection
        self._process = os.getpid()
        self._is_closed = False
        self._opened: Any = None
        # Subscriptions that the server has not answered yet.
        self._unanswered: WeakSet[AsyncSubscription] = WeakSet()

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
            data: as in the blocking client, or an asynchronous iterable of statements, batches, frames or bytes
            options: the options of the stream
            settings: the keyword arguments of the blocking `publish`
        """
        async with self.publisher(topic, options_for(data, options, settings), **settings) as publisher:
            await publisher.write(data)
        return publisher.acknowledged_frames

    def publisher(
        self, topic: str, options: StreamOptions | None = None, **settings: Unpack[PublisherSettings]
    ) -> AsyncPublisher:
        """Start a publication that is written incrementally, and return it: an asynchronous context manager.

        Args:
            topic: where to publish
            options: the options of the stream
            settings: the keyword arguments of the blocking `publish`
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
            topic: the topic
            options: the options to request; by default the server chooses
            from_: where to start: `earliest`, `latest`, or an offset
            reconnect: `resume`, `always` or `never`, as in the blocking client
            timeout: seconds after which the subscription ends with an error
            batch_rows: the maximum number of statements in a batch
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
        """Return the topics of the server, sorted by name. Only our servers list their topics.

        Args:
            timeout: seconds that the call may take
        """
        import grpc

        backoff = Backoff(self._connection.connect_timeout)
        while True:
            method = self._channel().unary_unary(protocol.LIST_TOPICS)
            try:
                answer = await method(b"", metadata=self._connection.call_metadata(), timeout=timeout)
                return sorted(protocol.decode_topics(answer), key=lambda topic: topic.name)
            except grpc.RpcError as error:
                await asyncio.sleep(
                    backoff.pause_after(remote_error(error, self.address), asyncio.get_running_loop().time())
                )

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

    async def _await_subscriptions(self) -> None:
        """Wait briefly until earlier subscriptions are accepted, so that they receive what is published now."""
        for subscription in list(self._unanswered):
            await subscription.started(SUBSCRIPTION_SECONDS)
            self._unanswered.discard(subscription)

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
