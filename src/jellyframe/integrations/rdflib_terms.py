"""Terms of jellyframe as terms of rdflib, and back.

Literals keep their lexical forms: rdflib is told not to normalise them. rdflib distinguishes `"a"` from
`"a"^^xsd:string`, which are one literal in RDF 1.1 and here; for rdflib it becomes `"a"`.
"""

from __future__ import annotations

from typing import Any

import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from jellyframe.errors import TermError, one_line, shortened
from jellyframe.terms import DEFAULT_GRAPH, IRI, XSD_STRING, BlankNode, DefaultGraph, GraphName, Literal, Term, Triple


def to_rdflib(term: Term | DefaultGraph) -> rdflib.term.Node:
    """Return a term as a node of rdflib. The default graph becomes the name of the default graph in rdflib's datasets.

    Args:
        term: a term, or the default graph

    Raises:
        TermError: if it is a quoted triple, which rdflib does not support, or has a language tag that rdflib refuses
    """
    match term:
        case IRI():
            return rdflib.URIRef(term.value)
        case BlankNode():
            return rdflib.BNode(term.label)
        case Literal():
            return _literal(term)
        case DefaultGraph():
            return DATASET_DEFAULT_GRAPH_ID
        case Triple():
            raise TermError("rdflib has no quoted triples")
    raise TypeError(f"a term was expected, not a {type(term).__name__}")


def from_rdflib(node: rdflib.term.Node) -> Term:
    """Return a node of rdflib as a term.

    Args:
        node: a URIRef, BNode or Literal of rdflib

    Raises:
        TermError: if it is something else, such as a variable or a formula of N3
    """
    # Exact classes first: `isinstance` is slow for rdflib's classes, as they are abstract.
    kind = type(node)
    if kind is rdflib.URIRef or (kind is not rdflib.Literal and isinstance(node, rdflib.URIRef)):
        return IRI(str(node))
    if kind is rdflib.Literal or isinstance(node, rdflib.Literal):
        # The type is known; a cast for the type checker would take time.
        language: str | None = node.language  # type: ignore[attr-defined]
        if language:
            return Literal(str(node), None, language)
        datatype: rdflib.URIRef | None = node.datatype  # type: ignore[attr-defined]
        return Literal(str(node), None if datatype is None else str(datatype))
    if isinstance(node, rdflib.BNode):
        return BlankNode(str(node))
    raise TermError(f"rdflib's {kind.__name__} has no place in Jelly: URIRef, BNode and Literal do")


def other_form(triple: tuple[Any, Any, Any]) -> tuple[Any, Any, Any] | None:
    """Return the other form of a statement, equal in RDF 1.1 but not in rdflib; None if there is none.

    The other form of `"a"` is `"a"^^xsd:string`, and the reverse.

    Args:
        triple: a statement of rdflib
    """
    value = triple[2]
    if not isinstance(value, rdflib.Literal) or value.language is not None:
        return None
    if value.datatype is None:
        return (*triple[:2], rdflib.Literal(str(value), datatype=rdflib.XSD.string, normalize=False))
    return (*triple[:2], rdflib.Literal(str(value))) if value.datatype == rdflib.XSD.string else None


def graph_to_rdflib(graph: GraphName | None) -> rdflib.term.Node:
    """Return the name of a graph for rdflib; None, for a triple, is the default graph.

    Args:
        graph: the name of a graph, DEFAULT_GRAPH or None
    """
    return DATASET_DEFAULT_GRAPH_ID if graph is None else to_rdflib(graph)


def graph_from_rdflib(graph: rdflib.Graph | rdflib.term.Node | None) -> GraphName:
    """Return the name of a graph of rdflib for jellyframe; the default graph of datasets, and None, are DEFAULT_GRAPH.

    Args:
        graph: the name of a graph, or the graph itself
    """
    name = graph.identifier if isinstance(graph, rdflib.Graph) else graph
    if name is None or name == DATASET_DEFAULT_GRAPH_ID:
        return DEFAULT_GRAPH
    term = from_rdflib(name)
    assert not isinstance(term, Triple)
    return term


def _literal(term: Literal) -> rdflib.Literal:
    if term.language is not None:
        try:
            return rdflib.Literal(term.lex, lang=term.language, normalize=False)
        except ValueError as error:
            raise TermError(
                f"rdflib refuses the language tag {shortened(term.language)}: {one_line(str(error))}"
            ) from None
    if term.datatype == XSD_STRING:
        return rdflib.Literal(term.lex, normalize=False)
    made = rdflib.Literal(term.lex, datatype=rdflib.URIRef(term.datatype), normalize=False)
    return made if str.__eq__(made, term.lex) else _unchanged(term.lex, made)


def _unchanged(lex: str, made: rdflib.Literal) -> rdflib.Literal:
    """Return a literal with its lexical form unchanged: rdflib trims xsd:token and others in any case."""
    unchanged = str.__new__(rdflib.Literal, lex)
    for name in ("_language", "_datatype", "_value", "_ill_typed"):
        setattr(unchanged, name, getattr(made, name))
    return unchanged
