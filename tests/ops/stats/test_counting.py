"""The counts of tasks, compared with counting the statements one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from jellyframe import DEFAULT_GRAPH, IRI, Literal, Quad, Triple
from jellyframe.batch import Batch
from jellyframe.ops.stats.counting import bad_records, counted
from jellyframe.ops.stats.result import Statistics
from support.spark_data import SPECIAL, iri, quads

TYPE = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
TYPED = [
    Quad(iri("s0"), TYPE, iri("Person"), DEFAULT_GRAPH),
    Quad(iri("s0"), TYPE, iri("Person"), iri("g1")),
    Quad(iri("s1"), TYPE, iri("Person"), iri("g1")),
    Quad(iri("s1"), TYPE, Literal("Person"), iri("g1")),
]
STATEMENTS = [*quads(300), *SPECIAL, *TYPED]


def statistics(batches: Iterable[list[Any]]) -> Statistics:
    """Sums up as Spark does."""
    terms: Counter[tuple[Any, ...]] = Counter()
    for rows in counted(Batch.from_statements(statements) for statements in batches):
        for position, key, high, low, uses in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            terms[position, key, high, low] += uses
    sums: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for (position, key, _high, _low), uses in terms.items():
        sums[position, key][0] += uses
        sums[position, key][1] += 1
    return Statistics.of((position, key, uses, distinct) for (position, key), (uses, distinct) in sums.items())


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_the_numbers_are_those_of_the_statements(rows: int) -> None:
    result = statistics(STATEMENTS[start : start + rows] for start in range(0, len(STATEMENTS), rows))
    assert result.statements == len(STATEMENTS)
    named = [quad for quad in STATEMENTS if quad.g is not DEFAULT_GRAPH]
    assert result.default_graph == len(STATEMENTS) - len(named)
    assert result.distinct == {
        "subjects": len({quad.s for quad in STATEMENTS}),
        "predicates": len({quad.p for quad in STATEMENTS}),
        "objects": len({quad.o for quad in STATEMENTS}),
        "graphs": len({quad.g for quad in named}),
        "classes": 2,
    }
    assert {name: count.uses for name, count in result.predicates.items()} == Counter(
        quad.p.value if isinstance(quad.p, IRI) else str(quad.p) for quad in STATEMENTS
    )
    literals = [quad.o for quad in STATEMENTS if isinstance(quad.o, Literal)]
    assert {name: count.uses for name, count in result.datatypes.items()} == Counter(
        literal.datatype for literal in literals
    )
    assert {name: count.distinct for name, count in result.datatypes.items()} == Counter(
        literal.datatype for literal in set(literals)
    )
    assert {name: count.uses for name, count in result.languages.items()} == {"fr": 1}
    triples = sum(isinstance(term, Triple) for quad in STATEMENTS for term in (quad.s, quad.o))
    assert result.uses_by_kind["triple"] == triples


def test_an_entity_counts_once_in_a_class() -> None:
    result = statistics([[quad] for quad in TYPED])
    person = result.classes["http://example.org/Person"]
    assert (person.uses, person.distinct) == (3, 2)
    assert result.classes['"Person"'].distinct == 1


def test_triples_are_in_the_default_graph() -> None:
    result = statistics([[Triple(iri("s"), iri("p"), iri("o"))], []])
    assert result.default_graph == result.statements == 1
    assert result.distinct["graphs"] == 0


def test_lists_are_in_the_order_of_use() -> None:
    result = statistics([STATEMENTS])
    uses = [count.uses for count in result.predicates.values()]
    assert uses == sorted(uses, reverse=True)


def test_bad_records_are_counted_and_reported() -> None:
    rows = bad_records(["line 3: no", "line 1: no"], 5).to_pylist()
    result = Statistics.of((row["position"], row["key"], row["uses"], 1) for row in rows)
    assert (result.bad_records, result.problems, result.statements) == (5, ["line 1: no", "line 3: no"], 0)
