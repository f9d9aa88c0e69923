"""A file in many pieces has the same rows, each once."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import jellyframe
from jellyframe.ops.bad_input import MODES
from jellyframe.spark.source import JellyDataSource
from jellyframe.storage.finding import find_files
from jellyframe.storage.stores import DataFile
from jellyframe.stream.splits import frames_before, plan_pieces
from support.sources import options_in_each_frame
from support.spark_data import SPECIAL, Read, quads, restarts, texts, write_jelly

STATEMENTS = quads(4000) + SPECIAL


@pytest.fixture(scope="module", params=[True, False], ids=["indexed", "scanned"])
def split_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("split") / "a.jelly"
    return write_jelly(path, STATEMENTS, restart_every=4000, frame_rows=50, index=request.param)


@pytest.mark.parametrize("size", [1, 3999, 4001, 10_000, 33_333, 1 << 30])
def test_all_sizes_of_partition_give_the_same_rows(split_file, size):
    read = Read(split_file, layout="ntriples", partition_bytes=size, columns="*,frame")
    whole = jellyframe.read_table(split_file, "ntriples", frame_column=True)
    assert read.rows() == list(zip(*(column.to_pylist() for column in whole.columns), strict=True))
    assert texts(STATEMENTS) == read.counted("s", "p", "o", "g")
    assert len(restarts(split_file)) > 10
    if size == 1:
        assert len(read.partitions) == len(restarts(split_file))
    if size > split_file.stat().st_size:
        assert len(read.partitions) == 1


def test_partitions_are_about_as_large_as_asked(split_file):
    pieces = plan_pieces(find_files((str(split_file),)), 10_000)
    sizes = [sum(piece.size for piece in partition) for partition in pieces]
    assert sum(sizes) == split_file.stat().st_size
    assert all(10_000 <= size < 16_000 for size in sizes[:-1])


def test_a_file_without_restart_points_is_one_partition(tmp_path):
    path = write_jelly(tmp_path / "a.jelly", STATEMENTS, restart_every=None)
    read = Read(path, layout="ntriples", partition_bytes=1000)
    assert len(read.partitions) == 1
    assert texts(STATEMENTS) == read.counted()


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("name", ["a.jelly.gz", "a.jelly"])
def test_a_compressed_file_is_one_partition(tmp_path, compression, name):
    for folder in ("1", "2"):
        (tmp_path / folder).mkdir()
        write_jelly(tmp_path / folder / name, STATEMENTS, compression=compression)
    read = Read(tmp_path, layout="ntriples", partition_bytes=1000)
    assert len(read.partitions) == 2
    assert texts(STATEMENTS * 2) == read.counted()


def test_a_bare_frame_is_one_partition(tmp_path):
    (tmp_path / "a.jelly").write_bytes(jellyframe.dumps(STATEMENTS))
    assert texts(STATEMENTS) == Read(tmp_path, layout="ntriples", partition_bytes=100).counted()


def test_small_files_share_partitions(tmp_path):
    for i in range(20):
        write_jelly(tmp_path / f"{i}.jelly", STATEMENTS[:100])
    assert len(Read(tmp_path).partitions) == 3
    assert len(Read(tmp_path, partition_bytes=1 << 30).partitions) == 1
    assert len(Read(tmp_path, partition_bytes=100).partitions) == 20


def test_streams_end_to_end_in_one_file_are_split(tmp_path):
    parts = [write_jelly(tmp_path / f"{i}", STATEMENTS, restart_every=4000, index=i % 2 == 0) for i in range(3)]
    path = tmp_path / "all.jelly"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    read = Read(path, layout="ntriples", partition_bytes=20_000, concatenated=True)
    assert len(read.partitions) > 3
    assert texts(STATEMENTS * 3) == read.counted()


def test_frames_are_counted(split_file):
    with split_file.open("rb") as source, jellyframe.open_reader(split_file) as reader:
        total = sum(1 for _ in reader.frames())
        assert frames_before(source, [0, split_file.stat().st_size]) == [0, total]


@pytest.mark.parametrize("size", [1, 10_000])
def test_a_damaged_file_is_cut_behind_the_damage_too(split_file, tmp_path, size):
    """Bytes that are missing shift all that follows, and what an index says."""
    data = split_file.read_bytes()
    points = restarts(split_file)
    at = points[3] + 700
    path = tmp_path / "damaged.jelly"
    path.write_bytes(data[:at] + data[at + 100 :])
    files = find_files((str(path),))
    pieces = [piece for partition in plan_pieces(files, size) for piece in partition]
    assert [piece.start for piece in pieces[1:]] == [piece.stop for piece in pieces[:-1]]
    assert pieces[-1].end == path.stat().st_size
    if size == 1:
        offsets = [piece.start for piece in pieces]
        assert offsets[:4] == points[:4]
        assert offsets[4:] == [point - 100 for point in points[4:]]
    lost: list[jellyframe.Damage] = []
    rows = 0
    for piece in pieces:
        with (
            piece.file.open() as source,
            jellyframe.open_reader(source, byte_range=piece.byte_range, on_damage=lost.append) as reader,
        ):
            rows += sum(len(batch) for batch in reader.batches())
    (damage,) = lost
    assert points[3] <= damage.start <= at
    assert damage.stop == points[4] - 100
    assert len(STATEMENTS) * 0.9 < rows < len(STATEMENTS)
    with path.open("rb") as source:
        counts = frames_before(source, [0, *(piece.end for piece in pieces)])
    assert counts == sorted(counts)


def test_a_consumer_that_stops_closes_the_file(tmp_path, monkeypatch):
    path = write_jelly(tmp_path / "a.jelly", STATEMENTS * 3)
    source = JellyDataSource({"path": str(path), "batch_rows": "5000"})
    reader = source.reader(source.schema())
    (partition,) = reader.partitions()
    opened: list[Any] = []
    really_open = DataFile.open

    def watched_open(file):
        opened.append(really_open(file))
        return opened[-1]

    monkeypatch.setattr(DataFile, "open", watched_open)
    rows = reader.read(partition)
    assert isinstance(rows, Generator)
    next(rows)
    (file,) = opened
    assert not file.closed
    rows.close()
    assert file.closed


@pytest.mark.parametrize("mode", MODES)
def test_a_file_whose_writer_repeats_the_options_is_read_whole(tmp_path, mode):
    options = jellyframe.StreamOptions(max_name_table_size=16, max_prefix_table_size=4)
    path = write_jelly(tmp_path / "a.jelly", quads(4000), options=options, restart_every=None, frame_rows=7)
    path.write_bytes(options_in_each_frame(path.read_bytes()))
    read = Read(path, layout="ntriples", partition_bytes=1000, mode=mode)
    assert len(read.partitions) == 1
    assert texts(quads(4000)) == read.counted("s", "p", "o", "g")
