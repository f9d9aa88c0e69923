"""pyjelly reads everything that we write, and the oracle agrees."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import jellyframe
from jellyframe import LogicalType, PhysicalType
from support import oracle, wire
from support.plain import PlainStatement, plain
from support.pyjelly_bridge import pyjelly_frames, pyjelly_full_frames, pyjelly_statements
from support.strategies import (
    TYPE_PAIRS,
    FrameCase,
    Shape,
    StreamCase,
    statement_lists,
    stream_options,
    streams,
    with_room_for,
)
from support.writing import written, written_flat


def frames_of(case: StreamCase) -> list[list[PlainStatement]]:
    return [plain(frame.statements) for frame in case.frames]


def check_statements(data: bytes, expected: list[PlainStatement]) -> None:
    """The same statements in the same order, whoever reads them."""
    assert [statement for frame in oracle.decode(data) for statement in frame.statements] == expected
    assert pyjelly_statements(data) == expected
    with jellyframe.open_reader(data) as reader:
        assert plain(reader.statements()) == expected


@given(streams())
def test_frames_are_read_by_pyjelly(case: StreamCase) -> None:
    data = written(case)
    expected = frames_of(case)
    assert [frame.statements for frame in oracle.decode(data)] == expected
    assert pyjelly_frames(data) == expected
    with jellyframe.open_reader(data) as reader:
        assert [plain(frame.statements()) for frame in reader.frames()] == expected


@given(streams(extras=True))
def test_namespaces_and_metadata_are_read_by_pyjelly(case: StreamCase) -> None:
    data = written(case)
    expected = [(plain(frame.statements), frame.namespaces, frame.metadata) for frame in case.frames]
    read_by_oracle = oracle.decode(data)
    assert [(frame.statements, frame.namespaces, frame.metadata) for frame in read_by_oracle] == expected
    read_by_pyjelly = pyjelly_full_frames(data)
    assert [(frame.statements, frame.namespaces, frame.metadata) for frame in read_by_pyjelly] == expected
    with jellyframe.open_reader(data) as reader:
        read_by_us = [
            (plain(frame.statements()), list(frame.namespaces), dict(frame.metadata)) for frame in reader.frames()
        ]
        assert read_by_us == expected
        assert reader.namespaces == {name: iri for frame in case.frames for name, iri in frame.namespaces}


@given(streams(flat=True), st.integers(1, 10))
def test_frames_cut_by_rows(case: StreamCase, frame_rows: int) -> None:
    check_statements(written_flat(case, frame_rows=frame_rows), plain(case.statements))


@given(streams(flat=True), st.integers(1, 300))
def test_frames_cut_by_bytes(case: StreamCase, frame_bytes: int) -> None:
    check_statements(written_flat(case, frame_bytes=frame_bytes), plain(case.statements))


def restart_points(data: bytes) -> list[tuple[int, int]]:
    """For each frame that begins with the options: its number, and how many statements come before it."""
    points = []
    statements = 0
    for number, (message, frame) in enumerate(zip(oracle.parse_frames(data), oracle.decode(data), strict=True)):
        if message.rows and message.rows[0].HasField("options"):
            points.append((number, statements))
        statements += len(frame.statements)
    return points


@given(streams(flat=True), st.integers(1, 200), st.integers(1, 12), st.booleans())
def test_restart_points(case: StreamCase, restart_every: int, frame_rows: int, index: bool) -> None:
    """Restart points as often as may be, with and without the index frame at the end.

    A reader may begin at each of them as at the start of the file: nothing leads back over it.
    """
    data = written_flat(case, restart_every=restart_every, frame_rows=frame_rows, index=index)
    expected = plain(case.statements)
    check_statements(data, expected)
    frames = oracle.split_frames(data)
    for number, statements_before in restart_points(data):
        check_statements(wire.delimited(*frames[number:]), expected[statements_before:])


@pytest.mark.parametrize("physical", [PhysicalType.TRIPLES, PhysicalType.QUADS, PhysicalType.GRAPHS])
def test_restart_points_at_every_distance(physical: PhysicalType) -> None:
    """Wherever the distance in bytes ends: in front of a frame, in its length, in the middle of a graph."""
    iris = [jellyframe.IRI(f"http://example.org/{number}") for number in range(6)]
    triples = [jellyframe.Triple(iri, iri, iri) for iri in iris]
    quads = [jellyframe.Quad(*triple, iris[number // 4]) for number, triple in enumerate(triples)]
    statements: list[jellyframe.Triple | jellyframe.Quad] = []
    statements += triples if physical is PhysicalType.TRIPLES else quads
    case = StreamCase(jellyframe.StreamOptions(physical_type=physical), [FrameCase(statements)])
    for distance in range(1, 300):
        data = written_flat(case, restart_every=distance, frame_rows=1)
        frames = oracle.split_frames(data)
        for number, statements_before in restart_points(data):
            rest = oracle.decode(wire.delimited(*frames[number:]))
            found = [statement for frame in rest for statement in frame.statements]
            assert found == plain(statements[statements_before:]), (distance, number)


def test_restart_points_come_when_asked_for() -> None:
    iris = [jellyframe.IRI(f"http://example.org/{number}") for number in range(500)]
    statements: list[jellyframe.Triple | jellyframe.Quad] = [
        jellyframe.Quad(iri, iri, iri, jellyframe.DEFAULT_GRAPH) for iri in iris
    ]
    for physical in (PhysicalType.QUADS, PhysicalType.GRAPHS):
        case = StreamCase(jellyframe.StreamOptions(physical_type=physical), [FrameCase(statements)])
        data = written_flat(case, restart_every=2000, frame_rows=20)
        assert len(data) / 4000 < len(restart_points(data)) < len(data) / 1000
        assert len(restart_points(written_flat(case, restart_every=None))) == 1


@given(streams(flat=True), st.booleans())
def test_index_frame(case: StreamCase, frames_by_us: bool) -> None:
    data = (written_flat if frames_by_us else written)(case, index=True)
    expected = plain(case.statements)
    check_statements(data, expected)


@st.composite
def pairs_of_streams(draw: st.DrawFn) -> tuple[StreamCase, StreamCase]:
    """Two streams of equal options."""
    shape = draw(st.builds(Shape, st.booleans(), st.booleans(), st.booleans()))
    first, second = draw(statement_lists(shape)), draw(statement_lists(shape))
    options = with_room_for(draw(stream_options(shape)), first + second)
    return StreamCase(options, [FrameCase(first)]), StreamCase(options, [FrameCase(second)])


@given(pairs_of_streams(), st.none() | st.integers(1, 200), st.booleans())
def test_files_of_equal_options_concatenate(
    pair: tuple[StreamCase, StreamCase], restart_every: int | None, index: bool
) -> None:
    index = index and not pair[0].options.logical_type.is_grouped
    parts = [written(case, restart_every=restart_every, index=index) for case in pair]
    data = b"".join(parts)
    expected = plain([statement for case in pair for statement in case.statements])
    check_statements(data, expected)
    with jellyframe.open_reader(data, concatenated=True) as reader:
        assert plain(reader.statements()) == expected
    # Once more, in another order: nothing leads back over the seam in either.
    check_statements(
        parts[1] + parts[0] + parts[1], plain([*pair[1].statements, *pair[0].statements, *pair[1].statements])
    )


@given(streams())
def test_bare_frames_are_read_by_pyjelly(case: StreamCase) -> None:
    merged = StreamCase(case.options, [FrameCase(case.statements)])
    data = written(merged, delimited=False)
    assert oracle.decode(data, delimited=False)[0].statements == plain(case.statements)
    assert pyjelly_frames(data) == [plain(case.statements)]


@given(streams())
def test_messages_are_read_by_pyjelly(case: StreamCase) -> None:
    data = jellyframe.dumps(case.statements, case.options)
    assert pyjelly_frames(data) == [plain(case.statements)]
    assert plain(jellyframe.loads(data)) == plain(case.statements)


@given(streams())
def test_options_found_by_the_writer(case: StreamCase) -> None:
    assume(case.statements)
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(case.statements)
    check_statements(sink.getvalue(), plain(case.statements))
    assert plain(jellyframe.loads(jellyframe.dumps(case.statements))) == plain(case.statements)


@given(streams(fitting=False))
def test_tables_that_may_be_too_small(case: StreamCase) -> None:
    """A statement that refers to more names or datatypes than fit is an error, and else none is."""
    fits = with_room_for(case.options, case.statements) == case.options
    try:
        data = written(case)
    except jellyframe.errors.EncodeError:
        assert not fits
        return
    assert [frame.statements for frame in oracle.decode(data)] == frames_of(case)


@pytest.mark.parametrize(("physical", "logical"), TYPE_PAIRS)
def test_every_type_to_a_path_with_defaults(tmp_path: Path, physical: PhysicalType, logical: LogicalType) -> None:
    """With the defaults for files, where restart points are on for flat streams."""
    terms = [jellyframe.IRI(f"http://example.org/{number}#x") for number in range(40)]
    triples = [jellyframe.Triple(terms[n % 40], terms[n % 7], terms[n % 11]) for n in range(500)]
    quads = [jellyframe.Quad(*triple, terms[n // 100]) for n, triple in enumerate(triples)]
    statements: list[jellyframe.Triple | jellyframe.Quad] = []
    statements += triples if physical is PhysicalType.TRIPLES else quads
    options = jellyframe.StreamOptions.small(physical_type=physical, logical_type=logical)
    path = tmp_path / "stream.jelly"
    with jellyframe.open_writer(path, options) as writer:
        writer.write(statements)
    check_statements(path.read_bytes(), plain(statements))


@given(streams(extras=True), streams())
def test_the_version_is_the_lowest_that_fits(with_extras: StreamCase, without: StreamCase) -> None:
    assert oracle.parse_frames(written(without))[0].rows[0].options.version == 1
    # What makes the difference is in the first frame, so the writer can know.
    first = with_extras.frames[:1]
    case = StreamCase(with_extras.options.replace(version=0), first)
    version = oracle.parse_frames(written(case))[0].rows[0].options.version
    assert version == (2 if first[0].namespaces or first[0].metadata else 1)


def test_no_frame_is_larger_than_the_format_recommends() -> None:
    """Frames are cut by bytes, too: below 1 MB, except for a statement that is larger than that by itself."""
    literals = [jellyframe.Literal(str(number) * 90_000) for number in range(10, 50)]
    literals[20] = jellyframe.Literal("x" * 2_000_000)
    iri = jellyframe.IRI("http://example.org/a")
    statements = [jellyframe.Triple(iri, iri, literal) for literal in literals]
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(statements)
    sizes = [len(frame) for frame in oracle.split_frames(sink.getvalue())]
    assert sum(size >= 1_000_000 for size in sizes) == 1
    assert len(sizes) < 20
    check_statements(sink.getvalue(), plain(statements))
