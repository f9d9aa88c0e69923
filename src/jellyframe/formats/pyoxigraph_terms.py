"""Terms of jellyframe as terms of pyoxigraph, and back.

pyoxigraph checks IRIs, labels and language tags, and converts language tags to lower case. Its triple terms are those
of RDF 1.2, and not the quoted triples of RDF-star: they are refused, as in its other formats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import pyoxigraph

from jellyframe.errors import TermError, one_line, short_line, shortened
from jellyframe.terms import (
    DEFAULT_GRAPH,
    IRI,
    XSD_STRING,
    BlankNode,
    DefaultGraph,
    GraphName,
    Literal,
    Quad,
    Statement,
    Term,
    Triple,
)

OxigraphTerm: TypeAlias = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal
OxigraphGraph: TypeAlias = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.DefaultGraph
_Made = TypeVar("_Made")


def to_pyoxigraph(term: Term) -> OxigraphTerm:
    """Return a term as a term of pyoxigraph.

    Args:
        term: a term that is not a quoted triple

    Raises:
        TermError: if pyoxigraph refuses it: quoted triples, IRIs that are not absolute, invalid language tags
    """
    match term:
        case IRI():
            return _made(pyoxigraph.NamedNode, term.value, "IRI")
        case BlankNode():
            return _made(pyoxigraph.BlankNode, term.label, "label of a blank node")
        case Literal():
            return _literal(term)
        case Triple():
            raise TermError("pyoxigraph has no quoted triples; its triple terms are those of RDF 1.2")
    raise TypeError(f"a term was expected, not a {type(term).__name__}")


def from_pyoxigraph(term: OxigraphTerm | pyoxigraph.Triple) -> Term:
    """Return a term of pyoxigraph as a term of jellyframe.

    Args:
        term: a NamedNode, BlankNode or Literal of pyoxigraph

    Raises:
        TermError: if it is something else, such as a triple term, or a literal with a base direction
    """
    match term:
        case pyoxigraph.NamedNode():
            return IRI(term.value)
        case pyoxigraph.BlankNode():
            return BlankNode(term.value)
        case pyoxigraph.Literal():
            if getattr(term, "direction", None) is not None:
                raise TermError("a literal with a base direction, which Jelly has no place for")
            if term.language is not None:
                return Literal(term.value, language=term.language)
            return Literal(term.value, datatype=term.datatype.value)
        case pyoxigraph.Triple():
            raise TermError("a triple term of RDF 1.2, which Jelly has no place for")
    raise TermError(f"a {type(term).__name__} has no place in Jelly: NamedNode, BlankNode and Literal do")


def graph_to_pyoxigraph(graph: GraphName | None) -> OxigraphGraph:
    """Return the name of a graph for pyoxigraph; None, for a triple, is the default graph.

    Args:
        graph: the name of a graph, DEFAULT_GRAPH or None

    Raises:
        TermError: if it is a literal
    """
    if graph is None or isinstance(graph, DefaultGraph):
        return pyoxigraph.DefaultGraph()
    made = to_pyoxigraph(graph)
    if isinstance(made, pyoxigraph.Literal):
        raise TermError(f"pyoxigraph takes no literal as the name of a graph: {shortened(made.value)}")
    return made


def graph_from_pyoxigraph(graph: OxigraphGraph | None) -> GraphName:
    """Return the name of a graph of pyoxigraph for jellyframe.

    Args:
        graph: a NamedNode, BlankNode or DefaultGraph of pyoxigraph; None is the default graph
    """
    if graph is None or isinstance(graph, pyoxigraph.DefaultGraph):
        return DEFAULT_GRAPH
    term = from_pyoxigraph(graph)
    assert not isinstance(term, Triple)
    return term


def quad_to_pyoxigraph(statement: Statement) -> pyoxigraph.Quad:
    """Return a statement as a quad of pyoxigraph; a triple is in the default graph.

    Args:
        statement: a triple or a quad

    Raises:
        TermError: if pyoxigraph cannot hold it, for instance a literal as subject
    """
    subject, predicate, value = map(to_pyoxigraph, statement[:3])
    if isinstance(subject, pyoxigraph.Literal) or not isinstance(predicate, pyoxigraph.NamedNode):
        raise TermError(f"pyoxigraph takes no generalized statement: {short_line(statement.to_line())}")
    graph = graph_to_pyoxigraph(statement.g if isinstance(statement, Quad) else None)
    return pyoxigraph.Quad(subject, predicate, value, graph)


def quad_from_pyoxigraph(quad: pyoxigraph.Quad) -> Quad:
    """Return a quad of pyoxigraph as a quad of jellyframe.

    Args:
        quad: the quad

    Raises:
        TermError: if it has a term that Jelly cannot hold
    """
    return Quad(
        from_pyoxigraph(quad.subject),
        from_pyoxigraph(quad.predicate),
        from_pyoxigraph(quad.object),
        graph_from_pyoxigraph(quad.graph_name),
    )


def _literal(term: Literal) -> pyoxigraph.Literal:
    language = term.language
    if language is not None:
        return _made(lambda tag: pyoxigraph.Literal(term.lex, language=tag), language, "language tag")
    if term.datatype == XSD_STRING:
        return pyoxigraph.Literal(term.lex)
    return pyoxigraph.Literal(term.lex, datatype=_made(pyoxigraph.NamedNode, term.datatype, "datatype"))


def _made(make: Callable[[str], _Made], text: str, what: str) -> _Made:
    try:
        return make(text)
    except ValueError as error:
        raise TermError(f"pyoxigraph refuses the {what} {shortened(text)}: {one_line(str(error))}") from None
