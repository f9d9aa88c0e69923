"""Jelly-JVM's gRPC on Apache Pekko: its client with our server, our clients with its server, each a process."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

import jellyframe
import jellyframe.grpc
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, Literal, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.errors import RemoteError
from jellyframe.grpc import aio
from jellyframe.stream.framing import split_frames
from jellyframe.wire import encode_varint
from support.command import canonical, run
from support.grpc_process import ServerProcess
from support.jvm import java_command

CLASSPATH = "pekko/classpath"
# Pekko's client has two HTTP/2 implementations below it.
BACKENDS = ("netty", "pekko-http")
TRIPLES = [
    Triple(IRI(f"http://example.org/{number}"), IRI("http://example.org/p"), Literal(f"é {number}", language="fr"))
    for number in range(3_000)
]
GRAPHS = (IRI("http://example.org/g"), BlankNode("g"), DEFAULT_GRAPH)
QUADS = [Quad(*triple, GRAPHS[number // 50 % 3]) for number, triple in enumerate(TRIPLES)]
STREAMS: dict[PhysicalType, Sequence[Triple | Quad]] = {
    PhysicalType.TRIPLES: TRIPLES,
    PhysicalType.QUADS: QUADS,
    PhysicalType.GRAPHS: QUADS,
}


def java(*words: object, code: int = 0) -> str:
    """Run a command of Jelly-JVM's client in a process of its own, and return what it says."""
    done = subprocess.run(java_command(CLASSPATH, "interop.Pekko", *words), capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return done.stdout


def write(path: Path, physical_type: PhysicalType, stream_name: str = "") -> int:
    """Write a file of many frames and return their number."""
    options = StreamOptions.small(physical_type=physical_type, stream_name=stream_name)
    with jellyframe.open_writer(path, options, frame_rows=100) as writer:
        writer.write(STREAMS[physical_type])
    with jellyframe.open_reader(path) as reader:
        return sum(1 for _ in reader.frames())


def read(path: Path) -> tuple[StreamOptions, list[Triple | Quad]]:
    with jellyframe.open_reader(path) as reader:
        return reader.options, list(reader.statements())


@pytest.fixture(scope="module")
def our_server() -> Iterator[str]:
    """The address of a server of ours that keeps what is published."""
    java_command(CLASSPATH)
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay") as server:
        yield server.address


@pytest.fixture(scope="module", params=["gzip", "identity"])
def their_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of Jelly-JVM's server, which compresses its frames or does not."""
    gzip = str(request.param == "gzip").lower()
    command = java_command(CLASSPATH, "interop.Pekko", "serve", gzip)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"127.0.0.1:{server.stdout.readline().strip()}"
        server.stdin.close()
        assert server.wait(60) == 0


def port(address: str) -> str:
    return address.rpartition(":")[2]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("physical_type", STREAMS)
def test_their_client_publishes_to_our_server_and_subscribes(
    our_server: str, tmp_path: Path, physical_type: PhysicalType, backend: str
) -> None:
    topic = f"é {physical_type.name} {backend}"
    count = write(tmp_path / "in.jelly", physical_type)
    java("publish", port(our_server), backend, tmp_path / "in.jelly", topic)
    with jellyframe.grpc.connect(our_server) as client, client.subscribe(topic, from_="earliest") as ours:
        assert list(islice(ours.statements(), len(TRIPLES))) == STREAMS[physical_type]
    # Kept frames of GRAPHS become QUADS for those who do not ask.
    (tmp_path / "options").write_bytes(StreamOptions(physical_type=physical_type).to_bytes())
    java("subscribe", port(our_server), backend, topic, count, tmp_path / "out.jelly", tmp_path / "options")
    options, statements = read(tmp_path / "out.jelly")
    assert options.physical_type == physical_type
    assert statements == STREAMS[physical_type]


def test_the_name_of_their_stream_is_its_topic(our_server: str, tmp_path: Path) -> None:
    write(tmp_path / "in.jelly", PhysicalType.TRIPLES, "the stream's name")
    java("publish", port(our_server), "netty", tmp_path / "in.jelly")
    subscribe = ("grpc", "subscribe", "--server", our_server, "the stream's name", "--from", "earliest")
    taken = run(*subscribe, "--take", str(len(TRIPLES)), "--out-format", "nt")
    run("rdf", "from-jelly", tmp_path / "in.jelly", "--to", tmp_path / "in.nt")
    assert canonical(taken.out) == canonical((tmp_path / "in.nt").read_bytes())


def test_requests_of_their_client_are_met_or_refused(our_server: str, tmp_path: Path) -> None:
    count = write(tmp_path / "in.jelly", PhysicalType.TRIPLES)
    java("publish", port(our_server), "netty", tmp_path / "in.jelly", "asked for")

    def ask(options: StreamOptions, code: int = 0) -> str:
        (tmp_path / "options").write_bytes(options.to_bytes())
        words = ("netty", "asked for", count, tmp_path / "out.jelly", tmp_path / "options")
        return java("subscribe", port(our_server), *words, code=code)

    ask(StreamOptions(physical_type=PhysicalType.QUADS, max_name_table_size=16, max_prefix_table_size=0))
    options, statements = read(tmp_path / "out.jelly")
    assert options.physical_type == PhysicalType.QUADS
    assert options.max_name_table_size == 16
    assert options.max_prefix_table_size == 0
    assert statements == [Quad(*triple, DEFAULT_GRAPH) for triple in TRIPLES]
    refusal = ask(StreamOptions(physical_type=PhysicalType.TRIPLES, max_name_table_size=7), code=1)
    assert refusal.startswith("INVALID_ARGUMENT ")
    assert "7" in refusal


@pytest.mark.parametrize("backend", BACKENDS)
def test_their_client_is_told_why_a_publication_is_refused(our_server: str, tmp_path: Path, backend: str) -> None:
    (tmp_path / "empty.jelly").write_bytes(b"")
    refusal = java("publish", port(our_server), backend, tmp_path / "empty.jelly", "refused", code=1)
    assert refusal.startswith("INVALID_ARGUMENT the publication has no frames")


def test_their_client_is_told_why_a_stream_is_refused_before_its_end(our_server: str, tmp_path: Path) -> None:
    write(tmp_path / "whole.jelly", PhysicalType.TRIPLES)
    headless = split_frames((tmp_path / "whole.jelly").read_bytes())[1:]
    (tmp_path / "headless.jelly").write_bytes(b"".join(encode_varint(len(frame)) + frame for frame in headless))
    # Its other HTTP/2 implementation drops an answer that comes before the end of the request.
    refusal = java("publish", port(our_server), "netty", tmp_path / "headless.jelly", "refused", code=1)
    assert refusal.startswith("INVALID_ARGUMENT ")
    assert "does not begin with an options row" in refusal


@pytest.mark.parametrize("physical_type", STREAMS)
def test_our_commands_with_their_server(their_server: str, tmp_path: Path, physical_type: PhysicalType) -> None:
    write(tmp_path / "in.jelly", physical_type)
    topic = f"commands {physical_type.name}"
    run("grpc", "publish", "--server", their_server, "--topic", topic, tmp_path / "in.jelly")
    run("grpc", "subscribe", "--server", their_server, topic, "--to", tmp_path / "out.jelly")
    options, statements = read(tmp_path / "out.jelly")
    assert options.stream_name == topic
    assert statements == STREAMS[physical_type]


def test_our_python_clients_with_their_server(their_server: str) -> None:
    with jellyframe.grpc.connect(their_server) as client:
        client.publish("blocking", QUADS)
        with client.subscribe("blocking") as subscription:
            assert list(subscription.statements()) == QUADS

    async def asynchronous() -> list[Triple | Quad]:
        async with aio.connect(their_server) as client:
            await client.publish("asynchronous", QUADS)
            async with client.subscribe("asynchronous") as subscription:
                return [statement async for statement in subscription]

    assert asyncio.run(asynchronous()) == QUADS


def test_refusals_of_their_server_are_errors_with_its_message(their_server: str, tmp_path: Path) -> None:
    with jellyframe.grpc.connect(their_server) as client:
        with pytest.raises(RemoteError, match="not for publications") as publication:
            client.publish("refused", TRIPLES)
        assert publication.value.status == "INVALID_ARGUMENT"
        with pytest.raises(RemoteError, match="no topic nowhere") as subscription, client.subscribe("nowhere") as it:
            list(it.statements())
        assert subscription.value.status == "NOT_FOUND"
        client.publish("triples", TRIPLES)
        asked = StreamOptions(physical_type=PhysicalType.GRAPHS)
        with (
            pytest.raises(RemoteError, match="does not convert to") as options,
            client.subscribe("triples", asked) as it,
        ):
            list(it.statements())
        assert options.value.status == "INVALID_ARGUMENT"
    failed = run("grpc", "subscribe", "--server", their_server, "nowhere", "--to", tmp_path / "out.nq", code=2)
    assert "there is no topic nowhere" in failed.err
    assert failed.err.count("\n") == 1
