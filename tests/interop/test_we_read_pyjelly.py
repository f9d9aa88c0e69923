"""We read everything that pyjelly writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from support import oracle
from support.plain import plain
from support.pyjelly_bridge import pyjelly_frames, with_room_in_pyjelly, written_by_pyjelly
from support.strategies import FrameCase, StreamCase, streams


@st.composite
def pyjelly_cases(draw: st.DrawFn, extras: bool = False) -> StreamCase:
    """Streams that pyjelly can write: without metadata, and with room for the prefixes of a statement."""
    case = draw(streams(extras=extras))
    frames = [FrameCase(frame.statements, frame.namespaces) for frame in case.frames]
    return StreamCase(with_room_in_pyjelly(case.options, case.statements), frames)


@given(pyjelly_cases(), st.integers(1, 40))
def test_frames_of_pyjelly_are_read(case: StreamCase, frame_size: int) -> None:
    data = written_by_pyjelly(case, frame_size=frame_size)
    with jellyframe.open_reader(data) as reader:
        frames = [plain(frame.statements()) for frame in reader.frames()]
    assert frames == [frame.statements for frame in oracle.decode(data)]
    assert [statement for frame in frames for statement in frame] == plain(case.statements)
    if data:
        assert frames == pyjelly_frames(data)


@given(pyjelly_cases(extras=True))
def test_namespaces_of_pyjelly_are_read(case: StreamCase) -> None:
    data = written_by_pyjelly(case)
    with jellyframe.open_reader(data) as reader:
        frames = list(reader.frames())
        found = dict(reader.namespaces)
    assert [statement for frame in frames for statement in plain(frame.statements())] == plain(case.statements)
    assert [pair for frame in frames for pair in frame.namespaces] == [
        pair for frame in case.frames for pair in frame.namespaces
    ]
    assert found == {name: iri for frame in case.frames for name, iri in frame.namespaces}


@given(pyjelly_cases())
def test_options_of_pyjelly_are_read(case: StreamCase) -> None:
    data = written_by_pyjelly(case)
    with jellyframe.open_reader(data) as reader:
        options = reader.options
    expected = case.options
    assert options.physical_type is expected.physical_type
    assert options.stream_name == expected.stream_name
    assert options.rdf_star is expected.rdf_star
    assert options.generalized_statements is expected.generalized_statements
    assert options.max_name_table_size == expected.max_name_table_size
    assert options.max_prefix_table_size == expected.max_prefix_table_size
    assert options.max_datatype_table_size == expected.max_datatype_table_size


@given(pyjelly_cases())
def test_bare_frames_of_pyjelly_are_read(case: StreamCase) -> None:
    data = written_by_pyjelly(case, delimited=False)
    with jellyframe.open_reader(data) as reader:
        assert plain(reader.statements()) == plain(case.statements)
    assert plain(jellyframe.loads(data)) == plain(case.statements)


@given(pyjelly_cases(), st.integers(1, 7))
def test_batches_of_pyjelly_streams_are_read(case: StreamCase, batch_rows: int) -> None:
    data = written_by_pyjelly(case, frame_size=10)
    with jellyframe.open_reader(data, batch_rows=batch_rows) as reader:
        batches = list(reader.batches())
    assert plain(statement for batch in batches for statement in batch.statements()) == plain(case.statements)
