"""Positions at which files can be split."""

from __future__ import annotations

import gzip
import io
from itertools import pairwise
from types import ModuleType

import pytest

from jellyframe import IRI, Limits, Literal, PhysicalType, StreamOptions, Triple, open_writer
from jellyframe.ops.browsing.anchors import Anchors
from jellyframe.stream.cutting import cut_offsets, is_splittable, restart_offsets
from jellyframe.stream.framing import HEAD_BYTES, walk_frames
from jellyframe.stream.index import looks_like_restart, restart_points
from support import wire
from support.sources import options_in_each_frame


def stream(*, index: bool = False, delimited: bool = True) -> bytes:
    sink = io.BytesIO()
    settings = {"delimited": delimited, "index": index}
    with open_writer(sink, StreamOptions(), restart_every=300 if delimited else None, **settings) as writer:  # type: ignore[arg-type]
        writer.write(Triple(IRI(f"http://a/{i}"), IRI("http://a/p"), Literal(f"{i:20}")) for i in range(3000))
    return sink.getvalue()


@pytest.mark.parametrize("index", [False, True])
def test_pieces_have_at_least_the_length_asked_for(index: bool) -> None:
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
def test_files_without_restart_points_are_not_cut(data: bytes) -> None:
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


def without_restarts(package: ModuleType) -> bytes:
    sink = io.BytesIO()
    options = StreamOptions(PhysicalType.TRIPLES, max_name_table_size=16, max_prefix_table_size=4)
    with package.open_writer(sink, options, restart_every=None, frame_rows=7) as writer:
        writer.write(
            package.Triple(package.IRI(f"http://a/{i // 2}"), package.IRI("http://a/p"), package.Literal(f"{i:20}"))
            for i in range(3000)
        )
    return sink.getvalue()


def test_options_that_another_writer_repeats_are_no_restart_points(twin: ModuleType) -> None:
    """Its entries begin with the id 1 again whenever a table is full, also at the start of a frame."""
    data = options_in_each_frame(without_restarts(twin))
    file = io.BytesIO(data)
    heads = [bytes(frame.head) for frame in walk_frames(file, 0, len(data), head_bytes=HEAD_BYTES)]
    assert sum(map(looks_like_restart, heads)) > 2
    assert list(restart_offsets(file, len(data))) == [0]
    assert Anchors(file, Limits()).after(0) is None
