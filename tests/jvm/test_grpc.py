"""gRPC for Java with frames of Jelly-JVM: its client with our server, our client with its server."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import jellyframe
import jellyframe.grpc
from jellyframe import IRI, Literal, StreamOptions, Triple
from support.grpc_server import RunningServer
from support.jvm import Jvm

STATEMENTS = [
    Triple(IRI(f"http://example.org/{number}"), IRI("http://example.org/p"), Literal(f"é {number}"))
    for number in range(2_000)
]


def write(path: Path) -> int:
    """Write a file of several frames and return their number."""
    with jellyframe.open_writer(path, StreamOptions.small(), frame_rows=100) as writer:
        writer.write(STATEMENTS)
    with jellyframe.open_reader(path) as reader:
        return sum(1 for _ in reader.frames())


def test_the_java_client_publishes_to_our_server_and_subscribes(jvm: Jvm, folder: Path) -> None:
    count = write(folder / "published.jelly")
    with RunningServer(topics={"é": "replay"}) as server:
        jvm.run("grpc-publish", server.address, "é", folder / "published.jelly")
        with jellyframe.grpc.connect(server.address) as client, client.subscribe("é", from_="earliest") as ours:
            assert list(islice(ours.statements(), len(STATEMENTS))) == STATEMENTS
        jvm.run("grpc-subscribe", server.address, "é", count, folder / "subscribed.jelly")
    with jellyframe.open_reader(folder / "subscribed.jelly") as reader:
        assert list(reader.statements()) == STATEMENTS


def test_our_client_publishes_to_the_java_server_and_subscribes(jvm: Jvm, folder: Path) -> None:
    write(folder / "served.jelly")
    jvm.run("grpc-serve", folder / "served.jelly", folder / "kept.jelly", folder / "port")
    with jellyframe.grpc.connect(f"127.0.0.1:{(folder / 'port').read_text()}") as client:
        client.publish("any", STATEMENTS)
        with client.subscribe("any") as subscription:
            assert list(subscription.statements()) == STATEMENTS
    with jellyframe.open_reader(folder / "kept.jelly") as reader:
        assert list(reader.statements()) == STATEMENTS
