"""Stores of pyoxigraph, loaded from Jelly and dumped as Jelly."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, JellyError, Literal, NamedGraphError, Quad, TextError, Triple
from jellyframe.pyoxigraph import dump, load

A, P, G = IRI("http://example.org/a"), IRI("http://example.org/p"), IRI("http://example.org/g")
QUADS = [
    Quad(A, P, Literal('x\n"y" é', language="en"), G),
    Quad(BlankNode("b1"), P, Literal("1", datatype="http://www.w3.org/2001/XMLSchema#integer"), DEFAULT_GRAPH),
    Quad(A, P, BlankNode("b1"), DEFAULT_GRAPH),
]


def write(path: Path, statements) -> Path:
    with jellyframe.open_writer(path) as writer:
        writer.write(statements)
    return path


def read(path: Path) -> set:
    with jellyframe.open_reader(path) as reader:
        return set(reader)


def test_quads_are_loaded_and_dumped(tmp_path: Path) -> None:
    store = ox.Store()
    assert jellyframe.pyoxigraph.load(store, write(tmp_path / "x.jelly", QUADS)) == 3
    assert len(store) == 3
    assert dump(store, tmp_path / "y.jelly") == 3
    assert jellyframe.compare(tmp_path / "x.jelly", tmp_path / "y.jelly").is_equal


def test_a_store_is_the_same_as_from_nquads(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jelly", QUADS)
    jellyframe.convert(path, tmp_path / "x.nq")
    ours, theirs = ox.Store(), ox.Store()
    load(ours, path)
    theirs.bulk_load(path=str(tmp_path / "x.nq"))
    named = ox.NamedNode(G.value)
    assert set(ours.quads_for_pattern(None, None, None, named)) == set(
        theirs.quads_for_pattern(None, None, None, named)
    )
    assert len(ours) == len(theirs)


def test_many_statements_pass_in_blocks(tmp_path: Path) -> None:
    triples = [Triple(IRI(f"http://example.org/{number}"), P, Literal("x" * 400)) for number in range(20_000)]
    path = write(tmp_path / "x.jelly", triples)
    store = ox.Store()
    assert load(store, path) == 20_000
    assert dump(store, tmp_path / "y.jelly") == 20_000
    assert read(tmp_path / "y.jelly") == {Quad(*triple, DEFAULT_GRAPH) for triple in triples}
    assert dump((quad.triple for quad in store), tmp_path / "y.jelly") == 20_000
    assert read(tmp_path / "y.jelly") == set(triples)


def test_load_takes_a_graph_and_filters(tmp_path: Path) -> None:
    store = ox.Store()
    triples = write(tmp_path / "x.jelly", [Triple(A, P, A), Triple(G, P, A)])
    assert load(store, triples, to_graph=ox.NamedNode("http://example.org/to"), subjects=A) == 1
    assert [quad.graph_name.value for quad in store] == ["http://example.org/to"]
    with pytest.raises(NamedGraphError, match="which a load with to_graph cannot hold") as caught:
        load(store, write(tmp_path / "q.jelly", QUADS), to_graph=ox.DefaultGraph())
    assert "merge_graphs" not in str(caught.value)


def test_a_pattern_can_be_dumped(tmp_path: Path) -> None:
    store = ox.Store()
    load(store, write(tmp_path / "x.jelly", QUADS))
    assert dump(store.quads_for_pattern(None, None, None, ox.NamedNode(G.value)), tmp_path / "y.jelly") == 1
    assert read(tmp_path / "y.jelly") == {QUADS[0]}


def test_quoted_triples_and_triple_terms_are_refused(tmp_path: Path) -> None:
    quoted = write(tmp_path / "x.jelly", [Triple(Triple(A, P, A), P, A)])
    with pytest.raises(TextError, match="pyoxigraph has no place for statement 1"):
        load(ox.Store(), quoted)
    store = ox.Store()
    node = ox.NamedNode("http://example.org/a")
    store.add(ox.Quad(node, node, ox.Triple(node, node, node)))
    with pytest.raises(TextError, match="has no place in Jelly"):
        dump(store, tmp_path / "y.jelly")
    assert not (tmp_path / "y.jelly").exists()
    (tmp_path / "bad.jelly").write_bytes(b"no jelly at all")
    with pytest.raises(JellyError, match=r"bad\.jelly"):
        load(store, tmp_path / "bad.jelly")
    with pytest.raises(OSError, match="missing"):
        load(store, tmp_path / "missing.jelly")
