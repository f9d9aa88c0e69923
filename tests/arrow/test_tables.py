"""Batches and streams as Arrow tables, in every layout, and tables as batches and streams."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.arrow.tables import LAYOUTS, arrow_schema, batch_to_arrow, find_layout, table_to_batches
from jellyframe.batch import Batch
from jellyframe.errors import TableError
from jellyframe.kernel.memory_cy import int_column
from jellyframe.options import LayoutName
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.kernel_twins import KERNELS, NoTwinError, load_twin_module
from support.plain import build, plain
from support.strategies import any_statements

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
S, P, GRAPH = IRI("http://example.org/s"), IRI("http://example.org/p"), IRI("http://example.org/g")
QUOTED = Triple(BlankNode("b"), P, Literal("x y", language="en"))
QUADS = [
    Quad(S, P, IRI("http://example.org/o"), GRAPH),
    Quad(BlankNode("b"), P, Literal("a\n"), DEFAULT_GRAPH),
    Quad(S, P, Literal("b", language="en-GB"), BlankNode("g")),
    Quad(QUOTED, P, Literal("1", INTEGER), DEFAULT_GRAPH),
    Quad(S, P, Triple(QUOTED, P, QUOTED), GRAPH),
]
QUOTED_TEXT = '<< _:b <http://example.org/p> "x y"@en >>'
TRIPLES = [Triple(*quad[:3]) for quad in QUADS]
GENERALIZED = [Quad(Literal("s"), BlankNode("p"), QUOTED, Literal("g", language="en")), *QUADS]

layouts = pytest.mark.parametrize("layout", LAYOUTS)


def back(table: Any, **options: Any) -> list[Triple | Quad]:
    return [statement for batch in table_to_batches(table, **options) for statement in batch.statements()]


def term(kind: str, value: str, datatype: str | None = None, lang: str | None = None) -> dict[str, str | None]:
    return {"kind": kind, "value": value, "datatype": datatype, "lang": lang}


def with_frames(ends: list[int], first: int = 0, *, is_open: bool = False) -> Batch:
    """A batch of triples that is cut into frames at these rows."""
    batch = Batch.from_statements([Triple(S, P, Literal(str(row))) for row in range(ends[-1])])
    column = int_column(len(ends))[: len(ends)]
    for i, end in enumerate(ends):
        column[i] = end
    columns = (batch.s, batch.p, batch.o, batch.g)
    return Batch(columns, batch.terms, first_frame=first, frame_ends=column, last_frame_open=is_open)


class TestLayouts:
    def test_struct_layout(self) -> None:
        table = batch_to_arrow(Batch.from_statements(QUADS))
        assert table.to_pydict() == {
            "s": [
                term("iri", "http://example.org/s"),
                term("bnode", "b"),
                term("iri", "http://example.org/s"),
                term("triple", QUOTED_TEXT),
                term("iri", "http://example.org/s"),
            ],
            "p": [term("iri", "http://example.org/p")] * 5,
            "o": [
                term("iri", "http://example.org/o"),
                term("literal", "a\n"),
                term("literal", "b", lang="en-GB"),
                term("literal", "1", datatype=INTEGER),
                term("triple", f"<< {QUOTED_TEXT} <http://example.org/p> {QUOTED_TEXT} >>"),
            ],
            "g": [
                term("iri", "http://example.org/g"),
                None,
                term("bnode", "g"),
                None,
                term("iri", "http://example.org/g"),
            ],
        }

    def test_ntriples_layout(self) -> None:
        table = batch_to_arrow(Batch.from_statements(QUADS), "ntriples")
        assert table.to_pydict() == {
            "s": [str(quad.s) for quad in QUADS],
            "p": [str(quad.p) for quad in QUADS],
            "o": [str(quad.o) for quad in QUADS],
            "g": ["<http://example.org/g>", None, "_:g", None, "<http://example.org/g>"],
        }

    def test_flat_layout(self) -> None:
        table = batch_to_arrow(Batch.from_statements(GENERALIZED), "flat")
        assert table.to_pydict() == {
            "s": ['"s"', S.value, "_:b", S.value, QUOTED_TEXT, S.value],
            "p": ["_:p"] + [P.value] * 5,
            "o": [
                QUOTED_TEXT,
                "http://example.org/o",
                "a\n",
                "b",
                "1",
                f"<< {QUOTED_TEXT} <http://example.org/p> {QUOTED_TEXT} >>",
            ],
            "o_kind": ["triple", "iri", "literal", "literal", "literal", "triple"],
            "o_datatype": [None, None, None, None, INTEGER, None],
            "o_lang": [None, None, None, "en-GB", None, None],
            "g": ['"g"@en', GRAPH.value, None, "_:g", None, GRAPH.value],
        }

    @layouts
    @pytest.mark.parametrize("statements", [TRIPLES, QUADS, [], QUADS[1:2]], ids=["triples", "quads", "none", "one"])
    def test_batches_have_exactly_the_declared_schema(self, layout: LayoutName, statements: list[Any]) -> None:
        batch = Batch.from_statements(statements)
        table = batch_to_arrow(batch, layout, frame_column=True)
        assert table.schema.equals(arrow_schema(layout, batch.has_graph, frame_column=True), check_metadata=True)
        assert len(table) == len(statements)
        table.validate(full=True)

    @layouts
    def test_strings_are_plain_and_every_field_may_be_null(self, layout: LayoutName) -> None:
        def check(field: pa.Field) -> None:
            assert field.nullable
            if pa.types.is_struct(field.type):
                for child in field.type:
                    check(child)
            else:
                assert field.type == (pa.int64() if field.name == "frame" else pa.string())

        for field in arrow_schema(layout, True, frame_column=True):
            check(field)

    @layouts
    def test_some_columns_in_an_order(self, layout: LayoutName) -> None:
        batch = Batch.from_statements(QUADS)
        whole = batch_to_arrow(batch, layout, frame_column=True)
        some = batch_to_arrow(batch, layout, frame_column=True, columns=["frame", "o", "s"])
        assert some.schema.names == ["frame", "o", "s"]
        assert some.equals(whole.select(["frame", "o", "s"]))

    def test_unknown_columns_are_refused(self) -> None:
        with pytest.raises(TableError, match=r"no column 'g' here: the columns are s, p, o"):
            arrow_schema("struct", columns=["g"])
        with pytest.raises(TableError, match="no column 'frame'"):
            arrow_schema("struct", columns=["frame"])
        with pytest.raises(TableError, match="no columns"):
            arrow_schema("struct", columns=[])

    def test_an_unknown_layout_is_refused(self) -> None:
        with pytest.raises(TableError, match=r"no layout 'wide': the layouts are struct, ntriples, flat"):
            arrow_schema("wide")  # type: ignore[arg-type]

    @pytest.mark.parametrize("iri", ["_:a", '"a', "<<a"])
    def test_flat_refuses_an_iri_that_looks_like_another_term(self, iri: str) -> None:
        batch = Batch.from_statements([Triple(IRI(iri), P, IRI(iri))])
        with pytest.raises(TableError, match="would not be taken for one"):
            batch_to_arrow(batch, "flat")
        assert back(batch_to_arrow(batch, "struct")) == batch.statements()
        assert back(batch_to_arrow(batch, "ntriples")) == batch.statements()

    def test_frame_numbers(self) -> None:
        table = batch_to_arrow(with_frames([2, 2, 3, 6], first=7), frame_column=True, columns=["frame"])
        assert table["frame"].to_pylist() == [7, 7, 9, 10, 10, 10]
        empty = batch_to_arrow(with_frames([0, 0], first=7), frame_column=True)
        assert empty["frame"].to_pylist() == []

    def test_batch_to_arrow(self) -> None:
        batch = Batch.from_statements(QUADS)
        assert batch.to_arrow().equals(batch_to_arrow(batch))
        options: dict[str, Any] = {"frame_column": True, "columns": ["frame", "o_kind"]}
        assert batch.to_arrow("flat", **options).equals(batch_to_arrow(batch, "flat", **options))


@pytest.fixture(scope="module", params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> dict[str, ModuleType]:
    """The modules of one kernel that make tables and batches."""
    try:
        return {
            name.partition(".")[0]: load_twin_module(request.param, name) for name in ("arrow.tables", "batch", "terms")
        }
    except NoTwinError as reason:
        pytest.skip(str(reason))


class TestRoundTrip:
    @layouts
    @given(statements=any_statements())
    def test_no_layout_loses_anything(self, kernel: dict[str, Any], layout: LayoutName, statements: list[Any]) -> None:
        ours = build(kernel["terms"], plain(statements))
        table = kernel["arrow"].batch_to_arrow(kernel["batch"].Batch.from_statements(ours), layout)
        table.validate(full=True)
        assert [row for batch in kernel["arrow"].table_to_batches(table) for row in batch.statements()] == ours

    @layouts
    @given(statements=any_statements())
    def test_both_kernels_make_the_same_table(
        self, kernel: dict[str, Any], layout: LayoutName, statements: list[Any]
    ) -> None:
        ours = build(kernel["terms"], plain(statements))
        there = kernel["arrow"].batch_to_arrow(kernel["batch"].Batch.from_statements(ours), layout)
        assert there.equals(batch_to_arrow(Batch.from_statements(statements), layout))

    @pytest.mark.parametrize("label", ["a b", "hex-1", "hex-612062", "", "-a", "house", "hex-zz", "ü"])
    @layouts
    def test_labels_that_n_triples_cannot_hold(self, layout: LayoutName, label: str) -> None:
        node = BlankNode(label)
        statements = [Triple(node, P, Triple(node, P, node)), Triple(node, P, node)]
        assert back(batch_to_arrow(Batch.from_statements(statements), layout)) == statements

    @layouts
    @given(statements=any_statements(), rows=st.integers(1, 7), start=st.integers(0, 5), data=st.data())
    def test_slices_and_chunks(
        self, layout: LayoutName, statements: list[Any], rows: int, start: int, data: st.DataObject
    ) -> None:
        whole = batch_to_arrow(Batch.from_statements(statements), layout)
        cut = data.draw(st.integers(0, len(statements)))
        table = pa.Table.from_batches([whole.slice(0, cut), whole.slice(cut)]).slice(start)
        batches = list(table_to_batches(table, batch_rows=rows))
        assert [row for batch in batches for row in batch.statements()] == statements[start:]
        assert all(len(batch) <= rows for batch in batches)
        assert back(table.to_reader(), batch_rows=rows) == statements[start:]

    @layouts
    @pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.large_string())])
    def test_other_kinds_of_string(self, layout: LayoutName, kind: pa.DataType) -> None:
        def changed(array: Any) -> Any:
            if pa.types.is_struct(array.type):
                names = [field.name for field in array.type]
                children = [changed(child) for child in array.flatten()]
                return pa.StructArray.from_arrays(children, names, mask=array.is_null())
            if pa.types.is_dictionary(kind):
                return array.cast(kind.value_type).dictionary_encode().cast(kind)
            return array.cast(kind)

        whole = batch_to_arrow(Batch.from_statements(GENERALIZED), layout)
        table = pa.RecordBatch.from_arrays([changed(column) for column in whole.columns], whole.schema.names)
        assert back(table) == GENERALIZED
        assert back(table.slice(2)) == GENERALIZED[2:]

    def test_a_dictionary_with_a_null_in_it(self) -> None:
        def column(*values: str | None) -> pa.Array:
            return pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array([*values]))

        table = pa.table({"s": column("<s:>", "_:b"), "p": column("<p:>", "<p:>"), "o": column('"a"', '"b"')})
        table = table.append_column("g", column(None, "<g:>"))
        iri = IRI("p:")
        assert back(table) == [
            Quad(BlankNode("b"), iri, Literal("b"), IRI("g:")),
            Quad(IRI("s:"), iri, Literal("a"), DEFAULT_GRAPH),
        ]

    def test_datatypes_and_languages_may_be_spelled_out_or_left_out(self) -> None:
        iri = pa.array([{"kind": "iri", "value": "urn:a"}] * 2)
        objects = pa.array(
            [
                term("literal", "a", "http://www.w3.org/2001/XMLSchema#string"),
                term("literal", "a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en"),
            ]
        )
        statements = back(pa.table({"s": iri, "p": iri, "o": objects}))
        assert [statement.o for statement in statements] == [Literal("a"), Literal("a", language="en")]

    def test_columns_of_nulls_are_read(self) -> None:
        nulls = pa.nulls(2)
        texts = pa.array(["<urn:a>"] * 2)
        expected = [Quad(IRI("urn:a"), IRI("urn:a"), IRI("urn:a"), DEFAULT_GRAPH)] * 2
        assert back(pa.table({"s": texts, "p": texts, "o": texts, "g": nulls})) == expected
        terms = pa.array([term("iri", "urn:a")] * 2)
        assert back(pa.table({"s": terms, "p": terms, "o": terms, "g": nulls})) == expected
        plain_iris = pa.array(["urn:a"] * 2)
        flat = {"s": plain_iris, "p": plain_iris, "o": plain_iris, "o_kind": pa.array(["iri"] * 2)}
        assert back(pa.table({**flat, "o_datatype": nulls, "o_lang": nulls, "g": nulls})) == expected

    def test_other_columns_are_ignored(self) -> None:
        table = batch_to_arrow(Batch.from_statements(TRIPLES), "ntriples").append_column("x", pa.array(range(5)))
        assert back(table) == TRIPLES

    def test_many_small_chunks_make_few_batches(self) -> None:
        piece = batch_to_arrow(Batch.from_statements(TRIPLES), "ntriples")
        batches = list(table_to_batches(pa.Table.from_batches([piece] * 100)))
        assert [len(batch) for batch in batches] == [500]

    def test_anything_with_the_stream_interface(self) -> None:
        class Stream:
            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                return pa.Table.from_batches([piece]).__arrow_c_stream__(requested_schema)

        piece = batch_to_arrow(Batch.from_statements(TRIPLES))
        assert back(Stream()) == TRIPLES

    def test_frames(self) -> None:
        whole = pa.Table.from_batches(
            batch_to_arrow(batch, frame_column=True)
            for batch in (with_frames([2, 3, 6], is_open=True), with_frames([1, 3], first=2), with_frames([2], first=4))
        )
        assert whole["frame"].to_pylist() == [0, 0, 1, 2, 2, 2, 2, 3, 3, 4, 4]
        for rows in (1, 2, 3, 11):
            ends, row = [], 0
            for batch in table_to_batches(whole, batch_rows=rows):
                for span in batch.frame_spans():
                    if span.is_complete:
                        ends.append((span.number, row + span.stop))
                row += len(batch)
            assert ends == [(0, 2), (1, 3), (2, 7), (3, 9)]


class TestBadTables:
    def table(self, **columns: Any) -> pa.Table:
        good = {"s": ["<s:>"], "p": ["<p:>"], "o": ["<o:>"]}
        rows = max(map(len, columns.values()), default=1)
        return pa.table({name: values * rows for name, values in good.items() if name not in columns} | columns)

    def test_missing_columns_are_refused(self) -> None:
        with pytest.raises(TableError, match=r"no column 'p'.*columns here are s, x"):
            table_to_batches(pa.table({"s": ["a"], "x": ["b"]}))
        with pytest.raises(TableError, match=r"no column 's'.*columns here are none"):
            table_to_batches(pa.table({}))

    def test_a_repeated_column_is_refused(self) -> None:
        table = pa.Table.from_arrays([pa.array(["a"])] * 4, ["s", "p", "o", "o"])
        with pytest.raises(TableError, match="more than one column 'o'"):
            table_to_batches(table)

    @pytest.mark.parametrize(
        "column", [[1], [b"a"], [{"value": "a"}], [{"kind": "iri", "value": 1}], [["a"]]], ids=repr
    )
    def test_columns_of_other_types_are_refused(self, column: list[Any]) -> None:
        with pytest.raises(TableError, match=r"no layout that we know.*o is "):
            table_to_batches(self.table(o=column))

    def test_another_layout_than_the_one_set_is_refused(self) -> None:
        with pytest.raises(TableError, match="column 's' is string, and in the layout 'struct' it holds structs"):
            table_to_batches(self.table(), layout="struct")
        with pytest.raises(TableError, match="no layout 'wide'"):
            table_to_batches(self.table(), layout="wide")  # type: ignore[arg-type]
        assert find_layout(self.table().schema) == "ntriples"

    def test_other_objects_are_refused(self) -> None:
        with pytest.raises(TableError, match="a list is not an Arrow table"):
            table_to_batches([1])

    @pytest.mark.parametrize("position", ["s", "p", "o"])
    def test_nulls_are_refused(self, position: str) -> None:
        for layout in LAYOUTS:
            whole = batch_to_arrow(Batch.from_statements(TRIPLES), layout)
            columns = dict(zip(whole.schema.names, whole.columns, strict=True))
            is_third = pa.array([False, False, True, False, False])
            columns[position] = pa.compute.if_else(is_third, None, columns[position])
            with pytest.raises(TableError, match=rf"column '{position}'.*null") as caught:
                back(pa.table(columns), batch_rows=2)
            assert caught.value.row == 2

    def test_nulls_in_parts_of_terms_are_refused(self) -> None:
        good = [term("iri", "urn:a")] * 2
        for part in ("kind", "value"):
            bad = {**good[0], part: None}
            with pytest.raises(TableError, match=f"^row 1: column 'o': the {part} of the term is null"):
                back(pa.table({"s": good, "p": good, "o": [good[0], bad]}))
            with pytest.raises(TableError, match=f"^row 1: column 'g': the {part} of the term is null"):
                back(pa.table({"s": good, "p": good, "o": good, "g": [None, bad]}))

    def test_an_unknown_kind_is_refused(self) -> None:
        good = [term("iri", "urn:a")] * 3
        bad = [*good[1:], term("uri", "urn:a")]
        with pytest.raises(TableError, match=r"^row 2: column 's': 'uri' is not a kind .* iri, bnode, literal, triple"):
            back(pa.table({"s": bad, "p": good, "o": good}))

    @pytest.mark.parametrize(
        ("bad", "said"),
        [
            (term("iri", "urn:a", datatype="urn:t"), "not a literal"),
            (term("bnode", "a", lang="en"), "not a literal"),
            (term("literal", "a", datatype="urn:t", lang="en"), "both a datatype and a language"),
            (term("literal", "a", lang=""), "the language is empty"),
            (term("triple", "<s:>"), "<<"),
            (term("triple", "<< <s:> <p:> >>"), "expected"),
        ],
    )
    def test_invalid_terms_are_refused(self, bad: dict[str, Any], said: str) -> None:
        good = [term("iri", "urn:a")] * 2
        with pytest.raises(TableError, match=rf"^row 1: column 'o': .*{said}"):
            back(pa.table({"s": good, "p": good, "o": [*good[1:], bad]}))
        flat = {"s": ["urn:a"] * 2, "p": ["urn:a"] * 2, "o": ["urn:a", bad["value"]], "o_kind": ["iri", bad["kind"]]}
        with pytest.raises(TableError, match=rf"^row 1: column 'o': .*{said}"):
            back(pa.table({**flat, "o_datatype": [None, bad["datatype"]], "o_lang": [None, bad["lang"]]}))

    @pytest.mark.parametrize("text", ["", "urn:a", "<urn:a", "<urn:a> ", '"a', "_:", "<urn:a> .", "<< <a:> <b:> >>"])
    def test_texts_that_are_not_terms_are_refused(self, text: str) -> None:
        with pytest.raises(TableError, match=r"^row 3: column 'o': .*in '") as caught:
            back(self.table(o=["<a:>", "<b:>", "<a:>", text, text]), batch_rows=2)
        assert caught.value.row == 3

    def test_flat_texts_that_are_not_terms_are_refused(self) -> None:
        for text in ('"a', "<< x"):
            table = self.table(s=["urn:s", "_:s", text], o_kind=["iri"] * 3)
            with pytest.raises(TableError, match=r"^row 2: column 's': "):
                back(table)

    def test_text_that_is_not_utf8_is_refused(self) -> None:
        def broken(good: str, *, is_last: bool = True) -> pa.Array:
            data = b"".join(good.encode() if row < 2 or not is_last else b"<a\xff:>" for row in range(3))
            ends = [0, len(good), 2 * len(good), len(data)]
            return pa.StringArray.from_buffers(3, pa.array(ends, pa.int32()).buffers()[1], pa.py_buffer(data))

        flat = {"s": "urn:s", "p": "urn:p", "o": "1", "o_kind": "literal", "o_datatype": "urn:t", "g": "urn:g"}
        for bad in (*flat, "o_lang"):
            columns = {name: broken(value, is_last=name == bad) for name, value in flat.items()}
            if bad == "o_lang":
                columns |= {"o_lang": broken("en"), "o_datatype": pa.nulls(3)}
            with pytest.raises(TableError, match=rf"^row 2: column '{bad[0]}': "):
                back(pa.table(columns))
        for bad in "spo":
            columns = {name: broken("<urn:a>", is_last=name == bad) for name in "spo"}
            with pytest.raises(TableError, match=rf"^row 2: column '{bad}': "):
                back(pa.table(columns))

    def test_invalid_frame_numbers_are_refused(self) -> None:
        with pytest.raises(TableError, match=r"'frame' is string"):
            table_to_batches(self.table(frame=["1"]))
        with pytest.raises(TableError, match=r"^row 1: column 'frame': null"):
            back(self.table(frame=[1, None]))
