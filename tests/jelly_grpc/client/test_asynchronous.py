"""The client for asyncio against a server made from the .proto alone: the same behaviour as the blocking client."""

from __future__ import annotations

import asyncio
import threading

import grpc
import pytest

from jellyframe import Batch, PhysicalType, StreamOptions
from jellyframe.errors import EncodeError, RemoteError, UsageError
from jellyframe.grpc import aio
from support.plain_grpc import PlainServer
from support.rpc_data import quads, triples


async def slowly(items):
    for item in items:
        yield item


async def collect(view):
    return [item async for item in view]


@pytest.fixture
def server():
    with PlainServer() as server:
        yield server


@pytest.fixture
def run(server):
    """Run a coroutine function with a client."""

    def run(work, **settings):
        async def main():
            async with aio.connect(server.address, connect_timeout=5, reconnect_timeout=5, **settings) as client:
                return await asyncio.wait_for(work(client), 60)

        return asyncio.run(main())

    return run


@pytest.mark.parametrize(
    "form",
    [
        list,
        slowly,
        Batch.from_statements,
        lambda statements: slowly([Batch.from_statements(statements[:7]), Batch.from_statements(statements[7:])]),
        lambda statements: Batch.from_statements(statements).to_arrow(),
    ],
    ids=["list", "asynchronous", "batch", "asynchronous batches", "record batch"],
)
def test_statements_published_in_any_form_are_read(run, form):
    statements = triples(1000)

    async def work(client):
        assert await client.publish("t", form(statements), frame_rows=100) > 1
        return await collect(client.subscribe("t"))

    assert run(work) == statements


def test_all_views_of_a_subscription_agree(run):
    statements = quads(600)

    async def work(client):
        await client.publish("t", statements)
        assert await collect(client.subscribe("t").statements()) == statements
        frames = await collect(client.subscribe("t").frames())
        assert [len(frame) for frame in frames] == [256, 256, 88]
        assert sum(map(len, await collect(client.subscribe("t", batch_rows=10).batches()))) == 600
        # A frame larger than a batch is put together again.
        frames = await collect(client.subscribe("t", batch_rows=10).frames())
        assert [statement for frame in frames for statement in frame] == statements
        subscription = client.subscribe("t")
        assert (await subscription.options()).has_graph
        rows = await collect(subscription.record_batches("ntriples"))
        assert sum(batch.num_rows for batch in rows) == 600

    run(work)


def test_errors_of_server_and_codec_are_raised(run, server):
    async def work(client):
        with pytest.raises(RemoteError, match="the first row is not the options"):
            await client.publish("t", [b"\x0a\x04\x4a\x02\x12\x00"])
        with pytest.raises(EncodeError, match="statement 3 has a graph"):
            await client.publish("t", [*triples(3), *quads(1)], StreamOptions(physical_type=PhysicalType.TRIPLES))
        assert await collect(client.subscribe("t")) == triples(3)
        with pytest.raises(RemoteError, match="does not offer this"):
            await client.topics()
        server.on_frame = lambda _context, number: number == 2
        with pytest.raises(RemoteError, match="before its end"):
            await client.publish("t", triples(100_000), frame_rows=100, acknowledge_every=1 << 30)

    run(work)


def test_a_lost_publication_is_sent_again(run, server):
    failures = iter([True])

    def fail_once(context):
        if next(failures, False):
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")

    server.on_published = fail_once

    async def work(client):
        assert await client.publish("t", triples(600)) == 3
        return await collect(client.subscribe("t"))

    assert run(work) == triples(600)


def test_a_lost_subscription_continues_if_reconnect_allows_it(run, server):
    failures = iter([True, False, True])

    def fail_once(context, number):
        if number == 1 and next(failures, False):
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")

    async def work(client):
        await client.publish("t", triples(600))
        server.on_frame = fail_once
        assert await collect(client.subscribe("t", reconnect="always")) == triples(256) + triples(600)
        with pytest.raises(RemoteError, match="would leave a gap"):
            await collect(client.subscribe("t"))

    run(work)


def test_cancellation_and_closing(run, server):
    hold = threading.Event()
    server.on_frame = lambda _context, number: number and not hold.wait(20)

    async def work(client):
        subscription = client.subscribe("t")
        batches = subscription.batches()
        assert len(await anext(batches)) == 256
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(batches), 0.1)
        # A cancelled iterator is over; another view continues.
        other = subscription.batches()
        reading = asyncio.ensure_future(anext(other))
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="in use"):
            await anext(subscription.batches())
        await subscription.close()
        with pytest.raises(UsageError, match="closed"):
            await reading
        with pytest.raises(RemoteError, match="DEADLINE_EXCEEDED"):
            await collect(client.subscribe("t", timeout=0.2))
        with pytest.raises(RemoteError, match="DEADLINE_EXCEEDED"):
            await client.publish("t", triples(600), timeout=0.2)
        await client.close()
        with pytest.raises(UsageError, match="the client is closed"):
            client.subscribe("t")

    server.on_frame, stalled = (lambda _context, _number: False), server.on_frame

    async def fill(client):
        await client.publish("t", triples(600))

    run(fill)
    server.on_frame = stalled
    run(work)
    hold.set()


def test_a_publisher_acknowledges_step_by_step(run, server):
    async def work(client):
        async with client.publisher("t", StreamOptions(version=2)) as publisher:
            await publisher.write(triples(10))
            await publisher.flush()
            assert publisher.acknowledged_frames == 1
            assert len(server.topics["t"]) == 1
            publisher.declare_namespace("e", "http://e/")
            await publisher.write(triples(10, 10))
            await publisher.end_frame()
        assert publisher.statements_written == 20
        with pytest.raises(UsageError, match="the publisher is closed"):
            await publisher.write(triples(1))
        subscription = client.subscribe("t")
        return await collect(subscription)

    assert run(work) == triples(20)
