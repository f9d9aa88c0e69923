"""Add statements to graphs and datasets of rdflib, and read them."""

from __future__ import annotations

import gc
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import Any

import pyarrow.compute as pc
import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, Dataset, Graph

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.batch.lines import row_line
from jellyframe.errors import NamedGraphError
from jellyframe.integrations.rdflib_nodes import NodeMaker, batches_of_nodes
from jellyframe.integrations.rdflib_terms import graph_from_rdflib
from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH
from jellyframe.terms import DEFAULT_GRAPH, GraphName

_SORTED_TRIPLES = 1 << 18


class GraphFiller:
    """Adds statements to a graph of rdflib, or to a dataset.

    Args:
        sink: the graph; statements in named graphs need a dataset
        nodes: makes the nodes
    """

    def __init__(self, sink: Graph, nodes: NodeMaker) -> None:
        self._nodes = nodes
        self._sink = sink
        self._default = default_graph(sink) if isinstance(sink, ConjunctiveGraph) else sink
        # `Dataset.parse` passes its default graph to parsers, not the dataset.
        self._has_graphs = self._default is not sink or sink.identifier == DATASET_DEFAULT_GRAPH_ID
        self._contexts: dict[Any, Graph] = {}

    def add(self, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Add the rows `start` to `stop` of a batch.

        Raises:
            NamedGraphError: if a row is in a named graph and the sink is not a dataset; earlier rows are added
        """
        stop = len(batch) if stop is None else stop
        with _fewer_collections():
            for first, last, graph in _runs(batch, start, stop):
                context = self._default if graph is None else self._context(batch, graph, first)
                triples = self._nodes.triples(batch, first, last)
                self._sink.store.addN((s, p, o, context) for s, p, o in triples)

    def bind(self, name: str, iri: str) -> None:
        """Bind a prefix."""
        self._sink.bind(name, iri)

    def _context(self, batch: Batch, graph: int, row: int) -> Graph:
        if not self._has_graphs:
            raise NamedGraphError(
                "a statement in a named graph, which an rdflib Graph has no place for: parse into an rdflib.Dataset "
                f"instead: {row_line(batch, row)}",
                row=row,
            )
        name = self._nodes.node(batch, graph)
        context = self._contexts.get(name)
        if context is None:
            context = self._contexts[name] = Graph(
                store=self._sink.store, identifier=name, namespace_manager=self._sink.namespace_manager
            )
        return context


def _runs(batch: Batch, start: int, stop: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield the runs of rows that are in the same graph; None is the default graph."""
    if batch.g is None:
        if start < stop:
            yield start, stop, None
        return
    kinds = batch.terms.buffers()[0]
    graphs = batch.g
    first = start
    for row in range(start + 1, stop + 1):
        if row == stop or graphs[row] != graphs[first]:
            graph = graphs[first]
            yield first, row, None if kinds[graph] == KIND_DEFAULT_GRAPH else graph
            first = row


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Suspend automatic garbage collection while a batch is added: all new objects stay alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def default_graph(dataset: ConjunctiveGraph) -> Graph:
    """Return the default graph of a dataset, for which rdflib has two names."""
    default: Graph | None = getattr(dataset, "default_graph", None)
    return dataset.default_context if default is None else default


def batches_of_graph(graph: Graph, *, each_apart: bool = False) -> Iterator[Iterator[Batch]]:
    """Yield the batches of a graph: quads, graph by graph, if it is a dataset, otherwise triples.

    Args:
        graph: a graph or a dataset
        each_apart: whether every graph of a dataset has its own batches, which are then small for small graphs
    """
    if not isinstance(graph, ConjunctiveGraph):
        yield batches_of_nodes(_triples_of(graph), has_graph=False)
        return
    statements = _quads_of(graph)
    for quads in statements if each_apart else [chain.from_iterable(statements)]:
        yield batches_of_nodes(quads, has_graph=True)


def _quads_of(dataset: ConjunctiveGraph) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the quads of each graph of a dataset."""
    default = default_graph(dataset).identifier
    for context in dataset.graphs() if isinstance(dataset, Dataset) else dataset.contexts():
        name = DEFAULT_GRAPH if context.identifier == default else graph_from_rdflib(context)
        yield _in_graph(_triples_of(context), name)


def _in_graph(triples: Iterable[Any], name: GraphName) -> Iterator[tuple[Any, ...]]:
    return ((s, p, o, name) for s, p, o in triples)


def _triples_of(graph: Graph) -> Iterator[Any]:
    """Yield the triples of a graph, grouped by subject if that is cheap.

    rdflib's store has them in the order of their hashes, so that consecutive triples are far apart in memory. Sorted by
    the address of the subject they are read in half the time, and the stream is smaller.
    """
    if type(graph).triples is Graph.triples:
        triples = (triple for triple, _contexts in graph.store.triples((None, None, None), context=graph))
    else:
        triples = iter(graph)
    while chunk := list(islice(triples, _SORTED_TRIPLES)):
        chunk.sort(key=_place_of_subject)
        yield from chunk


def _place_of_subject(triple: tuple[Any, Any, Any]) -> int:
    return id(triple[0])


@cache
def usual_namespaces() -> dict[str, str]:
    """Return the namespaces that rdflib binds in every graph."""
    return {name: str(iri) for name, iri in rdflib.Graph().namespaces()}


def used_namespaces(batch: Batch, known: Collection[str]) -> dict[str, str]:
    """Return rdflib's default namespaces that IRIs of a batch use, without the names that are `known`."""
    wanted = {name: iri for name, iri in usual_namespaces().items() if name not in known}
    if not wanted:
        return {}
    pattern = "^(?:" + "|".join(map(re.escape, wanted.values())) + ")"
    values = string_array(batch.terms.values)
    found = values.filter(pc.match_substring_regex(values, pattern)).to_pylist()
    return {name: iri for name, iri in wanted.items() if any(text.startswith(iri) for text in found)}


def own_namespaces(graph: Graph) -> dict[str, str]:
    """Return the namespaces that were bound in a graph, without those that rdflib binds in every graph."""
    usual = usual_namespaces()
    return {name: str(iri) for name, iri in graph.namespaces() if usual.get(name) != str(iri)}
