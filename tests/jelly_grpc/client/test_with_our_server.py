"""The clients and a server of ours: real processes on this machine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jellyframe import StreamOptions, open_reader, open_writer
from jellyframe.errors import EncodeError, OptionsError, RemoteError
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


def test_publications_are_read_from_the_start(client):
    client.publish("t", triples(600))
    client.publish("t", triples(400, 600))
    assert take(client.subscribe("t", from_="earliest"), 1000) == triples(1000)


@pytest.mark.parametrize("options", [None, StreamOptions.small(use_repeat=False)])
def test_either_dialect_is_published_and_subscribed_to(client, options):
    topic = f"dialects-{options is None}"
    client.publish(topic, triples(300), dialect="draft")
    client.publish(topic, triples(300, 300))
    with client.subscribe(topic, options, from_="earliest", dialect="draft") as subscription:
        first = next(subscription.batches())
        assert first.options.use_repeat is (options is None)
        assert subscription.options.version == 1
        assert subscription.offset is None
    assert take(client.subscribe(topic, options, from_="earliest", dialect="draft"), 600) == triples(600)
    assert take(client.subscribe(topic, from_="earliest"), 600) == triples(600)


def test_a_reader_of_one_dialect_is_published_in_the_other(client, tmp_path):
    with open_writer(tmp_path / "draft.jelly", StreamOptions(max_name_table_size=0), dialect="draft") as writer:
        writer.write(triples(300))
    with open_writer(tmp_path / "released.jelly") as writer:
        writer.declare_namespace("ex", "http://example.org/")
        writer.write(triples(300, 300))
    with open_reader(tmp_path / "draft.jelly", dialect="draft") as reader:
        client.publish("readers", reader)
    with open_reader(tmp_path / "released.jelly") as reader:
        client.publish("readers", reader, dialect="draft")
    assert take(client.subscribe("readers", from_="earliest"), 600) == triples(600)
    with client.publisher("readers", dialect="draft") as publisher, pytest.raises(EncodeError, match="metadata"):
        publisher.end_frame({"key": b"value"})


def test_an_unknown_dialect_is_refused(client):
    for call in (client.publisher, client.subscribe):
        with pytest.raises(OptionsError, match="must be one of released, draft"):
            call("t", dialect="old")


def test_asyncio_takes_a_dialect(server):
    async def there_and_back():
        async with aio.connect(server.address) as client:
            await client.publish("aio-draft", triples(300), dialect="draft")
            found: list = []
            async with client.subscribe("aio-draft", from_="earliest", dialect="draft") as subscription:
                async for statement in subscription:
                    found.append(statement)
                    if len(found) == 300:
                        break
                return found, await subscription.options()

    found, options = asyncio.run(there_and_back())
    assert found == triples(300)
    assert options.version == 1


def test_clients_name_their_dialect_to_a_server_with_another_default():
    with (
        ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay", "--dialect", "draft") as server,
        connect(server.address) as client,
    ):
        client.publish("t", triples(300))
        assert take(client.subscribe("t", from_="earliest"), 300) == triples(300)


def test_commands_take_a_dialect(server, tmp_path):
    path, there = tmp_path / "draft.jelly", ("--server", server.address)
    with open_writer(path, dialect="draft") as writer:
        writer.write(triples(300))
    publish = ("grpc", "publish", *there, "--topic", "commands", "--dialect", "draft", path)
    assert "use --in-dialect=draft" in run(*publish, code=2).err
    run(*publish, "--in-dialect", "draft")
    subscribe = ("grpc", "subscribe", *there, "commands", "--dialect", "draft", "--from", "earliest", "--take", "300")
    run(*subscribe, "--to", tmp_path / "out.jelly")
    with open_reader(tmp_path / "out.jelly") as reader:
        assert list(reader) == triples(300)
    assert "--resume needs the offsets" in run(*subscribe, "--resume", tmp_path / "state", code=2).err


def test_a_subscription_starts_at_an_offset(client):
    client.publish("o", triples(600), frame_rows=100)
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


def test_live_topics_deliver_new_statements(client, server):
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
def test_every_example_runs(example: Example, server, tmp_path: Path):
    make_files(tmp_path)
    with connect(server.address) as client:
        client.publish("people", triples(3))
    run_command(example.command.replace("localhost:9090", server.address), tmp_path)


def test_programs_of_the_page_run(server, tmp_path):
    """They run one after the other, as a reader would type them."""
    programs = [program for program in page_programs("docs/grpc.md") if "connect(" in program]
    assert len(programs) == 2
    source = "\n\n".join(programs).replace("localhost:9090", server.address)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "TRIPLES" in done.stdout


def test_the_sensors_example_runs():
    command = [sys.executable, "-W", "error", "-m", "examples.grpc.sensors", "--statements", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"sensor {number}: 200 measurements" for number in range(5)]


def test_clients_continue_after_the_server_restarts(tmp_path, unused_tcp_port):
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


def test_a_log_loses_nothing_for_clients_when_its_server_is_killed(tmp_path, unused_tcp_port):
    """The publisher resends unacknowledged frames, and the subscriber continues after its last frame."""
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
    # Only the unacknowledged frames of one call are repeated.
    assert len(kept) - len(statements) < 5_000


def _until(subscription, last):
    found: list = []
    with subscription:
        for batch in subscription.batches():
            found += batch.statements()
            if found[-1:] == [last]:
                break
    return found
