"""Statements as named tuples. A triple is also a term: the quoted triple of RDF-star.

Users import them from `jellyframe.terms`; they are here because the kernel makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from jellyframe.kernel.terms_cy import IRI, BlankNode, DefaultGraph, Literal

    Term: TypeAlias = "IRI | BlankNode | Literal | Triple"
    GraphName: TypeAlias = IRI | BlankNode | Literal | DefaultGraph


class Triple(NamedTuple):
    """A statement of three terms or, in the place of a term, a quoted triple.

    Attributes:
        s: the subject
        p: the predicate
        o: the object
    """

    s: Term
    p: Term
    o: Term

    def __str__(self) -> str:
        """Return the triple as a term: `<< s p o >>`."""
        pieces: list[str] = []
        # An explicit stack, so that deep nesting does not exhaust the call stack.
        waiting: list[object] = [self]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Triple):
                waiting += (">>", item.o, item.p, item.s, "<<")
            else:
                pieces.append(str(item))
        return " ".join(pieces)

    def to_line(self) -> str:
        """Return the triple as a line of N-Triples, without the line end."""
        return f"{self.s} {self.p} {self.o} ."


class Quad(NamedTuple):
    """A statement in a named graph or, with DEFAULT_GRAPH, in none.

    Attributes:
        s: the subject
        p: the predicate
        o: the object
        g: the name of the graph, or DEFAULT_GRAPH
    """

    s: Term
    p: Term
    o: Term
    g: GraphName

    def __str__(self) -> str:
        return self.to_line()

    def to_line(self) -> str:
        """Return the quad as a line of N-Quads, without the line end; the default graph is left out."""
        # The text of the default graph is empty, unlike that of any graph name.
        graph = str(self.g)
        return f"{self.s} {self.p} {self.o} {graph} ." if graph else f"{self.s} {self.p} {self.o} ."


# Where users find them, and under which name they are pickled.
Triple.__module__ = Quad.__module__ = "jellyframe.terms"
