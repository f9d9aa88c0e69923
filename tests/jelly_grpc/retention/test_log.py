"""Topics that are kept on disk: across restarts, crashes and full disks."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path

import grpc
import pytest

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, Quad, StreamOptions
from jellyframe.errors import StorageError
from jellyframe.grpc.config import TopicSettings
from jellyframe.grpc.retention.log import LogSettings
from jellyframe.options import LogicalType, PhysicalType
from jellyframe.stream.index import restart_points
from support.grpc_process import ServerProcess
from support.grpc_server import (
    OpenPublication,
    PlainClient,
    Received,
    RunningServer,
    frames_of,
    status,
    triples,
)

EARLIEST = ("jelly-from", "earliest")
OFFSETS = ("jelly-offsets", "true")
TOPIC = StreamOptions.small(stream_name="t")


def server_on(folder: Path, **settings: object) -> RunningServer:
    topic = TopicSettings("log", str(folder), **settings)  # type: ignore[arg-type]
    return RunningServer(topics={"t": topic})


def all_of(client: PlainClient, frames: int) -> Received:
    return Received(client.subscribe("t", metadata=[EARLIEST, OFFSETS]).take(frames))


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jelly"))


def test_a_log_survives_a_restart_and_is_read_by_other_tools(tmp_path: Path) -> None:
    for run in range(3):
        with server_on(tmp_path) as server, PlainClient(server.address) as client:
            client.publish(frames_of(triples(8, 8 * run), 4, TOPIC))
            got = all_of(client, 2 * run + 2)
            assert got.statements == triples(8 * run + 8)
            offsets = [int(got.metadata[number]["jelly-offset"]) for number in range(2 * run + 2)]
            assert offsets == list(range(2 * run + 2))
    table = jellyframe.scan(str(tmp_path), columns=["s"]).read_all()
    assert table.num_rows == 24


def test_a_subscriber_goes_from_kept_frames_to_new_ones(tmp_path: Path) -> None:
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        publication = OpenPublication(client)
        frames = frames_of(triples(400), 4, TOPIC)
        publication.send(*frames[:50])
        subscription = client.subscribe("t", metadata=[EARLIEST])
        publication.send(*frames[50:])
        publication.finish()
        assert Received(subscription.take(100)).statements == triples(400)


def test_files_are_rolled_by_size_and_removed_by_bytes(tmp_path: Path) -> None:
    with server_on(tmp_path, segment_bytes=4000, max_bytes=20_000) as server, PlainClient(server.address) as client:
        for run in range(10):
            client.publish(frames_of(triples(100, 100 * run), 4, TOPIC))
        (info,) = server.topics()
        assert info.first_offset > 0
        assert info.next_offset == 250
        assert sum(file.stat().st_size for file in files_of(tmp_path)) < 26_000
        kept = all_of(client, info.next_offset - info.first_offset)
        assert kept.statements == triples(1000 - 4 * info.first_offset, 4 * info.first_offset)
        code, reason = status(lambda: client.subscribe("t", metadata=[("jelly-from", "0")]).take(1))
        assert code is grpc.StatusCode.OUT_OF_RANGE
        assert f"the oldest one is at {info.first_offset}" in reason
        code, reason = status(lambda: client.subscribe("t", metadata=[("jelly-from", "251")]).take(1))
        assert code is grpc.StatusCode.OUT_OF_RANGE


def test_files_stay_within_max_bytes(tmp_path: Path) -> None:
    with server_on(tmp_path, max_bytes=40_000) as server, PlainClient(server.address) as client:
        for run in range(30):
            client.publish(frames_of(triples(100, 100 * run), 4, TOPIC))
        (info,) = server.topics()
        assert info.first_offset > 0
        assert info.next_offset == 750
        assert 20_000 < sum(file.stat().st_size for file in files_of(tmp_path)) < 44_000
        assert all_of(client, 1).statements == triples(4, 4 * info.first_offset)


def test_files_are_rolled_at_a_quarter_of_max_age_and_max_bytes() -> None:
    assert LogSettings(max_age=3600).roll_age == 900
    assert LogSettings(max_age=3600, segment_age=60).roll_age == 60
    assert LogSettings().roll_age == 24 * 3600
    assert LogSettings(max_bytes=1 << 30).roll_bytes == 64 << 20
    assert LogSettings(max_bytes=1 << 20).roll_bytes == 1 << 18


def test_files_are_rolled_and_removed_by_age(tmp_path: Path) -> None:
    with server_on(tmp_path, segment_age=0, max_age=3600) as server, PlainClient(server.address) as client:
        for run in range(3):
            client.publish(frames_of(triples(4, 4 * run), 4, TOPIC))
    assert len(files_of(tmp_path)) == 3
    for file in files_of(tmp_path):
        os.utime(file, (1, 1))
    with server_on(tmp_path, max_age=3600) as server, PlainClient(server.address) as client:
        client.publish(frames_of(triples(4, 12), 4, TOPIC))
        (info,) = server.topics()
        assert (info.first_offset, info.next_offset) == (3, 4)


def test_offsets_are_not_reused_after_all_files_expired(tmp_path: Path) -> None:
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        client.publish(frames_of(triples(12), 4, TOPIC))
    for file in files_of(tmp_path):
        os.utime(file, (1, 1))
    server = server_on(tmp_path, max_age=3600)
    server.stop()
    assert files_of(tmp_path) == []
    with server_on(tmp_path) as server, PlainClient(server.address):
        (info,) = server.topics()
        assert (info.first_offset, info.next_offset) == (3, 3)


def test_a_log_is_splittable(tmp_path: Path) -> None:
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        client.publish(frames_of(triples(40_000), 1000, TOPIC))
    (file,) = files_of(tmp_path)
    with file.open("rb") as opened:
        points = restart_points(opened)
    assert len(points) > 2
    with jellyframe.open_reader(file, byte_range=(points[1].offset, file.stat().st_size)) as reader:
        assert list(reader.statements())[-1] == triples(1, 39_999)[0]


@pytest.mark.parametrize("end", [b"\x00" * 50, b"\x85\x01garbage", b"\xff" * 20, b"\x0a"])
def test_a_torn_end_is_truncated(tmp_path: Path, end: bytes) -> None:
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        client.publish(frames_of(triples(20), 4, TOPIC))
    (file,) = files_of(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole + end)
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        assert file.read_bytes() == whole
        client.publish(frames_of(triples(4, 20), 4, TOPIC))
        assert all_of(client, 6).statements == triples(24)


@pytest.mark.parametrize("lost", [1, 30, 200, 10_000])
def test_a_partly_written_frame_is_removed(tmp_path: Path, lost: int) -> None:
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        client.publish(frames_of(triples(20), 4, TOPIC))
    (file,) = files_of(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-lost] if lost < len(whole) else b"")
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        (info,) = server.topics()
        assert info.next_offset < 5
        client.publish(frames_of(triples(4, 20), 4, TOPIC))
        got = all_of(client, info.next_offset + 1)
        assert got.statements == triples(4 * info.next_offset) + triples(4, 20)


def test_topics_that_are_not_named_get_a_folder_each_and_are_found_again(tmp_path: Path) -> None:
    names = ["", "a", "..", "a/b", "室温", "%", "a.b"]
    with RunningServer(default_topic=f"log:{tmp_path}") as server, PlainClient(server.address) as client:
        for number, name in enumerate(names):
            client.publish(frames_of(triples(4, number), 4, StreamOptions.small(stream_name=name)))
        code, reason = status(
            lambda: client.publish(frames_of(triples(1), 4, StreamOptions.small(stream_name="x" * 300)))
        )
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "too long" in reason
    assert len(list(tmp_path.iterdir())) == len(names)
    with RunningServer(default_topic=f"log:{tmp_path}") as server, PlainClient(server.address) as client:
        assert sorted(info.name for info in server.topics()) == sorted(names)
        for number, name in enumerate(names):
            got = client.subscribe(name, metadata=[EARLIEST]).take(1)
            assert Received(got).statements == triples(4, number)


def test_two_servers_cannot_use_one_folder(tmp_path: Path) -> None:
    with server_on(tmp_path), pytest.raises(StorageError, match="another server uses this log"):
        server_on(tmp_path)


def test_streams_of_different_kinds_are_kept_together(tmp_path: Path) -> None:
    quads = [Quad(*statement, IRI("http://example.org/g")) for statement in triples(4)]
    grouped = StreamOptions.small(
        stream_name="t", physical_type=PhysicalType.TRIPLES, logical_type=LogicalType.GRAPHS, rdf_star=False
    )
    with server_on(tmp_path) as server, PlainClient(server.address) as client:
        for _ in range(3):
            client.publish(frames_of(triples(4), 4, TOPIC))
            client.publish(frames_of(quads, 4, TOPIC))
            client.publish(frames_of(triples(4), 4, grouped))
        wanted = StreamOptions.small(physical_type=PhysicalType.QUADS)
        got = Received(client.subscribe("t", wanted, metadata=[EARLIEST]).take(9))
        in_default = [Quad(*statement, DEFAULT_GRAPH) for statement in triples(4)]
        assert got.frames == [in_default, quads, in_default] * 3
    # One file for each kind that the one before could not hold, not one for each frame.
    assert len(files_of(tmp_path)) <= 3


def test_a_full_disk_fails_the_publication_and_nothing_else(tmp_path: Path) -> None:
    """The disk is full for the server's process: no file of it may be larger than 64 KiB."""
    server = ServerProcess("--listen", "127.0.0.1:0", "--topic", f"t=log:{tmp_path / 'log'}", before="ulimit -f 64")
    with PlainClient(server.address) as client:
        client.publish(frames_of(triples(40), 4, TOPIC))
        code, reason = status(lambda: client.publish(frames_of(triples(40_000), 100, TOPIC)))
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "the server cannot keep frames" in reason
        client.publish(frames_of(triples(40, 40), 4, TOPIC))
        asked = client.subscribe("t", metadata=[EARLIEST])
        received = [asked.take(10)]
        assert Received(received[0]).statements == triples(40)
        asked.cancel()
    code, logged = server.end()
    assert code == 0
    assert len(logged.splitlines()) == 1
    assert " error publish refused: the server cannot keep frames: File too large call=publish " in logged
    with server_on(tmp_path / "log") as again, PlainClient(again.address) as client:
        (info,) = again.topics()
        got = all_of(client, info.next_offset).statements
        assert got[:40] == triples(40)
        assert got[-40:] == triples(40, 40)


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_neither_loses_nor_doubles_acknowledged_frames(tmp_path: Path, seed: int) -> None:
    kill_and_check(tmp_path, random.Random(seed), runs=1)


def kill_and_check(folder: Path, rng: random.Random, *, runs: int) -> None:
    """Kill a server at a random moment while it takes publications, as often as asked, and look at its log."""
    acknowledged: list[int] = []
    numbers = iter(range(1 << 30))
    resume_from = 0
    seen: list[object] = []
    for _ in range(runs):
        server = ServerProcess("--listen", "127.0.0.1:0", "--topic", f"t=log:{folder}")
        killer = threading.Timer(rng.uniform(0.05, 0.6), server.process.kill)
        with PlainClient(server.address) as client:
            killer.start()
            try:
                while True:
                    publication = next(numbers)
                    client.publish(frames_of(triples(20, 20 * publication), 4, TOPIC))
                    acknowledged.append(publication)
            except grpc.RpcError:
                pass
        killer.join()
        assert server.end(signal.SIGKILL)[0] == -signal.SIGKILL
        with server_on(folder) as again, PlainClient(again.address) as client:
            (info,) = again.topics()
            if info.next_offset > resume_from:
                resumed = client.subscribe("t", metadata=[("jelly-from", str(resume_from))])
                seen += Received(resumed.take(info.next_offset - resume_from)).statements
                resume_from = info.next_offset
    assert len(set(seen)) == len(seen)
    expected = [statement for publication in acknowledged for statement in triples(20, 20 * publication)]
    kept = set(seen)
    assert [statement for statement in expected if statement not in kept] == []
