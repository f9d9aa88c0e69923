"""Property tables: one row a subject, one typed column a predicate."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe import IRI, BlankNode, Literal, Triple, pivot
from jellyframe.batch import Batch
from jellyframe.errors import TableError
from jellyframe.integrations import property_columns
from jellyframe.integrations.class_tables import folder_names
from jellyframe.integrations.column_types import STRING, ColumnType
from jellyframe.integrations.planned_files import PartFile, fits, plan_of
from jellyframe.integrations.property_columns import Property, make_table, properties_of
from jellyframe.integrations.subject_rows import SubjectRows
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


def test_pivot_takes_a_class_or_all_subjects(tmp_path: Path) -> None:
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


def test_clashing_column_names_are_whole_iris() -> None:
    triples = [Triple(IRI("a:s"), IRI(iri), Literal("x")) for iri in ("http://a/Name", "http://b#name", "c:subject")]
    assert pivot(jellyframe.dumps(triples)).column_names == ["subject", "http://a/Name", "http://b#name", "c:subject"]


@given(statement_lists(Shape(), min_size=1))
def test_every_value_is_in_a_cell(triples: list[Triple]) -> None:
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


def test_column_types_of_parts_are_merged() -> None:
    integer, decimal = ColumnType("integer", 3), ColumnType("decimal", 1, 2)
    assert integer.merged(decimal) == ColumnType("decimal", 3, 2)
    assert integer.merged(ColumnType("integer", 5)) == ColumnType("integer", 5)
    assert integer.merged(ColumnType("boolean")) == STRING
    assert ColumnType("decimal", 30, 0).merged(ColumnType("decimal", 0, 30)) == STRING
    found = [
        PartFile(EX + "A", "a", 1, 1, {EX + "p": Property(integer, False)}),
        PartFile(EX + "A", "b", 1, 1, {EX + "p": Property(decimal, True)}),
        PartFile("http://b/A", "c", 1, 1, {}),
        PartFile("", "d", 1, 1, {}),
    ]
    plan = plan_of(PartFile.from_json(json.loads(json.dumps(table.as_json()))) for table in found)
    assert plan == {EX + "A": {EX + "p": Property(ColumnType("decimal", 3, 2), True)}, "http://b/A": {}, "": {}}
    assert [fits(table.columns, plan[table.table]) for table in found] == [False, True, True, True]
    assert fits({EX + "p": Property(integer, False)}, {EX + "p": Property(ColumnType("integer", 5), False)})
    folders = folder_names(plan)
    assert folders[""] == "untyped"
    assert len(set(folders.values())) == 3


def test_the_same_value_counts_once_however_it_is_stored() -> None:
    long = "x" * 1000
    typed = [Literal("1", datatype=f"{EX}t{number}") for number in range(100)]
    values: list[Literal | IRI] = [
        Literal("Paris", language="en"),
        Literal("Paris", language="fr"),
        Literal("Paris"),
        Literal(long),
        Literal(long, language="de"),
        IRI(EX + long),
        *typed,
    ]
    triples = [Triple(IRI(EX + "s"), P, value) for value in values * 3]
    # In frames of one row, so that no two of them are in one batch.
    data = b"".join(jellyframe.dumps([triple]) for triple in triples)
    table = pivot(data, concatenated=True)
    assert table["p"].to_pylist() == [["Paris", long, EX + long, *["1"] * 100]]


def test_tables_of_all_classes_equal_those_of_each(tmp_path: Path) -> None:
    triples = []
    for number in range(100):
        subject = IRI(f"{EX}s{number}")
        triples += [Triple(subject, TYPE, IRI(f"{EX}C{divisor}")) for divisor in (2, 3, 5) if number % divisor == 0]
        triples.append(Triple(subject, IRI(f"{EX}p{number % 4}"), Literal(str(number), datatype=XSD + "integer")))
    # Statements of a subject come apart.
    triples = triples[::2] + triples[1::2]
    rows = SubjectRows.of([Batch.from_statements(triples)])
    found = dict(rows.by_class())
    assert set(found) == {EX + "C2", EX + "C3", EX + "C5", ""}
    for class_iri, chosen in found.items():
        if class_iri:
            parts = chosen.parts()
            table = make_table(chosen, parts, properties_of(chosen.terms, parts))
            assert table.equals(pivot(jellyframe.dumps(triples), class_iri))
    typed = {str(triple.s) for triple in triples if triple.p == TYPE}
    others = {str(triple.s) for triple in triples} - typed
    assert {f"<{name}>" for name in found[""].names.to_pylist()} == others


def test_an_iri_that_looks_like_another_term_is_refused() -> None:
    with pytest.raises(TableError, match="cannot be recognised as one"):
        pivot(jellyframe.dumps([Triple(IRI("_:x"), P, Literal("y"))]))


@given(statement_lists(Shape(), min_size=1), st.integers(1, 20))
def test_tables_of_some_subjects_are_parts_of_the_table_of_all(triples: list[Triple], cells: int) -> None:
    rows = SubjectRows.of([Batch.from_statements(triples)])
    parts = rows.parts()
    properties = properties_of(rows.terms, parts)
    whole = make_table(rows, parts, properties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(property_columns, "_MOST_CELLS", cells)
        tables = list(property_columns.make_tables(rows, parts, properties))
    assert all(len(table) == 1 or table.num_columns * len(table) <= cells for table in tables)
    assert pa.concat_tables(tables).equals(whole)


VALUES = {
    "boolean": ("true", "0"),
    "integer": ("1", "12345678901234567890"),
    "decimal": ("1.5", "2"),
    "double": ("INF", "1e3"),
    "date": ("2020-02-29", "0001-01-01"),
    "dateTime": ("2020-02-29T00:00:00", "2020-02-29T00:00:00Z"),
    "string": ("", "x"),
}


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(sorted(VALUES)), st.integers(0, 1)), min_size=1))
def test_a_cell_is_null_exactly_if_there_is_no_value(given: list[tuple[int, str, int]]) -> None:
    triples = [
        Triple(IRI(f"a:{subject}"), IRI(f"a:{name}"), Literal(VALUES[name][which], datatype=XSD + name))
        for subject, name, which in given
    ]
    table = pivot(jellyframe.dumps(triples))
    values: dict[tuple[str, str], set[int]] = {}
    for subject, name, which in given:
        values.setdefault((f"a:{subject}", name), set()).add(which)
    for row in table.to_pylist():
        for name in table.column_names[1:]:
            expected, found = values.get((row["subject"], name)), row[name]
            assert (found is None) == (expected is None)
            assert expected is None or len(found if isinstance(found, list) else [found]) == len(expected)


@pytest.mark.parametrize(
    ("datatype", "inside", "outside"),
    [
        ("date", ("0001-01-01", "9999-12-31"), ("0000-12-31",)),
        ("dateTime", ("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"), ("0000-12-31T23:59:59",)),
        (
            "dateTime",
            ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
            ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
        ),
    ],
)
def test_dates_beyond_python_are_strings(datatype: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> None:
    def column(texts: tuple[str, ...]) -> pa.ChunkedArray:
        triples = [
            Triple(IRI(f"a:{number}"), IRI("a:p"), Literal(text, datatype=XSD + datatype))
            for number, text in enumerate(texts)
        ]
        return pivot(jellyframe.dumps(triples))["p"]

    assert not pa.types.is_string(column(inside).type)
    assert {value.year for value in column(inside).to_pylist()} == {1, 9999}
    for text in outside:
        assert column((*inside, text)).to_pylist() == [*inside, text]
