"""pyjelly reads everything that we write, and the oracle agrees."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import jellyframe
import oracle
from interop.bridge import pyjelly_frames, pyjelly_full_frames, pyjelly_statements
from interop.writing import written, written_flat
from jellyframe import LogicalType, PhysicalType
from plain import PlainStatement, plain
from strategies import (
    TYPE_PAIRS,
    FrameCase,
    Shape,
    StreamCase,
    statement_lists,
    stream_options,
    streams,
    with_room_for,
)


def frames_of(case: StreamCase) -> list[list[PlainStatement]]:
    return [plain(frame.statements) for frame in case.frames]


def check_statements(data: bytes, expected: list[PlainStatement]) -> None:
    """The same statements in the same order, whoever reads them."""
    assert [statement for frame in oracle.decode(data) for statement in frame.statements] == expected
    assert pyjelly_statements(data) == expected
    with jellyframe.open_reader(data) as reader:
        assert plain(reader.statements()) == expected


@given(streams())
def test_frames(case: StreamCase) -> None:
    data = written(case)
    expected = frames_of(case)
    assert [frame.statements for frame in oracle.decode(data)] == expected
    assert pyjelly_frames(data) == expected
    with jellyframe.open_reader(data) as reader:
        assert [plain(frame.statements()) for frame in reader.frames()] == expected


@given(streams(extras=True))
def test_namespaces_and_metadata(case: StreamCase) -> None:
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


@given(streams(), st.integers(1, 10))
def test_frames_cut_by_rows(case: StreamCase, frame_rows: int) -> None:
    assume(not case.options.logical_type.is_grouped)
    check_statements(written_flat(case, frame_rows=frame_rows), plain(case.statements))


@given(streams(), st.integers(1, 300))
def test_frames_cut_by_bytes(case: StreamCase, frame_bytes: int) -> None:
    assume(not case.options.logical_type.is_grouped)
    check_statements(written_flat(case, frame_bytes=frame_bytes), plain(case.statements))


@given(streams(), st.integers(1, 200), st.integers(1, 12), st.booleans())
def test_restart_points(case: StreamCase, restart_every: int, frame_rows: int, index: bool) -> None:
    """Restart points as often as may be, with and without the index frame at the end."""
    assume(not case.options.logical_type.is_grouped)
    assume(case.options.version != 1)
    data = written_flat(case, restart_every=restart_every, frame_rows=frame_rows, index=index)
    check_statements(data, plain(case.statements))


@given(streams(), st.booleans())
def test_index_frame(case: StreamCase, grouped_by_us: bool) -> None:
    data = (written if grouped_by_us else written_flat)(case, index=True)
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
def test_bare_frames(case: StreamCase) -> None:
    merged = StreamCase(case.options, [FrameCase(case.statements)])
    data = written(merged, delimited=False)
    assert oracle.decode(data, delimited=False)[0].statements == plain(case.statements)
    assert pyjelly_frames(data) == [plain(case.statements)]


@given(streams())
def test_messages(case: StreamCase) -> None:
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
    """A statement that refers to more entries than a table holds is an error, and else none is."""
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
    statements = triples if physical is PhysicalType.TRIPLES else quads
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


@given(streams())
def test_no_frame_is_larger_than_the_format_recommends(case: StreamCase) -> None:
    assume(not case.options.logical_type.is_grouped)
    data = written_flat(case)
    assert all(len(frame) < 1_000_000 for frame in oracle.split_frames(data))
