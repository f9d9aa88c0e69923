"""Clients that send invalid data: none of it reaches others, and the server continues."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import grpc
import pytest

from jellyframe import StreamOptions
from jellyframe.grpc.config import ServerLimits, ServerSettings
from support.grpc_server import OpenPublication, PlainClient, Received, RunningServer, frames_of, status, triples

OPTIONS = StreamOptions.small(stream_name="t")
FRAMES = frames_of(triples(40), 4, OPTIONS)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    limits = ServerLimits(max_streams=8, max_topics=20, max_frame_bytes=100_000)
    with RunningServer(settings=ServerSettings(listen="127.0.0.1:0", limits=limits)) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[PlainClient]:
    with PlainClient(server.address) as plain:
        yield plain


def refused(client: PlainClient, frames: list[bytes]) -> tuple[grpc.StatusCode, str]:
    return status(lambda: client.publish_raw(iter(frames), timeout=10))


def test_damage_is_never_passed_on(client: PlainClient) -> None:
    rng = Random(7)
    subscription = client.subscribe("t")
    got: list[bytes] = []
    codes: set[object] = set()
    for _ in range(30):
        bad = bytearray(FRAMES[3])
        at = rng.randrange(len(bad))
        bad[at : at + 1] = rng.choice([b"", b"\xff", b"\x00\x00", bytes([bad[at] ^ 1 << rng.randrange(8)])])
        try:
            client.publish_raw(iter([*FRAMES[:3], bytes(bad)]), timeout=10)
        except grpc.RpcError as error:
            codes.add(error.code())
            got += subscription.take(3)
        else:
            # Damage that leaves a valid stream.
            got += subscription.take(4)
        Received(got)
    assert codes == {grpc.StatusCode.INVALID_ARGUMENT}
    client.publish(FRAMES)
    assert Received(got + subscription.take(10)).statements[-40:] == triples(40)


@pytest.mark.parametrize("frame", [b"\x0a", b"\xff" * 100, b"\x0a\x05hello", bytes(range(256))])
def test_malformed_frames_are_refused(client: PlainClient, frame: bytes) -> None:
    code, reason = refused(client, [frame])
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert reason


def test_a_frame_above_the_limit_is_refused(client: PlainClient) -> None:
    (large,) = frames_of(triples(5000), 5000, OPTIONS)
    code, _reason = refused(client, [large])
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_quoted_triples_inside_each_other_are_bounded(client: PlainClient) -> None:
    from support.wire import block

    nested = b""
    for _ in range(200):
        nested = block(4, nested)
    row = block(1, block(2, nested))
    (first, *_rest) = FRAMES
    code, _reason = refused(client, [first, row])
    assert code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED)


def test_an_endless_stream_is_passed_on_and_ends_with_its_client(client: PlainClient, server: RunningServer) -> None:
    subscription = client.subscribe("t")
    with PlainClient(server.address) as other:
        endless = other.publish_raw.future(itertools.chain(FRAMES, itertools.repeat(b"")))
        got = subscription.take(200)
        endless.cancel()
    assert Received(got).statements == triples(40)
    subscription.cancel()


def test_a_client_that_disconnects_leaves_a_valid_stream(client: PlainClient, server: RunningServer) -> None:
    subscription = client.subscribe("t")
    with PlainClient(server.address) as other:
        publication = OpenPublication(other)
        publication.send(*FRAMES[:5])
        got = subscription.take(5)
        publication.cancel()
    client.publish(FRAMES)
    assert Received(got + subscription.take(10)).statements == triples(20) + triples(40)


def test_streams_are_bounded(client: PlainClient) -> None:
    subscriptions = [client.subscribe("t") for _ in range(8)]
    code, reason = status(lambda: client.publish(FRAMES))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "8 streams in progress" in reason
    for subscription in subscriptions:
        subscription.cancel()
        assert subscription.error().code() is grpc.StatusCode.CANCELLED


def test_topics_are_bounded_and_unused_ones_are_removed(server: RunningServer) -> None:
    with PlainClient(server.address) as client:
        for number in range(100):
            client.publish(frames_of(triples(1), 1, StreamOptions.small(stream_name=f"topic {number}")))
    assert len(server.topics()) <= 20


def test_names_of_topics_are_bounded(client: PlainClient, server: RunningServer) -> None:
    longest = "é" * 2048
    client.subscribe(longest).cancel()
    error = client.subscribe(longest + "a").error()
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the name of the topic has 4097 bytes, and at most 4096 are allowed" in error.details()
    frames = frames_of(triples(1), 1, StreamOptions.small(stream_name=longest + "a"))
    assert status(lambda: client.publish(frames))[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert longest + "a" not in [info.name for info in server.topics()]


def test_a_topic_that_the_server_does_not_have_is_not_found() -> None:
    with RunningServer(topics={"t": "live"}, default_topic="none") as server, PlainClient(server.address) as client:
        client.publish(FRAMES)
        error = client.subscribe("other").error()
        assert error.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("jelly-from", "yesterday", "must be earliest, latest or the offset of a frame"),
        ("jelly-from", "-1", "must be earliest, latest or the offset of a frame"),
        ("jelly-from", "9" * 40, "must be earliest, latest or the offset of a frame"),
        ("jelly-from", "12", "the topic keeps no frames"),
        ("jelly-offsets", "maybe", "must be true or false"),
    ],
)
def test_call_metadata_that_makes_no_sense_is_refused(client: PlainClient, key: str, value: str, reason: str) -> None:
    error = client.subscribe("t", metadata=[(key, value)]).error()
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason in error.details()
