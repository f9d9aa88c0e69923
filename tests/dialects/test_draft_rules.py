"""The rules of the draft about frames, rows, options and lookups, from messages made by hand.

`test_draft_term_rules.py` has the others. docs/draft.md lists the rules with the names of these tests.
"""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import LimitError, OptionsError
from jellyframe.options import PhysicalType, StreamOptions
from jellyframe.proto import draft_pb2 as draft
from support.draft_streams import (
    DEFAULT,
    ENTRIES,
    EX,
    GRAPH_END,
    GRAPHS,
    QUADS,
    REPEAT,
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
    prefix,
    quad,
    quoted,
    refusal,
    row,
    stream,
    triple,
    written,
)
from support.wire import block, number, unknown_fields

a, b, c, g = (f"<{EX}{letter}>" for letter in "abcg")
ABC = f"{a} {b} {c}"
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


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


def test_written_streams_are_valid_protobuf(twin: ModuleType) -> None:
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


def test_options_may_be_repeated(twin: ModuleType) -> None:
    data = delimited(frame(options(), options(), *ENTRIES, triple(A, B, C), options()), frame(options(), triple()))
    assert lines(twin, data) == [f"{ABC} .", f"{ABC} ."]


def test_repeated_options_must_be_identical(twin: ModuleType) -> None:
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


def test_omitted_options_are_false_or_0(twin: ModuleType) -> None:
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
