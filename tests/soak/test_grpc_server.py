"""The gRPC server over a long time, and with many clients: `make soak`.

SOAK_SECONDS (600) says how long memory is watched, SOAK_KILLS (100) how often the server is killed.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import socket
import struct
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

import grpc.aio
import pytest

from jelly_grpc.retention.test_log import kill_and_check
from jellyframe import StreamOptions
from jellyframe.grpc.protocol import PUBLISH, SUBSCRIBE, Subscription, encode_subscription, publication_metadata
from support.grpc_process import ServerProcess
from support.grpc_server import PlainClient, Received, frames_of, triples

SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
KILLS = int(os.environ.get("SOAK_KILLS", "100"))
CONNECTIONS = int(os.environ.get("SOAK_CONNECTIONS", "10000"))
OPTIONS = StreamOptions.small(stream_name="t")
# An HTTP/2 client's first words: the preface, and settings of which it has none to change.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">BHBBI", 0, 0, 4, 0, 0)


def resident_bytes(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def publish(address: str, frames: list[bytes]) -> None:
    async with grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        call = channel.stream_unary(PUBLISH)(metadata=tuple(publication_metadata("t")))
        for frame in frames:
            await call.write(frame)
        await call.done_writing()
        assert await call == b""


async def subscribe(address: str, count: int, ready: asyncio.Semaphore) -> list[bytes]:
    async with grpc.aio.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        call = channel.unary_stream(SUBSCRIBE)(encode_subscription(Subscription("t")))
        await call.initial_metadata()
        ready.release()
        return [await call.read() for _ in range(count)]


@pytest.mark.parametrize("retention", ["live", "log"])
def test_two_hundred_subscribers_and_twenty_publishers(retention: str, tmp_path: Path) -> None:
    """Every subscriber's statements are exact: all of them, those of each publisher in order, frame by frame."""
    publishers, subscribers, statements = 20, 200, 60
    how = "live" if retention == "live" else f"log:{tmp_path}"
    server = ServerProcess("--listen", "127.0.0.1:0", "--topic", f"t={how}")

    async def run() -> list[list[bytes]]:
        ready = asyncio.Semaphore(0)
        count = publishers * statements // 4
        receiving = [asyncio.create_task(subscribe(server.address, count, ready)) for _ in range(subscribers)]
        for _ in range(subscribers):
            await ready.acquire()
        streams = [frames_of(triples(statements, who=f"p{number}-"), 4, OPTIONS) for number in range(publishers)]
        await asyncio.gather(*(publish(server.address, frames) for frames in streams))
        return await asyncio.gather(*receiving)

    expected = {number: triples(statements, who=f"p{number}-") for number in range(publishers)}
    for frames in asyncio.run(run()):
        received = Received(frames)
        assert Counter(received.statements) == Counter(one for stream in expected.values() for one in stream)
        for stream in expected.values():
            own = set(stream)
            assert [one for one in received.statements if one in own] == stream
    assert server.end() == (0, "")


def test_subscribers_come_go_and_stall(tmp_path: Path) -> None:
    """Some read all, some leave in between, some never read: those who read get everything, and memory is bounded."""
    config = tmp_path / "server.toml"
    config.write_text('listen = "127.0.0.1:0"\n[topics.t]\nretention = "replay"\nqueue_bytes = "256k"\n')
    server = ServerProcess("--config", str(config))
    frames = frames_of(triples(40_000), 100, OPTIONS)

    async def run() -> list[list[bytes]]:
        ready = asyncio.Semaphore(0)
        readers = [asyncio.create_task(subscribe(server.address, len(frames), ready)) for _ in range(20)]
        leavers = [asyncio.create_task(subscribe(server.address, 10, ready)) for _ in range(20)]
        async with grpc.aio.insecure_channel(server.address) as channel:
            stalled = [channel.unary_stream(SUBSCRIBE)(encode_subscription(Subscription("t"))) for _ in range(20)]
            for call in stalled:
                await call.initial_metadata()
            for _ in range(40):
                await ready.acquire()
            await publish(server.address, frames)
            await asyncio.gather(*leavers)
            return await asyncio.gather(*readers)

    for received in asyncio.run(run()):
        assert Received(received).statements == triples(40_000)
    assert resident_bytes(server.process.pid) < 400e6
    assert server.end() == (0, "")


def test_a_hundred_kills(tmp_path: Path) -> None:
    kill_and_check(tmp_path, random.Random(12), runs=KILLS)


def test_ten_thousand_idle_connections() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < CONNECTIONS + 100:
        pytest.skip(f"a process may have {hard} files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (CONNECTIONS + 100, hard))
    server = ServerProcess("--listen", "127.0.0.1:0", before=f"ulimit -n {CONNECTIONS + 100}")
    host, port = server.address.rsplit(":", 1)
    before = resident_bytes(server.process.pid)
    idle = []
    try:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((host, int(port)), timeout=30)
            connection.sendall(_HELLO)
            idle.append(connection)
        for connection in idle:
            # The server's settings: it has taken the connection.
            assert len(connection.recv(9)) == 9
        with PlainClient(server.address) as client:
            subscription = client.subscribe("t")
            client.publish(frames_of(triples(40), 4, OPTIONS))
            assert Received(subscription.take(10)).statements == triples(40)
            subscription.cancel()
        per_connection = (resident_bytes(server.process.pid) - before) / CONNECTIONS
        print(f"{per_connection:.0f} bytes for each idle connection", file=sys.stderr)
        assert per_connection < 100_000
    finally:
        for connection in idle:
            connection.close()
    assert server.end()[0] == 0


def test_memory_is_flat(tmp_path: Path) -> None:
    """Publishers and subscribers come and go for ten minutes; after the first tenth the server does not grow."""
    config = tmp_path / "server.toml"
    config.write_text(
        'listen = "127.0.0.1:0"\n'
        '[topics.t]\nretention = "log"\npath = "kept"\nmax_bytes = "32M"\nsegment_bytes = "4M"\n'
    )
    server = ServerProcess("--config", str(config))
    frames = frames_of(triples(4000), 100, OPTIONS)
    sizes: list[tuple[float, int]] = []

    async def run() -> None:
        start = monotonic()
        while monotonic() - start < SECONDS:
            ready = asyncio.Semaphore(0)
            receiving = [asyncio.create_task(subscribe(server.address, len(frames), ready)) for _ in range(5)]
            for _ in receiving:
                await ready.acquire()
            await publish(server.address, frames)
            for received in await asyncio.gather(*receiving):
                assert len(received) == len(frames)
            sizes.append((monotonic() - start, resident_bytes(server.process.pid)))

    asyncio.run(run())
    warm = [size for at, size in sizes if SECONDS / 10 <= at < SECONDS / 5]
    late = [size for at, size in sizes if at >= SECONDS * 0.9]
    print(f"{max(warm) / 1e6:.1f} MB, then {max(late) / 1e6:.1f} MB after {len(sizes)} rounds", file=sys.stderr)
    assert max(late) < max(warm) * 1.1 + 5e6
    assert server.end() == (0, "")
