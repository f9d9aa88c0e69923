"""Statements as graphs of NetworkX, and back."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, EncodeError, Literal, OptionsError, Quad, Triple, from_networkx, to_networkx
from support.strategies import Shape, statement_lists

A, B, P, Q, G = (IRI(f"http://example.org/{name}") for name in "abpqg")


@given(statement_lists(Shape(star=True), min_size=1))
def test_triples_survive_a_round_trip(triples: list[Triple]) -> None:
    assert set(from_networkx(to_networkx(triples))) == set(triples)


@given(statement_lists(Shape(quads=True), min_size=1))
def test_quads_survive_a_round_trip(quads: list[Quad]) -> None:
    assert set(from_networkx(to_networkx(quads))) == set(quads)


def test_terms_are_nodes_with_attributes(tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write([Triple(A, P, B), Triple(A, Q, B), Triple(B, P, Literal("x", language="en"))])
    graph = to_networkx(tmp_path / "x.jelly")
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.nodes[A] == {"kind": "iri", "value": A.value}
    assert graph.nodes[Literal("x", language="en")] == {"kind": "literal", "value": "x", "lang": "en"}
    assert graph.edges[A, B, P]["predicate"] == P
    assert nx.shortest_path_length(graph, A, Literal("x", language="en")) == 2
    assert to_networkx([tmp_path / "x.jelly"], predicates=Q).number_of_edges() == 1


def test_graphs_of_other_makers_are_read_or_refused() -> None:
    graph = nx.DiGraph()
    graph.add_edge(A, B, predicate=P, graph=G)
    graph.add_edge(B, A, predicate=P)
    assert set(from_networkx(graph)) == {Quad(A, P, B, G), Quad(B, P, A, DEFAULT_GRAPH)}
    with pytest.raises(EncodeError, match="directed"):
        list(from_networkx(nx.Graph()))
    with pytest.raises(EncodeError, match="a str where a term is needed"):
        list(from_networkx(nx.DiGraph([("a", "b")])))
    with pytest.raises(EncodeError, match="a NoneType where"):
        list(from_networkx(nx.DiGraph([(A, B)])))


def test_filters_are_refused_for_statements() -> None:
    with pytest.raises(OptionsError, match="not for statements"):
        to_networkx([Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))], subjects="a:x")
