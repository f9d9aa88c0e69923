"""Subscriptions that resume, against a server whose frames have offsets."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jellyframe import StreamOptions, dumps
from jellyframe.errors import RemoteError
from jellyframe.grpc import aio, connect
from jellyframe.grpc.client.retrying import LONGEST_PAUSE_SECONDS, Backoff
from jellyframe.grpc.client.settings import Connection
from jellyframe.grpc.client.subscribing import SubscriptionState
from support.plain_grpc import PlainServer
from support.rpc_data import triples

OPTIONS = StreamOptions(version=2)
EVERY_FRAME = 1


@pytest.fixture(scope="module")
def server():
    with PlainServer() as server:
        server.has_offsets = True
        with connect(server.address) as client:
            client.publish("t", triples(1000), OPTIONS, frame_rows=50, acknowledge_every=EVERY_FRAME)
        assert len(server.topics["t"]) > 20
        yield server


@pytest.fixture
def client(server):
    server.on_frame = lambda _context, _number: False
    with connect(server.address, connect_timeout=5, reconnect_timeout=5) as client:
        yield client


def failing_at(numbers):
    """Fail when the frames with these numbers are sent, each once."""
    left = set(numbers)

    def fail(context, number):
        if number in left:
            left.discard(number)
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")

    return fail


async def collect(address):
    async with aio.connect(address, connect_timeout=5) as client:
        return [statement async for statement in client.subscribe("t", batch_rows=30)]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lost=st.sets(st.integers(0, 20), max_size=4), batch_rows=st.integers(1, 200))
def test_no_statement_is_lost_or_repeated_wherever_the_connection_is_lost(server, client, lost, batch_rows):
    server.on_frame = failing_at(lost)
    with client.subscribe("t", batch_rows=batch_rows) as subscription:
        assert list(subscription) == triples(1000)
    server.on_frame = failing_at(lost)
    assert asyncio.run(collect(server.address)) == triples(1000)


def test_frame_numbers_continue_after_a_reconnect(server, client):
    server.on_frame = failing_at({3, 9})
    frames = list(client.subscribe("t").frames())
    assert [frame.number for frame in frames] == list(range(len(server.topics["t"])))


def test_another_subscription_continues_at_the_offset(server, client):
    got = []
    with client.subscribe("t", batch_rows=70) as subscription:
        batches = subscription.batches()
        assert subscription.offset is None
        for _ in range(5):
            got += next(batches).statements()
        # The last batch returned may not have been processed.
        offset = subscription.offset
    assert offset is not None
    with client.subscribe("t", from_=offset) as subscription:
        rest = list(subscription)
        assert subscription.offset == len(server.topics["t"])
    assert rest == triples(1000)[-len(rest) :]
    assert len(got) + len(rest) >= 1000


def test_a_server_that_stays_down_is_an_error(server):
    with connect(server.address, reconnect_timeout=0.3) as client:
        server.on_frame = lambda context, number: (
            number == 3 and context.abort(grpc.StatusCode.UNAVAILABLE, "going away")
        )
        got: list = []
        with pytest.raises(RemoteError, match="going away"):
            got.extend(client.subscribe("t"))
        # The frames before were read, and each once.
        assert sum(kind == "subscribe" for kind, _metadata in server.calls) > 1


def test_pauses_grow_up_to_a_limit_until_the_timeout():
    error = RemoteError("gone", status="UNAVAILABLE")
    backoff = Backoff(100.0, jitter=lambda: 1.0)
    now = 0.0
    pauses: list[float] = []
    while now < 100.0:
        pauses.append(backoff.pause_after(error, now))
        now += pauses[-1]
    with pytest.raises(RemoteError, match="gone"):
        backoff.pause_after(error, now)
    assert pauses[:4] == [0.1, 0.2, 0.4, 0.8]
    assert max(pauses) == LONGEST_PAUSE_SECONDS
    assert sum(pauses) == pytest.approx(100)
    backoff.succeeded()
    assert backoff.pause_after(error, now) == 0.1
    with pytest.raises(RemoteError, match="refused"):
        backoff.pause_after(RemoteError("refused", status="INVALID_ARGUMENT"), now)


def test_statements_read_in_the_draft_are_not_repeated():
    """Its frames have no offsets, so that a new connection can only leave a gap."""
    state = SubscriptionState(
        Connection("localhost:9090"), "t", None, from_="earliest", reconnect="always", batch_rows=100, dialect="draft"
    )
    assert dict(state.call_metadata()) == {"jelly-from": "earliest", "jelly-dialect": "draft"}
    state.push(dumps(triples(3), dialect="draft"))
    assert state.next_batch(partial=True) is not None
    state.pause_after(RemoteError("gone", status="UNAVAILABLE"), 0.0)
    assert dict(state.call_metadata()) == {"jelly-from": "latest", "jelly-dialect": "draft"}
