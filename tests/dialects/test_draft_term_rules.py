"""The rules of the draft about statements, graphs and terms, from messages made by hand.

docs/draft.md lists the rules with the names of these tests.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, LimitError
from jellyframe.options import Limits, StreamOptions
from jellyframe.proto import draft_pb2 as draft
from support.draft_streams import (
    DEFAULT,
    ENTRIES,
    EX,
    GRAPH_END,
    GRAPHS,
    QUADS,
    REPEAT,
    REPEAT_GRAPH,
    A,
    B,
    C,
    G,
    bnode,
    datatype,
    delimited,
    frame,
    graph,
    graph_start,
    iri,
    lines,
    literal,
    name,
    options,
    plain_message,
    prefix,
    quad,
    quoted,
    refusal,
    row,
    stream,
    triple,
    with_term,
    written,
)
from support.wire import block, number, unknown_fields

a, b, c, g = (f"<{EX}{letter}>" for letter in "abcg")
ABC = f"{a} {b} {c}"
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


# ---- statements and graphs ----


@pytest.mark.parametrize("position", ["s", "p", "o", "g"])
def test_every_term_of_a_statement_is_required(twin: ModuleType, position: str) -> None:
    message = quad(A, B, C, DEFAULT).quad
    message.ClearField(position)
    names = {"s": "subject", "p": "predicate", "o": "object", "g": "graph"}
    data = stream(options(QUADS), *ENTRIES, row(quad=message))
    assert f"a quad without its {names[position]}" in refusal(twin, data)


def test_a_term_of_a_statement_comes_once(twin: ModuleType) -> None:
    twice = block(1, A.SerializeToString()) * 2 + block(2, B.SerializeToString()) + block(3, C.SerializeToString())
    assert "subject is given twice" in refusal(twin, delimited(frame(options(), *ENTRIES) + block(1, block(2, twice))))


def test_a_triple_outside_of_a_graph_is_refused(twin: ModuleType) -> None:
    assert "a triple outside of a graph" in refusal(twin, stream(options(GRAPHS), *ENTRIES, triple(A, B, C)))


def test_a_graph_inside_a_graph_is_refused(twin: ModuleType) -> None:
    data = stream(options(GRAPHS), *ENTRIES, graph_start(graph(G)), graph_start(DEFAULT))
    assert "a graph starts inside another graph" in refusal(twin, data)


def test_a_graph_end_outside_of_a_graph_is_refused(twin: ModuleType) -> None:
    assert "a graph ends that never started" in refusal(twin, stream(options(GRAPHS), GRAPH_END))


def test_a_stream_does_not_end_inside_a_graph(twin: ModuleType) -> None:
    assert "ends inside a graph" in refusal(twin, stream(options(GRAPHS), graph_start(DEFAULT)))


def test_a_graph_may_be_empty(twin: ModuleType) -> None:
    assert lines(twin, stream(options(GRAPHS), graph_start(DEFAULT), GRAPH_END)) == []


def test_a_graph_may_be_reopened_and_span_frames(twin: ModuleType) -> None:
    data = delimited(
        frame(options(GRAPHS), *ENTRIES, graph_start(graph(G)), triple(A, B, C)),
        frame(triple(B, B, B), GRAPH_END, graph_start(DEFAULT), triple(C, C, C), GRAPH_END),
        frame(graph_start(graph(G)), triple(A, A, A), GRAPH_END),
    )
    assert lines(twin, data) == [f"{ABC} {g} .", f"{b} {b} {b} {g} .", f"{c} {c} {c} .", f"{a} {a} {a} {g} ."]


# ---- terms ----


def test_a_term_has_exactly_one_content(twin: ModuleType) -> None:
    assert "holds no term" in refusal(twin, with_term(b""))
    assert "holds no term" in refusal(twin, with_term(unknown_fields()))
    both = bnode("x").SerializeToString() + literal("x").SerializeToString()
    assert "given as two terms" in refusal(twin, with_term(both))


def test_a_graph_node_has_exactly_one_content(twin: ModuleType) -> None:
    start = block(1, block(4, block(1, b"")))
    assert "holds no term" in refusal(twin, delimited(frame(options(GRAPHS)) + start))
    assert "starts without a name" in refusal(twin, delimited(frame(options(GRAPHS)) + block(1, block(4, b""))))
    both = DEFAULT.SerializeToString() + graph(bnode("g")).SerializeToString()
    assert "given as two terms" in refusal(twin, delimited(frame(options(GRAPHS)) + block(1, block(4, block(1, both)))))
    twice = block(1, DEFAULT.SerializeToString()) * 2
    assert "given twice" in refusal(twin, delimited(frame(options(GRAPHS)) + block(1, block(4, twice))))


def test_iris_as_in_the_example_of_the_specification(twin: ModuleType) -> None:
    entries = prefix(1, "http://example.com/"), name(4, "example"), name(1, "http://test.com/test")
    data = stream(options(), *entries, triple(iri(1, 4), iri(1), iri(0, 1)))
    assert lines(twin, data) == ["<http://example.com/example> <http://example.com/> <http://test.com/test> ."]


def test_an_iri_has_a_prefix_or_a_name(twin: ModuleType) -> None:
    assert "neither a prefix nor a name" in refusal(twin, stream(options(), *ENTRIES, triple(A, B, iri())))


def test_written_iris_have_a_prefix_or_a_name(twin: ModuleType) -> None:
    values = ["", EX, EX + "a", "urn:b", "#", "/"]
    statements = [twin.Triple(twin.IRI(one), twin.IRI("urn:p"), twin.IRI(two)) for one in values for two in values]
    for sizes in ((128, 16), (128, 0), (16, 1), (0, 16)):
        given = StreamOptions(max_name_table_size=sizes[0], max_prefix_table_size=sizes[1])
        fitting = [one for one in statements if sizes[0] or "" not in (one.s.value, one.o.value)]
        rows = written(twin, fitting, given)
        terms = [term for one in rows if one.HasField("triple") for term in (one.triple.s, one.triple.o)]
        assert all(one.iri.prefix_id or one.iri.name_id for one in terms if one.HasField("iri"))
        assert twin.loads(twin.dumps(fitting, given, dialect="draft"), dialect="draft") == fitting


def test_no_empty_prefix_or_name_is_written(twin: ModuleType) -> None:
    rows = written(twin, [twin.Triple(twin.IRI(EX), twin.IRI("urn:p"), twin.IRI("urn:o"))])
    assert [one.WhichOneof("row") for one in rows] == ["options", "prefix", "name", "name", "triple"]


def test_an_iri_is_refused_where_no_lookup_can_hold_it(twin: ModuleType) -> None:
    given = StreamOptions(max_name_table_size=0, max_prefix_table_size=0)
    with pytest.raises(JellyError, match="max_name_table_size"):
        twin.dumps([twin.Triple(twin.IRI(EX), twin.IRI(EX), twin.IRI(EX))], given, dialect="draft")


def test_labels_of_blank_nodes_are_any_utf_8(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, triple(bnode(""), A, bnode("a b\u00e9")))
    with twin.open_reader(data, dialect="draft") as reader:
        (statement,) = reader.statements()
    assert (statement.s.label, statement.o.label) == ("", "a b\u00e9")
    assert "not valid UTF-8" in refusal(twin, with_term(block(2, b"\xff")))


def test_blank_nodes_are_the_same_in_all_of_the_stream(twin: ModuleType) -> None:
    data = delimited(
        frame(options(), *ENTRIES, triple(bnode("x"), A, bnode("y"))), frame(triple(bnode("y"), A, bnode("x")))
    )
    assert lines(twin, data) == [f"_:x {a} _:y .", f"_:y {a} _:x ."]


def test_every_kind_of_literal_is_read(twin: ModuleType) -> None:
    rows = (
        datatype(2, XSD_INTEGER),
        triple(A, B, literal("x")),
        triple(A, B, literal("x", langtag="en-GB")),
        triple(A, B, literal("1", datatype=2)),
        triple(A, B, literal()),
    )
    expected = ['"x"', '"x"@en-GB', f'"1"^^<{XSD_INTEGER}>', '""']
    assert lines(twin, stream(options(), *ENTRIES, *rows)) == [f"{a} {b} {one} ." for one in expected]


@pytest.mark.parametrize(
    "kinds",
    [b"", block(2, b"") + block(3, "en"), block(3, "en") + number(4, 1), block(2, b"") + number(4, 1)],
    ids=["none", "simple and langtag", "langtag and datatype", "simple and datatype"],
)
def test_a_literal_has_exactly_one_kind(twin: ModuleType, kinds: bytes) -> None:
    data = with_term(block(3, block(1, "x") + kinds))
    assert "of simple, langtag and datatype: exactly one must be set" in refusal(twin, data)


def test_the_datatype_of_a_literal_is_greater_than_0(twin: ModuleType) -> None:
    assert "datatype id 0" in refusal(twin, with_term(block(3, block(1, "1") + number(4, 0))))


def test_a_language_tag_is_not_empty(twin: ModuleType) -> None:
    assert "empty language tag" in refusal(twin, with_term(literal("x", langtag="").SerializeToString()))


def test_the_kinds_of_literals_that_are_written(twin: ModuleType) -> None:
    literals = [twin.Literal("x"), twin.Literal("x", language="en"), twin.Literal("1", datatype=XSD_INTEGER)]
    rows = written(twin, [twin.Triple(twin.BlankNode("s"), twin.IRI("urn:p"), one) for one in literals])
    kinds = [one.triple.o.literal.WhichOneof("literalKind") for one in rows if one.HasField("triple")]
    assert kinds == ["simple", "langtag", "datatype"]


@pytest.mark.parametrize(
    "term",
    [
        number(1, 1),
        number(2, 1),
        block(1, block(1, b"")),
        block(3, number(1, 1)),
        block(3, block(1, "") + number(2, 0)),
        block(3, number(3, 1)),
        block(3, block(4, b"")),
        number(10, 0),
    ],
)
def test_fields_of_another_wire_type_are_refused(twin: ModuleType, term: bytes) -> None:
    assert "wire type" in refusal(twin, with_term(term))


def test_an_invalid_iri_or_language_tag_is_left_to_validation(twin: ModuleType) -> None:
    """They SHOULD be valid. Reading takes them as they are, and `validate` reports them."""
    data = stream(options(), name(1, "not an IRI"), triple(iri(0, 1), iri(0, 1), literal("x", langtag="not a tag")))
    with twin.open_reader(data, dialect="draft") as reader:
        (statement,) = reader.statements()
    assert (statement.s.value, statement.o.language) == ("not an IRI", "not a tag")


# ---- quoted triples ----


def test_quoted_triples_nest(twin: ModuleType) -> None:
    inner = quoted(A, B, literal("x"))
    data = stream(options(rdf_star=True), *ENTRIES, triple(quoted(inner, B, inner), B, inner))
    text = f'<< {a} {b} "x" >>'
    assert lines(twin, data) == [f"<< {text} {b} {text} >> {b} {text} ."]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_nothing_repeats_in_a_quoted_triple(twin: ModuleType, position: int) -> None:
    terms = [A, B, C]
    terms[position] = REPEAT
    data = stream(options(rdf_star=True), *ENTRIES, triple(A, B, C), triple(quoted(*terms), B, C))
    assert "of a quoted triple is repeated" in refusal(twin, data)


def test_a_quoted_triple_has_all_terms(twin: ModuleType) -> None:
    inner = draft.RdfTerm(triple_term=draft.RdfTriple(s=A, p=B))
    assert "all of its three terms" in refusal(twin, stream(options(rdf_star=True), *ENTRIES, triple(inner, B, C)))


def test_a_quoted_triple_as_predicate_is_generalized(twin: ModuleType) -> None:
    rows = (*ENTRIES, triple(A, quoted(A, B, C), C))
    assert "quoted triple as predicate" in refusal(twin, stream(options(rdf_star=True), *rows))
    assert len(lines(twin, stream(options(rdf_star=True, generalized_statements=True), *rows))) == 1


def test_nesting_beyond_the_limit_is_refused(twin: ModuleType) -> None:
    term = A
    for _ in range(5):
        term = quoted(term, B, C)
    data = stream(options(rdf_star=True), *ENTRIES, triple(term, B, C))
    assert len(lines(twin, data, limits=Limits(max_nesting_depth=5))) == 1
    assert "nested deeper than the limit of 4" in refusal(twin, data, LimitError, limits=Limits(max_nesting_depth=4))


def test_the_deepest_triple_that_is_written_can_be_read_by_protobuf(twin: ModuleType) -> None:
    def nested(depth: int) -> Any:
        term: Any = twin.Literal("x")
        for _ in range(depth):
            term = twin.Triple(twin.BlankNode("s"), twin.IRI("urn:p"), term)
        return twin.Triple(twin.BlankNode("s"), twin.IRI("urn:p"), term)

    data = twin.dumps([nested(47)], dialect="draft")
    assert draft.RdfStreamFrame.FromString(data).SerializeToString() == data
    assert twin.loads(data, dialect="draft") == [nested(47)]
    with pytest.raises(JellyError, match="more than 47 deep"):
        twin.dumps([nested(48)], dialect="draft")


# ---- repeated terms ----


def test_repeated_terms_as_in_the_example_of_the_specification(twin: ModuleType) -> None:
    entries = (*ENTRIES, prefix(2, "urn:"))
    rows = (triple(A, B, bnode("b1")), triple(o=bnode("b2")), triple(p=iri(2, 3)))
    assert lines(twin, stream(options(), *entries, *rows)) == [
        f"{a} {b} _:b1 .",
        f"{a} {b} _:b2 .",
        f"{a} <urn:c> _:b2 .",
    ]


@pytest.mark.parametrize("position", ["s", "p", "o", "g"])
def test_nothing_repeats_in_the_first_statement(twin: ModuleType, position: str) -> None:
    terms = {"s": A, "p": B, "o": C, "g": graph(G)}
    terms[position] = REPEAT_GRAPH if position == "g" else REPEAT
    data = stream(options(QUADS), *ENTRIES, quad(**terms))
    assert "to be repeated, but no statement came before" in refusal(twin, data)


def test_terms_repeat_over_frames(twin: ModuleType) -> None:
    data = delimited(frame(options(QUADS), *ENTRIES, quad(A, B, C, graph(G))), frame(quad(o=A)), frame(quad()))
    assert lines(twin, data) == [f"{ABC} {g} .", f"{a} {b} {a} {g} .", f"{a} {b} {a} {g} ."]


def test_terms_repeat_over_batches(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, triple(A, B, C), *(triple(o=bnode(str(n))) for n in range(9)), triple())
    assert lines(twin, data, batch_rows=2)[-1] == f"{a} {b} _:8 ."


def test_consecutive_repeats_are_the_same_term(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, triple(A, B, C), triple(), triple(), triple(o=A), triple())
    assert lines(twin, data) == [f"{ABC} ."] * 3 + [f"{a} {b} {a} ."] * 2


def test_a_repeated_term_does_not_change_with_its_entries(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, triple(A, B, C), name(1, "changed"), triple(o=A))
    assert lines(twin, data)[1] == f"{a} {b} <{EX}changed> ."


def test_repeats_are_written_only_with_the_option(twin: ModuleType) -> None:
    statement = twin.Quad(twin.BlankNode("s"), twin.IRI("urn:p"), twin.BlankNode("o"), twin.DEFAULT_GRAPH)
    for use_repeat in (True, False):
        rows = written(twin, [statement, statement], StreamOptions(use_repeat=use_repeat))
        assert rows[0].options.use_repeat is use_repeat
        last = rows[-1].quad
        assert [last.s.HasField("repeat"), last.g.HasField("repeat")] == [use_repeat, use_repeat]


# ---- graph nodes ----


def test_every_kind_of_graph_node_is_read(twin: ModuleType) -> None:
    nodes = [DEFAULT, graph(G), graph(bnode("x")), graph(literal("y", langtag="en"))]
    given = options(QUADS, generalized_statements=True)
    expected = ["", f" {g}", " _:x", ' "y"@en']
    assert lines(twin, stream(given, *ENTRIES, *(quad(A, B, C, node) for node in nodes))) == [
        f"{ABC}{text} ." for text in expected
    ]


@pytest.mark.parametrize("stream_type", [QUADS, GRAPHS])
def test_a_literal_as_graph_is_generalized(twin: ModuleType, stream_type: int) -> None:
    node = draft.RdfGraph(literal=plain_message("g"))
    last = quad(A, B, C, node) if stream_type == QUADS else graph_start(node)
    assert "literal as graph" in refusal(twin, stream(options(stream_type), *ENTRIES, last))


def test_a_graph_start_does_not_repeat(twin: ModuleType) -> None:
    data = stream(options(GRAPHS), *ENTRIES, graph_start(graph(G)), GRAPH_END, graph_start(REPEAT_GRAPH))
    assert "a graph start repeats a term" in refusal(twin, data)
