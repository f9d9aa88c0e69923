"""RDF terms and statements as Python objects, made for pattern matching, sets and dictionaries.

    IRI("http://example.org/a")             <http://example.org/a>
    BlankNode("b0")                         _:b0
    Literal("chat", language="fr")          "chat"@fr
    Literal("5", datatype=XSD + "integer")  "5"^^<http://www.w3.org/2001/XMLSchema#integer>
    Triple(s, p, o), Quad(s, p, o, g)       statements; a Triple in the place of a term is a quoted triple
    DEFAULT_GRAPH                           the graph of quads that are in no named graph

`str(term)` is its N-Triples form. All are immutable; they hash, compare, sort and pickle.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from jellyframe.kernel.statements import Quad, Triple
from jellyframe.kernel.terms_cy import (
    DEFAULT_GRAPH,
    IRI,
    RDF_LANG_STRING,
    XSD_STRING,
    BlankNode,
    DefaultGraph,
    Literal,
    restore_term,
)

__all__ = [
    "DEFAULT_GRAPH",
    "IRI",
    "RDF",
    "RDF_LANG_STRING",
    "RDF_TYPE",
    "XSD",
    "XSD_STRING",
    "BlankNode",
    "DefaultGraph",
    "GraphName",
    "Literal",
    "Quad",
    "Statement",
    "Term",
    "Triple",
    "restore_term",
]

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE: Final = f"{RDF}type"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

Term: TypeAlias = IRI | BlankNode | Literal | Triple
GraphName: TypeAlias = IRI | BlankNode | Literal | DefaultGraph
Statement: TypeAlias = Triple | Quad
