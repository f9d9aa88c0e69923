"""One hand-written stream per rule of the format: the reader refuses it, and says where."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType

import pytest

from jellyframe.errors import JellyError, ParseError
from support import oracle, wire
from support.plain import PlainStatement, plain
from support.wire import (
    DEFAULT_GRAPH,
    GRAPH_END,
    bnode,
    graph_literal,
    graph_start,
    iri,
    literal,
    quad,
    quoted,
    triple,
)

TRIPLES = wire.options()
QUADS = wire.options(physical=2)
GRAPHS = wire.options(physical=3)
STAR = wire.options(star=1)
GENERALIZED = wire.options(generalized=1)
SMALL = wire.options(names=8, prefixes=2, datatypes=2)
NO_PREFIXES = wire.options(prefixes=0)
NO_DATATYPES = wire.options(datatypes=0)

A, B, C = iri(0, 1), iri(0, 2), iri(0, 3)
ABC = [wire.name("a"), wire.name("b"), wire.name("c")]
STATEMENT = triple(A, B, C)
X = bnode("x")
LIT = literal("text")
EIGHT_NAMES = [wire.name(f"n{number}") for number in range(1, 9)]


def read(twin: ModuleType, data: bytes) -> list[PlainStatement]:
    with twin.open_reader(data) as reader:
        return [statement for frame in reader.frames() for statement in plain(frame.statements())]


def check_place(error: JellyError, frames: list[list[bytes]]) -> None:
    """The error points at the last row of the last frame."""
    frame, row = len(frames) - 1, len(frames[-1]) - 1
    start, end = wire.row_spans(frames)[frame][row]
    assert (error.frame, error.row) == (frame, row), str(error)
    assert error.offset is not None
    assert start <= error.offset <= end, str(error)
    assert all(f"{what} {number}" in str(error) for what, number in (("frame", frame), ("row", row)))


def refuse(twin: ModuleType, *rows: bytes) -> None:
    """The last of the rows breaks a rule, in whatever frame it comes. The ones before it break none."""
    for frames in (
        [list(rows)],
        [list(rows[:-1]), [rows[-1]]],
        [[row] for row in rows],
        [[], [], list(rows)],
    ):
        data = wire.delimited(*(wire.frame(*frame) for frame in frames))
        with pytest.raises(ParseError) as caught:
            read(twin, data)
        check_place(caught.value, frames)
    with pytest.raises(ParseError) as caught:
        read(twin, wire.frame(*rows))
    assert (caught.value.frame, caught.value.row) == (0, len(rows) - 1)
    with pytest.raises(oracle.RefusedError):
        oracle.decode(wire.stream(*rows))
    with suppress(oracle.UnsettledError):
        before = oracle.decode(wire.stream(*rows[:-1]))
        assert read(twin, wire.stream(*rows[:-1])) == before[0].statements


def cases(**rows: list[bytes]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rows", [pytest.param(value, id=key) for key, value in rows.items()])


@cases(
    quad_in_triples=[TRIPLES, *ABC, quad(A, B, C, X)],
    graph_start_in_triples=[TRIPLES, *ABC, graph_start(A)],
    graph_end_in_triples=[TRIPLES, *ABC, STATEMENT, GRAPH_END],
    triple_in_quads=[QUADS, *ABC, STATEMENT],
    graph_start_in_quads=[QUADS, *ABC, graph_start(A)],
    graph_end_in_quads=[QUADS, *ABC, quad(A, B, C, X), GRAPH_END],
    quad_in_graphs=[GRAPHS, *ABC, quad(A, B, C, X)],
    quad_in_open_graph=[GRAPHS, *ABC, graph_start(A), quad(A, B, C, X)],
)
def test_row_types_follow_the_physical_type(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    name_above_the_size=[SMALL, wire.name("a", 9)],
    name_one_after_the_last=[SMALL, *EIGHT_NAMES, wire.name("ninth")],
    name_after_a_jump_to_the_last=[SMALL, wire.name("a", 8), wire.name("b")],
    name_far_above=[SMALL, wire.name("a", 2**32 - 1)],
    prefix_above_the_size=[SMALL, wire.prefix("p", 3)],
    prefix_one_after_the_last=[SMALL, wire.prefix("p"), wire.prefix("q"), wire.prefix("r")],
    prefix_in_a_disabled_table=[NO_PREFIXES, wire.prefix("p")],
    prefix_id_in_a_disabled_table=[NO_PREFIXES, wire.prefix("p", 1)],
    datatype_above_the_size=[SMALL, wire.datatype("d", 3)],
    datatype_one_after_the_last=[SMALL, wire.datatype("d", 2), wire.datatype("e")],
    datatype_in_a_disabled_table=[NO_DATATYPES, wire.datatype("d")],
)
def test_entries_fit_in_their_table(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    name_never_set=[TRIPLES, *ABC, triple(A, B, iri(0, 4))],
    name_never_set_by_default=[TRIPLES, *ABC, triple(B, C, iri())],
    first_name_by_default_never_set=[TRIPLES, wire.name("b", 2), triple(iri(), iri(0, 2), X)],
    name_above_the_size=[SMALL, *ABC, triple(A, B, iri(0, 9))],
    name_above_the_size_by_default=[SMALL, *EIGHT_NAMES, triple(A, iri(0, 8), iri())],
    name_far_above=[SMALL, *ABC, triple(A, B, iri(0, 2**32 - 1))],
    name_wraps_around=[SMALL, *ABC, triple(A, iri(0, 2**31), C)],
    prefix_never_set=[TRIPLES, *ABC, triple(A, B, iri(1, 3))],
    prefix_above_the_size=[SMALL, wire.prefix("p"), *ABC, triple(A, B, iri(3, 3))],
    prefix_in_a_disabled_table=[NO_PREFIXES, *ABC, triple(A, B, iri(1, 3))],
    prefix_far_above=[TRIPLES, *ABC, triple(A, B, iri(2**32 - 1, 3))],
    datatype_zero=[TRIPLES, wire.datatype("d"), *ABC, triple(A, B, literal("x", datatype=0))],
    datatype_never_set=[TRIPLES, wire.datatype("d"), *ABC, triple(A, B, literal("x", datatype=2))],
    datatype_above_the_size=[SMALL, wire.datatype("d"), *ABC, triple(A, B, literal("x", datatype=3))],
    datatype_in_a_disabled_table=[NO_DATATYPES, *ABC, triple(A, B, literal("x", datatype=1))],
    in_a_graph_name=[QUADS, *ABC, quad(A, B, C, iri(0, 4))],
    in_a_graph_start=[GRAPHS, *ABC, graph_start(iri(0, 4))],
    in_a_quoted_triple=[STAR, *ABC, triple(A, B, quoted(A, B, iri(0, 4)))],
    in_a_namespace=[wire.options(version=2), *ABC, wire.namespace("n", iri(0, 4))],
)
def test_references_lead_to_entries(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    subject=[TRIPLES, *ABC, triple(None, B, C)],
    predicate=[TRIPLES, *ABC, triple(A, None, C)],
    object=[TRIPLES, *ABC, triple(A, B, None)],
    everything=[TRIPLES, *ABC, triple()],
    graph=[QUADS, *ABC, quad(A, B, C, None)],
    subject_of_a_quad=[QUADS, *ABC, quad(None, B, C, X)],
    in_a_graph=[GRAPHS, *ABC, graph_start(A), triple(None, B, C)],
    graph_start=[GRAPHS, *ABC, graph_start(None)],
    graph_start_after_another=[GRAPHS, *ABC, graph_start(A), STATEMENT, GRAPH_END, graph_start(None)],
)
def test_a_repeat_before_the_first_term_is_refused(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    subject=[STAR, *ABC, triple(quoted(None, B, C), B, C)],
    predicate=[STAR, *ABC, triple(A, B, quoted(A, None, C))],
    object=[STAR, *ABC, triple(A, B, quoted(A, B, None))],
    everything=[STAR, *ABC, triple(A, B, quoted())],
    after_a_statement=[STAR, *ABC, STATEMENT, triple(A, B, quoted(A, None, C))],
    in_a_quad=[wire.options(physical=2, star=1), *ABC, quad(quoted(A, B, None), B, C, X)],
    two_levels_down=[STAR, *ABC, STATEMENT, triple(quoted(A, B, quoted(None, B, C)), B, C)],
    after_the_nested_one=[STAR, *ABC, STATEMENT, triple(A, B, quoted(quoted(A, B, C), None, C))],
)
def test_nothing_repeats_in_a_quoted_triple(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    quoted_subject=[TRIPLES, *ABC, triple(quoted(A, B, C), B, C)],
    quoted_object=[TRIPLES, *ABC, triple(A, B, quoted(A, B, C))],
    quoted_in_generalized=[GENERALIZED, *ABC, triple(A, quoted(A, B, C), C)],
    literal_subject=[TRIPLES, *ABC, triple(LIT, B, C)],
    literal_predicate=[TRIPLES, *ABC, triple(A, LIT, C)],
    blank_predicate=[TRIPLES, *ABC, triple(A, X, C)],
    quoted_predicate=[STAR, *ABC, triple(A, quoted(A, B, C), C)],
    literal_graph=[QUADS, *ABC, quad(A, B, C, graph_literal("g"))],
    literal_graph_start=[GRAPHS, *ABC, graph_start(graph_literal("g"))],
    blank_predicate_in_a_quad=[QUADS, *ABC, quad(A, X, C, DEFAULT_GRAPH)],
    literal_subject_in_quoted=[STAR, *ABC, triple(A, B, quoted(LIT, B, C))],
    blank_predicate_in_quoted=[STAR, *ABC, triple(quoted(A, X, C), B, C)],
)
def test_rows_beyond_the_flags_are_refused(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


@cases(
    triple_before_any_graph=[GRAPHS, *ABC, STATEMENT],
    triple_after_the_graph=[GRAPHS, *ABC, graph_start(A), STATEMENT, GRAPH_END, STATEMENT],
    end_before_any_start=[GRAPHS, *ABC, GRAPH_END],
    end_twice=[GRAPHS, *ABC, graph_start(DEFAULT_GRAPH), GRAPH_END, GRAPH_END],
    start_in_an_open_graph=[GRAPHS, *ABC, graph_start(A), STATEMENT, graph_start(B)],
)
def test_graphs_start_and_end_in_order(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


NOT_UTF_8 = {
    "no_start_byte": b"a\xffb",
    "lone_continuation": b"\x80",
    "overlong_nul": b"\xc0\x80",
    "overlong_slash": b"\xe0\x80\xaf",
    "surrogate": b"\xed\xa0\x80",
    "beyond_unicode": b"\xf4\x90\x80\x80",
    "cut_short": b"long enough for a fast path \xe2\x82",
}


@pytest.mark.parametrize("bad", [pytest.param(value, id=key) for key, value in NOT_UTF_8.items()])
def test_text_is_utf_8(twin: ModuleType, bad: bytes) -> None:
    every = wire.options(physical=2, generalized=1, star=1, version=2)
    in_graphs = wire.options(physical=3, generalized=1)
    refuse(twin, TRIPLES, wire.name(bad))
    refuse(twin, TRIPLES, wire.prefix(bad))
    refuse(twin, TRIPLES, wire.datatype(bad))
    for term in (bnode(bad), literal(bad), literal("x", lang=bad)):
        refuse(twin, every, *ABC, quad(term, B, C, X))
        refuse(twin, every, *ABC, quad(A, term, C, X))
        refuse(twin, every, *ABC, quad(A, B, term, X))
        refuse(twin, every, *ABC, quad(A, B, quoted(A, B, term), X))
    for graph in (bnode(bad), graph_literal(bad), graph_literal("x", lang=bad)):
        refuse(twin, every, *ABC, quad(A, B, C, graph))
        refuse(twin, in_graphs, *ABC, graph_start(graph))
    refuse(twin, every, *ABC, wire.namespace(bad, A))


def test_a_character_is_not_split_over_prefix_and_name(twin: ModuleType) -> None:
    first, rest = "€".encode()[:2], "€".encode()[2:]
    refuse(twin, TRIPLES, wire.prefix(b"http://example.org/" + first))
    refuse(twin, TRIPLES, wire.prefix("p"), wire.name(rest))


@pytest.mark.parametrize("bad", [pytest.param(value, id=key) for key, value in NOT_UTF_8.items()])
def test_metadata_keys_are_utf_8(twin: ModuleType, bad: bytes) -> None:
    data = wire.delimited(wire.frame(TRIPLES), wire.frame(metadata={"key": b"\xff", bad: b""}))
    with pytest.raises(ParseError) as caught:
        read(twin, data)
    assert caught.value.frame == 1
    assert caught.value.offset is not None


UNKNOWN = wire.unknown_fields()


def test_unknown_fields_are_skipped_everywhere(twin: ModuleType) -> None:
    options = wire.options(physical=2, star=1, version=2, extra=UNKNOWN)
    extended_iri = (0, A[1] + UNKNOWN)
    extended_literal = (2, LIT[1] + UNKNOWN)
    extended_quoted = (3, wire.spo(extended_iri, B, extended_literal) + UNKNOWN)
    statement = wire.block(
        3, UNKNOWN + wire.spo(extended_quoted, B, C) + wire.block(15, UNKNOWN) + wire.unknown_fields(17)
    )
    entry = wire.block(9, UNKNOWN + wire.block(2, "a") + UNKNOWN)
    declaration = wire.block(6, UNKNOWN + wire.block(1, "n") + wire.block(2, extended_iri[1]))
    rows = [options + UNKNOWN, entry, *ABC[1:], declaration, UNKNOWN + statement]
    data = wire.frame(*rows, metadata={"k": b"v"}, extra=UNKNOWN)
    for source in (data, wire.delimited(UNKNOWN, data)):
        expected_subject = ("triple", ("iri", "a"), ("iri", "b"), ("literal", "text", None, None))
        expected = [(expected_subject, ("iri", "b"), ("iri", "c"), ("default",))]
        with twin.open_reader(source, delimited=source is not data) as reader:
            frames = list(reader.frames())
        assert plain(frames[-1].statements()) == expected
        assert frames[-1].metadata == {"k": b"v"}
        assert frames[-1].namespaces == [("n", "a")]


@cases(
    row_longer_than_its_frame=[TRIPLES, wire.tag(9, 2) + wire.varint(50) + b"short"],
    term_longer_than_its_statement=[TRIPLES, *ABC, wire.block(2, wire.tag(1, 2) + b"\x05\x10\x01")],
    field_number_zero=[TRIPLES, *ABC, wire.block(2, b"\x02\x00")],
    wire_type_6=[TRIPLES, b"\x4e\x00"],
    wire_type_7=[TRIPLES, b"\x4f\x00"],
    end_of_no_group=[TRIPLES, b"\x54"],
    varint_of_eleven_bytes=[TRIPLES, wire.block(9, b"\x08" + b"\x80" * 10 + b"\x01")],
    varint_without_end=[TRIPLES, wire.block(9, b"\x08\x80\x80")],
    fixed_without_end=[TRIPLES, wire.tag(100, 1) + b"\x00\x00"],
)
def test_broken_protobuf_is_refused(twin: ModuleType, rows: list[bytes]) -> None:
    refuse(twin, *rows)


def test_a_repeated_member_of_a_oneof_means_the_last_or_an_error(twin: ModuleType) -> None:
    """Protobuf says that the last one counts. A reader may refuse such a row, but not read anything else."""
    iri_then_blank = wire.block(9, C[1]) + wire.block(10, "x")
    for payload, expected in (
        (iri_then_blank, ("bnode", "x")),
        (wire.block(10, "x") + wire.block(10, "y"), ("bnode", "y")),
        (wire.block(10, "x") + wire.block(11, wire.block(1, "l")), ("literal", "l", None, None)),
        (wire.block(11, wire.block(2, "en") + wire.number(3, 1)), ("literal", "", "d", None)),
    ):
        row = wire.block(2, wire.spo(A, B, None) + payload)
        try:
            ((_, _, found),) = read(twin, wire.stream(TRIPLES, wire.datatype("d"), *ABC, row))
        except JellyError:
            continue
        assert found == expected
