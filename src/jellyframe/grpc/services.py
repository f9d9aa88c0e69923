"""The calls that clients make: publish, subscribe, list the topics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import grpc
import grpc.aio

from jellyframe.errors import LimitError, clipped
from jellyframe.grpc import protocol
from jellyframe.grpc.logs import LOGGER_NAME
from jellyframe.grpc.negotiation import check_offsets, check_request
from jellyframe.grpc.publications import Publication
from jellyframe.grpc.security import ANYBODY, Access, Token, require
from jellyframe.grpc.statuses import status_of
from jellyframe.grpc.subscribers import Ending
from jellyframe.grpc.topics import Topic, Topics
from jellyframe.options import DialectName, Limits

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
# Larger frames are checked in a thread, so that they do not block the event loop.
LARGE_FRAME_BYTES = 1 << 18
_log = logging.getLogger(LOGGER_NAME)
_DRAINING = Ending(grpc.StatusCode.UNAVAILABLE, "the server is stopping")


class Services:
    """Handles the calls of clients.

    Args:
        topics: the topics
        access: the rights of clients
        limits: the limits of each stream
        max_streams: publications and subscriptions at the same time
        dialect: the dialect of calls that do not name theirs
    """

    def __init__(
        self,
        topics: Topics,
        access: Access,
        limits: Limits,
        *,
        max_streams: int,
        dialect: DialectName = "released",
    ) -> None:
        self._dialect: DialectName = dialect
        self._topics = topics
        self._access = access
        self._limits = limits
        self._max_streams = max_streams
        self._publications = 0
        self._subscriptions = 0
        self._is_draining = False
        self._no_publications = asyncio.Event()
        self._no_publications.set()
        self.on_call_end: Callable[[str, grpc.StatusCode], None] | None = None

    @property
    def access(self) -> Access:
        """The permissions of tokens. They can be replaced while the server runs."""
        return self._access

    @access.setter
    def access(self, access: Access) -> None:
        self._access = access

    def handlers(self) -> list[grpc.GenericRpcHandler[bytes, bytes]]:
        """Return the gRPC handlers of the calls. Messages are bytes."""
        return [
            grpc.method_handlers_generic_handler(
                protocol.SERVICE,
                {
                    "PublishRdf": grpc.stream_unary_rpc_method_handler(self.publish),
                    "SubscribeRdf": grpc.unary_stream_rpc_method_handler(self.subscribe),
                },
            ),
            grpc.method_handlers_generic_handler(
                protocol.TOPICS_SERVICE, {"ListTopics": grpc.unary_unary_rpc_method_handler(self.list_topics)}
            ),
        ]

    # ---- calls ----

    async def publish(self, _frames: AsyncIterator[bytes], context: Context) -> bytes:
        """PublishRdf: accept the frames of a stream, and answer when all of them are kept."""
        with self._call("publish", context) as call:
            try:
                await self._publish(call, context)
            except Exception as error:
                # Pekko's client loses the message of an error without headers, if requests are streamed.
                await call.abort(context, status_of(error), error, with_headers=True)
            return protocol.RECEIVED

    async def _publish(self, call: _Call, context: Context) -> None:
        metadata = _metadata(context)
        token = self._access.authenticate(metadata)
        name = protocol.publication_topic(metadata)
        call.tell(token, name)
        if name is not None:
            require(token, "publish", name)
        self._require_stream()
        publication = Publication(self._limits, protocol.call_dialect(metadata, self._dialect))
        topic: Topic | None = None
        self._publications += 1
        self._no_publications.clear()
        try:
            while (data := await context.read()) is not grpc.aio.EOF:
                if len(data) > LARGE_FRAME_BYTES:
                    frame = await asyncio.to_thread(publication.check, data)
                else:
                    frame = publication.check(data)
                if topic is None:
                    if name is None:
                        name = publication.options.stream_name
                        call.tell(token, name)
                    topic = await self._open(name, token)
                    topic.publications += 1
                await topic.publish(frame)
            publication.finish()
            assert topic is not None
            await topic.commit(publication)
        finally:
            self._publications -= 1
            if topic is not None:
                topic.publications -= 1
            if not self._publications:
                self._no_publications.set()

    async def _open(self, name: str, token: Token) -> Topic:
        require(token, "publish", name)
        return await self._topics.get(name)

    async def subscribe(self, request: bytes, context: Context) -> None:
        """SubscribeRdf: send the frames of a topic."""
        with self._call("subscribe", context) as call:
            try:
                ending = await self._subscribe(call, request, context)
            except Exception as error:
                await call.abort(context, status_of(error), error)
                return
            if ending.code is not grpc.StatusCode.OK:
                await call.abort(context, ending)

    async def _subscribe(self, call: _Call, request: bytes, context: Context) -> Ending:
        metadata = _metadata(context)
        token = self._access.authenticate(metadata)
        dialect = protocol.call_dialect(metadata, self._dialect)
        name, requested = protocol.decode_subscription(request, dialect)
        call.tell(token, name)
        require(token, "subscribe", name)
        start = protocol.subscription_start(metadata)
        with_offsets = protocol.wants_offsets(metadata)
        check_offsets(dialect, with_offsets=with_offsets)
        if requested is not None:
            check_request(requested, self._limits, with_offsets=with_offsets, dialect=dialect)
        self._require_stream()
        topic = await self._topics.get(name)
        subscriber = topic.subscribe(requested, with_offsets=with_offsets, dialect=dialect)
        self._subscriptions += 1
        try:
            position = topic.first_position(start)
            # Clients see that the subscription has started, though there may be no frame for a long time.
            await context.send_initial_metadata(tuple(protocol.accepted_metadata()))
            await topic.serve(subscriber, position, context.write)
        finally:
            self._subscriptions -= 1
            topic.unsubscribe(subscriber)
        assert subscriber.ending is not None
        return subscriber.ending

    async def list_topics(self, _request: bytes, context: Context) -> bytes:
        """ListTopics: return information about the topics that the client may use."""
        with self._call("list topics", context) as call:
            try:
                token = self._access.authenticate(_metadata(context))
                call.tell(token)
            except Exception as error:
                await call.abort(context, status_of(error), error)
                raise
            infos = [topic.info() for topic in self._topics if _may_see(token, topic.name)]
            return protocol.encode_topics(sorted(infos, key=lambda info: info.name))

    # ---- all calls ----

    @property
    def streams(self) -> int:
        """The number of publications and subscriptions in progress."""
        return self._publications + self._subscriptions

    async def drain(self, seconds: float) -> None:
        """Refuse new calls, wait for publications to end, and end each subscription once its queue is sent."""
        self._is_draining = True
        try:
            await asyncio.wait_for(self._no_publications.wait(), seconds)
        except TimeoutError:
            _log.warning("publications did not end in time", extra={"publications": self._publications})
        for topic in self._topics:
            for subscriber in list(topic.subscribers):
                subscriber.end(*_DRAINING)

    def _require_stream(self) -> None:
        if self.streams >= self._max_streams:
            raise LimitError(f"the server has {self.streams} streams in progress, and more are not allowed")
        if self._is_draining:
            raise ServerStoppingError

    @contextmanager
    def _call(self, name: str, context: Context) -> Iterator[_Call]:
        call = _Call(name, context.peer())
        try:
            yield call
        except asyncio.CancelledError:
            call.code = grpc.StatusCode.CANCELLED
            raise
        finally:
            if self.on_call_end is not None:
                self.on_call_end(name, call.code)
            _log.info(f"{name} ended", extra=call.details())


class ServerStoppingError(Exception):
    """A call that arrives while the server is stopping."""


class _Call:
    """A call, and the status that it ends with."""

    def __init__(self, name: str, peer: str) -> None:
        self.name = name
        self.code = grpc.StatusCode.OK
        self._client = {"peer": peer}

    def tell(self, token: Token, topic: str | None = None) -> None:
        """Add the client and the topic to the log of the call."""
        if token is not ANYBODY:
            self._client["token"] = clipped(token.name)
        if topic is not None:
            self._client["topic"] = clipped(topic)

    def details(self) -> dict[str, str]:
        """Return the details of the call for the log."""
        return {"call": self.name, "code": self.code.name, **self._client}

    async def abort(
        self, context: Context, ending: Ending, error: Exception | None = None, *, with_headers: bool = False
    ) -> None:
        """End the call with a status.

        With `with_headers`, headers are sent first, unless clients should repeat the call: they do not after headers.
        """
        if isinstance(error, ServerStoppingError):
            ending = _DRAINING
        self.code = ending.code
        is_mistake = ending.code is grpc.StatusCode.INTERNAL
        # Operators must know about a full disk.
        _log.log(
            logging.ERROR if is_mistake or isinstance(error, OSError) else logging.INFO,
            f"{self.name} refused: {ending.reason}",
            extra=self.details(),
            exc_info=error if is_mistake else None,
        )
        if with_headers and ending.code is not grpc.StatusCode.UNAVAILABLE:
            await context.send_initial_metadata(())
        await context.abort(ending.code, ending.reason)


def _metadata(context: Context) -> protocol.CallMetadata:
    return [(str(key), value) for key, value in context.invocation_metadata() or ()]


def _may_see(token: Token, topic: str) -> bool:
    return token.allows("subscribe", topic) or token.allows("publish", topic)
