"""Every rule of the draft of the serialization format, from messages made by hand.

docs/draft.md lists the rules with the names of these tests.
"""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits, PhysicalType, StreamOptions
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
    TRIPLES,
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
    row,
    stream,
    triple,
)
from support.wire import block, number, unknown_fields

a, b, c, g = (f"<{EX}{letter}>" for letter in "abcg")
ABC = f"{a} {b} {c}"
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def refusal(package: ModuleType, data: bytes, kind: type[JellyError] = ParseError, **settings: Any) -> str:
    with pytest.raises(kind) as caught:
        lines(package, data, **settings)
    return caught.value.message


def with_term(term: bytes, **more: Any) -> bytes:
    """A stream whose only object is a message of these bytes."""
    fields = block(1, A.SerializeToString()) + block(2, B.SerializeToString()) + block(3, term)
    return delimited(frame(options(**more), *ENTRIES) + block(1, block(2, fields)))


def written(package: ModuleType, statements: list[Any], given: StreamOptions | None = None, **settings: Any) -> Any:
    """The rows of the stream that our writer makes, as protobuf reads them."""
    data = package.dumps(statements, given, dialect="draft", **settings)
    return draft.RdfStreamFrame.FromString(data).rows


# ---- frames and rows ----


def test_a_byte_stream_is_a_series_of_delimited_frames(twin: ModuleType) -> None:
    data = delimited(frame(options(), *ENTRIES), frame(), frame(triple(A, B, C)))
    assert lines(twin, data) == [f"{ABC} ."]


def test_a_bare_frame_is_read_where_something_else_delimits_it(twin: ModuleType) -> None:
    assert lines(twin, frame(options(), *ENTRIES, triple(A, B, C))) == [f"{ABC} ."]


def test_files_are_written_delimited(twin: ModuleType) -> None:
    sink = io.BytesIO()
    with twin.open_writer(sink, dialect="draft", frame_rows=4) as writer:
        writer.write([twin.Triple(twin.IRI(EX + "a"), twin.IRI(EX + "b"), twin.Literal(str(n))) for n in range(9)])
    with twin.open_reader(sink.getvalue(), dialect="draft") as reader:
        assert len(list(reader.frames())) == 3
        assert reader.is_delimited


def test_frames_stay_below_a_megabyte(twin: ModuleType) -> None:
    sink = io.BytesIO()
    long = [twin.Triple(twin.BlankNode("s"), twin.IRI(EX), twin.Literal(f"{n}" * 100_000)) for n in range(10, 25)]
    with twin.open_writer(sink, dialect="draft") as writer:
        writer.write(long)
    with twin.open_reader(sink.getvalue(), dialect="draft") as reader:
        sizes = [sum(len(statement.o.lex) for statement in one.statements()) for one in reader.frames()]
    assert len(sizes) > 2
    assert max(sizes) < 1_000_000


def test_frames_and_rows_are_processed_in_order(twin: ModuleType) -> None:
    data = delimited(
        frame(options(), *ENTRIES, triple(A, B, C)),
        frame(name(3, "d"), triple(o=C), name(3, "e")),
        frame(triple(o=C)),
    )
    assert lines(twin, data) == [f"{ABC} .", f"{a} {b} <{EX}d> .", f"{a} {b} <{EX}e> ."]


def test_what_is_written_is_protobuf(twin: ModuleType) -> None:
    """protobuf's own parser reads it, finds nothing unknown, and would write the very same bytes."""
    statements = [
        twin.Quad(twin.IRI(EX + "a"), twin.IRI("urn:b"), twin.Literal("x", language="en"), twin.DEFAULT_GRAPH),
        twin.Quad(twin.BlankNode("b"), twin.IRI(EX), twin.Literal("1", datatype=XSD_INTEGER), twin.IRI("urn:g")),
        twin.Quad(
            twin.BlankNode("b"),
            twin.IRI(EX),
            twin.Triple(twin.IRI(""), twin.IRI("urn:b"), twin.Literal("")),
            twin.BlankNode("g"),
        ),
    ]
    for use_repeat in (True, False):
        data = twin.dumps(statements, StreamOptions(use_repeat=use_repeat), dialect="draft")
        message = draft.RdfStreamFrame.FromString(data)
        message.DiscardUnknownFields()
        assert message.SerializeToString() == data
        assert twin.loads(data, dialect="draft") == statements


def test_unknown_fields_are_skipped_everywhere(twin: ModuleType) -> None:
    data = b""
    for each in [options(), *ENTRIES, triple(A, B, literal("x"))]:
        field = each.ListFields()[0][0].number
        content = each.ListFields()[0][1].SerializeToString()
        data += block(1, block(field, content + unknown_fields()))
    term = literal("y").SerializeToString() + unknown_fields()
    statement = block(1, REPEAT.SerializeToString() + unknown_fields()) + block(2, REPEAT.SerializeToString())
    data += block(1, block(2, statement + block(3, term)))
    expected = [f'{a} {b} "x" .', f'{a} {b} "y" .']
    assert lines(twin, delimited(data + unknown_fields())) == expected


@pytest.mark.parametrize("content", [b"", block(6, b""), unknown_fields()], ids=["empty", "namespace", "unknown"])
def test_a_row_has_a_known_content(twin: ModuleType, content: bytes) -> None:
    assert "no content" in refusal(twin, delimited(frame(options()) + block(1, content)))


def test_a_row_has_one_content(twin: ModuleType) -> None:
    both = ENTRIES[0].SerializeToString() + ENTRIES[1].SerializeToString()
    assert "more than one content" in refusal(twin, delimited(frame(options()) + block(1, both)))


def test_frame_metadata_is_refused(twin: ModuleType) -> None:
    metadata = block(15, block(1, "key") + block(2, b"value"))
    assert "frame metadata" in refusal(twin, delimited(frame(options()) + metadata))


# ---- stream types ----

TRIPLE_ROW = triple(bnode("s"), A, bnode("o"))
QUAD_ROW = quad(bnode("s"), A, bnode("o"), DEFAULT)
GRAPH_ROWS = {"graph start": graph_start(DEFAULT), "graph end": GRAPH_END}


@pytest.mark.parametrize(("stream_type", "word"), [(TRIPLES, "TRIPLES"), (GRAPHS, "GRAPHS")])
def test_a_quad_belongs_in_a_quads_stream(twin: ModuleType, stream_type: int, word: str) -> None:
    assert f"quad row in a stream of physical type {word}" in refusal(
        twin, stream(options(stream_type), *ENTRIES, QUAD_ROW)
    )


def test_a_triple_belongs_in_a_triples_or_a_graphs_stream(twin: ModuleType) -> None:
    assert "triple row in a stream of physical type QUADS" in refusal(
        twin, stream(options(QUADS), *ENTRIES, TRIPLE_ROW)
    )


@pytest.mark.parametrize("what", GRAPH_ROWS)
@pytest.mark.parametrize("stream_type", [TRIPLES, QUADS])
def test_graphs_start_and_end_in_a_graphs_stream_only(twin: ModuleType, what: str, stream_type: int) -> None:
    assert f"a {what} row" in refusal(twin, stream(options(stream_type), GRAPH_ROWS[what]))


@pytest.mark.parametrize("stream_type", [0, 4])
def test_the_stream_type_must_be_a_defined_one(twin: ModuleType, stream_type: int) -> None:
    data = delimited(block(1, block(1, number(2, stream_type) + number(15, 1))))
    message = refusal(twin, data, OptionsError)
    assert "unspecified" in message or "not a physical type" in message


def test_every_stream_type_is_read(twin: ModuleType) -> None:
    rows = {
        TRIPLES: (triple(A, B, C),),
        QUADS: (quad(A, B, C, graph(G)),),
        GRAPHS: (graph_start(graph(G)), triple(A, B, C), GRAPH_END),
    }
    found = {kind: lines(twin, stream(options(kind), *ENTRIES, *content)) for kind, content in rows.items()}
    assert found == {TRIPLES: [f"{ABC} ."], QUADS: [f"{ABC} {g} ."], GRAPHS: [f"{ABC} {g} ."]}


# ---- options ----


def test_the_options_are_the_first_row(twin: ModuleType) -> None:
    assert "does not begin with an options row" in refusal(twin, stream(*ENTRIES, options()))


def test_the_options_may_come_again(twin: ModuleType) -> None:
    data = delimited(frame(options(), options(), *ENTRIES, triple(A, B, C), options()), frame(options(), triple()))
    assert lines(twin, data) == [f"{ABC} .", f"{ABC} ."]


def test_options_that_come_again_are_identical(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, triple(A, B, C), options(use_repeat=False))
    assert "use_repeat True to False" in refusal(twin, data, OptionsError)


def test_the_options_are_read(twin: ModuleType) -> None:
    data = stream(options(QUADS, stream_name="n", rdf_star=True, max_name_table_size=3, max_prefix_table_size=0))
    with twin.open_reader(data, dialect="draft") as reader:
        found = reader.options
    assert found == StreamOptions(
        physical_type=PhysicalType.QUADS,
        stream_name="n",
        generalized_statements=False,
        rdf_star=True,
        use_repeat=True,
        max_name_table_size=3,
        max_prefix_table_size=0,
        max_datatype_table_size=16,
        version=1,
    )


def test_options_that_are_left_out_are_false_and_0(twin: ModuleType) -> None:
    data = stream(row(options=draft.RdfStreamOptions(stream_type=draft.RDF_STREAM_TYPE_TRIPLES, version=1)))
    with twin.open_reader(data, dialect="draft") as reader:
        found = reader.options
    assert (found.generalized_statements, found.rdf_star, found.use_repeat) == (False, False, False)
    sizes = found.max_name_table_size, found.max_prefix_table_size, found.max_datatype_table_size
    assert sizes == (0, 0, 0)


@pytest.mark.parametrize(
    "statement",
    [triple(literal("s"), A, A), triple(A, literal("p"), A), triple(A, bnode("p"), A)],
    ids=["literal subject", "literal predicate", "blank predicate"],
)
def test_generalized_statements_need_the_option(twin: ModuleType, statement: Any) -> None:
    assert "generalized_statements" in refusal(twin, stream(options(), *ENTRIES, statement))
    assert len(lines(twin, stream(options(generalized_statements=True), *ENTRIES, statement))) == 1


def test_quoted_triples_need_the_option(twin: ModuleType) -> None:
    rows = (*ENTRIES, triple(quoted(A, B, C), B, C))
    assert "rdf_star" in refusal(twin, stream(options(), *rows))
    assert lines(twin, stream(options(rdf_star=True), *rows)) == [f"<< {ABC} >> {b} {c} ."]


def test_repeated_terms_need_the_option(twin: ModuleType) -> None:
    data = stream(options(use_repeat=False), *ENTRIES, triple(A, B, C), triple(REPEAT, B, C))
    assert "subject is repeated, but the options do not set use_repeat" in refusal(twin, data)


@pytest.mark.parametrize("entry", [name(1, "a"), prefix(1, "a"), datatype(1, "a")], ids=["name", "prefix", "datatype"])
def test_a_lookup_of_size_0_is_not_used(twin: ModuleType, entry: Any) -> None:
    kind = entry.WhichOneof("row")
    data = stream(options(**{f"max_{kind}_table_size": 0}), entry)
    assert f"the {kind} table's size to 0" in refusal(twin, data)


@pytest.mark.parametrize("entry", [name(4, "a"), prefix(4, "a"), datatype(4, "a")], ids=["name", "prefix", "datatype"])
def test_a_lookup_does_not_exceed_its_size(twin: ModuleType, entry: Any) -> None:
    kind = entry.WhichOneof("row")
    data = stream(options(**{f"max_{kind}_table_size": 3}), entry)
    assert f"{kind} entry id 4 is above the table's size of 3" in refusal(twin, data)


@pytest.mark.parametrize("table", ["name", "prefix", "datatype"])
def test_lookups_above_the_limits_are_refused(twin: ModuleType, table: str) -> None:
    data = stream(options(**{f"max_{table}_table_size": 5000}))
    assert "above the limit of 4096" in refusal(twin, data, LimitError)


@pytest.mark.parametrize("version", [0, 2, 1001])
def test_other_versions_are_refused(twin: ModuleType, version: int) -> None:
    assert f"version tag {version} is not supported" in refusal(twin, stream(options(version=version)), OptionsError)


def test_the_version_that_is_written_is_1(twin: ModuleType) -> None:
    for version in (0, 1, 2):
        first = written(twin, [], StreamOptions(version=version))[0]
        assert first.options.version == 1
    with pytest.raises(OptionsError, match="version tag 3"):
        twin.dumps([], StreamOptions(version=3), dialect="draft")


# ---- lookups ----


def test_entries_may_be_replaced_at_any_point(twin: ModuleType) -> None:
    rows = (triple(A, B, C), name(1, "x"), triple(A, B, C), prefix(1, "urn:"), triple(A, B, C))
    assert lines(twin, stream(options(), *ENTRIES, *rows)) == [
        f"{ABC} .",
        f"<{EX}x> {b} {c} .",
        "<urn:x> <urn:b> <urn:c> .",
    ]


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (iri(2, 1), "prefix id 2 was never set"),
        (iri(1, 9), "name id 9 was never set"),
        (iri(1, 99), "name id 99 is above the table's size of 16"),
        (literal("x", datatype=1), "datatype id 1 was never set"),
        (literal("x", datatype=17), "datatype id 17 is above the table's size of 16"),
    ],
)
def test_an_entry_is_set_before_it_is_used(twin: ModuleType, term: Any, message: str) -> None:
    assert message in refusal(twin, stream(options(), *ENTRIES, triple(A, B, term)))


@pytest.mark.parametrize("entry", [name(0, "a"), prefix(0, "a"), datatype(0, "a")], ids=["name", "prefix", "datatype"])
def test_lookups_are_indexed_from_1(twin: ModuleType, entry: Any) -> None:
    assert "ids begin with 1" in refusal(twin, stream(options(), entry))


@pytest.mark.parametrize("row_field", [9, 10, 11])
def test_entries_are_utf_8(twin: ModuleType, row_field: int) -> None:
    entry = block(1, block(row_field, number(1, 1) + block(2, b"\xff")))
    assert "not valid UTF-8" in refusal(twin, delimited(frame(options()) + entry))


def test_written_entries_say_their_ids_and_stay_within_the_size(twin: ModuleType) -> None:
    statements = [twin.Triple(twin.IRI(f"{EX}{n}/a"), twin.IRI("urn:p"), twin.IRI(f"{EX}x{n}")) for n in range(40)]
    given = StreamOptions(max_name_table_size=8, max_prefix_table_size=2)
    ids: dict[str, set[int]] = {"name": set(), "prefix": set()}
    for each in written(twin, statements, given):
        kind = each.WhichOneof("row")
        if kind in ids:
            ids[kind].add(getattr(each, kind).id)
    assert ids == {"name": set(range(1, 9)), "prefix": {1, 2}}
    assert twin.loads(twin.dumps(statements, given, dialect="draft"), dialect="draft") == statements


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


def test_a_graph_may_come_again_and_go_over_frames(twin: ModuleType) -> None:
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
    assert "of simple, langtag and datatype: it has to be one" in refusal(twin, data)


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
