"""Damaged files: FAILFAST, PERMISSIVE and DROPMALFORMED."""

from __future__ import annotations

import gzip
import random
import re
from itertools import accumulate

import pytest

import jellyframe
from jellyframe import JellyError
from jellyframe.stream.framing import walk_frames
from support.spark_data import STRING, Read, quads, restarts, schema, texts, write_jelly

STATEMENTS = quads(3000)


@pytest.fixture
def good(tmp_path):
    return write_jelly(tmp_path / "a.jelly", STATEMENTS, restart_every=6000, frame_rows=40, index=True)


def damage(path):
    """Damage a row in the middle of a file, and return the numbers of restart points before and after it."""
    data = bytearray(path.read_bytes())
    offsets = restarts(path)
    before = len(offsets) // 2
    # The first row of the frame after the restart point becomes one of a kind that does not exist.
    place = data.index(b"http://example.org/", offsets[before])
    data[place : place + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(data))
    return offsets, before


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_failfast_says_where(good, size):
    offsets, before = damage(good)
    with pytest.raises(JellyError) as caught:
        Read(good, partition_bytes=size)
    assert caught.value.source == str(good)
    assert offsets[before] <= caught.value.offset < offsets[before + 1]


@pytest.mark.parametrize("size", [1, 7000, 1 << 30])
def test_dropmalformed_loses_one_range(good, size):
    whole = Read(good, layout="ntriples", partition_bytes=1)
    offsets, before = damage(good)
    assert len(whole.partitions) == len(offsets)
    lost = sum(len(batch) for batch in whole.partitions[before])
    first = sum(len(batch) for partition in whole.partitions[:before] for batch in partition)
    read = Read(good, layout="ntriples", partition_bytes=size, mode="DROPMALFORMED", columns="*,frame")
    assert read.counted("s", "p", "o", "g") == texts(STATEMENTS[:first] + STATEMENTS[first + lost :])
    assert "_corrupt_record" not in read.table.column_names


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_permissive_reports_in_a_column(good, size):
    frames = Read(good, columns="frame").rows()
    damage(good)
    read = Read(good, layout="ntriples", partition_bytes=size, mode="permissive", columns="*,frame,file")
    bad = [row for row in read.rows() if row[-1] is not None]
    ((s, p, o, g, frame, file, report),) = bad
    assert (s, p, o, g, file) == (None, None, None, None, str(good))
    assert report.startswith(f"{good}: frame {frame}, row ")
    kept = [row[4:5] for row in read.rows() if row[-1] is None]
    assert 0 < len(kept) < len(frames)
    assert kept == [row for row in frames if row in set(kept)]
    assert (frame,) not in kept


def frame_places(path):
    """For each frame with statements: where it begins and ends, and the first row and the one after the last."""
    with jellyframe.open_reader(path) as reader:
        sizes = [len(frame) for frame in reader.frames()]
    with path.open("rb") as file:
        frames = list(walk_frames(file, 0, path.stat().st_size))
    ends = list(accumulate(sizes))
    return [(at.offset, at.stop, end - size, end) for at, size, end in zip(frames, sizes, ends, strict=True) if size]


LOST = re.compile(r": bytes (\d+) to (\d+) are lost: ")


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("size", [1, 7000, 1 << 30])
@pytest.mark.parametrize("change", [-1, -40, -900, 1, 40, 900])
def test_missing_and_additional_bytes_are_reported(tmp_path, index, size, change):
    """All rows that are read are right, exactly the reported bytes are lost, and they end at the next restart point."""
    path = write_jelly(tmp_path / "a.jelly", STATEMENTS, restart_every=6000, frame_rows=40, index=index)
    data = path.read_bytes()
    places = frame_places(path)
    points = restarts(path)
    rows = Read(path, layout="ntriples").rows("s", "p", "o", "g")
    chance = random.Random(f"{index}{size}{change}")
    for _ in range(4):
        at = chance.randrange(points[1], points[-1])
        new = chance.randbytes(change) if change > 0 else b""
        path.write_bytes(data[:at] + new + data[at + max(0, -change) :])
        with pytest.raises(JellyError, match=re.escape(str(path))):
            Read(path, layout="ntriples", partition_bytes=size)
        read = Read(path, layout="ntriples", partition_bytes=size, mode="PERMISSIVE")
        given = [row[:4] for row in read.rows() if row[-1] is None]
        reports = [LOST.search(row[-1]) for row in read.rows() if row[-1] is not None]
        lost = [tuple(map(int, found.groups())) for found in reports if found is not None]
        assert len(lost) == len(reports)
        assert lost

        def is_lost(start, stop, at=at, lost=lost):
            shift = change if start >= at else 0
            inside = any(first < stop + shift and start + shift < last for first, last in lost)
            return inside or (start < at + max(0, -change) and at < stop)

        expected = [row for start, stop, first, last in places if not is_lost(start, stop) for row in rows[first:last]]
        assert given == expected
        # Before the damage at most two frames are lost, and after it at most what is up to the next restart point.
        before = [place for place in places if place[1] <= at and is_lost(*place[:2])]
        end = min(point for point in points if point >= at + max(0, -change))
        after = [place for place in places if place[0] >= end and is_lost(*place[:2])]
        assert len(before) <= 2
        assert not after
        dropped = Read(path, layout="ntriples", partition_bytes=size, mode="DROPMALFORMED")
        assert dropped.rows() == given


def test_the_column_has_the_name_that_is_asked_for(good):
    damage(good)
    read = Read(good, mode="PERMISSIVE", columnNameOfCorruptRecord="bad", columns="s")
    assert read.table.column_names == ["s", "bad"]
    assert sum(bad is not None for (bad,) in read.rows("bad")) == 1
    # As with Spark's own sources, a schema that does not have the column does without the reports.
    assert Read(good, schema(s=STRING), mode="PERMISSIVE").table.num_rows == read.table.num_rows - 1


@pytest.mark.parametrize("name", ["cut.jelly", "cut.jelly.gz"])
def test_a_truncated_file_is_reported_once(tmp_path, name):
    path = write_jelly(tmp_path / "a.jelly", STATEMENTS, frame_rows=40, restart_every=None)
    data = path.read_bytes()[:-100]
    (tmp_path / name).write_bytes(gzip.compress(data)[:-9] if name.endswith(".gz") else data)
    read = Read(tmp_path, mode="PERMISSIVE", layout="ntriples", columns="*,file", partition_bytes=1)
    reports = [row[-1] for row in read.rows() if row[-1] is not None]
    assert len(reports) == 1
    assert str(tmp_path / name) in reports[0]
    good = texts(STATEMENTS)
    assert read.counted("s", "p", "o", "g", "file") >= type(good)({(*row, str(path)): n for row, n in good.items()})


def test_a_file_that_is_not_jelly_is_dropped_or_an_error(tmp_path):
    write_jelly(tmp_path / "good.jelly", STATEMENTS)
    (tmp_path / "bad.jelly").write_text("<a> <b> <c> .\n")
    (tmp_path / "empty.jelly").write_bytes(b"")
    read = Read(tmp_path, mode="DROPMALFORMED", layout="ntriples")
    assert read.counted() == texts(STATEMENTS)
    with pytest.raises(JellyError, match=r"bad\.jelly"):
        Read(tmp_path)


def test_limits_count_as_bad_input(tmp_path):
    write_jelly(tmp_path / "a.jelly", STATEMENTS)
    with pytest.raises(JellyError, match="max_name_table_size is 4000, above the limit of 100"):
        Read(tmp_path, max_name_table_size=100)
    assert Read(tmp_path, max_name_table_size=100, mode="DROPMALFORMED").table.num_rows == 0
