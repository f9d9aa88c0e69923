"""Counts of rows, terms and bytes, against what protobuf's own classes see in the same streams."""

from __future__ import annotations

import gzip
from collections import Counter
from importlib import import_module
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import JellyError, LimitError, Limits, ParseError, open_reader
from jellyframe.formats import ntriples
from jellyframe.ops.survey import LOOKUP_TABLES, POSITIONS, ROW_FIELDS, TERM_KINDS, inspect
from support import wire
from support.random_streams import RandomEncoder, untidy
from support.sources import Pipe
from support.strategies import StreamCase, streams
from support.writing import written

ROW_OF_FIELD = {"options": "option"}


class Expected:
    """The same numbers, counted by protobuf."""

    def __init__(self, frames: list[Any]) -> None:
        self.rows: Counter[str] = Counter()
        self.terms: Counter[tuple[str, str]] = Counter()
        self.quoted: Counter[str] = Counter()
        self.replaced: Counter[str] = Counter()
        self.used: dict[str, set[int]] = {table: set() for table in LOOKUP_TABLES}
        self.last = dict.fromkeys(LOOKUP_TABLES, 0)
        for frame in frames:
            for row in frame.rows:
                self.row(row)

    def row(self, row: Any) -> None:
        field = row.WhichOneof("row")
        self.rows[ROW_OF_FIELD.get(field, field)] += 1
        message = getattr(row, field)
        if field in ("triple", "quad"):
            for position in POSITIONS[: 3 if field == "triple" else 4]:
                self.term(message, position, position)
        elif field == "graph_start":
            self.term(message, "graph", "graph")
        elif field in LOOKUP_TABLES:
            slot = message.id or self.last[field] + 1
            self.replaced[field] += slot in self.used[field]
            self.used[field].add(slot)
            self.last[field] = slot

    def term(self, message: Any, oneof: str, position: str | None) -> None:
        field = message.WhichOneof(oneof)
        kind = "repeated" if field is None else field[2:].removesuffix("_term")
        if position is None:
            self.quoted[kind] += 1
        else:
            self.terms[position, kind] += 1
        if kind == "triple":
            for inner in POSITIONS[:3]:
                self.term(getattr(message, field), inner, None)


@given(case=st.one_of(streams(), streams(extras=True)), seed=st.integers(0, 2**32 - 1), tidy=st.booleans())
def test_counts_are_those_of_protobuf(twin: ModuleType, case: StreamCase, seed: int, tidy: bool) -> None:
    rng = Random(seed)
    messages = RandomEncoder(case.options, rng).encode(case)
    frames = [message.SerializeToString() if tidy else untidy(message, rng) for message in messages]
    expected = Expected(messages)
    if not expected.rows:
        return
    data = wire.delimited(*frames)
    found = []
    survey = import_module(f"{twin.__name__}.ops.survey").inspect(
        Pipe(data),
        delimited=True,
        keep_metadata=True,
        on_frame=lambda survey, frame: found.append((frame.number, frame.counts.statements, frame.metadata)),
    )
    counts = survey.counts
    assert {kind: counts.rows(kind) for kind in ROW_FIELDS} == {kind: expected.rows[kind] for kind in ROW_FIELDS}
    keys = [(position, kind) for position in POSITIONS for kind in TERM_KINDS]
    assert {key: counts.terms(*key) for key in keys} == {key: expected.terms[key] for key in keys}
    assert {kind: counts.quoted_terms(kind) for kind in TERM_KINDS} == {
        kind: expected.quoted[kind] for kind in TERM_KINDS
    }
    assert {table: counts.replaced(table) for table in LOOKUP_TABLES} == {
        t: expected.replaced[t] for t in LOOKUP_TABLES
    }
    assert (counts.frames, counts.frame_bytes) == (len(frames), sum(map(len, frames)))
    assert survey.input_bytes == len(data)
    assert found == [(i, len(frame.statements), frame.metadata) for i, frame in enumerate(case.frames)]
    if tidy:
        sizes = dict.fromkeys(ROW_FIELDS, 0)
        for row in (row for message in messages for row in message.rows):
            field = row.WhichOneof("row")
            sizes[ROW_OF_FIELD.get(field, field)] += getattr(row, field).ByteSize()
        assert {kind: counts.row_bytes(kind) for kind in ROW_FIELDS} == sizes


@given(case=streams())
def test_content_sizes_equal_the_size_of_the_text(case: StreamCase) -> None:
    if not case.statements:
        return
    data = written(case)
    survey = inspect(data, content=True)
    assert survey.content is not None
    text = ntriples.write(open_reader(data).batches())
    assert text is not None
    assert survey.content.ntriples_bytes == len(text)
    assert survey.content.statements == len(case.statements)
    uses = Counter(str(statement.p) for statement in case.statements)
    assert dict(survey.content.top_predicates(1000)) == uses
    assert survey.content.predicate_count == len(uses)


ROW = wire.triple(wire.bnode("a"), wire.bnode("b"), wire.literal("c"))


def test_a_bare_frame_and_compressed_input_are_inspected() -> None:
    frame = wire.frame(wire.options(), ROW)
    for data, delimited in ((frame, False), (wire.delimited(frame), True)):
        survey = inspect(gzip.compress(data))
        assert (survey.delimited, survey.compression, survey.counts.statements) == (delimited, "gzip", 1)


def test_concatenated_streams_begin_with_empty_tables() -> None:
    one = wire.stream(wire.options(), wire.name("a"), wire.name("b"))
    assert inspect(one + one).counts.replaced("name") == 0
    assert inspect(one + wire.stream(wire.options(), wire.name("a", 1))).counts.replaced("name") == 1
    other = wire.stream(wire.options(), wire.name("a", 1))
    assert inspect(one + other, concatenated=True).counts.replaced("name") == 0


def test_errors_have_a_position() -> None:
    good = wire.stream(wire.options(), ROW)
    with pytest.raises(ParseError, match="ends inside a frame") as caught:
        inspect(good + good[:-3])
    assert (caught.value.frame, caught.value.offset) == (1, len(good))
    with pytest.raises(ParseError, match="does not begin with an options row"):
        inspect(wire.stream(ROW))
    with pytest.raises(ParseError, match="no options row"):
        inspect(b"\0\0\0")
    with pytest.raises(LimitError, match="a frame of"):
        inspect(good, limits=Limits(max_frame_bytes=4))
    with pytest.raises(LimitError, match="a frame of"):
        inspect(wire.frame(wire.options(), ROW), limits=Limits(max_frame_bytes=4))
    deep = wire.bnode("a")
    for _ in range(9):
        deep = wire.quoted(deep, wire.bnode("p"), wire.bnode("b"))
    with pytest.raises(LimitError, match="nested deeper"):
        inspect(wire.stream(wire.options(), wire.triple(deep, None, None)), limits=Limits(max_nesting_depth=4))
    with pytest.raises(JellyError):
        inspect(b"")
