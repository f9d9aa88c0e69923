"""The rules of the specification of Jelly-Patch on rows and terms.

Streams are built from protobuf messages. docs/patch.md lists the rules with the names of these tests.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.proto import patch_pb2 as patch
from support.patch_streams import (
    ABORT,
    COMMIT,
    ENTRIES,
    EX,
    MARK,
    SPO,
    SPOG,
    START,
    TRIPLES,
    add,
    datatype,
    delete,
    delimited,
    frame,
    header,
    iri,
    lines,
    literal,
    name,
    namespace,
    options,
    prefix,
    quoted,
    refusal,
    row,
    stream,
)
from support.wire import block

A, B, C, G = (f"<{EX}{letter}>" for letter in "abcg")
ADDED = f"A {A} {B} {C} {G} ."


# ---- lookups ----


@pytest.mark.parametrize(
    ("entry", "sizes"), [(prefix("p"), {"prefixes": 0}), (datatype("d"), {"datatypes": 0})], ids=["prefix", "datatype"]
)
def test_a_table_of_size_0_takes_no_entries(twin: ModuleType, entry: Any, sizes: dict[str, int]) -> None:
    assert "table's size to 0" in refusal(twin, stream(options(**sizes), entry))


@pytest.mark.parametrize("entry", [name("x", 17), prefix("x", 17), datatype("x", 17)])
def test_an_entry_above_the_size_of_its_table_is_refused(twin: ModuleType, entry: Any) -> None:
    assert "above the table's size" in refusal(twin, stream(options(), entry))


def test_without_prefixes_names_are_whole_iris(twin: ModuleType) -> None:
    data = stream(options(prefixes=0), name(EX + "a"), header(key="k", h_iri=iri()))
    assert lines(twin, data) == [f"H k {A} ."]


def test_references_to_unset_entries_are_refused(twin: ModuleType) -> None:
    for content in (
        header(key="k", h_iri=iri(9)),
        header(key="k", h_iri=iri(1, 9)),
        header(key="k", h_literal=literal("x", datatype=3)),
        row(namespace_add=namespace(name="n", value=iri(9))),
        row(namespace_delete=namespace(name="n", g_iri=iri(9))),
    ):
        assert "never set" in refusal(twin, stream(options(), *ENTRIES, content))


def test_entries_may_be_replaced(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), name("z", 1), add(s_iri=iri(1)))
    assert lines(twin, data) == [ADDED, f"A <{EX}z> {B} {C} {G} ."]


# ---- repeated terms ----


@pytest.mark.parametrize("position", ["s", "p", "o"])
def test_a_term_to_repeat_must_have_come_before(twin: ModuleType, position: str) -> None:
    terms = {key: term for key, term in SPOG.items() if not key.startswith(position)}
    terms = {key: iri(2, 1) for key in terms}
    assert "to be repeated" in refusal(twin, stream(options(), *ENTRIES, add(**terms)))


def test_repeats_are_shared_by_adds_and_deletes(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), delete(o_bnode="x"), add(p_iri=iri(1)), delete())
    assert lines(twin, data) == [
        ADDED,
        f"D {A} {B} _:x {G} .",
        f"A {A} {A} _:x {G} .",
        f"D {A} {A} _:x {G} .",
    ]


def test_graphs_repeat_from_namespaces_to_statements_and_back(twin: ModuleType) -> None:
    data = stream(
        options(),
        *ENTRIES,
        row(namespace_add=namespace(name="n", value=iri(1, 1), g_bnode="one")),
        add(**SPO),
        add(g_bnode="two"),
        row(namespace_delete=namespace(name="n")),
        row(namespace_add=namespace(name="m", value=iri(1), g_default_graph=True)),
        delete(),
    )
    assert lines(twin, data) == [
        f'PA "n" {A} _:one .',
        f"A {A} {B} {C} _:one .",
        f"A {A} {B} {C} _:two .",
        'PD "n" _:two .',
        f'PA "m" {A} .',
        f"D {A} {B} {C} .",
    ]


def test_headers_and_transactions_between_do_not_matter_to_repeats(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), header(key="k", h_bnode="b"), START, delete(), COMMIT, MARK, add())
    assert [line for line in lines(twin, data) if line[0] in "AD"] == [ADDED, f"D {A} {B} {C} {G} .", ADDED]


def test_nothing_repeats_in_a_quoted_triple(twin: ModuleType) -> None:
    content = add(**{**SPOG, "o_triple_term": quoted(s_bnode="s", p_iri=iri(1))})
    assert "quoted triple without" in refusal(twin, stream(options(rdf_star=True), *ENTRIES, content))


# ---- namespaces ----


def test_a_namespace_is_added_with_its_iri(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, row(namespace_add=namespace(name="n", g_default_graph=True)))
    for strict in (True, False):
        assert "without its IRI" in refusal(twin, data, strict=strict)


def test_a_namespace_is_deleted_with_or_without_its_iri(twin: ModuleType) -> None:
    data = stream(
        options(),
        *ENTRIES,
        row(namespace_delete=namespace(name="n", g_default_graph=True)),
        row(namespace_delete=namespace(name="n", value=iri(1, 1))),
    )
    with twin.open_patch_reader(data) as reader:
        assert [deleted.iri for deleted in reader.rows()] == [None, twin.IRI(EX + "a")]


def test_the_name_of_a_namespace_may_be_empty(twin: ModuleType) -> None:
    data = stream(options(TRIPLES), *ENTRIES, row(namespace_add=namespace(value=iri(1, 1))))
    assert lines(twin, data) == [f'PA "" {A} .']


@pytest.mark.parametrize("is_reversed", [False, True], ids=["in order", "reversed"])
def test_the_iri_of_a_namespace_counts_before_its_graph(twin: ModuleType, is_reversed: bool) -> None:
    parts = [block(1, "n"), block(2, iri(0, 1).SerializeToString()), block(3, iri().SerializeToString())]
    content = b"".join(reversed(parts) if is_reversed else parts)
    data = delimited(frame(options(), *ENTRIES) + block(1, block(4, content)))
    assert lines(twin, data) == [f'PA "n" {A} {B} .']


@pytest.mark.parametrize(
    ("graph", "text"),
    [({"g_iri": iri(4)}, f" {G}"), ({"g_bnode": "b"}, " _:b"), ({"g_default_graph": True}, "")],
)
def test_a_namespace_has_a_graph_of_any_kind(twin: ModuleType, graph: dict[str, Any], text: str) -> None:
    data = stream(options(), *ENTRIES, row(namespace_add=namespace(name="n", value=iri(1, 1), **graph)))
    assert lines(twin, data) == [f'PA "n" {A}{text} .']


def test_a_namespace_with_two_graphs_is_refused(twin: ModuleType) -> None:
    content = namespace(name="n", value=iri(1, 1), g_bnode="b").SerializeToString() + block(5, b"")
    data = delimited(frame(options(), *ENTRIES) + block(1, block(4, content)))
    assert "two graphs" in refusal(twin, data)


@pytest.mark.parametrize(("field", "what"), [(4, "the name of a namespace"), (14, "the key of a header")])
def test_names_and_keys_are_utf_8(twin: ModuleType, field: int, what: str) -> None:
    content = block(1, b"\xff") + block(2, iri(1, 1).SerializeToString())
    data = delimited(frame(options(TRIPLES), *ENTRIES) + block(1, block(field, content)))
    assert refusal(twin, data) == f"{what} is not valid UTF-8"


# ---- transactions ----


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([COMMIT], "commit outside"),
        ([ABORT], "abort outside"),
        ([START, COMMIT, COMMIT], "commit outside"),
        ([START, ABORT, COMMIT], "commit outside"),
        ([START, COMMIT, ABORT], "abort outside"),
        ([START, START], "starts inside another"),
        ([START], "ends inside a transaction"),
    ],
)
def test_transactions_start_and_end_in_turns(twin: ModuleType, rows: list[Any], message: str) -> None:
    data = stream(options(), *rows)
    assert message in refusal(twin, data)
    assert len(lines(twin, data, strict=False)) == len(rows)


def test_transactions_are_commits_or_aborts(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, START, add(**SPOG), COMMIT, START, delete(), add(), ABORT, add(), START, COMMIT)
    with twin.open_patch_reader(data) as reader:
        found = [(part.is_explicit, len(list(part)), part.is_committed) for part in reader.transactions()]
    assert found == [(True, 1, True), (True, 2, False), (False, 1, True), (True, 0, True)]


def test_rows_of_every_kind_may_be_in_or_outside_of_transactions(twin: ModuleType) -> None:
    kinds = [
        add(**SPOG),
        delete(),
        header(key="k", h_bnode="b"),
        row(namespace_add=namespace(name="n", value=iri(1))),
        row(namespace_delete=namespace(name="n")),
    ]
    data = stream(options(), *ENTRIES, *kinds, START, *kinds, COMMIT, *kinds)
    assert len(lines(twin, data)) == 17


# ---- headers ----


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"h_iri": iri(1, 1)}, A),
        ({"h_bnode": "b"}, "_:b"),
        ({"h_literal": literal("x")}, '"x"'),
        ({"h_literal": literal("x", langtag="en")}, '"x"@en'),
        ({"h_literal": literal("x", datatype=1)}, '"x"^^<urn:d>'),
        ({"h_triple_term": quoted(s_bnode="s", p_iri=iri(1, 1), o_bnode="o")}, f"<< _:s {A} _:o >>"),
    ],
)
def test_a_header_has_a_value_of_any_kind(twin: ModuleType, value: dict[str, Any], text: str) -> None:
    data = stream(options(rdf_star=True), *ENTRIES, datatype("urn:d"), header(key="k", **value))
    assert lines(twin, data) == [f"H k {text} ."]


def test_the_value_of_a_header_never_repeats(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, header(key="k", h_iri=iri(1, 1)), header(key="k"))
    for strict in (True, False):
        assert "header without a value" in refusal(twin, data, strict=strict)


def test_a_header_with_two_values_is_refused(twin: ModuleType) -> None:
    content = patch.RdfPatchHeader(key="k", h_bnode="b").SerializeToString() + block(3, "c")
    data = delimited(frame(options()) + block(1, block(14, content)))
    assert "two values" in refusal(twin, data)


def test_the_key_of_a_header_may_be_empty(twin: ModuleType) -> None:
    with twin.open_patch_reader(stream(options(), header(h_bnode="b"))) as reader:
        assert [(found.key, found.value) for found in reader.rows()] == [("", twin.BlankNode("b"))]


# ---- terms ----


def test_iris_of_headers_and_namespaces_count_as_those_of_statements(twin: ModuleType) -> None:
    """The example of the specification, with the key that its comment has."""
    data = stream(
        options(),
        prefix(EX),
        name("iri"),
        header(key="id", h_iri=iri(0, 1)),
        name(""),
        name("graph"),
        row(namespace_add=namespace(name="ex", value=iri(), g_iri=iri())),
        add(s_bnode="b1", p_iri=iri(1), o_bnode="b2"),
    )
    assert lines(twin, data) == [
        f"H id <{EX}iri> .",
        f'PA "ex" <{EX}> <{EX}graph> .',
        f"A _:b1 <{EX}iri> _:b2 <{EX}graph> .",
    ]
