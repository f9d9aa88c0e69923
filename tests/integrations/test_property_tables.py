"""Property tables: one row a subject, one typed column a predicate."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given

import jellyframe
from jellyframe import IRI, BlankNode, Literal, Triple, pivot
from jellyframe.errors import TableError
from jellyframe.integrations.class_tables import ClassProperties
from jellyframe.integrations.column_types import STRING, ColumnType
from jellyframe.integrations.property_tables import Property
from support.strategies import Shape, statement_lists

XSD = "http://www.w3.org/2001/XMLSchema#"
EX = "http://example.org/"
TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
P = IRI(EX + "p")


def column(*literals: tuple[str, str]) -> pa.ChunkedArray:
    """The column of one predicate, of a subject for each literal."""
    triples = [
        Triple(IRI(f"{EX}s{number}"), P, Literal(text, datatype=XSD + datatype))
        for number, (text, datatype) in enumerate(literals)
    ]
    return pivot(jellyframe.dumps(triples))["p"]


@pytest.mark.parametrize(
    ("literals", "kind", "values"),
    [
        ([("01", "integer"), ("-5", "int"), ("+7", "long")], pa.int64(), [1, -5, 7]),
        ([("9" * 19, "integer")], pa.decimal128(38, 0), [Decimal("9" * 19)]),
        ([("9" * 39, "integer")], pa.string(), ["9" * 39]),
        ([("1.50", "decimal"), ("-.5", "decimal")], pa.decimal128(38, 2), [Decimal("1.50"), Decimal("-0.50")]),
        ([("1.5", "decimal"), ("2", "integer")], pa.decimal128(38, 1), [Decimal("1.5"), Decimal("2.0")]),
        ([("2", "decimal"), ("3.", "decimal")], pa.decimal128(38, 0), [Decimal(2), Decimal(3)]),
        (
            [("1e3", "double"), ("INF", "double"), ("-INF", "float")],
            pa.float64(),
            [1000.0, float("inf"), -float("inf")],
        ),
        ([("true", "boolean"), ("0", "boolean")], pa.bool_(), [True, False]),
        ([("2024-02-29", "date")], pa.date32(), [date(2024, 2, 29)]),
        ([("2024-02-30", "date")], pa.string(), ["2024-02-30"]),
        ([("2024-02-29Z", "date")], pa.string(), ["2024-02-29Z"]),
        ([("2024-01-01T00:00:00.5", "dateTime")], pa.timestamp("us"), [datetime(2024, 1, 1, 0, 0, 0, 500000)]),
        (
            [("2024-01-01T00:00:00+01:00", "dateTime"), ("2024-01-01T00:00:00Z", "dateTime")],
            pa.timestamp("us", "UTC"),
            [datetime(2023, 12, 31, 23, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)],
        ),
        (
            [("2024-01-01T00:00:00", "dateTime"), ("2024-01-01T00:00:00Z", "dateTime")],
            pa.string(),
            ["2024-01-01T00:00:00", "2024-01-01T00:00:00Z"],
        ),
        ([("1", "integer"), ("true", "boolean")], pa.string(), ["1", "true"]),
        ([("1", "integer"), ("x", "integer")], pa.string(), ["1", "x"]),
        ([("text", "string")], pa.string(), ["text"]),
        ([("P1D", "duration")], pa.string(), ["P1D"]),
    ],
)
def test_types_follow_from_the_literals(literals, kind: pa.DataType, values: list) -> None:
    found = column(*literals)
    assert found.type == kind
    assert found.to_pylist() == values


def person(name: str, *others: Triple) -> list[Triple]:
    return [Triple(IRI(EX + name), TYPE, IRI(EX + "Person")), *others]


def test_a_class_or_all(tmp_path: Path) -> None:
    knows = IRI(EX + "knows")
    statements = [
        *person("a", Triple(IRI(EX + "a"), knows, IRI(EX + "b")), Triple(IRI(EX + "a"), knows, BlankNode("x"))),
        *person("b"),
        Triple(BlankNode("x"), P, Literal("hi", language="en")),
    ]
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write(statements)
    people = pivot(tmp_path / "x.jelly", IRI(EX + "Person"))
    assert people.to_pydict() == {
        "subject": [EX + "a", EX + "b"],
        "type": [EX + "Person", EX + "Person"],
        "knows": [[EX + "b", "_:x"], None],
    }
    assert people.schema.field("knows").metadata == {b"predicate": (EX + "knows").encode()}
    for layout in ("struct", "ntriples", "flat"):
        table = jellyframe.read_table(tmp_path / "x.jelly", layout)
        assert pivot(table, EX + "Person").equals(people)
        assert pivot(table)["subject"].to_pylist() == [EX + "a", EX + "b", "_:x"]
    assert pivot(tmp_path / "x.jelly", EX + "Nobody").num_rows == 0
    with pytest.raises(TableError, match="filter the table"):
        pivot(table, predicates="a:p")


def test_names_that_would_clash_are_whole() -> None:
    triples = [Triple(IRI("a:s"), IRI(iri), Literal("x")) for iri in ("http://a/Name", "http://b#name", "c:subject")]
    assert pivot(jellyframe.dumps(triples)).column_names == ["subject", "http://a/Name", "http://b#name", "c:subject"]


@given(statement_lists(Shape(), min_size=1))
def test_nothing_is_lost(triples: list[Triple]) -> None:
    table = pivot(jellyframe.dumps(triples))
    assert table.num_rows == len({triple.s for triple in triples})
    cells = sum(
        len(value) if isinstance(value, list) else 1
        for name in table.column_names[1:]
        for value in table[name].to_pylist()
        if value is not None
    )
    without_tags = {
        (t.s, t.p, t.o.lex, t.o.language is None and t.o.datatype) if isinstance(t.o, Literal) else t for t in triples
    }
    assert cells == len(without_tags)


def test_types_of_parts_merge() -> None:
    integer, decimal = ColumnType("integer", 3), ColumnType("decimal", 1, 2)
    assert integer.merged(decimal) == ColumnType("decimal", 3, 2)
    assert integer.merged(ColumnType("integer", 5)) == ColumnType("integer", 5)
    assert integer.merged(ColumnType("boolean")) == STRING
    assert ColumnType("decimal", 30, 0).merged(ColumnType("decimal", 0, 30)) == STRING
    found = [
        ClassProperties({EX + "A": {EX + "p": Property(integer, False)}}),
        ClassProperties({EX + "A": {EX + "p": Property(decimal, True)}, "http://b/A": {}, "": {}}),
    ]
    merged = ClassProperties.merged(ClassProperties.from_json(one.as_json()) for one in found)
    assert merged.classes[EX + "A"] == {EX + "p": Property(ColumnType("decimal", 3, 2), True)}
    folders = merged.folders()
    assert folders[""] == "untyped"
    assert len(set(folders.values())) == 3
