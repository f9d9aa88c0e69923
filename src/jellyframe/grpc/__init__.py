"""The Jelly gRPC streaming protocol: a server with topics, and a client, blocking or (in `jellyframe.grpc.aio`) async.

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
    from jellyframe.grpc.client.blocking import Client, connect
    from jellyframe.grpc.client.publisher import Publisher
    from jellyframe.grpc.client.subscription import Subscription
    from jellyframe.grpc.config import ServerLimits, ServerSettings, TopicSettings
    from jellyframe.grpc.config_file import read_config
    from jellyframe.grpc.protocol import TopicInfo
    from jellyframe.grpc.security import TlsSettings, Token
    from jellyframe.grpc.server import Server

__all__ = [
    "Client",
    "Publisher",
    "Server",
    "ServerLimits",
    "ServerSettings",
    "Subscription",
    "TlsSettings",
    "Token",
    "TopicInfo",
    "TopicSettings",
    "connect",
    "read_config",
]

_HOMES = {
    "Client": "client.blocking",
    "Publisher": "client.publisher",
    "Server": "server",
    "ServerLimits": "config",
    "ServerSettings": "config",
    "Subscription": "client.subscription",
    "TlsSettings": "security",
    "Token": "security",
    "TopicInfo": "protocol",
    "TopicSettings": "config",
    "connect": "client.blocking",
    "read_config": "config_file",
}

if not TYPE_CHECKING:  # type checkers must report unknown names
    __getattr__ = attribute_loader(__name__, _HOMES, {"aio": "aio"})
