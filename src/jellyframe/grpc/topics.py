"""Topics: publications are merged and stored, and their frames are sent to subscribers."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import grpc

from jellyframe.errors import JellyError, LimitError, OptionsError
from jellyframe.grpc.encoding import FrameEncoder
from jellyframe.grpc.groups import Group
from jellyframe.grpc.logs import LOGGER_NAME
from jellyframe.grpc.negotiation import effective_options, misfit
from jellyframe.grpc.protocol import EARLIEST, LATEST, Start, TopicInfo
from jellyframe.grpc.publications import CheckedFrame, Publication
from jellyframe.grpc.retention.store import Message, ReadOnlyError, Store, StoreReader
from jellyframe.grpc.subscribers import QUEUE_BYTES, SlowPolicy, Subscriber
from jellyframe.grpc.wording import words_for_clients
from jellyframe.options import DialectName, Limits, StreamOptions

# Bytes of frames that are read from a store, and encoded, at a time.
READ_BYTES = 1 << 20
_log = logging.getLogger(LOGGER_NAME)
Send = Callable[[bytes], Awaitable[None]]
# Subscribers with equal keys get the same bytes: their options, whether frames have offsets, the dialect.
GroupKey: TypeAlias = tuple[StreamOptions, bool, DialectName]


class TopicNotFoundError(JellyError):
    """A topic that the server does not have."""


@dataclass
class Counts:
    """Counters of a topic since it was opened."""

    frames_in: int = 0
    statements_in: int = 0
    bytes_in: int = 0
    frames_out: int = 0
    bytes_out: int = 0


@dataclass(frozen=True)
class QueueSettings:
    """The limit of the queue of a subscriber, and the policy when it is reached."""

    max_bytes: int = QUEUE_BYTES
    policy: SlowPolicy = "end"


@dataclass(eq=False)
class Topic:
    """A topic.

    Args:
        name: the topic
        store: the store of its frames
        limits: the limits of its streams
        queue: the settings of the queues of subscribers
    """

    name: str
    store: Store
    limits: Limits = field(default_factory=Limits)
    queue: QueueSettings = field(default_factory=QueueSettings)
    counts: Counts = field(default_factory=Counts)
    publications: int = 0
    subscribers: dict[Subscriber, None] = field(default_factory=dict)
    _groups: dict[GroupKey, Group] = field(default_factory=dict)
    # Subscribers whose options depend on the next frame.
    _waiting: dict[Subscriber, None] = field(default_factory=dict)

    async def start(self) -> None:
        await self.store.start(self._deliver)

    async def close(self) -> None:
        await self.store.close()

    @property
    def is_idle(self) -> bool:
        """Whether the topic has neither publishers nor subscribers at the moment."""
        return not self.publications and not self.subscribers

    @property
    def queued_bytes(self) -> int:
        """Bytes that wait to be sent to subscribers."""
        return sum(subscriber.queued_bytes for subscriber in self.subscribers)

    def info(self) -> TopicInfo:
        """Return the description of the topic."""
        return TopicInfo(
            name=self.name,
            retention=self.store.retention,
            first_offset=self.store.first_offset,
            next_offset=self.store.next_offset,
            publishers=self.publications,
            subscribers=len(self.subscribers),
            frames=self.counts.frames_in,
            statements=self.counts.statements_in,
            bytes_in=self.counts.bytes_in,
            bytes_out=self.counts.bytes_out,
        )

    # ---- publications ----

    async def publish(self, frame: CheckedFrame) -> None:
        """Accept a checked frame. Waits if the store or a subscriber has no room."""
        if self.store.is_finite:
            raise ReadOnlyError("the topic is served from files, and nothing can be published to it")
        await self.store.append(frame)
        self.counts.frames_in += 1
        self.counts.statements_in += frame.statements
        self.counts.bytes_in += frame.size
        if self.queue.policy == "block":
            for subscriber in list(self.subscribers):
                if subscriber.is_full:
                    await subscriber.wait_for_room()

    async def commit(self, publication: Publication) -> None:
        """Wait until a publication may be acknowledged."""
        await self.store.commit(publication)

    def _deliver(self, message: Message) -> None:
        """Pass a frame to all subscribers that have reached the end of the topic."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            for subscriber in waiting:
                self._settle(subscriber, message.frame.options)
        for key, group in list(self._groups.items()):
            try:
                group.send(message.frame, message.offset)
            except Exception as error:
                # A bug, or lack of memory: it must not affect the publisher, nor other subscribers.
                _log.exception("a frame could not be sent", extra={"topic": self.name})
                for subscriber in group.subscribers:
                    group.discard(subscriber)
                    subscriber.end(grpc.StatusCode.INTERNAL, f"a mistake in the server: {type(error).__name__}")
            if not len(group):
                del self._groups[key]

    # ---- subscriptions ----

    def subscribe(
        self, requested: StreamOptions | None, *, with_offsets: bool, dialect: DialectName = "released"
    ) -> Subscriber:
        """Return a subscriber, to be served with `serve`. It receives all frames that are published from now on."""
        subscriber = Subscriber(
            requested,
            with_offsets=with_offsets,
            queue_bytes=self.queue.max_bytes,
            policy=None if self.store.is_retained else self.queue.policy,
            dialect=dialect,
        )
        self.subscribers[subscriber] = None
        if not self.store.is_retained:
            self._join(subscriber)
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Remove a subscriber."""
        self._leave(subscriber)
        self.subscribers.pop(subscriber, None)

    def first_position(self, start: Start | None) -> int:
        """Return the offset at which a subscription starts."""
        if isinstance(start, int):
            if not self.store.is_retained:
                raise OptionsError("the topic keeps no frames, so that a subscription can only start with the next one")
            self.store.reader(start).close()
            return start
        if start is None:
            start = EARLIEST if self.store.is_finite else LATEST
        return self.store.first_offset if start == EARLIEST else self.store.next_offset

    async def serve(self, subscriber: Subscriber, position: int, send: Send) -> None:
        """Send frames to a subscriber from a position, until its subscription ends."""
        subscriber.next_offset = position
        try:
            while subscriber.ending is None:
                if subscriber.next_offset < self.store.next_offset and self.store.is_retained:
                    await self._serve_kept(subscriber, send)
                elif self.store.is_finite:
                    subscriber.end(grpc.StatusCode.OK)
                else:
                    await self._serve_new(subscriber, send)
        finally:
            self.unsubscribe(subscriber)

    async def _serve_kept(self, subscriber: Subscriber, send: Send) -> None:
        """Send frames that are kept, until all that are visible have been sent."""
        catching_up = _CatchingUp(self.store.reader(subscriber.next_offset), subscriber, self.limits)
        try:
            while subscriber.ending is None:
                frames = await asyncio.to_thread(catching_up.read)
                if not frames:
                    break
                for data in frames:
                    await send(data)
                    subscriber.sent(len(data), queued=False)
                    self._count_sent(data)
                subscriber.next_offset = catching_up.next_offset
        except _CannotSendError as error:
            subscriber.end(grpc.StatusCode.INVALID_ARGUMENT, error.message)
        finally:
            catching_up.close()

    async def _serve_new(self, subscriber: Subscriber, send: Send) -> None:
        """Send frames as they arrive, until the subscription ends or its queue overflows."""
        subscriber.has_overflowed = False
        self._join(subscriber)
        try:
            while frames := await subscriber.take():
                for data in frames:
                    await send(data)
                    subscriber.sent(len(data))
                    self._count_sent(data)
        finally:
            self._leave(subscriber)

    def _count_sent(self, data: bytes) -> None:
        self.counts.frames_out += 1
        self.counts.bytes_out += len(data)

    def _join(self, subscriber: Subscriber) -> None:
        """Let a subscriber receive frames as they arrive, unless it already does."""
        if subscriber.is_joined:
            return
        subscriber.is_joined = True
        if subscriber.options is None:
            self._waiting[subscriber] = None
        else:
            self._group(subscriber.options, subscriber).add(subscriber)

    def _leave(self, subscriber: Subscriber) -> None:
        subscriber.is_joined = False
        self._waiting.pop(subscriber, None)
        if subscriber.options is not None:
            key = (subscriber.options, subscriber.with_offsets, subscriber.dialect)
            group = self._groups.get(key)
            if group is not None:
                group.discard(subscriber)
                if not len(group):
                    del self._groups[key]

    def _settle(self, subscriber: Subscriber, offered: StreamOptions) -> None:
        """Set the options of a subscription, given those of the first frame."""
        try:
            subscriber.options = settled_options(subscriber, offered, self.limits)
        except JellyError as error:
            subscriber.end(grpc.StatusCode.INVALID_ARGUMENT, error.reason(words_for_clients))
        else:
            self._group(subscriber.options, subscriber).add(subscriber)

    def _group(self, options: StreamOptions, subscriber: Subscriber) -> Group:
        """Return the group of subscribers with the same options as a subscriber, created if necessary."""
        key = (options, subscriber.with_offsets, subscriber.dialect)
        if key not in self._groups:
            self._groups[key] = Group(options, with_offsets=subscriber.with_offsets, dialect=subscriber.dialect)
        return self._groups[key]


def settled_options(subscriber: Subscriber, offered: StreamOptions, limits: Limits) -> StreamOptions:
    """Return the options of a subscription, given those of its first frame."""
    return effective_options(subscriber.requested, offered, limits, subscriber.dialect)


class _CannotSendError(JellyError):
    """A frame that the options of a subscription cannot hold."""


class _CatchingUp:
    """Frames of a store, encoded for one subscriber. It works in a thread."""

    def __init__(self, reader: StoreReader, subscriber: Subscriber, limits: Limits) -> None:
        self._reader = reader
        self._subscriber = subscriber
        self._limits = limits
        self._encoder: FrameEncoder | None = None
        self._error: JellyError | None = None
        self._in_use = threading.Lock()
        self._is_closed = False
        self.next_offset = subscriber.next_offset

    def read(self) -> list[bytes]:
        """Return the next frames for the subscriber. An error is raised after all frames before it."""
        try:
            with self._in_use:
                return self._read()
        finally:
            if self._is_closed:
                self.close()

    def _read(self) -> list[bytes]:
        if self._error is not None:
            raise self._error
        frames: list[bytes] = []
        try:
            for message in self._reader.read(READ_BYTES):
                frames.append(self._encode(message))
        except JellyError as error:
            self._error = error
            if not frames:
                raise
        return frames

    def _encode(self, message: Message) -> bytes:
        subscriber, frame = self._subscriber, message.frame
        try:
            if subscriber.options is None:
                subscriber.options = settled_options(subscriber, frame.options, self._limits)
            if self._encoder is None:
                self._encoder = FrameEncoder(subscriber.options, dialect=subscriber.dialect)
                subscriber.is_fresh = False
            reason = misfit(subscriber.options, frame.options)
            if reason is not None:
                raise OptionsError(reason)
            data = self._encoder.encode(frame, message.offset if subscriber.with_offsets else None)
        except JellyError as error:
            raise _CannotSendError(error.reason(words_for_clients)) from error
        self.next_offset = message.offset + 1
        return data

    def close(self) -> None:
        """Close the reader: now, or when the reading thread has finished."""
        self._is_closed = True
        if self._in_use.acquire(blocking=False):
            self._reader.close()
            self._in_use.release()


class Topics:
    """All topics of a server, opened when they are first used.

    Args:
        open_topic: returns the topic of a name, not yet started; raises a JellyError if there is none
        max_topics: the maximum number of topics
        max_name_bytes: the maximum length of their names, in bytes
    """

    def __init__(self, open_topic: Callable[[str], Topic], *, max_topics: int, max_name_bytes: int) -> None:
        self._open_topic = open_topic
        self._max_topics = max_topics
        self._max_name_bytes = max_name_bytes
        self._topics: dict[str, Topic] = {}
        self._opening: dict[str, asyncio.Future[None]] = {}

    def __iter__(self) -> Iterator[Topic]:
        return iter(list(self._topics.values()))

    async def get(self, name: str) -> Topic:
        """Return a topic, opening it if necessary.

        An idle topic may be evicted at any time: use it before the next `await`.
        """
        while name not in self._topics:
            opening = self._opening.get(name)
            if opening is None:
                opening = self._opening[name] = asyncio.ensure_future(self._open(name))
            await asyncio.shield(opening)
        return self._topics[name]

    async def _open(self, name: str) -> None:
        try:
            self._check_name(name)
            self._make_room()
            topic = self._open_topic(name)
            await topic.start()
            self._topics[name] = topic
        finally:
            del self._opening[name]

    def _check_name(self, name: str) -> None:
        size = len(name.encode())
        if size > self._max_name_bytes:
            raise LimitError(f"the name of the topic has {size} bytes, and at most {self._max_name_bytes} are allowed")

    def _make_room(self) -> None:
        """Evict idle topics that keep nothing, if the limit on topics is reached."""
        if len(self._topics) + len(self._opening) <= self._max_topics:
            return
        for topic in self:
            if topic.is_idle and not topic.store.is_retained:
                del self._topics[topic.name]
        if len(self._topics) + len(self._opening) > self._max_topics:
            raise LimitError(f"there are {self._max_topics} topics, and more are not allowed")

    async def close(self) -> None:
        """Close all topics."""
        for topic in self:
            await topic.close()
        self._topics.clear()
