"""Dictionary-encoded columns: the same strings as plain ones, made once, and back."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe.arrow.tables import batch_to_arrow, table_to_batches
from jellyframe.batch import Batch
from jellyframe.options import LayoutName
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.strategies import any_statements

LAYOUTS = ("struct", "ntriples", "flat")
S, P = IRI("http://example.org/s"), IRI("http://example.org/p")
LONG = "x" * 500
QUADS = [
    Quad(S, P, Literal("a", language="en"), DEFAULT_GRAPH),
    Quad(BlankNode("b"), P, Literal("a", "http://example.org/t"), S),
    Quad(S, P, Literal("a"), DEFAULT_GRAPH),
    Quad(S, P, IRI("a:"), S),
    Quad(S, P, Literal(LONG), S),
    Quad(S, P, Literal(LONG, language="en"), S),
    Quad(S, P, Literal(LONG), S),
    Quad(S, P, Triple(S, P, Literal("a")), DEFAULT_GRAPH),
    Quad(S, P, Triple(S, P, Literal("a")), DEFAULT_GRAPH),
]


def plain(array: Any) -> list[Any]:
    return array.to_pylist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dictionary_columns_equal_plain_columns(layout: LayoutName) -> None:
    batch = Batch.from_statements(QUADS)
    ours, expected = (batch_to_arrow(batch, layout, dictionary=is_dictionary) for is_dictionary in (True, False))
    ours.validate(full=True)
    assert ours.to_pylist() == expected.to_pylist()
    assert "dictionary" in str(ours.schema.field("s").type)
    assert ours.equals(batch.to_arrow(layout, dictionary=True))


@given(any_statements(), st.sampled_from(LAYOUTS))
def test_tables_survive_a_round_trip(statements: list[Triple | Quad], layout: LayoutName) -> None:
    batch = Batch.from_statements(statements)
    try:
        table = batch_to_arrow(batch, layout, dictionary=True)
    except jellyframe.TableError:
        assert layout == "flat"
        return
    assert table.to_pylist() == batch_to_arrow(batch, layout).to_pylist()
    back = [statement for part in table_to_batches(table) for statement in part.statements()]
    assert back == statements


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_dictionary_has_each_string_once(layout: LayoutName) -> None:
    column = batch_to_arrow(Batch.from_statements(QUADS), layout, dictionary=True)["o"]
    values = column.field("value") if layout == "struct" else column
    strings = values.dictionary.to_pylist()
    assert len(strings) == len(set(strings))


def test_repeated_long_strings_become_one_term() -> None:
    quads = [Quad(S, P, Literal("y" * 100_000), S)] * 2000
    table = batch_to_arrow(Batch.from_statements(quads), dictionary=True)
    (batch,) = table_to_batches(table)
    assert batch.terms.values.data_size < 200_000
    assert batch.statements() == quads


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_a_table_with_one_dictionary_take_only_their_terms(layout: LayoutName) -> None:
    statements = [Triple(S, P, Literal(str(number))) for number in range(1000)]
    table = batch_to_arrow(Batch.from_statements(statements), layout, dictionary=True)
    parts = list(table_to_batches(table, batch_rows=10))
    assert [statement for part in parts for statement in part.statements()] == statements
    assert max(part.terms.count for part in parts) < 20


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reader_views_give_dictionaries(layout: LayoutName) -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(QUADS)
    table = jellyframe.read_table(sink.getvalue(), layout, dictionary=True, columns=["o", "s", "p"])
    assert table.to_pylist() == jellyframe.read_table(sink.getvalue(), layout, columns=["o", "s", "p"]).to_pylist()
    with jellyframe.open_reader(sink.getvalue()) as reader:
        batches = reader.record_batches(layout, dictionary=True).read_all()
    again = io.BytesIO()
    jellyframe.write_table(batches, again)
    with jellyframe.open_reader(again.getvalue()) as reader:
        assert list(reader) == QUADS
    assert isinstance(pa.table({"o": table["o"].combine_chunks()}).num_rows, int)
