"""The clients and a server of ours: real processes on this machine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jellyframe.errors import RemoteError
from jellyframe.grpc import aio, connect
from support.command import COMMAND, canonical, environment, run
from support.examples import ROOT, Example, help_examples, make_files, page_commands, page_programs, run_command
from support.grpc_process import ServerProcess
from support.rpc_data import quads, triples

CLIENTS = ("publish", "subscribe", "topics")
EXAMPLES = [
    example
    for example in (*help_examples(), *page_commands("README.md"), *page_commands("docs/grpc.md"))
    if any(f"jellyframe grpc {name}" in example.command for name in CLIENTS)
]


@pytest.fixture(scope="module")
def server():
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay", "--topic", "live=live") as server:
        yield server


@pytest.fixture
def client(server):
    with connect(server.address, reconnect_timeout=5) as client:
        yield client


def take(subscription, count):
    found: list = []
    with subscription:
        for batch in subscription.batches():
            found += batch.statements()
            if len(found) >= count:
                return found
    return found


def test_what_is_published_is_read_from_the_start(client):
    client.publish("t", triples(600))
    client.publish("t", triples(400, 600))
    assert take(client.subscribe("t", from_="earliest"), 1000) == triples(1000)


def test_from_an_offset_on(client):
    client.publish("o", triples(600))
    with client.subscribe("o", from_="earliest", batch_rows=200) as subscription:
        batches = subscription.batches()
        first = next(batches).statements()
        next(batches)
        offset = subscription.offset
    rest = take(client.subscribe("o", from_=offset), 1)
    assert rest[0] in triples(600)
    assert set(first) | set(take(client.subscribe("o", from_=offset), len(rest))) <= set(triples(600))
    with pytest.raises(RemoteError, match="no frame at offset") as caught:
        list(client.subscribe("o", from_=2**60))
    assert caught.value.status == "OUT_OF_RANGE"


def test_live_topics_as_they_come(client, server):
    subscription = client.subscribe("live")
    got: list = []
    reading = threading.Thread(target=lambda: got.extend(take(subscription, 500)))
    reading.start()
    while not any(topic.name == "live" and topic.subscribers for topic in client.topics()):
        assert reading.is_alive()
    client.publish("live", triples(500))
    reading.join(30)
    assert got == triples(500)


def test_the_topics_of_a_server(client, server):
    client.publish("listed here", quads(3))
    [topic] = [topic for topic in client.topics() if topic.name == "listed here"]
    assert (topic.retention, topic.frames, topic.statements, topic.is_retained) == ("replay", 1, 3, True)
    assert topic.next_offset == topic.first_offset + 1
    listed = json.loads(run("grpc", "topics", "--server", server.address, "--json").out)
    assert "listed here" in {topic["name"] for topic in listed}
    table = run("grpc", "topics", "--server", server.address).out.decode()
    assert table.splitlines()[0].split()[:2] == ["name", "retention"]
    assert '"listed here"' in table

    async def names():
        async with aio.connect(server.address) as client:
            return [topic.name for topic in await client.topics()]

    assert "listed here" in asyncio.run(names())


def test_asynchronous_publisher_and_subscriber(server):
    async def work():
        async with aio.connect(server.address) as client:
            await client.publish("async", triples(600))
            found: list = []
            async for batch in client.subscribe("async", from_="earliest").batches():
                found += batch.statements()
                if len(found) == 600:
                    break
            return found

    assert asyncio.run(work()) == triples(600)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command)
def test_example(example: Example, server, tmp_path: Path):
    make_files(tmp_path)
    with connect(server.address) as client:
        client.publish("people", triples(3))
    run_command(example.command.replace("localhost:9090", server.address), tmp_path)


def test_programs_of_the_page(server, tmp_path):
    """They run one after the other, as a reader would type them."""
    programs = [program for program in page_programs("docs/grpc.md") if "connect(" in program]
    assert len(programs) == 2
    source = "\n\n".join(programs).replace("localhost:9090", server.address)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "TRIPLES" in done.stdout


def test_the_example_of_sensors():
    command = [sys.executable, "-W", "error", "-m", "examples.grpc.sensors", "--statements", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"sensor {number}: 200 measurements" for number in range(5)]


def test_a_server_that_dies_and_comes_back(tmp_path, unused_tcp_port):
    address = f"127.0.0.1:{unused_tcp_port}"
    with ServerProcess("--listen", address):
        process = subprocess.Popen(
            [*COMMAND, "grpc", "subscribe", "--server", address, "t", "--take", "200", "--reconnect", "always"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with connect(address) as client:
            while not any(topic.subscribers for topic in client.topics()):
                assert process.poll() is None
            client.publish("t", triples(100))
        # The first statements have arrived.
        assert process.stdout is not None
        first = b"".join(process.stdout.readline() for _ in range(100))
    with ServerProcess("--listen", address), connect(address) as client:
        while not any(topic.subscribers for topic in client.topics()):
            assert process.poll() is None
        client.publish("t", triples(100, 100))
        rest, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert len(canonical(first + rest)) == 200


def test_a_log_whose_server_is_killed_loses_nothing_for_clients_that_go_on(tmp_path, unused_tcp_port):
    """The publisher sends again what was not acknowledged, and the subscriber goes on behind what it has."""
    arguments = ("--listen", f"127.0.0.1:{unused_tcp_port}", "--topic", f"t=log:{tmp_path / 'log'}")
    address = arguments[1]
    servers = [ServerProcess(*arguments)]
    statements = triples(20_000)

    def killing():
        """Statements, in the middle of which the server dies and comes back."""
        yield from statements[:12_000]
        servers[-1].kill()
        servers.append(ServerProcess(*arguments))
        yield from statements[12_000:]

    got: list = []
    with servers[0], connect(address, reconnect_timeout=60) as publisher, connect(address) as reader:
        subscription = reader.subscribe("t", from_="earliest")
        reading = threading.Thread(target=lambda: got.extend(_until(subscription, statements[-1])))
        reading.start()
        publisher.publish("t", killing(), acknowledge_every=50_000)
        reading.join(60)
        with servers[1]:
            kept = _until(reader.subscribe("t", from_="earliest"), statements[-1])
    # The subscriber has seen the log as it is, over both servers.
    assert got == kept
    assert list(dict.fromkeys(kept)) == statements
    # Twice is only what one call had sent without an acknowledgement.
    assert len(kept) - len(statements) < 5_000


def _until(subscription, last):
    found: list = []
    with subscription:
        for batch in subscription.batches():
            found += batch.statements()
            if found[-1:] == [last]:
                break
    return found
