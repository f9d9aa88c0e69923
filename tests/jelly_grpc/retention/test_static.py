"""Files and folders served as topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

import jellyframe
from jellyframe import StreamOptions
from jellyframe.errors import JellyError
from support.grpc_server import PlainClient, Received, RunningServer, frames_of, status, triples


def write(path: Path, settings: dict[str, Any] | None = None) -> None:
    with jellyframe.open_writer(path, StreamOptions.small(), **settings or {}) as writer:
        for start in range(0, 40, 10):
            writer.write_frame(triples(10, start))


def served(path: Path) -> RunningServer:
    return RunningServer(topics={"t": f"file:{path}"})


@pytest.mark.parametrize("settings", [{}, {"index": True}, {"compression": "gzip"}])
def test_a_file_is_sent_whole_and_the_subscription_ends(tmp_path: Path, settings: dict[str, Any]) -> None:
    write(tmp_path / "a.jelly", settings)
    with served(tmp_path / "a.jelly") as server, PlainClient(server.address) as client:
        assert Received(client.subscribe("t").rest()).statements == triples(40)
        (info,) = server.topics()
        assert (info.retention, info.next_offset) == ("static", 4)
        resumed = client.subscribe("t", metadata=[("jelly-from", "2")])
        assert Received(resumed.rest()).statements == triples(20, 20)
        assert client.subscribe("t", metadata=[("jelly-from", "latest")]).rest() == []


def test_a_folder_of_several_formats_is_one_stream(tmp_path: Path) -> None:
    write(tmp_path / "a.jelly")
    (tmp_path / "b.nt").write_text("".join(f"{statement.to_line()}\n" for statement in triples(300, 40)))
    with served(tmp_path) as server, PlainClient(server.address) as client:
        assert Received(client.subscribe("t").rest()).statements == triples(340)
        assert server.topics()[0].next_offset == 6


def test_nothing_can_be_published_to_files(tmp_path: Path) -> None:
    write(tmp_path / "a.jelly")
    with served(tmp_path) as server, PlainClient(server.address) as client:
        frames = frames_of(triples(4), 4, StreamOptions.small(stream_name="t"))
        code, reason = status(lambda: client.publish(frames))
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        assert "served from files" in reason


def test_a_missing_file_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(JellyError, match="no such file"):
        served(tmp_path / "missing.jelly")
