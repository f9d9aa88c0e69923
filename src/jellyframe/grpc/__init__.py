"""The Jelly gRPC streaming protocol: a client, blocking here and for asyncio in `jellyframe.grpc.aio`.

from jellyframe.grpc import connect

with connect("localhost:9090") as client:
    client.publish("people", statements)
    for statement in client.subscribe("people", from_="earliest"):
        print(statement)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jellyframe.lazy import attribute_loader

if TYPE_CHECKING:
    from jellyframe.grpc.client.blocking import Client, Publisher, Subscription, connect
    from jellyframe.grpc.protocol import TopicInfo

__all__ = ["Client", "Publisher", "Subscription", "TopicInfo", "connect"]

_HOMES = {
    "Client": "client.blocking",
    "Publisher": "client.blocking",
    "Subscription": "client.blocking",
    "TopicInfo": "protocol",
    "connect": "client.blocking",
}

if not TYPE_CHECKING:  # for type checkers, a name that is not there is a mistake
    __getattr__ = attribute_loader(__name__, _HOMES)
