"""`--limit` of the commands that read Jelly: input that is refused without it is read with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jellyframe import IRI, StreamOptions, Triple, open_writer
from support.command import error_of, run


@pytest.fixture
def large_table(tmp_path: Path) -> Path:
    path = tmp_path / "large.jelly"
    with open_writer(path, StreamOptions(max_name_table_size=5000)) as writer:
        writer.write([Triple(IRI("http://a/s"), IRI("http://a/p"), IRI("http://a/o"))])
    return path


@pytest.mark.parametrize("command", ["from-jelly", "transcode", "validate", "inspect"])
def test_every_command_takes_limits(command: str, large_table: Path, tmp_path: Path) -> None:
    arguments = ["rdf", command, str(large_table)]
    if command == "transcode":
        arguments += ["--to", str(tmp_path / "out.jelly")]
    assert run(*arguments, "--limit", "max_name_table_size=8k").err == ""
    if command != "inspect":
        # That one allocates no table: it only counts.
        assert "max_name_table_size" in error_of(*arguments)
    assert "max_frame_bytes" in error_of(*arguments, "--limit", "max_name_table_size=8k", "--limit=max_frame_bytes=9")


def test_unknown_limits_are_refused(large_table: Path) -> None:
    message = error_of("rdf", "inspect", str(large_table), "--limit", "max_frames=9")
    assert "there is no limit 'max_frames'" in message
    assert "max_frame_bytes" in message
