"""Record changes of rdflib's graphs and datasets, with a store that wraps the original one."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import rdflib
from rdflib.namespace import NamespaceManager
from rdflib.store import Store

from jellyframe.errors import UsageError
from jellyframe.integrations.rdflib_terms import from_rdflib, graph_from_rdflib, graph_to_rdflib, other_form, to_rdflib
from jellyframe.integrations.recorder import Recorder, Recording
from jellyframe.patch import Add, Delete, NamespaceAdd, NamespaceDelete, PatchRow
from jellyframe.terms import DEFAULT_GRAPH, IRI, GraphName


def recorded_graph(graph: rdflib.Graph, recorder: Recorder) -> Recording[Any]:
    """Return a recording of a graph or a dataset."""
    # rdflib binds its default namespaces when they are first read; these are not recorded.
    list(graph.namespaces())
    if isinstance(graph, rdflib.Dataset):
        store = RecordingStore(graph.store, recorder, has_graph=True)
        made: rdflib.Graph = rdflib.Dataset(store=store, default_union=graph.default_union)
    elif isinstance(graph, rdflib.ConjunctiveGraph):
        raise TypeError("a ConjunctiveGraph cannot be recorded, as its default graph has no fixed name: use a Dataset")
    else:
        store = RecordingStore(graph.store, recorder, has_graph=False)
        store.name = graph.identifier
        made = rdflib.Graph(store=store, identifier=graph.identifier, base=graph.base)
    made.namespace_manager = NamespaceManager(made, bind_namespaces="none")
    return Recording(made, recorder, store)


class RecordingStore(Store):
    """A store that passes all calls to another one and records the changes.

    `"a"` and `"a"^^xsd:string`, which differ in rdflib, are one literal in RDF 1.1 and in patches: a statement counts
    as added with the first of them and as removed with the last.
    """

    def __init__(self, inner: Store, recorder: Recorder, *, has_graph: bool) -> None:
        super().__init__()
        self._inner = inner
        self._recorder = recorder
        self._has_graph = has_graph
        # The identifier of the graph, if it is not a dataset.
        self.name: Any = None
        # Namespaces whose addition was undone. rdflib cannot remove them, so they are hidden.
        self._hidden: dict[str, str] = {}
        self.context_aware = inner.context_aware
        self.formula_aware = inner.formula_aware
        self.graph_aware = inner.graph_aware
        # Transactions are those of the recording.
        self.transaction_aware = False

    # ---- changes ----

    def add(self, triple: Any, context: Any, quoted: bool = False) -> None:
        inside = self._inside(context)
        if self._holds(triple, inside):
            return
        # Converted first, so that terms that a patch cannot hold are refused before the graph changes.
        row = self._row(Add, triple, context)
        is_change = not self._holds(other_form(triple), inside)
        self._inner.add(triple, inside, quoted)
        if is_change:
            self._recorder.note(row)

    def addN(self, quads: Any) -> None:  # noqa: N802 - the name in rdflib
        for subject, predicate, value, context in quads:
            self.add((subject, predicate, value), context)

    def remove(self, triple: Any, context: Any = None) -> None:
        # One by one: if a row is refused, the statements that were not reached stay.
        for known, contexts in list(self._inner.triples(triple, self._inside(context))):
            for place in [context] if context is not None else list(contexts):
                if place is not None or not self._has_graph:
                    row = self._row(Delete, known, place)
                    inside = self._inside(place)
                    self._inner.remove(known, inside)
                    if not self._holds(other_form(known), inside):
                        self._recorder.note(row)

    def remove_graph(self, graph: Any) -> None:
        self.remove((None, None, None), graph)
        self._inner.remove_graph(self._inside(graph))

    def bind(self, prefix: str, namespace: Any, override: bool = True) -> None:
        before, prefix_before = self.namespace(prefix), self.prefix(namespace)
        self._inner.bind(prefix, namespace, override)
        self._hidden.pop(prefix, None)
        after = self._inner.namespace(prefix)
        if prefix_before is not None and prefix_before != prefix and self._inner.namespace(prefix_before) is None:
            self._recorder.note(NamespaceDelete(str(prefix_before), IRI(str(namespace)), self._no_graph()))
        if after is not None and after != before:
            if before is not None:
                self._recorder.note(NamespaceDelete(prefix, IRI(str(before)), self._no_graph()))
            self._recorder.note(NamespaceAdd(prefix, IRI(str(after)), self._no_graph()))

    def undo(self, row: PatchRow) -> None:
        """Undo a change."""
        match row:
            case Add():
                triple = _triple(row)
                for form in (triple, other_form(triple)):
                    if form is not None:
                        self._inner.remove(form, self._graph(row.g))
            case Delete():
                self._inner.add(_triple(row), self._graph(row.g))
            case NamespaceAdd():
                self._hidden[row.name] = row.iri.value
            case NamespaceDelete() if row.iri is not None:
                self._hidden.pop(row.name, None)
                self._inner.bind(row.name, rdflib.URIRef(row.iri.value), True)

    def commit(self) -> None:
        self._inner.commit()

    def rollback(self) -> None:
        raise UsageError("a recorded graph has no rollback: an error that leaves the block undoes its changes")

    # ---- everything else ----

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[Any]:
        for triple, contexts in self._inner.triples(triple_pattern, self._inside(context)):
            yield triple, (self._outside(one) for one in contexts)

    def triples_choices(self, triple: Any, context: Any = None) -> Generator[Any, None, None]:
        for found, contexts in self._inner.triples_choices(triple, self._inside(context)):
            yield found, (self._outside(one) for one in contexts)

    def contexts(self, triple: Any = None) -> Generator[Any, None, None]:
        yield from (self._outside(one) for one in self._inner.contexts(triple))

    def add_graph(self, graph: Any) -> None:
        self._inner.add_graph(self._inside(graph))

    def __len__(self, context: Any = None) -> int:
        return self._inner.__len__(self._inside(context))

    def namespace(self, prefix: str) -> Any:
        found = self._inner.namespace(prefix)
        return None if found is not None and self._is_hidden(prefix, found) else found

    def prefix(self, namespace: Any) -> Any:
        found = self._inner.prefix(namespace)
        return None if found is not None and self._is_hidden(found, namespace) else found

    def namespaces(self) -> Iterator[Any]:
        return (one for one in self._inner.namespaces() if not self._is_hidden(*one))

    def _is_hidden(self, prefix: Any, namespace: Any) -> bool:
        return self._hidden.get(str(prefix)) == str(namespace)

    def _holds(self, triple: Any, inside: Any) -> bool:
        return triple is not None and any(True for _ in self._inner.triples(triple, inside))

    def _inside(self, context: Any) -> Any:
        """Return a graph as a graph of the inner store."""
        return None if context is None else rdflib.Graph(store=self._inner, identifier=_name(context))

    def _outside(self, context: Any) -> Any:
        """Return a graph of the inner store as a graph whose changes are recorded."""
        return None if context is None else rdflib.Graph(store=self, identifier=_name(context))

    def _graph(self, name: GraphName | None) -> Any:
        identifier: Any = graph_to_rdflib(name) if self._has_graph else self.name
        return rdflib.Graph(store=self._inner, identifier=identifier)

    def _no_graph(self) -> GraphName | None:
        return DEFAULT_GRAPH if self._recorder.has_graph else None

    def _row(self, kind: type[Add] | type[Delete], triple: Any, context: Any) -> PatchRow:
        subject, predicate, value = map(from_rdflib, triple)
        graph = graph_from_rdflib(_name(context)) if self._has_graph else DEFAULT_GRAPH
        return kind(subject, predicate, value, graph if graph is not DEFAULT_GRAPH else self._no_graph())


def _name(context: Any) -> Any:
    return context.identifier if isinstance(context, rdflib.Graph) else context


def _triple(row: Add | Delete) -> Any:
    return tuple(map(to_rdflib, (row.s, row.p, row.o)))
