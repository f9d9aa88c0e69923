"""The rows of a patch as Python objects. `str(row)` is the line of RDF Patch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, GraphName, Literal, Quad, Triple

if TYPE_CHECKING:
    from jellyframe.terms import Term

# The types of the value of a header.
HeaderValue: TypeAlias = "IRI | BlankNode | Literal | Triple"

# Keys of headers that are written without quotation marks, as in the kernel.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,254}")


@dataclass(frozen=True, slots=True)
class Add:
    """A statement is added.

    Args:
        s: the subject
        p: the predicate
        o: the object
        g: the graph; None in streams of triples, DEFAULT_GRAPH for the default graph in streams of quads
    """

    s: Term
    p: Term
    o: Term
    g: GraphName | None = None

    @property
    def statement(self) -> Triple | Quad:
        """The statement: a triple if there is no graph."""
        return Triple(self.s, self.p, self.o) if self.g is None else Quad(self.s, self.p, self.o, self.g)

    def __str__(self) -> str:
        return _line("A", self.s, self.p, self.o, self.g)


@dataclass(frozen=True, slots=True)
class Delete:
    """A statement is deleted.

    Args:
        s: the subject
        p: the predicate
        o: the object
        g: the graph; None in streams of triples, DEFAULT_GRAPH for the default graph in streams of quads
    """

    s: Term
    p: Term
    o: Term
    g: GraphName | None = None

    @property
    def statement(self) -> Triple | Quad:
        """The statement: a triple if there is no graph."""
        return Triple(self.s, self.p, self.o) if self.g is None else Quad(self.s, self.p, self.o, self.g)

    def __str__(self) -> str:
        return _line("D", self.s, self.p, self.o, self.g)


@dataclass(frozen=True, slots=True)
class NamespaceAdd:
    """A namespace is added: a short name for an IRI.

    Args:
        name: the short name, as before the colon in Turtle
        iri: the IRI
        g: the graph of the namespace; None in streams of triples
    """

    name: str
    iri: IRI
    g: GraphName | None = None

    def __str__(self) -> str:
        return _line("PA", Literal(self.name), self.iri, self.g)


@dataclass(frozen=True, slots=True)
class NamespaceDelete:
    """A namespace is deleted.

    Args:
        name: the short name
        iri: the IRI, if it is known; the text of RDF Patch does not have it
        g: the graph of the namespace; None in streams of triples
    """

    name: str
    iri: IRI | None = None
    g: GraphName | None = None

    def __str__(self) -> str:
        return _line("PD", Literal(self.name), self.g)


@dataclass(frozen=True, slots=True)
class Header:
    """A header: a key and a value that apply to the patch as a whole.

    Args:
        key: the key, such as `id` or `prev`
        value: any term
    """

    key: str
    value: HeaderValue

    def __str__(self) -> str:
        return _line("H", self.key if _WORD.fullmatch(self.key) else Literal(self.key), self.value)


@dataclass(frozen=True, slots=True)
class TransactionStart:
    """A transaction starts."""

    def __str__(self) -> str:
        return "TX ."


@dataclass(frozen=True, slots=True)
class TransactionCommit:
    """The end of a transaction whose changes are committed."""

    def __str__(self) -> str:
        return "TC ."


@dataclass(frozen=True, slots=True)
class TransactionAbort:
    """The end of a transaction whose changes are discarded."""

    def __str__(self) -> str:
        return "TA ."


@dataclass(frozen=True, slots=True)
class Punctuation:
    """The end of a patch in a stream of type PUNCTUATED. RDF Patch has no such row; in text it is a comment."""

    def __str__(self) -> str:
        return "# end of patch"


PatchRow: TypeAlias = (
    Add
    | Delete
    | NamespaceAdd
    | NamespaceDelete
    | Header
    | TransactionStart
    | TransactionCommit
    | TransactionAbort
    | Punctuation
)


def _line(*parts: object) -> str:
    """Return the given terms as a line. The default graph is left out, as in N-Quads."""
    return " ".join(str(part) for part in (*parts, ".") if part is not None and part is not DEFAULT_GRAPH)
