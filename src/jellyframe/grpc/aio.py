"""The client for asyncio.

from jellyframe.grpc import aio

async with aio.connect("localhost:9090") as client:
    await client.publish("people", statements)
    async for statement in client.subscribe("people", from_="earliest"):
        print(statement)
"""

from __future__ import annotations

from jellyframe.grpc.client.async_publisher import AsyncPublisher
from jellyframe.grpc.client.async_subscription import AsyncSubscription
from jellyframe.grpc.client.asynchronous import AsyncClient, connect

__all__ = ["AsyncClient", "AsyncPublisher", "AsyncSubscription", "connect"]
