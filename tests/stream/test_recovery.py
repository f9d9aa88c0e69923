"""Damage in the middle of a file: losses are reported, and all rows returned are right."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import jellyframe
from jellyframe import JellyError, PhysicalType, StreamOptions
from jellyframe.stream.index import restart_points
from jellyframe.stream.recovery import Damage
from support.sources import Pipe
from support.spark_data import quads

STATEMENTS = quads(1500)


def written(physical: PhysicalType = PhysicalType.QUADS, **arguments: Any) -> bytes:
    file = io.BytesIO()
    arguments = {"restart_every": 3000, "frame_rows": 12} | arguments
    with jellyframe.open_writer(file, StreamOptions(physical), **arguments) as writer:
        writer.write(STATEMENTS)
    return file.getvalue()


@pytest.fixture(scope="module")
def good() -> bytes:
    return written()


def recover(source: Any, package: ModuleType = jellyframe, **arguments: Any) -> tuple[list[str], list[Damage]]:
    """The statements as text, and what was lost."""
    lost: list[Damage] = []
    with package.open_reader(source, on_damage=lost.append, **arguments) as reader:
        return [statement.to_line() for statement in reader.statements()], lost


def is_in_order(given: list[str], lines: list[str]) -> bool:
    """Whether the statements are some of the lines, in their order."""
    left = iter(lines)
    return all(line in left for line in given)


LINES = [statement.to_line() for statement in STATEMENTS]


def cut(data: bytes, at: int, size: int) -> bytes:
    return data[:at] + data[at + size :]


def insert(data: bytes, at: int, size: int) -> bytes:
    return data[:at] + random.Random(at).randbytes(size) + data[at:]


def overwrite(data: bytes, at: int, size: int) -> bytes:
    return data[:at] + random.Random(at).randbytes(size) + data[at + size :]


DAMAGES = {"missing": cut, "extra": insert, "overwritten": overwrite}


def test_an_undamaged_file_loses_nothing(twin: ModuleType, good: bytes) -> None:
    for batch_rows in (1, 5, 16_384):
        assert recover(good, twin, batch_rows=batch_rows) == (LINES, [])


@pytest.mark.parametrize(
    ("kind", "size"),
    # A few changed bytes may all be in a literal, where they are not detected.
    [(kind, size) for kind in DAMAGES for size in (1, 2, 7, 300, 5000) if size > 100 or kind != "overwritten"],
)
def test_rows_are_right_and_the_loss_ends_at_the_next_restart_point(good: bytes, kind: str, size: int) -> None:
    """Anywhere in the file: the rows are those of the original, and what is lost ends at the next restart point."""
    points = [point.offset for point in restart_points(io.BytesIO(good))]
    farthest = max(after - before for before, after in pairwise([*points, len(good)]))
    places = random.Random(size)
    for _ in range(25):
        at = places.randrange(1, len(good) - size)
        damaged = DAMAGES[kind](good, at, size)
        given, lost = recover(damaged, batch_rows=places.choice([1, 7, 100, 16_384]))
        assert is_in_order(given, LINES), (kind, at, size)
        if not lost:
            assert len(given) == len(LINES)
            continue
        assert all(damage.start <= (damage.stop or 0) <= len(damaged) for damage in lost)
        assert sum((damage.stop or 0) - damage.start for damage in lost) <= 2 * farthest + size
        assert lost[0].start <= at + size


def test_all_rows_outside_of_the_loss_are_returned(good: bytes) -> None:
    points = [point.offset for point in restart_points(io.BytesIO(good))]
    at = (points[3] + points[4]) // 2
    damaged = cut(good, at, 40)
    given, (damage,) = recover(damaged)
    assert points[3] < damage.start <= at
    assert damage.stop == points[4] - 40
    with jellyframe.open_reader(good, byte_range=(0, damage.start)) as reader:
        before = [statement.to_line() for statement in reader.statements()]
    with jellyframe.open_reader(good, byte_range=(points[4], None)) as reader:
        after = [statement.to_line() for statement in reader.statements()]
    assert given == before + after
    assert f"bytes {damage.start} to {damage.stop} lost: " in str(damage)


def test_fail_fast_is_the_default(good: bytes) -> None:
    damaged = cut(good, len(good) // 2, 10)
    with pytest.raises(JellyError), jellyframe.open_reader(damaged) as reader:
        list(reader.statements())


def test_a_literal_that_swallows_the_next_frame_is_not_given() -> None:
    """A frame that ends in a row which is complete only because bytes of the next one stand in for missing ones."""
    statements = [
        jellyframe.Triple(jellyframe.BlankNode("a"), jellyframe.IRI("b"), jellyframe.Literal("x" * 40 + str(number)))
        for number in range(400)
    ]
    file = io.BytesIO()
    with jellyframe.open_writer(file, frame_rows=1, restart_every=900) as writer:
        writer.write(statements)
    data = file.getvalue()
    lines = [statement.to_line() for statement in statements]
    middle = data.index(b"x" * 40 + b"200")
    for at in range(middle, middle + 30):
        given, lost = recover(cut(data, at, 9), batch_rows=1)
        assert lost
        assert is_in_order(given, lines)
        assert len(given) > 350


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "bytes": lambda data, _: data,
    "memoryview": lambda data, _: memoryview(data),
    "path": lambda data, folder: _file(data, folder),
    "file_object": lambda data, folder: _file(data, folder).open("rb"),
    "raw_file_object": lambda data, folder: _file(data, folder).open("rb", buffering=0),
    "standing_behind_something_else": lambda data, _: _standing(data),
}


def _file(data: bytes, folder: Path) -> Path:
    path = folder / "damaged.jelly"
    path.write_bytes(data)
    return path


def _standing(data: bytes) -> io.BytesIO:
    file = io.BytesIO(b"0123456789" + data)
    file.seek(10)
    return file


@pytest.mark.parametrize("source", SOURCES)
def test_every_seekable_source_is_recovered(twin: ModuleType, good: bytes, tmp_path: Path, source: str) -> None:
    damaged = cut(cut(good, 20_000, 3), 10_000, 100)
    expected = recover(damaged)
    assert len(expected[1]) == 2
    opened = SOURCES[source](damaged, tmp_path)
    given, lost = recover(opened, twin)
    if hasattr(opened, "close"):
        opened.close()
    assert given == expected[0]
    assert [(damage.start, damage.stop) for damage in lost] == [(d.start, d.stop) for d in expected[1]]


@pytest.mark.parametrize("source", [lambda data: Pipe(data), lambda data: gzip.compress(data)], ids=["pipe", "gzip"])
def test_input_that_cannot_seek_loses_the_rest(good: bytes, source: Callable[[bytes], Any]) -> None:
    given, (damage,) = recover(source(cut(good, 20_000, 10)))
    assert damage.stop is None
    assert given == LINES[: len(given)]
    assert given
    assert "all from byte" in str(damage)


@pytest.mark.parametrize("physical", [PhysicalType.QUADS, PhysicalType.GRAPHS])
@pytest.mark.parametrize("index", [False, True])
def test_every_physical_type_is_recovered(physical: PhysicalType, index: bool) -> None:
    data = written(physical, index=index)
    given, lost = recover(cut(data, len(data) // 2, 55))
    assert lost
    assert is_in_order(given, LINES)
    assert len(given) > len(LINES) * 0.8


def test_a_byte_range_is_not_left(good: bytes) -> None:
    points = [point.offset for point in restart_points(io.BytesIO(good))]
    damaged = overwrite(good, points[2] + 500, 20)
    ranges = list(pairwise([*points, len(good)]))
    parts = [recover(damaged, byte_range=place) for place in ranges]
    assert [len(lost) for _given, lost in parts] == [int(at == 2) for at in range(len(ranges))]
    (damage,) = parts[2][1]
    assert points[2] <= damage.start < points[3]
    assert damage.stop == points[3]
    assert [line for given, _lost in parts for line in given] == recover(damaged)[0]


def test_the_start_of_the_file_may_be_damaged(good: bytes) -> None:
    points = [point.offset for point in restart_points(io.BytesIO(good))]
    for damaged in (b"\xff" * 50 + good[50:], good[100:], b"garbage in front" + good):
        given, lost = recover(damaged, delimited=True)
        assert lost[0].start < 50
        assert given == LINES[-len(given) :]
        assert len(given) > len(LINES) * (1 - 2 * points[1] / len(good))


def test_input_without_a_frame_is_one_loss(tmp_path: Path) -> None:
    path = tmp_path / "text.jelly"
    path.write_bytes(b"<a> <b> <c> .\n" * 1000)
    assert recover(path)[0] == []
    assert [(damage.start, damage.stop) for damage in recover(path)[1]] == [(0, 14_000)]
    with (
        jellyframe.open_reader(path, on_damage=lambda _damage: None) as reader,
        pytest.raises(JellyError, match=r"text\.jelly: .*not a Jelly stream"),
    ):
        _ = reader.options


def test_concatenated_files_with_other_options_are_recovered(good: bytes) -> None:
    other = io.BytesIO()
    with jellyframe.open_writer(other, StreamOptions.small(physical_type=PhysicalType.QUADS)) as writer:
        writer.write(STATEMENTS)
    damaged = cut(good, len(good) - 500, 10) + other.getvalue()
    given, (damage,) = recover(damaged, concatenated=True)
    assert damage.stop == len(good) - 10
    assert given[-len(LINES) :] == LINES
    assert len(given) > 1.9 * len(LINES)


def test_recovered_frames_keep_numbers_and_metadata() -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(PhysicalType.QUADS), restart_every=2000) as writer:
        for start in range(0, 1500, 30):
            writer.write_frame(STATEMENTS[start : start + 30], {"start": str(start).encode()})
    data = file.getvalue()
    lost: list[Damage] = []
    with jellyframe.open_reader(cut(data, len(data) // 2, 25), on_damage=lost.append) as reader:
        frames = list(reader.frames())
    assert len(lost) == 1
    assert 40 < len(frames) < 50
    assert [frame.number for frame in frames] == sorted({frame.number for frame in frames})
    for frame in frames:
        start = int(frame.metadata["start"])
        assert [statement.to_line() for statement in frame] == LINES[start : start + 30]


def test_an_error_of_the_callback_is_the_callers(good: bytes) -> None:
    class OtherError(Exception):
        pass

    def refuse(_damage: Damage) -> None:
        raise OtherError

    with (
        jellyframe.open_reader(cut(good, 5000, 10), on_damage=refuse) as reader,
        pytest.raises(OtherError),
    ):
        list(reader.statements())
