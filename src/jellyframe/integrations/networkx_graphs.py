"""Statements as graphs of NetworkX, and back: terms are nodes, statements are edges."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

from jellyframe.errors import EncodeError, OptionsError, needed_by
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.terms import DEFAULT_GRAPH, IRI, XSD_STRING, BlankNode, DefaultGraph, Literal, Quad, Term, Triple

if TYPE_CHECKING:
    import networkx as nx

_TERMS = (IRI, BlankNode, Literal, Triple)


def to_networkx(
    source: Statements | Iterable[Triple | Quad],
    **reading: Unpack[ReadingOptions],
) -> nx.MultiDiGraph:
    """Return statements as a directed multigraph.

    Nodes are the terms of subjects and objects, with the attributes `kind` (`iri`, `bnode`, `literal` or
    `triple`), `value` and, for literals, `datatype` and `lang`. Each statement is an edge with the attributes
    `predicate` and, for quads, `graph`; its key is the predicate, in a named graph together with the graph. A repeated
    statement is one edge.

    Args:
        source: a path, a pattern, a folder or a list of paths, of any format; bytes or a file object with Jelly; or
            statements
        reading: as in `read_pandas`
    """
    with needed_by("to_networkx"):
        import networkx as nx
    graph = nx.MultiDiGraph()
    for statement in _statements(source, reading):
        s, p, o = statement[:3]
        for term in (s, o):
            if term not in graph:
                graph.add_node(term, **_attributes(term))
        if isinstance(statement, Quad):
            key = p if isinstance(statement.g, DefaultGraph) else (p, statement.g)
            graph.add_edge(s, o, key=key, predicate=p, graph=statement.g)
        else:
            graph.add_edge(s, o, key=p, predicate=p)
    return graph


def _statements(source: Any, reading: ReadingOptions) -> Iterator[Triple | Quad]:
    is_named = isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(source, "read")
    if not is_named and not (isinstance(source, list | tuple) and source and isinstance(source[0], str | os.PathLike)):
        if reading:
            raise OptionsError(f"{', '.join(reading)}: for sources that are read, not for statements: filter these")
        yield from source
        return
    for batch in StatementSource(source, reading).batches():
        yield from batch.statements()


def _attributes(term: Term) -> dict[str, str]:
    match term:
        case IRI():
            return {"kind": "iri", "value": term.value}
        case BlankNode():
            return {"kind": "bnode", "value": term.label}
        case Literal():
            found = {"kind": "literal", "value": term.lex}
            if term.language is not None:
                return {**found, "lang": term.language}
            return found if term.datatype == XSD_STRING else {**found, "datatype": term.datatype}
    return {"kind": "triple", "value": str(term)}


def from_networkx(graph: nx.Graph) -> Iterator[Triple | Quad]:
    """Yield the edges of a directed graph as statements, for a writer to write.

    Nodes must be terms, and edges must have the attribute `predicate`, or a predicate as key, and may have `graph`, as
    `to_networkx` makes them. If any edge has a graph, all statements are quads. Nodes without edges are left out.

    Args:
        graph: a DiGraph or a MultiDiGraph

    Raises:
        EncodeError: if the graph is not directed, a node is not a term, or an edge has no predicate
    """
    if not graph.is_directed():
        raise EncodeError("the edges have no direction, so subject and object are not known: pass a directed graph")
    has_graph = any("graph" in data for _s, _o, data in graph.edges(data=True))
    for s, o, *key, data in graph.edges(data=True, **({"keys": True} if graph.is_multigraph() else {})):
        predicate = data.get("predicate", *key) if key else data.get("predicate")
        for term in (s, predicate, o):
            if not isinstance(term, _TERMS):
                raise EncodeError(
                    f"an edge has a {type(term).__name__} where a term is needed: nodes and the attribute predicate "
                    "are IRI, BlankNode, Literal or Triple"
                )
        if has_graph:
            yield Quad(s, predicate, o, data.get("graph", DEFAULT_GRAPH))
        else:
            yield Triple(s, predicate, o)
