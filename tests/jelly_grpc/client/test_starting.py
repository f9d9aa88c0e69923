"""Subscriptions to live topics receive all frames that are published after they start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice

import pytest

from jellyframe import StreamOptions
from jellyframe.errors import RemoteError
from jellyframe.grpc import aio, connect
from support.grpc_server import RunningServer, triples

ROUNDS = 20


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with RunningServer(topics={"none": "none"}) as running:
        yield running


def test_a_client_receives_its_publications_after_subscribing(server: RunningServer) -> None:
    for number in range(ROUNDS):
        with connect(server.address) as client:
            subscription = client.subscribe(f"blocking {number}", timeout=20)
            client.publish(f"blocking {number}", triples(3))
            assert list(islice(subscription.statements(), 3)) == triples(3)


def test_an_asyncio_client_receives_its_publications_after_subscribing(server: RunningServer) -> None:
    async def main() -> None:
        for number in range(ROUNDS):
            async with aio.connect(server.address) as client:
                subscription = client.subscribe(f"asyncio {number}", timeout=20)
                await client.publish(f"asyncio {number}", triples(3))
                async for batch in subscription.batches():
                    assert batch.statements() == triples(3)
                    break

    asyncio.run(main())


def test_publications_of_others_are_received_once_started(server: RunningServer) -> None:
    with connect(server.address) as other, connect(server.address) as client:
        other.publish("elsewhere", triples(1))
        subscription = client.subscribe("others")
        assert subscription.started(20)
        other.publish("others", triples(3))
        assert list(islice(subscription.statements(), 3)) == triples(3)

    async def main() -> None:
        async with aio.connect(server.address) as other, aio.connect(server.address) as client:
            await other.publish("elsewhere", triples(1))
            subscription = client.subscribe("others too")
            assert await subscription.started(20)
            await other.publish("others too", triples(3))
            async for batch in subscription.batches():
                assert batch.statements() == triples(3)
                break

    asyncio.run(main())


def test_a_subscription_that_is_refused_has_not_started(server: RunningServer) -> None:
    with connect(server.address) as client:
        subscription = client.subscribe("t", StreamOptions(max_name_table_size=4))
        assert not subscription.started(20)
        with pytest.raises(RemoteError, match="the format needs at least 8"):
            list(subscription)

    async def main() -> None:
        async with aio.connect(server.address) as client:
            subscription = client.subscribe("t", StreamOptions(max_name_table_size=4))
            assert not await subscription.started(20)
            with pytest.raises(RemoteError, match="the format needs at least 8"):
                await subscription.options()

    asyncio.run(main())


def test_a_topic_with_retention_none_is_refused(server: RunningServer) -> None:
    with connect(server.address) as client:
        assert not client.subscribe("none").started(20)
        with pytest.raises(RemoteError, match="there is no topic") as caught:
            client.publish("none", triples(1))
        assert caught.value.status == "NOT_FOUND"


def test_frames_of_batches_are_larger_than_those_of_statements_one_by_one(server: RunningServer) -> None:
    from jellyframe import Batch

    with connect(server.address) as client:
        subscription = client.subscribe("sizes", timeout=20)
        client.publish("sizes", triples(600))
        client.publish("sizes", Batch.from_statements(triples(6000)))
        client.publish("sizes", [Batch.from_statements(triples(100)) for _ in range(6)])
        sizes = [len(frame) for frame in islice(subscription.frames(), 11)]
        assert sizes[:3] == [256, 256, 88]
        # Half of the rows are names.
        assert max(sizes[3:9]) == 1024
        assert sum(sizes[3:9]) == 6000
        assert sizes[9:] == [300, 300]
