"""The numbers as text, JSON, VoID and a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jellyframe.errors import OptionsError
from jellyframe.ops.stats.counting import CLASS, GRAPH, OBJECT, PREDICATE, SUBJECT
from jellyframe.ops.stats.result import Statistics
from jellyframe.ops.stats.void import void_description
from jellyframe.report.statistics_page import statistics_page
from jellyframe.report.statistics_table import text_table
from support.browsers import assert_well_drawn, find_browser, seen_in

VOID = "http://rdfs.org/ns/void#"
XSD = "http://www.w3.org/2001/XMLSchema#"


def made(*, approximate: bool = False) -> Statistics:
    predicates = [(PREDICATE, f"<http://example.org/p{i}>", 10 * (i + 1), 1) for i in range(30)]
    classes = [(CLASS, f"<http://example.org/C{i}>", 3 + i, 2 + i) for i in range(4)]
    rows = [
        *predicates,
        *classes,
        (PREDICATE, "_:generalized", 1, 1),
        (PREDICATE, "<not absolute>", 2, 1),
        (CLASS, '"a literal"', 1, 1),
        (SUBJECT, "iri", 4000, 600),
        (SUBJECT, "bnode", 653, 100),
        (OBJECT, "iri", 2000, 500),
        (OBJECT, '"', 1000, 900),
        (OBJECT, f"^^{XSD}integer", 1000, 50),
        (OBJECT, "@en", 500, 400),
        (OBJECT, "@pl", 100, 90),
        (OBJECT, "triple", 53, 53),
        (GRAPH, "iri", 4000, 7),
        (GRAPH, "default", 653, 1),
    ]
    return Statistics.of(rows, approximate=approximate)


def test_the_table_is_cut_behind_the_first_lines() -> None:
    lines = text_table(made(), top=5).splitlines()
    assert lines[0].split() == ["statements", "4,653"]
    assert ["distinct", "graphs", "7"] in [line.split() for line in lines]
    at = next(i for i, line in enumerate(lines) if line.startswith("predicate"))
    assert lines[at + 1].split() == ["http://example.org/p29", "300"]
    assert lines[at + 6] == "… and 27 more"
    assert next(line for line in lines if line.startswith("xsd:integer")).split() == ["xsd:integer", "1,000", "50"]


def test_estimates_are_marked() -> None:
    lines = text_table(made(approximate=True), top=5).splitlines()
    assert any(line.split() == ["distinct", "objects", "about", "1,993"] for line in lines)
    assert any(line.split() == ["distinct", "predicates", "32"] for line in lines)


def test_json_has_all_of_it() -> None:
    document = json.loads(made().as_json())
    assert document["statements"] == 4653
    assert document["distinct"]["objects"] == 1993
    assert len(document["predicates"]) == 32
    assert {"class": "http://example.org/C3", "entities": 5, "statements": 6} in document["classes"]
    assert {"language": "en", "uses": 500, "distinct": 400} in document["languages"]


@pytest.mark.parametrize("dataset", [None, "https://example.org/data"])
def test_the_description_is_turtle(dataset: str | None) -> None:
    ox = pytest.importorskip("pyoxigraph")
    text = void_description(made(), dataset=dataset, title='the "data"\n')
    store = ox.Store()
    store.load(text.encode(), ox.RdfFormat.TURTLE)
    (found,) = store.query(
        f"""PREFIX void: <{VOID}>
        SELECT ?d ?triples ?subjects ?objects ?title WHERE {{
          ?d a void:Dataset ; void:triples ?triples ; void:distinctSubjects ?subjects ;
             void:distinctObjects ?objects ; <http://purl.org/dc/terms/title> ?title }}"""
    )
    assert [int(found[name].value) for name in ("triples", "subjects", "objects")] == [4653, 700, 1993]
    assert found["title"].value == 'the "data"\n'
    if dataset is not None:
        assert found["d"].value == dataset
    properties = store.query(f"SELECT ?p ?n {{ ?x <{VOID}property> ?p ; <{VOID}triples> ?n }}")
    assert {row["p"].value: int(row["n"].value) for row in properties} == {
        f"http://example.org/p{i}": 10 * (i + 1) for i in range(30)
    }
    classes = store.query(f"SELECT ?c ?n {{ ?x <{VOID}class> ?c ; <{VOID}entities> ?n }}")
    assert {row["c"].value: int(row["n"].value) for row in classes} == {
        f"http://example.org/C{i}": 2 + i for i in range(4)
    }


def test_a_data_set_needs_a_proper_name() -> None:
    with pytest.raises(OptionsError, match="absolute IRI"):
        void_description(made(), dataset="my data")


@pytest.mark.parametrize("width", [1280, 520])
def test_the_page_is_drawn(tmp_path: Path, width: int) -> None:
    seen = seen_in(find_browser(), statistics_page(made(), "people", top=8), tmp_path, width)
    assert seen["figures"] == ["Kinds of terms", "Predicates", "Classes", "Datatypes", "Languages"]
    assert_well_drawn(seen, 5)
    assert seen["tables"] == 7 + 8 + 5 + 3 + 2


def test_empty_statistics_give_a_page() -> None:
    assert "Statements" in statistics_page(Statistics(), "nothing", top=8)
