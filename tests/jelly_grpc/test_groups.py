"""Publishers that come and go, whole or broken, and subscribers that join and leave at any moment, at random.

Each subscriber's frames have to be one valid stream with every statement since it joined, whether frames were
forwarded or re-encoded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from grpc import StatusCode
from hypothesis import given, settings
from hypothesis import strategies as st

from jellyframe import DEFAULT_GRAPH, IRI, Limits, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.grpc.publications import Publication
from jellyframe.grpc.retention.live import LiveStore
from jellyframe.grpc.subscribers import Subscriber
from jellyframe.grpc.topics import Topic
from support.grpc_server import Received, frames_of, triples
from support.random_streams import RandomEncoder, untidy
from support.strategies import FrameCase, StreamCase

REQUESTS = (
    None,
    StreamOptions.small(),
    StreamOptions.small(version=1),
    StreamOptions.big(physical_type=PhysicalType.QUADS),
    StreamOptions(max_name_table_size=8, max_prefix_table_size=0, max_datatype_table_size=0),
)
PUBLISHED = (
    StreamOptions.small(),
    StreamOptions.small(version=2),
    StreamOptions.big(rdf_star=False),
    StreamOptions.small(max_prefix_table_size=0),
    StreamOptions.small(physical_type=PhysicalType.GRAPHS),
)


class Publisher:
    """A stream that is published frame by frame: as we write it, or without first ids."""

    def __init__(self, rng: Random, start: int) -> None:
        options = rng.choice(PUBLISHED)
        self.statements: list[Any] = list(triples(12, start))
        if options.physical_type is PhysicalType.GRAPHS:
            self.statements = [Quad(*statement, DEFAULT_GRAPH) for statement in triples(12, start)]
        frames = frames_of(self.statements, 3, options, restart_every=rng.choice((None, 1)))
        if rng.random() < 0.5:
            frames[0] = _without_first_ids(frames[0])
        self.frames = iter(frames)
        self.publication = Publication(Limits())
        self.next = 0

    def frame(self) -> tuple[Any, list[Any]] | None:
        data = next(self.frames, None)
        if data is None:
            return None
        start = self.next
        self.next += 3
        return self.publication.check(data), self.statements[start : start + 3]


def _without_first_ids(frame: bytes) -> bytes:
    """The frame as writers make it that leave out ids wherever they can: valid at the start of a stream only."""
    for kind in (b"\x52", b"\x4a", b"\x5a"):
        at = frame.find(kind)
        while at >= 0:
            size = frame[at + 1]
            # A row that holds one entry of this kind, whose id is 1.
            if frame[at - 2] == 0x0A and frame[at - 1] == size + 2 and frame[at + 2 : at + 4] == b"\x08\x01":
                entry = frame[at + 4 : at + 2 + size]
                return frame[: at - 1] + bytes([size]) + kind + bytes([size - 2]) + entry + frame[at + 2 + size :]
            at = frame.find(kind, at + 1)
    return frame


class Listener:
    """A subscriber, the frames it has received, and the expected ones."""

    def __init__(self, topic: Topic, rng: Random) -> None:
        self.subscriber: Subscriber = topic.subscribe(rng.choice(REQUESTS), with_offsets=rng.random() < 0.3)
        if self.subscriber.requested is not None and self.subscriber.requested.version == 1:
            self.subscriber.with_offsets = False
        self.frames: list[bytes] = []
        self.expected: list[tuple[object, ...]] = []
        self.task = asyncio.ensure_future(topic.serve(self.subscriber, topic.store.next_offset, self._send))

    async def _send(self, data: bytes) -> None:
        self.frames.append(data)

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def play(rng: Random) -> list[Listener]:
    topic = Topic("t", LiveStore())
    await topic.start()
    publishers: list[Publisher] = []
    listeners: list[Listener] = []
    gone: list[Listener] = []
    for step in range(40):
        action = rng.random()
        if action < 0.2 and len(listeners) < 6:
            listeners.append(Listener(topic, rng))
            await asyncio.sleep(0)
        elif action < 0.25 and listeners:
            listener = listeners.pop(rng.randrange(len(listeners)))
            await _settled(listener)
            await listener.leave()
            gone.append(listener)
        elif action < 0.4 or not publishers:
            publishers.append(Publisher(rng, 100 * step))
        else:
            publisher = rng.choice(publishers)
            taken = publisher.frame()
            if taken is None:
                publishers.remove(publisher)
                continue
            frame, statements = taken
            await topic.publish(frame)
            for listener in listeners:
                listener.expected += [tuple(statement)[:3] for statement in statements]
    for listener in listeners:
        await _settled(listener)
        await listener.leave()
    assert topic.is_idle
    assert not topic._groups
    return gone + listeners


async def _settled(listener: Listener) -> None:
    """Let the listener's task send all that is queued."""
    while listener.subscriber.queued_bytes and not listener.task.done():
        await asyncio.sleep(0)


@settings(max_examples=60)
@given(seed=st.integers(0, 1 << 32))
def test_every_subscriber_gets_one_valid_stream_with_everything(seed: int) -> None:
    for listener in asyncio.run(play(Random(seed))):
        statements = Received(listener.frames).statements if listener.frames else []
        assert [tuple(statement)[:3] for statement in statements] == listener.expected
        assert listener.subscriber.ending is None


def test_frames_without_first_ids_depend_on_earlier_frames() -> None:
    (frame,) = frames_of(triples(3), 3)
    shorter = _without_first_ids(frame)
    assert len(shorter) == len(frame) - 2
    publication = Publication(Limits())
    publication.check(shorter)
    assert publication.looked_back
    tidy = Publication(Limits())
    tidy.check(frame)
    assert not tidy.looked_back


def collect(topic: Topic, requested: StreamOptions | None) -> tuple[Subscriber, list[bytes], Any]:
    frames: list[bytes] = []

    async def send(data: bytes) -> None:
        frames.append(data)

    subscriber = topic.subscribe(requested, with_offsets=False)
    return subscriber, frames, asyncio.ensure_future(topic.serve(subscriber, topic.store.next_offset, send))


def test_a_frame_that_a_subscription_cannot_hold_ends_that_one_only() -> None:
    async def run() -> None:
        topic = Topic("t", LiveStore())
        await topic.start()
        narrow, got, narrow_task = collect(topic, StreamOptions.small(physical_type=PhysicalType.TRIPLES))
        wide, all_of_it, wide_task = collect(topic, StreamOptions.small(physical_type=PhysicalType.QUADS))
        await asyncio.sleep(0)
        for statements in (triples(2), [Quad(*triples(1)[0], IRI("a:g"))], triples(2, 2)):
            publication = Publication(Limits())
            for data in frames_of(statements, 4, StreamOptions.small()):
                await topic.publish(publication.check(data))
            await asyncio.sleep(0)
        await narrow_task
        assert Received(got).statements == triples(2)
        assert narrow.ending is not None
        assert narrow.ending.code.name == "INVALID_ARGUMENT"
        assert "named graph" in narrow.ending.reason
        while len(all_of_it) < 3:
            await asyncio.sleep(0)
        assert len(Received(all_of_it).statements) == 5
        wide_task.cancel()
        await asyncio.gather(wide_task, return_exceptions=True)
        assert wide.ending is None

    asyncio.run(run())


def test_frames_published_while_a_subscription_starts_are_not_missed() -> None:
    async def run() -> None:
        topic = Topic("t", LiveStore())
        await topic.start()
        subscriber = topic.subscribe(None, with_offsets=False)
        publication = Publication(Limits())
        for data in frames_of(triples(8), 4, StreamOptions.small()):
            await topic.publish(publication.check(data))
        frames: list[bytes] = []

        async def send(data: bytes) -> None:
            frames.append(data)
            if len(frames) == 2:
                subscriber.end(StatusCode.OK)

        await topic.serve(subscriber, topic.store.next_offset, send)
        assert Received(frames).statements == triples(8)
        assert topic.is_idle

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(20))
def test_untidy_streams_are_forwarded_to_subscribers_from_the_start(seed: int) -> None:
    """An encoder that uses all freedom of the format, after another stream and from the start."""
    rng = Random(seed)
    statements: list[Triple] = triples(30)
    case_options = StreamOptions.small(physical_type=PhysicalType.TRIPLES, version=1)

    async def run() -> None:
        topic = Topic("t", LiveStore())
        await topic.start()
        _subscriber, got, task = collect(topic, None)
        await asyncio.sleep(0)
        for _ in range(2):
            publication = Publication(Limits())
            for data in untidy_frames(statements, case_options, rng):
                await topic.publish(publication.check(data))
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert Received(got).statements == statements * 2

    asyncio.run(run())


def untidy_frames(statements: Sequence[Triple], options: StreamOptions, rng: Random) -> list[bytes]:
    frames = [FrameCase(list(statements[start : start + 5])) for start in range(0, len(statements), 5)]
    return [untidy(message, rng) for message in RandomEncoder(options, rng).encode(StreamCase(options, frames))]
