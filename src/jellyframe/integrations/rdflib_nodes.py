"""Convert terms between batches and rdflib: each distinct term once, not once per statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, TypeAlias, cast

import rdflib

from jellyframe.batch import Batch
from jellyframe.integrations.rdflib_terms import to_rdflib
from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_IRI, KIND_LITERAL
from jellyframe.stream.statements import batches_of
from jellyframe.terms import IRI, BlankNode

Node: TypeAlias = rdflib.term.Node
# The blank nodes for the labels of a source.
BlankNodes: TypeAlias = MutableMapping[str, rdflib.BNode]
# The maximum number of terms kept from one batch to the next.
_MOST_KEPT = 1 << 16


class NodeMaker:
    """Makes nodes of rdflib from the terms of batches.

    `blank_nodes` has the blank nodes of labels; other labels get new nodes, so that two
    sources with the same label do not share a node. With None labels are kept. `skolemize` turns blank nodes into
    IRIs, as rdflib does.
    """

    def __init__(self, blank_nodes: BlankNodes | None, *, skolemize: bool = False) -> None:
        self._blank_nodes = blank_nodes
        self._skolemize = skolemize
        # Equal IRIs of different batches become one object: comparing other objects is slow in rdflib.
        self._iris: dict[IRI, Node] = {}
        self._table: object = None
        self._made: list[Any] = []

    def triples(self, batch: Batch, start: int, stop: int) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the triples of rows `start` to `stop`, without their graphs."""
        made = self._nodes_of(batch)
        make = self._make
        for s, p, o in zip(batch.s[start:stop], batch.p[start:stop], batch.o[start:stop], strict=True):
            subject = made[s]
            if subject is None:
                subject = made[s] = make(batch, s)
            predicate = made[p]
            if predicate is None:
                predicate = made[p] = make(batch, p)
            node = made[o]
            if node is None:
                node = made[o] = make(batch, o)
            yield subject, predicate, node

    def node(self, batch: Batch, number: int) -> Any:
        """Return the node of a term of a batch, by its row in the table of terms."""
        made = self._nodes_of(batch)
        node = made[number]
        if node is None:
            node = made[number] = self._make(batch, number)
        return node

    def _nodes_of(self, batch: Batch) -> list[Any]:
        """Return the nodes made so far from the terms of a batch. Slices of a batch share them."""
        if self._table is not batch.terms:
            self._table = batch.terms
            self._made = [None] * batch.terms.count
        return self._made

    def _make(self, batch: Batch, number: int) -> Node:
        term = batch.term(number)
        if isinstance(term, IRI):
            known = self._iris.get(term)
            if known is None:
                if len(self._iris) >= _MOST_KEPT:
                    self._iris.clear()
                known = self._iris[term] = to_rdflib(term)
            return known
        if isinstance(term, BlankNode):
            return self._blank_node(term)
        return to_rdflib(term)

    def _blank_node(self, term: BlankNode) -> Node:
        node = cast("rdflib.BNode", to_rdflib(term))
        if self._blank_nodes is not None:
            known = self._blank_nodes.get(term.label)
            if known is None:
                known = self._blank_nodes[term.label] = rdflib.BNode()
            node = known
        return node.skolemize() if self._skolemize else node


def batches_of_nodes(statements: Iterable[tuple[Any, ...]], *, has_graph: bool | None = None) -> Iterator[Batch]:
    """Yield statements of rdflib nodes in batches; the name of a graph is a node or a term of jellyframe.

    Args:
        statements: tuples of three nodes, or of four
        has_graph: whether they are quads; None if the first one decides

    Raises:
        EncodeError: if an item is not a statement of this kind, or Jelly cannot hold a node
    """
    kinds: dict[type, int] = {rdflib.URIRef: KIND_IRI, rdflib.BNode: KIND_BLANK_NODE, rdflib.Literal: KIND_LITERAL}
    return batches_of(statements, has_graph=has_graph, text_classes=kinds)
