"""Positions at which files can be split."""

from __future__ import annotations

import gzip
import io
from itertools import pairwise

import pytest

from jellyframe import IRI, Literal, StreamOptions, Triple, open_writer
from jellyframe.stream.cutting import cut_offsets, is_splittable, restart_offsets
from jellyframe.stream.index import restart_points
from support import wire


def stream(*, index: bool = False, delimited: bool = True) -> bytes:
    sink = io.BytesIO()
    settings = {"delimited": delimited, "index": index}
    with open_writer(sink, StreamOptions(), restart_every=300 if delimited else None, **settings) as writer:  # type: ignore[arg-type]
        writer.write(Triple(IRI(f"http://a/{i}"), IRI("http://a/p"), Literal(f"{i:20}")) for i in range(3000))
    return sink.getvalue()


@pytest.mark.parametrize("index", [False, True])
def test_pieces_are_at_least_so_long(index: bool) -> None:
    data = stream(index=index)
    file = io.BytesIO(data)
    points = [point.offset for point in restart_points(file)]
    assert list(restart_offsets(file, len(data))) == points
    assert len(points) > 5
    cuts = list(cut_offsets(file, len(data), 20_000))
    assert cuts[0] == 0
    assert set(cuts) < set(points)
    assert all(after - before >= 20_000 for before, after in pairwise(cuts))


@pytest.mark.parametrize("data", [gzip.compress(stream()), stream(delimited=False), b""], ids=["gzip", "bare", "empty"])
def test_what_cannot_be_cut(data: bytes) -> None:
    file = io.BytesIO(data)
    assert not is_splittable(file)
    assert list(restart_offsets(file, len(data))) == []
    assert list(cut_offsets(file, len(data), 10)) == [0]


@pytest.mark.parametrize("index", [False, True])
def test_damaged_file_is_cut_before_the_damage(index: bool) -> None:
    data = stream(index=index)
    points = [point.offset for point in restart_points(io.BytesIO(data))]
    middle = points[len(points) // 2]
    cut = data[: middle + 10]
    assert list(restart_offsets(io.BytesIO(cut), len(cut))) == [point for point in points if point < middle]


def test_frames_of_another_writer_are_no_restart_points() -> None:
    data = wire.stream(wire.options(), wire.name("a")) + wire.stream(wire.options(), wire.name("b", 2))
    assert list(restart_offsets(io.BytesIO(data), len(data))) == [0]
