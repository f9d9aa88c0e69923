"""The rules of the specification of Jelly-Patch on frames, stream types, statement types and options.

Streams are built from protobuf messages. docs/patch.md lists the rules with the names of these tests.
"""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits
from support.patch_streams import (
    ABORT,
    COMMIT,
    ENTRIES,
    EX,
    FLAT,
    FRAME,
    MARK,
    PUNCTUATED,
    SPO,
    SPOG,
    START,
    STREAM_TYPES,
    TRIPLES,
    add,
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
    quoted,
    refusal,
    row,
    stream,
)
from support.wire import block, number, unknown_fields

A, B, C, G = (f"<{EX}{letter}>" for letter in "abcg")
ADDED = f"A {A} {B} {C} {G} ."

every_stream_type = pytest.mark.parametrize("stream_type", STREAM_TYPES.values(), ids=STREAM_TYPES)
not_punctuated = pytest.mark.parametrize("stream_type", [FRAME, FLAT], ids=["FRAME", "FLAT"])


# ---- frames and rows ----


def test_a_file_is_a_series_of_delimited_frames(twin: ModuleType) -> None:
    data = delimited(frame(options(), *ENTRIES), frame(), frame(add(**SPOG)), frame(MARK))
    assert lines(twin, data) == [ADDED, "# end of patch"]


def test_a_bare_frame_is_read_where_something_else_delimits_it(twin: ModuleType) -> None:
    assert lines(twin, frame(options(), *ENTRIES, add(**SPOG))) == [ADDED]


def test_frames_are_processed_in_order_and_share_state(twin: ModuleType) -> None:
    data = delimited(
        frame(options(), *ENTRIES, add(**SPOG)),
        frame(name("d"), delete(s_iri=iri(5))),
        frame(add(o_bnode="x")),
    )
    d = f"<{EX}d>"
    assert lines(twin, data) == [ADDED, f"D {d} {B} {C} {G} .", f"A {d} {B} _:x {G} ."]


def test_a_row_with_two_contents_is_refused(twin: ModuleType) -> None:
    both = START.SerializeToString() + COMMIT.SerializeToString()
    data = delimited(frame(options()) + block(1, both))
    assert "more than one content" in refusal(twin, data)


@pytest.mark.parametrize("content", [b"", block(9, b""), block(10, b"x"), unknown_fields()], ids=["", "9", "10", "?"])
def test_a_row_without_a_known_content_is_refused(twin: ModuleType, content: bytes) -> None:
    data = delimited(frame(options()) + block(1, content))
    assert "no content that this version" in refusal(twin, data)


def test_unknown_fields_are_skipped_everywhere(twin: ModuleType) -> None:
    rows = [options(), *ENTRIES, add(**SPOG), header(key="k", h_bnode="b"), START, COMMIT, MARK]
    rows.insert(7, row(namespace_add=namespace(name="n", value=iri(1))))
    data = b""
    for each in rows:
        field = each.ListFields()[0][0].number
        content = each.ListFields()[0][1].SerializeToString()
        data += block(1, block(field, content + unknown_fields()))
    assert lines(twin, delimited(data + unknown_fields())) == [
        ADDED,
        f'PA "n" {A} {G} .',
        "H k _:b .",
        "TX .",
        "TC .",
        "# end of patch",
    ]


def test_each_field_is_the_row_of_rdf_patch_that_the_specification_names(twin: ModuleType) -> None:
    data = stream(
        options(),
        *ENTRIES,
        header(key="id", h_iri=iri(1, 1)),
        START,
        add(**SPOG),
        delete(),
        row(namespace_add=namespace(name="n", value=iri(1))),
        row(namespace_delete=namespace(name="n")),
        COMMIT,
        START,
        ABORT,
        MARK,
    )
    assert lines(twin, data) == [
        f"H id {A} .",
        "TX .",
        ADDED,
        f"D {A} {B} {C} {G} .",
        f'PA "n" {A} {G} .',
        f'PD "n" {G} .',
        "TC .",
        "TX .",
        "TA .",
        "# end of patch",
    ]


@pytest.mark.parametrize("field", [2, 4, 6, 14, 15])
def test_a_row_of_another_wire_type_is_refused(twin: ModuleType, field: int) -> None:
    data = delimited(frame(options()) + block(1, number(field, 1)))
    assert "wire type" in refusal(twin, data)


# ---- stream types ----


@pytest.mark.parametrize("stream_type", [0, 4])
def test_the_stream_type_must_be_a_defined_one(twin: ModuleType, stream_type: int) -> None:
    assert "stream type" in refusal(twin, stream(options(stream_type=stream_type)), OptionsError)


@every_stream_type
def test_every_stream_type_is_read(twin: ModuleType, stream_type: int) -> None:
    assert lines(twin, stream(options(stream_type=stream_type), *ENTRIES, add(**SPOG))) == [ADDED]


def test_each_frame_of_a_frame_stream_is_a_patch(twin: ModuleType) -> None:
    data = delimited(frame(options(stream_type=FRAME), *ENTRIES, add(**SPOG)), frame(), frame(delete(), delete()))
    with twin.open_patch_reader(data) as reader:
        patches = [([str(line) for line in patch], patch.is_complete) for patch in reader.patches()]
    deleted = f"D {A} {B} {C} {G} ."
    assert patches == [([ADDED], True), ([], True), ([deleted, deleted], True)]


def test_a_transaction_over_two_frames_of_a_frame_stream_is_refused(twin: ModuleType) -> None:
    data = delimited(frame(options(stream_type=FRAME), START), frame(COMMIT))
    for strict in (True, False):
        assert "frame ends inside a transaction" in refusal(twin, data, strict=strict)


def test_several_transactions_in_one_frame(twin: ModuleType) -> None:
    for stream_type in STREAM_TYPES.values():
        data = stream(options(stream_type=stream_type), START, COMMIT, START, ABORT)
        assert lines(twin, data) == ["TX .", "TC .", "TX .", "TA ."]


def test_a_flat_stream_is_one_patch(twin: ModuleType) -> None:
    data = delimited(frame(options(stream_type=FLAT), *ENTRIES, add(**SPOG)), frame(), frame(delete()))
    with twin.open_patch_reader(data) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [2]
    with twin.open_patch_reader(stream(options(stream_type=FLAT))) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [0]


@pytest.mark.parametrize("stream_type", [FLAT, PUNCTUATED], ids=["FLAT", "PUNCTUATED"])
def test_a_transaction_over_several_frames_is_one(twin: ModuleType, stream_type: int) -> None:
    data = delimited(
        frame(options(stream_type=stream_type), *ENTRIES, START, add(**SPOG)), frame(delete()), frame(COMMIT)
    )
    with twin.open_patch_reader(data) as reader:
        assert [(len(list(part)), part.is_explicit, part.is_committed) for part in reader.transactions()] == [
            (2, True, True)
        ]


@not_punctuated
def test_punctuation_in_other_streams_is_refused(twin: ModuleType, stream_type: int) -> None:
    for strict in (True, False):
        assert "punctuation" in refusal(twin, stream(options(stream_type=stream_type), MARK), strict=strict)


def test_punctuation_marks_end_patches(twin: ModuleType) -> None:
    data = delimited(
        frame(options(), *ENTRIES, add(**SPOG)), frame(delete(), MARK), frame(MARK), frame(add()), frame(add(), MARK)
    )
    with twin.open_patch_reader(data) as reader:
        patches = [(len(list(patch)), patch.is_complete) for patch in reader.patches()]
    assert patches == [(2, True), (0, True), (2, True)]


def test_a_stream_that_starts_with_punctuation_starts_with_an_empty_patch(twin: ModuleType) -> None:
    with twin.open_patch_reader(stream(options(), MARK, *ENTRIES, add(**SPOG))) as reader:
        assert [(len(list(patch)), patch.is_complete) for patch in reader.patches()] == [(0, True), (1, False)]


def test_punctuation_inside_a_frame_is_accepted(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), MARK, add(), add(), MARK)
    with twin.open_patch_reader(data) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [1, 2]


def test_punctuation_inside_a_transaction_is_refused(twin: ModuleType) -> None:
    for strict in (True, False):
        assert "inside a transaction" in refusal(twin, stream(options(), START, MARK), strict=strict)


# ---- statement types ----


@pytest.mark.parametrize("statement_type", [0, 3])
def test_the_statement_type_must_be_a_defined_one(twin: ModuleType, statement_type: int) -> None:
    message = refusal(twin, stream(options(statement_type=statement_type, stream_type=0)), OptionsError)
    assert "statement type" in message


def test_statements_of_a_triples_stream_are_triples(twin: ModuleType) -> None:
    data = stream(options(TRIPLES), *ENTRIES, add(**SPO), row(namespace_add=namespace(name="n", value=iri(1))))
    with twin.open_patch_reader(data) as reader:
        added, declared = reader.rows()
    assert added.g is None
    assert added.statement == twin.Triple(*(twin.IRI(EX + letter) for letter in "abc"))
    assert declared.g is None


@pytest.mark.parametrize(
    "graph", [{"g_iri": iri(4)}, {"g_bnode": "b"}, {"g_default_graph": True}, {"g_literal": literal("x")}]
)
def test_a_graph_in_a_triples_stream_is_refused_or_else_ignored(twin: ModuleType, graph: dict[str, Any]) -> None:
    for content in (add(**SPO, **graph), delete(**SPO, **graph)):
        data = stream(options(TRIPLES), *ENTRIES, content)
        assert "graph" in refusal(twin, data)
        assert lines(twin, data, strict=False)[0].endswith(f" {A} {B} {C} .")
    declared = stream(options(TRIPLES), *ENTRIES, row(namespace_add=namespace(name="n", value=iri(1, 1), **graph)))
    assert "graph" in refusal(twin, declared)
    assert lines(twin, declared, strict=False) == [f'PA "n" {A} .']


def test_a_graph_that_comes_before_the_other_terms_is_refused_in_a_triples_stream(twin: ModuleType) -> None:
    content = block(13, iri(4, 1).SerializeToString()) + quoted(**SPO).SerializeToString()
    # With a quoted triple the terms are read in another way.
    star = block(13, b"") + quoted(s_bnode="s", p_iri=iri(2, 1), o_triple_term=quoted(**SPO)).SerializeToString()
    for statement in (content, star):
        data = delimited(frame(options(TRIPLES, rdf_star=True), *ENTRIES) + block(1, block(2, statement)))
        assert "graph" in refusal(twin, data)
        assert len(lines(twin, data, strict=False)) == 1


def test_an_unset_graph_of_a_quads_stream_repeats(twin: ModuleType) -> None:
    data = stream(options(), *ENTRIES, add(**SPOG), delete(**SPO), row(namespace_delete=namespace(name="n")))
    assert lines(twin, data) == [ADDED, f"D {A} {B} {C} {G} .", f'PD "n" {G} .']


@pytest.mark.parametrize(
    "content",
    [add(**SPO), row(namespace_add=namespace(name="n", value=iri(1, 1)))],
    ids=["statement", "namespace"],
)
def test_a_graph_to_repeat_must_have_come_before(twin: ModuleType, content: Any) -> None:
    assert "graph is to be repeated" in refusal(twin, stream(options(), *ENTRIES, content))


def test_a_namespace_before_the_first_graph_is_refused_or_else_in_the_default_graph(twin: ModuleType) -> None:
    first = row(namespace_add=namespace(name="n", value=iri(1, 1)))
    data = stream(options(), *ENTRIES, first, add(**SPOG), row(namespace_delete=namespace(name="n")))
    with pytest.raises(ParseError, match=r"set strict=False$"):
        lines(twin, data)
    assert lines(twin, data, strict=False) == [f'PA "n" {A} .', ADDED, f'PD "n" {G} .']
    # That is for namespaces alone: it gives statements nothing to repeat.
    assert "graph is to be repeated" in refusal(twin, stream(options(), *ENTRIES, first, add(**SPO)), strict=False)


# ---- options ----


def test_the_options_must_be_the_first_row(twin: ModuleType) -> None:
    assert "options row" in refusal(twin, stream(START, options()))
    assert "options row" in refusal(twin, stream(name("a"), options()))


def test_options_may_be_repeated_anywhere(twin: ModuleType) -> None:
    data = delimited(
        frame(options(), *ENTRIES, options(), START, add(**SPOG), options()),
        frame(options(), delete(s_iri=iri(1)), COMMIT, MARK, options()),
    )
    assert lines(twin, data)[:3] == ["TX .", ADDED, f"D {A} {B} {C} {G} ."]


@pytest.mark.parametrize(
    "changed", [{"statement_type": TRIPLES}, {"stream_type": FLAT}, {"prefixes": 1}, {"rdf_star": True}]
)
def test_options_that_change_are_refused(twin: ModuleType, changed: dict[str, Any]) -> None:
    assert "options change" in refusal(twin, stream(options(), START, COMMIT, options(**changed)), OptionsError)


@pytest.mark.parametrize("version", [0, 2, 10_001])
def test_other_versions_are_refused(twin: ModuleType, version: int) -> None:
    assert "version tag" in refusal(twin, stream(options(version=version)), OptionsError)


def test_the_name_table_has_at_least_eight_entries(twin: ModuleType) -> None:
    assert "at least 8" in refusal(twin, stream(options(max_name_table_size=7)), OptionsError)
    assert lines(twin, stream(options(max_name_table_size=8))) == []


def test_tables_above_the_limits_are_refused(twin: ModuleType) -> None:
    data = stream(options(max_name_table_size=5000))
    assert "above the limit" in refusal(twin, data, LimitError)
    assert lines(twin, data, limits=Limits(max_name_table_size=5000)) == []


def test_generalized_statements_need_the_option(twin: ModuleType) -> None:
    terms = {"s_literal": literal("s"), "p_bnode": "p", "o_bnode": "o", "g_literal": literal("g")}
    assert "generalized_statements" in refusal(twin, stream(options(), add(**terms)))
    assert lines(twin, stream(options(generalized_statements=True), add(**terms))) == ['A "s" _:p _:o "g" .']
    graph = row(namespace_delete=namespace(name="n", g_literal=literal("g")))
    assert "generalized_statements" in refusal(twin, stream(options(), graph))
    assert lines(twin, stream(options(generalized_statements=True), graph)) == ['PD "n" "g" .']


def test_quoted_triples_need_the_option(twin: ModuleType) -> None:
    triple = quoted(s_bnode="s", p_iri=iri(1, 1), o_literal=literal("o"))
    for content, line in (
        (add(s_triple_term=triple, p_iri=iri(1), o_bnode="x", g_default_graph=True), f"A << _:s {A} "),
        (header(key="k", h_triple_term=triple), f"H k << _:s {A} "),
    ):
        assert "rdf_star" in refusal(twin, stream(options(), *ENTRIES, content))
        (found,) = lines(twin, stream(options(rdf_star=True), *ENTRIES, content))
        assert found.startswith(line)


# ---- streams of the other kind ----


@pytest.mark.parametrize("settings", [{}, {"stream_name": "a stream"}, {"logical_type": 1}])
def test_a_stream_of_statements_is_told_from_a_patch(twin: ModuleType, settings: dict[str, Any]) -> None:
    sink = io.BytesIO()
    with twin.open_writer(sink, twin.StreamOptions(physical_type=1, **settings)) as writer:
        writer.write([twin.Triple(*(twin.IRI(EX + letter) for letter in "abc"))])
    with pytest.raises(OptionsError, match="read it with open_reader or `jellyframe rdf`"):
        list(twin.open_patch_reader(sink.getvalue()))


def test_a_patch_is_told_from_a_stream_of_statements(twin: ModuleType) -> None:
    with pytest.raises(OptionsError, match="read it with open_patch_reader"):
        list(twin.open_reader(stream(options(), START, COMMIT)).statements())


def test_input_that_is_not_a_stream_is_refused(twin: ModuleType) -> None:
    assert "empty" in refusal(twin, b"")
    assert refusal(twin, b"A <a> <b> <c> .\n", JellyError)
    assert "not a Jelly-Patch stream" in refusal(twin, delimited(unknown_fields()))
