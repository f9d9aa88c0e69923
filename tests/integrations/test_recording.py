"""Hostile cases of recording: partial failures, and terms that rdflib or pyoxigraph treats differently from RDF."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pyoxigraph
import pytest
import rdflib
from rdflib.namespace import NamespaceManager
from rdflib.plugins.stores.memory import Memory

from jellyframe.errors import NamedGraphError, TextError, UsageError
from jellyframe.integrations.patch_applying import apply_patch
from jellyframe.integrations.patch_recording import record
from jellyframe.patch import (
    Add,
    Delete,
    NamespaceAdd,
    NamespaceDelete,
    PatchOptions,
    PatchStatementType,
    PatchStreamType,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.terms import DEFAULT_GRAPH, IRI, Literal
from support.recorded import Recorded

# rdflib warns about its own calls.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")

EX = rdflib.Namespace("http://example.org/")
A, B, P = IRI(EX.a), IRI(EX.b), IRI(EX.p)
TRIPLES = PatchOptions(statement_type=PatchStatementType.TRIPLES, stream_type=PatchStreamType.FLAT)
SIMPLE, TYPED = rdflib.Literal("x"), rdflib.Literal("x", datatype=rdflib.XSD.string)


def node(name: str) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(f"{EX}{name}")


def quad(name: str, graph: Any = None) -> pyoxigraph.Quad:
    return pyoxigraph.Quad(node(name), node("p"), node("o"), graph or pyoxigraph.DefaultGraph())


def then_fail(*items: Any) -> Iterator[Any]:
    yield from items
    raise ZeroDivisionError


# ---- graphs and datasets of rdflib ----


def test_removing_with_a_wildcard_stops_at_the_first_statement_that_is_refused():
    dataset = rdflib.Dataset()
    dataset.add((EX.a, EX.p, EX.b))
    for name in ("c", "d", "e"):
        dataset.graph(EX.g).add((EX[name], EX.p, EX.b))
    out = Recorded(TRIPLES)
    with pytest.raises(NamedGraphError):
        record(dataset, out.writer).graph.remove((None, None, None, None))  # type: ignore[arg-type]
    removed = [row for row in out.rows() if isinstance(row, Delete)]
    assert removed in ([], [Delete(A, P, B)])
    assert len(list(dataset.quads())) == 4 - len(removed)


@pytest.mark.parametrize("value", [SIMPLE, TYPED])
def test_both_forms_of_a_string_are_rolled_back(value):
    graph = rdflib.Graph()
    recording = record(graph, Recorded().writer)
    with pytest.raises(ZeroDivisionError), recording as recorded:
        recorded.addN(then_fail((EX.a, EX.p, value, recorded)))
    assert len(graph) == 0
    graph.add((EX.a, EX.p, value))
    with pytest.raises(ZeroDivisionError), recording as recorded:  # noqa: PT012 - the error ends a transaction
        recorded.remove((EX.a, None, None))
        raise ZeroDivisionError
    assert [str(kept) for kept in graph.objects()] == ["x"]


def test_a_string_is_recorded_with_its_first_form_and_deleted_with_its_last():
    graph = rdflib.Graph()
    out = Recorded(TRIPLES)
    recorded = record(graph, out.writer).graph
    for value in (SIMPLE, TYPED):
        recorded.add((EX.a, EX.p, value))
    for value in (SIMPLE, TYPED):
        recorded.remove((EX.a, EX.p, value))
    assert out.rows() == [Add(A, P, Literal("x")), Delete(A, P, Literal("x"))]


def test_sparql_updates_of_named_graphs_are_recorded():
    dataset = rdflib.Dataset()
    out = Recorded()
    with record(dataset, out.writer) as recorded:
        recorded.update(f"INSERT DATA {{ GRAPH <{EX.g}> {{ <{EX.a}> <{EX.p}> 1, 2, 3 }} }}")
        recorded.update(f"COPY <{EX.g}> TO <{EX.kept}>")
        recorded.update(f"MOVE <{EX.g}> TO <{EX.h}>")
        recorded.update(
            "DELETE { GRAPH ?g { ?s ?p 1 } } INSERT { GRAPH ?g { ?s ?p 9 } } WHERE { GRAPH ?g { ?s ?p 1 } }"
        )
        recorded.update(f"DROP GRAPH <{EX.h}>")
        recorded.remove_graph(EX.unknown)
    copy = rdflib.Dataset()
    apply_patch(out.rows(), copy)
    assert set(copy.quads()) == set(dataset.quads())
    assert {str(value) for value in dataset.graph(EX.kept).objects()} == {"2", "3", "9"}


def test_a_graph_that_is_removed_wholesale_comes_back_when_the_block_fails():
    dataset = rdflib.Dataset()
    nodes = [rdflib.BNode(), EX.a]
    for name in nodes:
        dataset.graph(name).add((rdflib.BNode("n"), EX.p, EX.b))
    before = set(dataset.quads())
    with pytest.raises(ZeroDivisionError), record(dataset, Recorded().writer) as recorded:  # noqa: PT012
        for name in nodes:
            recorded.remove_graph(name)
        assert not list(recorded.quads())
        raise ZeroDivisionError
    assert set(dataset.quads()) == before


def test_input_that_fails_half_way_keeps_graph_and_patch_equal():
    graph = rdflib.Graph()
    out = Recorded(TRIPLES)
    recording = record(graph, out.writer)
    recorded = recording.graph
    with pytest.raises(ZeroDivisionError):
        recorded += then_fail((EX.a, EX.p, EX.b))
    with pytest.raises(ZeroDivisionError), recording as recorded:
        recorded -= then_fail((EX.a, EX.p, EX.b))
    copy = rdflib.Graph()
    apply_patch(out.rows(), copy)
    assert set(graph) == set(copy)


def test_calls_that_change_nothing_are_not_recorded():
    graph = rdflib.Graph()
    graph.add((EX.a, EX.p, EX.b))
    out = Recorded(TRIPLES)
    with record(graph, out.writer) as recorded:
        recorded.add((EX.a, EX.p, EX.b))
        recorded += [(EX.a, EX.p, EX.b)]
        recorded.remove((EX.b, None, None))
        recorded -= [(EX.b, EX.p, EX.b)]
        recorded.update(f"DELETE DATA {{ <{EX.b}> <{EX.p}> 1 }}")
    assert out.rows() == []


def test_a_failing_block_inside_a_block_undoes_both():
    graph = rdflib.Graph()
    out = Recorded()
    recording = record(graph, out.writer)
    with pytest.raises(UsageError, match="only one at a time"), recording as recorded:  # noqa: PT012
        recorded.add((EX.a, EX.p, EX.b))
        with recording:
            pass
    assert len(graph) == 0
    with recording as recorded:
        recorded.add((EX.a, EX.p, EX.a))
    assert out.rows() == [TransactionStart(), Add(A, P, A, DEFAULT_GRAPH), TransactionCommit()]


def test_two_recordings_of_a_graph_record_their_own_changes():
    graph = rdflib.Graph()
    first, second = Recorded(TRIPLES), Recorded(TRIPLES)
    with record(graph, first.writer) as one, record(graph, second.writer) as two:
        one.add((EX.a, EX.p, EX.a))
        two.add((EX.a, EX.p, EX.a))
        two.add((EX.b, EX.p, EX.b))
        one.remove((EX.b, EX.p, None))
    statements = [TransactionStart(), Add(A, P, A), Delete(B, P, B), TransactionCommit()]
    assert first.rows() == statements
    assert second.rows() == [TransactionStart(), Add(B, P, B), TransactionCommit()]


def test_a_recording_of_a_recording_undoes_in_both():
    graph = rdflib.Graph()
    outer, inner = Recorded(TRIPLES), Recorded(TRIPLES)
    recorded = record(graph, inner.writer).graph
    with pytest.raises(ZeroDivisionError), record(recorded, outer.writer) as again:  # noqa: PT012
        again.add((EX.a, EX.p, EX.a))
        raise ZeroDivisionError
    assert len(graph) == 0
    assert outer.rows() == []
    assert inner.rows() == [Add(A, P, A), Delete(A, P, A)]


def test_a_namespace_that_was_rolled_back_is_recorded_when_it_is_bound_again():
    graph = rdflib.Graph()
    out = Recorded(TRIPLES)
    recording = record(graph, out.writer)
    with pytest.raises(ZeroDivisionError), recording as recorded:  # noqa: PT012
        recorded.bind("mine", EX)
        raise ZeroDivisionError
    assert "mine" not in dict(recording.graph.namespaces())
    assert recording.graph.store.prefix(rdflib.URIRef(EX)) is None
    with recording as recorded:
        recorded.bind("mine", EX)
        assert dict(recorded.namespaces())["mine"] == rdflib.URIRef(EX)
    assert NamespaceAdd("mine", IRI(str(EX))) in out.rows()


def test_a_namespace_that_replaces_another():
    graph = rdflib.Graph()
    graph.bind("mine", EX)
    out = Recorded(TRIPLES)
    recording = record(graph, out.writer)
    with pytest.raises(ZeroDivisionError), recording as recorded:  # noqa: PT012
        recorded.bind("mine", EX["other/"], override=True, replace=True)
        raise ZeroDivisionError
    assert dict(graph.namespaces())["mine"] == rdflib.URIRef(EX)
    with recording as recorded:
        recorded.bind("mine", EX["other/"], override=True, replace=True)
        recorded.bind("yours", EX["other/"], override=True, replace=True)
    other = IRI(f"{EX}other/")
    assert out.rows()[1:-1] == [
        NamespaceDelete("mine", IRI(str(EX))),
        NamespaceAdd("mine", other),
        NamespaceDelete("mine", other),
        NamespaceAdd("yours", other),
    ]


def test_namespaces_of_rdflib_itself_are_not_recorded():
    dataset = rdflib.Dataset()
    dataset.namespace_manager = NamespaceManager(dataset, bind_namespaces="none")
    out = Recorded()
    with record(dataset, out.writer) as recorded:
        list(recorded.namespaces())
        recorded.add((EX.a, EX.p, EX.b))
    assert out.rows()[1:-1] == [Add(A, P, B, DEFAULT_GRAPH)]


def test_a_store_with_transactions_of_its_own():
    calls = []

    class Persistent(Memory):
        transaction_aware = True

        def commit(self) -> None:
            calls.append("commit")

    recorded = record(rdflib.Graph(store=Persistent()), Recorded().writer).graph
    recorded.commit()
    assert calls == ["commit"]
    with pytest.raises(UsageError, match="no rollback"):
        recorded.rollback()


def test_the_default_graph_of_a_conjunctive_graph_is_its_own():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        graph = rdflib.ConjunctiveGraph()
        apply_patch([Add(A, P, B)], graph)
        assert set(graph.default_context) == {(EX.a, EX.p, EX.b)}


def test_a_string_that_rdflib_has_in_its_other_form_is_not_added_again():
    graph = rdflib.Graph()
    graph.add((EX.a, EX.p, TYPED))
    apply_patch([Add(A, P, Literal("x"))], graph)
    assert len(graph) == 1


# ---- stores of pyoxigraph ----


def test_an_update_is_undone_from_the_first_row_that_is_refused():
    store = pyoxigraph.Store()
    out = Recorded(TRIPLES)
    graph = f"GRAPH <{EX.g}> {{ <{EX.a}> <{EX.p}> <{EX.b}>, 1, 2, 3 }}"
    with pytest.raises(NamedGraphError):
        record(store, out.writer).graph.update(f"INSERT DATA {{ <{EX.a}> <{EX.p}> <{EX.b}> . {graph} }}")
    copy: pyoxigraph.Store = pyoxigraph.Store()
    apply_patch(out.rows(), copy)
    assert set(store) == set(copy)


def test_an_update_with_terms_that_a_patch_cannot_hold_is_undone():
    store = pyoxigraph.Store()
    store.add(pyoxigraph.Quad(pyoxigraph.BlankNode("n"), node("p"), pyoxigraph.Literal("é", language="fr"), node("g")))
    store.add_graph(node("empty"))
    before = set(store)
    out = Recorded()
    term = f"<<( <{EX.a}> <{EX.p}> 1 )>>"
    with pytest.raises(TextError, match="triple term"), record(store, out.writer) as recorded:
        recorded.update(
            f"DELETE {{ GRAPH ?g {{ ?s ?p ?o }} }} INSERT {{ ?s ?p {term} }} WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}"
        )
    assert set(store) == before
    assert node("empty") in list(store.named_graphs())
    assert out.rows() == []


def test_loading_keeps_blank_nodes_of_files_apart_and_named_graphs():
    store = pyoxigraph.Store()
    out = Recorded()
    with record(store, out.writer) as recorded:
        for load in (recorded.load, recorded.bulk_load):
            load(b'_:n <p:p> "x" .', pyoxigraph.RdfFormat.N_TRIPLES)
        text = f'<{EX.a}> <{EX.p}> "in" <{EX.g}> .\n<{EX.a}> <{EX.p}> "default" .'
        recorded.load(text.encode(), pyoxigraph.RdfFormat.N_QUADS, to_graph=node("h"))
    assert len({one.subject for one in store if isinstance(one.subject, pyoxigraph.BlankNode)}) == 2
    assert {one.object.value: one.graph_name for one in store if one.object.value != "x"} == {
        "in": node("g"),
        "default": node("h"),
    }
    copy = pyoxigraph.Store()
    apply_patch(out.rows(), copy)
    assert set(copy) == set(store)


def test_loading_and_extending_add_all_or_nothing():
    store = pyoxigraph.Store()
    out = Recorded()
    recorded = record(store, out.writer).graph
    with pytest.raises(SyntaxError):
        recorded.load(f"<{EX.a}> <{EX.p}> 1 . <".encode(), pyoxigraph.RdfFormat.TURTLE)
    with pytest.raises(ZeroDivisionError):
        recorded.extend(then_fail(quad("a")))
    assert len(store) == 0
    with pytest.raises(ZeroDivisionError):
        recorded.bulk_extend(then_fail(quad("a")))
    assert [type(row) for row in out.rows()] == [Add] * len(store)


def test_a_patch_is_applied_to_a_recorded_store():
    store = pyoxigraph.Store()
    out = Recorded()
    with record(store, out.writer) as recorded:
        applied = apply_patch([Add(A, P, B, A), Delete(B, P, B)], recorded)
    assert applied.added == len(store) == 1
    assert out.rows()[1:-1] == [Add(A, P, B, A)]


def test_graphs_of_a_store_that_are_removed_come_back_when_the_block_fails():
    store = pyoxigraph.Store()
    store.extend([quad("a"), quad("b", node("g")), quad("c", node("g"))])
    before = set(store)
    with pytest.raises(ZeroDivisionError), record(store, Recorded().writer) as recorded:  # noqa: PT012
        recorded.remove_graph(node("g"))
        recorded.clear_graph(pyoxigraph.DefaultGraph())
        recorded.clear()
        raise ZeroDivisionError
    assert set(store) == before
