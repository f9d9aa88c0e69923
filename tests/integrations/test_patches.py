"""Patches that are recorded from graphs and stores, and applied to them."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe.errors import JellyError, NamedGraphError, TermError, UsageError
from jellyframe.formats import pyoxigraph_terms
from jellyframe.integrations import patch_applying, rdflib_terms
from jellyframe.integrations.patch_applying import apply_patch
from jellyframe.integrations.patch_recording import record
from jellyframe.patch import (
    Add,
    Delete,
    NamespaceAdd,
    NamespaceDelete,
    PatchOptions,
    PatchStatementType,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
    open_patch_reader,
    open_patch_writer,
)
from jellyframe.patch.journal import Journal
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.patch_models import applied
from support.recorded import Recorded

EX = rdflib.Namespace("http://example.org/")
A, B, P = IRI(EX.a), IRI(EX.b), IRI(EX.p)
TRIPLES = PatchOptions(statement_type=PatchStatementType.TRIPLES)
# Few of them, that rdflib and pyoxigraph can hold.
QUADS = st.builds(
    Quad,
    st.sampled_from([A, B, BlankNode("n")]),
    st.just(P),
    st.sampled_from([A, Literal("x"), Literal("x", language="en"), Literal("1", f"{EX}t")]),
    st.sampled_from([DEFAULT_GRAPH, A]),
)


@st.composite
def patches(draw: st.DrawFn) -> list[Any]:
    rows: list[Any] = []
    for _ in range(draw(st.integers(0, 6))):
        some = [
            kind(*quad) for kind, quad in draw(st.lists(st.tuples(st.sampled_from([Add, Delete]), QUADS), max_size=5))
        ]
        end = draw(st.sampled_from([None, TransactionCommit(), TransactionAbort()]))
        rows += some if end is None else [TransactionStart(), *some, end]
    return rows


def dataset_of(quads: Any) -> rdflib.Dataset:
    dataset = rdflib.Dataset()
    for quad in quads:
        triple: Any = tuple(map(rdflib_terms.to_rdflib, quad[:3]))
        name: Any = rdflib_terms.graph_to_rdflib(quad.g)
        dataset.get_context(name).add(triple)
    return dataset


def quads_of(dataset: rdflib.Dataset) -> set[Quad]:
    term = rdflib_terms.from_rdflib
    return {Quad(term(s), term(p), term(o), rdflib_terms.graph_from_rdflib(g)) for s, p, o, g in dataset.quads()}


def store_of(quads: Any) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.extend(map(pyoxigraph_terms.quad_to_pyoxigraph, quads))
    return store


def quads_in(store: Any) -> set[Quad]:
    return set(map(pyoxigraph_terms.quad_from_pyoxigraph, store))


@given(data=st.lists(QUADS, max_size=10), rows=patches())
def test_all_targets_end_up_with_the_same_statements(data, rows):
    expected = applied(data, rows)
    as_set = set(data)
    done = apply_patch(rows, as_set)
    assert as_set == expected
    assert done.committed == sum(isinstance(row, TransactionCommit) for row in rows)
    assert done.left_out == sum(isinstance(row, TransactionAbort) for row in rows)
    dataset = dataset_of(data)
    apply_patch(rows, dataset)
    assert quads_of(dataset) == expected
    store = store_of(data)
    apply_patch(rows, store)
    assert quads_in(store) == expected


@given(rows=patches())
def test_pending_rows_may_be_spilled_to_disk(rows):
    expected = applied([], rows)
    target: set[Quad] = set()
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(patch_applying, "Journal", lambda: Journal(memory_bytes=1))
        apply_patch(rows, target)
    assert target == expected


def test_any_object_with_add_and_remove_is_a_target():
    calls: list[tuple[str, Any]] = []
    target = SimpleNamespace(
        add=lambda statement: calls.append(("add", statement)),
        remove=lambda statement: calls.append(("remove", statement)),
    )
    sink = io.BytesIO()
    with open_patch_writer(sink, TRIPLES) as writer:
        writer.write([Add(A, P, B), Delete(B, P, A), NamespaceAdd("a", A)])
    apply_patch(sink.getvalue(), target)
    assert calls == [("add", Triple(A, P, B)), ("remove", Triple(B, P, A))]
    with pytest.raises(TypeError, match=r"applied to a tuple.*object with add and remove"):
        apply_patch(sink.getvalue(), ())  # type: ignore[arg-type]


def test_an_unfinished_transaction_leaves_nothing_behind():
    rows: list[Any] = [Add(A, P, A), TransactionStart(), Add(A, P, B)]
    target: set[Any] = set()
    assert apply_patch(rows, target).left_out == 1
    assert target == {Quad(A, P, A, DEFAULT_GRAPH)}

    def broken():
        yield from rows
        raise OSError("the line is dead")

    target.clear()
    with pytest.raises(OSError, match="dead"):
        apply_patch(broken(), target)
    assert target == {Quad(A, P, A, DEFAULT_GRAPH)}


def test_a_transaction_with_a_term_that_does_not_fit_changes_nothing():
    rows: list[Any] = [TransactionStart(), Add(A, P, B), Add(A, P, Triple(A, P, B)), TransactionCommit()]
    graph, store = rdflib.Graph(), pyoxigraph.Store()
    for target in (graph, store):
        with pytest.raises(TermError, match="quoted triples"):
            apply_patch(rows, target)
        assert len(target) == 0
    with pytest.raises(NamedGraphError, match="use a Dataset"):
        apply_patch([TransactionStart(), Add(A, P, B), Add(A, P, B, A), TransactionCommit()], graph)
    assert len(graph) == 0
    with pytest.raises(TermError, match="generalized"):
        apply_patch([Add(Literal("x"), P, B)], store)


def test_namespaces_and_both_forms_of_a_simple_literal_in_rdflib():
    graph = rdflib.Graph()
    graph.add((EX.a, EX.p, rdflib.Literal("x", datatype=rdflib.XSD.string)))
    apply_patch([Delete(A, P, Literal("x")), NamespaceAdd("mine", A), NamespaceDelete("mine", A)], graph)
    assert len(graph) == 0
    assert ("mine", EX.a) in list(graph.namespaces())


def test_a_reader_can_be_applied_and_stays_open(tmp_path):
    path = tmp_path / "p.jellyp"
    with open_patch_writer(path) as writer:
        writer.write([Add(A, P, B)])
    target: set[Any] = set()
    with open_patch_reader(path) as reader:
        apply_patch(reader, target)
        assert reader.options is not None
    assert target == {Quad(A, P, B, DEFAULT_GRAPH)}
    apply_patch(path, target)
    (tmp_path / "p.rdfp").write_text(f"D {A} {P} {B} .\n")
    apply_patch(tmp_path / "p.rdfp", target)
    assert not target


# ---- recording ----------------------------------------------------------------------------------------------


def test_changes_to_a_graph_are_recorded_as_a_patch():
    graph = rdflib.Graph()
    graph.add((EX.a, EX.p, rdflib.Literal("old")))
    out = Recorded()
    with record(graph, out.writer) as recorded:
        recorded.add((EX.a, EX.p, EX.b))
        recorded.add((EX.a, EX.p, EX.b))
        recorded.remove((EX.a, None, rdflib.Literal("old")))
        recorded.bind("mine", EX)
    assert set(graph) == {(EX.a, EX.p, EX.b)}
    iri = IRI(str(EX))
    rows = out.rows()
    assert rows == [
        TransactionStart(),
        Add(A, P, B, DEFAULT_GRAPH),
        Delete(A, P, Literal("old"), DEFAULT_GRAPH),
        NamespaceAdd("mine", iri, DEFAULT_GRAPH),
        TransactionCommit(),
    ]


def test_every_way_to_change_a_graph_is_recorded():
    graph = rdflib.Graph()
    out = Recorded(TRIPLES)
    with record(graph, out.writer) as recorded:
        recorded.parse(data=f"<{EX.a}> <{EX.p}> 1, 2, [] .", format="turtle")
        recorded += [(EX.b, EX.p, EX.b)]
        recorded.set((EX.b, EX.p, EX.a))
        recorded.update("DELETE { ?s ?p 1 } INSERT { ?s ?p 3 } WHERE { ?s ?p 1 }")
        recorded -= [(EX.b, EX.p, EX.a)]
        assert len(recorded) == len(graph) == 3
        assert (EX.a, EX.p, rdflib.Literal(3)) in recorded
    copy: set[Any] = set()
    apply_patch(out.rows(), copy)
    expected = {Triple(*map(rdflib_terms.from_rdflib, triple)) for triple in graph}
    assert {Triple(*statement[:3]) for statement in copy} == expected


def test_an_error_undoes_the_transaction_and_nothing_is_written():
    graph = rdflib.Graph()
    graph.add((EX.a, EX.p, EX.a))
    out = Recorded()
    recording = record(graph, out.writer)
    with pytest.raises(ZeroDivisionError), recording as recorded:  # noqa: PT012 - the error ends a transaction
        recorded.add((EX.a, EX.p, EX.b))
        recorded.remove((None, None, None))
        recorded.add((EX.b, EX.p, EX.b))
        raise ZeroDivisionError
    assert set(graph) == {(EX.a, EX.p, EX.a)}
    with recording as recorded:
        recorded.add((EX.b, EX.p, EX.b))
    with recording:
        pass
    recording.graph.add((EX.b, EX.p, EX.a))
    assert out.rows() == [
        TransactionStart(),
        Add(B, P, B, DEFAULT_GRAPH),
        TransactionCommit(),
        Add(B, P, A, DEFAULT_GRAPH),
    ]


def test_changes_that_the_writer_refuses_are_undone():
    dataset = rdflib.Dataset()
    out = Recorded(TRIPLES)
    recording = record(dataset, out.writer)
    with pytest.raises(NamedGraphError), recording as recorded:
        recorded.graph(EX.a).add((EX.a, EX.p, EX.b))
    assert quads_of(dataset) == set()
    with pytest.raises(JellyError):
        recording.graph.graph(EX.a).add((EX.a, EX.p, EX.b))
    assert quads_of(dataset) == set()
    with pytest.raises(TermError, match="Variable"), recording as recorded:
        recorded.default_graph.add((rdflib.Variable("v"), EX.p, EX.b))
    with recording as recorded:
        recorded.default_graph.add((EX.a, EX.p, EX.b))
    assert Add(A, P, B) in out.rows()


def test_one_transaction_at_a_time():
    recording = record(rdflib.Graph(), Recorded().writer)
    with recording, pytest.raises(UsageError, match="open"):
        recording.__enter__()


_STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove"]), QUADS), max_size=12)


@given(data=st.lists(QUADS, max_size=8), steps=st.lists(st.tuples(_STEPS, st.booleans()), max_size=4))
def test_a_recorded_patch_leads_to_the_same_data(data, steps):
    """In rdflib and in pyoxigraph, with some transactions that fail."""
    dataset, store = dataset_of(data), store_of(data)
    outs = [Recorded(), Recorded()]
    recordings: list[Any] = [record(dataset, outs[0].writer), record(store, outs[1].writer)]
    for some, fails in steps:
        for number, recording in enumerate(recordings):
            try:
                with recording as recorded:
                    for name, quad in some:
                        if number == 0:
                            triple = tuple(map(rdflib_terms.to_rdflib, quad[:3]))
                            graph = recorded.get_context(rdflib_terms.graph_to_rdflib(quad.g))
                            getattr(graph, name)(triple)
                        else:
                            getattr(recorded, name)(pyoxigraph_terms.quad_to_pyoxigraph(quad))
                    if fails:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
    model = applied(
        data, [(Add if name == "add" else Delete)(*quad) for some, fails in steps if not fails for name, quad in some]
    )
    assert quads_of(dataset) == quads_in(store) == model
    for out in outs:
        copy = set(data)
        apply_patch(out.rows(), copy)
        assert copy == model


def test_every_way_to_change_a_store_is_recorded():
    store = pyoxigraph.Store()
    out = Recorded()
    name = pyoxigraph.NamedNode(EX.a)
    with record(store, out.writer) as recorded:
        recorded.load(f'<{EX.a}> <{EX.p}> "x" .'.encode(), pyoxigraph.RdfFormat.N_TRIPLES, to_graph=name)
        recorded.load(f'<{EX.a}> <{EX.p}> "y", "z" .'.encode(), pyoxigraph.RdfFormat.TURTLE)
        recorded.update(f'DELETE DATA {{ <{EX.a}> <{EX.p}> "y" }}; INSERT DATA {{ <{EX.b}> <{EX.p}> "w" }}')
        recorded.extend([pyoxigraph.Quad(name, name, name, name)])
        assert len(recorded) == len(list(recorded)) == len(list(recorded.quads_for_pattern(None, None, None))) == 4
        recorded.clear_graph(name)
        recorded.remove_graph(name)
    copy: set[Any] = set()
    apply_patch(out.rows(), copy)
    assert copy == quads_in(store)
    assert len(copy) == 2
    other = Recorded()
    with record(store, other.writer) as recorded:
        recorded.clear()
    assert sum(isinstance(row, Delete) for row in other.rows()) == 2
    assert len(store) == 0


def test_other_objects_cannot_be_recorded():
    with pytest.raises(TypeError, match="a set cannot be recorded"):
        record(set(), Recorded().writer)  # type: ignore[type-var]
    with pytest.warns(DeprecationWarning, match="ConjunctiveGraph"), pytest.raises(TypeError, match="use a Dataset"):
        record(rdflib.ConjunctiveGraph(), Recorded().writer)


def test_names_are_public():
    assert jellyframe.record is record
    assert jellyframe.apply_patch is apply_patch
