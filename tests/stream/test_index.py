"""Restart points: their distance, reading from each of them, and their index."""

import io
import itertools
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.stream import index
from jellyframe.wire import decode_varint, encode_varint

XSD = "http://www.w3.org/2001/XMLSchema#"


def triples(count: int) -> list[Triple]:
    return [
        Triple(
            IRI(f"http://example.org/thing/{number // 4}"),
            IRI(f"http://example.org/terms#p{number % 5}"),
            (Literal(str(number), f"{XSD}integer"), BlankNode(f"b{number % 9}"), Literal("text", language="en"))[
                number % 3
            ],
        )
        for number in range(count)
    ]


def quads(count: int) -> list[Quad]:
    return [Quad(*triple, IRI(f"http://example.org/graph/{at // 10}")) for at, triple in enumerate(triples(count))]


def written(path: Path, statements, physical: PhysicalType = PhysicalType.TRIPLES, **arguments) -> Path:
    arguments = {"restart_every": 500, "frame_rows": 20} | arguments
    with jellyframe.open_writer(path, StreamOptions(physical), **arguments) as writer:
        writer.write(statements)
    return path


def read(path: Path, start: int = 0, stop: int | None = None) -> list:
    with jellyframe.open_reader(path, byte_range=(start, stop)) as reader:
        return list(reader.statements())


def points_of(path: Path) -> list[index.RestartPoint]:
    with path.open("rb") as file:
        return index.restart_points(file)


@pytest.mark.parametrize("with_index", [False, True], ids=["scanned", "indexed"])
@pytest.mark.parametrize("physical", [PhysicalType.TRIPLES, PhysicalType.QUADS, PhysicalType.GRAPHS])
def test_ranges_between_restart_points_add_up(tmp_path: Path, physical: PhysicalType, with_index: bool) -> None:
    statements = triples(400) if physical is PhysicalType.TRIPLES else quads(400)
    path = written(tmp_path / "file.jelly", statements, physical, index=with_index)
    points = points_of(path)
    assert len(points) > 5
    assert points[0].offset == 0
    offsets = [point.offset for point in points] + [path.stat().st_size]
    parts = [read(path, start, stop) for start, stop in itertools.pairwise(offsets)]
    assert list(itertools.chain(*parts)) == statements
    assert all(parts)
    if with_index:
        before = [0, *itertools.accumulate(len(part) for part in parts)]
        assert [point.statements for point in points] == before[:-1]
    with jellyframe.open_reader(path) as reader:
        assert list(reader.statements()) == statements


def test_restart_points_lie_about_as_far_apart_as_asked(tmp_path: Path) -> None:
    points = points_of(written(tmp_path / "file.jelly", triples(3000), restart_every=2000))
    gaps = [after.offset - before.offset for before, after in itertools.pairwise(points)]
    assert min(gaps) >= 2000
    assert max(gaps) < 3000


def test_without_restart_every_there_is_one_restart_point(tmp_path: Path) -> None:
    assert len(points_of(written(tmp_path / "file.jelly", triples(3000), restart_every=None))) == 1


@pytest.mark.parametrize("with_index", [(False, False), (True, True), (True, False), (False, True)])
def test_concatenated_files_have_the_restart_points_of_both(tmp_path: Path, with_index: tuple[bool, bool]) -> None:
    options = StreamOptions(version=2)
    statements = triples(300)
    both = tmp_path / "both.jelly"
    for at, indexed in enumerate(with_index):
        path = tmp_path / f"{at}"
        with jellyframe.open_writer(path, options, restart_every=500, frame_rows=20, index=indexed) as writer:
            writer.write(statements)
    both.write_bytes((tmp_path / "0").read_bytes() + (tmp_path / "1").read_bytes())
    with jellyframe.open_reader(both) as reader:
        assert list(reader.statements()) == statements * 2
    points = points_of(both)
    assert len(points) == len(points_of(tmp_path / "0")) + len(points_of(tmp_path / "1"))
    offsets = [point.offset for point in points] + [both.stat().st_size]
    parts = [read(both, start, stop) for start, stop in itertools.pairwise(offsets)]
    assert list(itertools.chain(*parts)) == statements * 2


def test_repeated_options_of_other_writers_are_not_restart_points(tmp_path: Path) -> None:
    """A frame that begins with the options again but goes on counting is not to be taken for a restart point."""
    plain = io.BytesIO()
    options = StreamOptions(PhysicalType.TRIPLES, version=1)
    with jellyframe.open_writer(plain, options, frame_rows=20) as writer:
        writer.write(triples(200))
    options_row = b"\x0a" + bytes([len(options.to_bytes()) + 2]) + b"\x0a" + bytes([len(options.to_bytes())])
    options_row += options.to_bytes()
    changed = b""
    data = plain.getvalue()
    at = 0
    while at < len(data):
        size, body = decode_varint(data, at)
        frame = data[body : body + size]
        frame = frame if at == 0 else options_row + frame
        changed += encode_varint(len(frame)) + frame
        at = body + size
    path = tmp_path / "file.jelly"
    path.write_bytes(changed)
    assert len(points_of(path)) == 1
    assert read(path) == triples(200)


def test_reading_from_another_frame_than_a_restart_point_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "file.jelly", triples(400), restart_every=None)
    data = path.read_bytes()
    size, body = decode_varint(data, 0)
    with pytest.raises(jellyframe.JellyError):
        read(path, body + size)


def test_a_file_without_an_index_has_none(tmp_path: Path) -> None:
    path = written(tmp_path / "file.jelly", triples(10))
    with path.open("rb") as file:
        assert index.read_index(file) is None
    path.write_bytes(b"")
    with path.open("rb") as file:
        assert index.read_index(file) is None
        assert index.restart_points(file) == []


def test_a_damaged_index_is_ignored(tmp_path: Path) -> None:
    path = written(tmp_path / "file.jelly", triples(400), index=True)
    data = bytearray(path.read_bytes())
    at = data.index(b"jellyframe.stream.index") + len(b"jellyframe.stream.index") + 4
    data[at : at + 30] = b"\xff" * 30
    path.write_bytes(data)
    with path.open("rb") as file:
        assert index.read_index(file) is None


def test_grouped_streams_restart_between_groups_when_asked() -> None:
    options = StreamOptions(PhysicalType.GRAPHS, LogicalType.DATASETS)
    file = io.BytesIO()
    with jellyframe.open_writer(file, options, restart_every=300) as writer:
        for start in range(0, 200, 10):
            writer.write_frame(quads(200)[start : start + 10])
    points = index.restart_points(file)
    assert len(points) > 3
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert [len(frame) for frame in reader.frames()] == [10] * 20
