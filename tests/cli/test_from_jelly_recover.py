"""`rdf from-jelly --recover`: the readable part of damaged files is converted, and losses are reported."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import jellyframe
from jellyframe import PhysicalType, StreamOptions
from jellyframe.stream.recovery import Damage
from support.command import error_of, run
from support.spark_data import quads

STATEMENTS = quads(1200)
LINES = [statement.to_line().encode() for statement in STATEMENTS]


@pytest.fixture(scope="module")
def good() -> bytes:
    file = io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(PhysicalType.QUADS), restart_every=3000, frame_rows=12) as writer:
        writer.write(STATEMENTS)
    return file.getvalue()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2] + data[len(data) // 2 + 25 :]


def insert(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes(range(40)) + data[len(data) // 2 :]


def assert_some_in_order(lines: list[bytes]) -> None:
    """Assert that most lines are there, in their order, and that the first and the last one are."""
    left = iter(LINES)
    assert all(line in left for line in lines)
    assert len(LINES) * 0.7 < len(lines) < len(LINES)
    assert (lines[0], lines[-1]) == (LINES[0], LINES[-1])


@pytest.mark.parametrize("damage", [cut, insert])
@pytest.mark.parametrize("from_file", [True, False])
def test_damage_is_reported_and_the_rest_converted(
    good: bytes, damage: Callable[[bytes], bytes], from_file: bool, tmp_path: Path
) -> None:
    data = damage(good)
    path = tmp_path / "damaged.jelly"
    path.write_bytes(data)
    refused = run("rdf", "from-jelly", str(path), code=2)
    assert refused.err
    if from_file:
        done = run("rdf", "from-jelly", str(path), "--recover", code=1)
        name = str(path)
    else:
        with open(path, "rb") as file:
            done = run("rdf", "from-jelly", "--recover", data=file, code=1)
        name = "standard input"
    assert_some_in_order(done.out.splitlines())
    (warning,) = done.err.splitlines()
    found = re.fullmatch(rf"jellyframe: warning: {re.escape(name)}: bytes (\d+) to (\d+) lost: .+", warning)
    assert found is not None, warning
    start, stop = int(found[1]), int(found[2])
    assert start <= len(good) // 2 <= stop < len(data)


def test_a_whole_file_exits_with_zero(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole.jelly"
    path.write_bytes(good)
    done = run("rdf", "from-jelly", str(path), "--recover")
    assert done.out.splitlines() == LINES
    assert not done.err


@pytest.mark.parametrize("compressed", [True, False])
def test_the_rest_of_input_that_cannot_seek_is_lost(good: bytes, compressed: bool) -> None:
    data = gzip.compress(cut(good)) if compressed else cut(good)
    done = run("rdf", "from-jelly", "--recover", data=data, code=1)
    lines = done.out.splitlines()
    assert 0 < len(lines) < len(LINES)
    assert lines == LINES[: len(lines)]
    assert re.search(r"warning: standard input: all from byte \d+ on lost", done.err)


def test_each_of_several_files_and_formats(good: bytes, tmp_path: Path) -> None:
    for name in ("a.jelly", "b.jelly"):
        (tmp_path / name).write_bytes(cut(good))
    # A table has to know beforehand whether there are graphs, so each file is opened twice, but reported once.
    target = tmp_path / "out.parquet"
    done = run("rdf", "from-jelly", str(tmp_path), "--recover", "--to", str(target), code=1)
    assert [re.search(r"/(.)\.jelly: bytes", line)[1] for line in done.err.splitlines()] == ["a", "b"]  # type: ignore[index]
    assert target.stat().st_size > 0
    text = run("rdf", "from-jelly", str(tmp_path / "a.jelly"), "--recover", "--out-format", "jelly-text", code=1)
    assert len(text.err.splitlines()) == 1
    rest = run("rdf", "to-jelly", "--in-format=jelly-text", data=text.out).out
    assert_some_in_order([statement.to_line().encode() for statement in jellyframe.loads(rest)])


@pytest.mark.parametrize("out_format", ["nq", "parquet", "jelly"])
@pytest.mark.parametrize("lost", [b"", b"nothing of Jelly"])
def test_a_file_of_which_nothing_is_left_does_not_stop_the_others(
    lost: bytes, out_format: str, good: bytes, tmp_path: Path
) -> None:
    """Neither at the beginning nor between others nor at the end."""
    for name in ("a", "b", "d", "f"):
        (tmp_path / f"{name}.jelly").write_bytes(lost)
    for name in ("c", "e"):
        (tmp_path / f"{name}.jelly").write_bytes(good)
    target = tmp_path / f"out.{out_format}"
    done = run("rdf", "from-jelly", tmp_path, "--recover", "--to", target, code=1)
    assert re.findall(r"/(.)\.jelly: bytes 0 to ", done.err) == ["a", "b", "d", "f"]
    text = (
        target.read_bytes()
        if out_format == "nq"
        else run("rdf", "from-jelly", "--in-format", out_format, "--out-format=nq", target).out
    )
    assert text.splitlines() == LINES * 2
    (tmp_path / "c.jelly").write_bytes(lost)
    (tmp_path / "e.jelly").write_bytes(lost)
    refused = run("rdf", "from-jelly", *map(str, sorted(tmp_path.glob("?.jelly"))), "--recover", code=2)
    assert refused.err.count("warning: ") == 6
    assert refused.err.count("error: ") == 1


def test_input_that_is_not_jelly_is_refused(good: bytes) -> None:
    refused = run("rdf", "from-jelly", "--recover", data=b"no Jelly at all", code=2)
    assert "error: " in refused.err
    assert "--in-format says nt" in error_of("rdf", "from-jelly", "--recover", "--in-format=nt", data=b"")


def test_limits_are_named_in_the_words_of_the_command_line(good: bytes) -> None:
    refused = run("rdf", "from-jelly", "--recover", "--limit", "max_frame_bytes=100", data=good, code=2)
    assert "raise it with --limit max_frame_bytes=" in refused.err


def test_convert_takes_a_function(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jelly"
    path.write_bytes(cut(good))
    lost: list[Damage] = []
    seen: list[jellyframe.Progress] = []
    done = jellyframe.convert(path, tmp_path / "rest.nq", on_damage=lost.append, progress=seen.append)
    lines = (tmp_path / "rest.nq").read_bytes().splitlines()
    assert_some_in_order(lines)
    assert done.statements == len(lines)
    assert [damage.error.source for damage in lost] == [str(path)]
    # Bytes that are searched for a restart point are not counted twice.
    assert seen[-1].bytes_read == seen[-1].total_bytes == len(cut(good))
