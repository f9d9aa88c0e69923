"""The rows of a patch as Python objects. `str(row)` is the line of RDF Patch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, GraphName, Literal, Quad, Triple

if TYPE_CHECKING:
    from jellyframe.terms import Term

# What can stand for a header's value.
HeaderValue: TypeAlias = "IRI | BlankNode | Literal | Triple"

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Add:
    """A statement is added. `g` is None in streams of triples, and may be DEFAULT_GRAPH in those of quads."""

    s: Term
    p: Term
    o: Term
    g: GraphName | None = None

    @property
    def statement(self) -> Triple | Quad:
        """The statement: a triple where there is no graph."""
        return Triple(self.s, self.p, self.o) if self.g is None else Quad(self.s, self.p, self.o, self.g)

    def __str__(self) -> str:
        return _line("A", self.s, self.p, self.o, self.g)


@dataclass(frozen=True, slots=True)
class Delete:
    """A statement is deleted. `g` is None in streams of triples, and may be DEFAULT_GRAPH in those of quads."""

    s: Term
    p: Term
    o: Term
    g: GraphName | None = None

    @property
    def statement(self) -> Triple | Quad:
        """The statement: a triple where there is no graph."""
        return Triple(self.s, self.p, self.o) if self.g is None else Quad(self.s, self.p, self.o, self.g)

    def __str__(self) -> str:
        return _line("D", self.s, self.p, self.o, self.g)


@dataclass(frozen=True, slots=True)
class NamespaceAdd:
    """A namespace is added: a short name for an IRI, in streams of quads for one graph."""

    name: str
    iri: IRI
    g: GraphName | None = None

    def __str__(self) -> str:
        return _line("PA", Literal(self.name), self.iri, self.g)


@dataclass(frozen=True, slots=True)
class NamespaceDelete:
    """A namespace is deleted. Its IRI may be given; RDF Patch has no place for it."""

    name: str
    iri: IRI | None = None
    g: GraphName | None = None

    def __str__(self) -> str:
        return _line("PD", Literal(self.name), self.g)


@dataclass(frozen=True, slots=True)
class Header:
    """A key and a value that say something about the patch as a whole."""

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
    """A transaction ends, and what is in it holds."""

    def __str__(self) -> str:
        return "TC ."


@dataclass(frozen=True, slots=True)
class TransactionAbort:
    """A transaction ends, and what is in it does not hold."""

    def __str__(self) -> str:
        return "TA ."


@dataclass(frozen=True, slots=True)
class Punctuation:
    """A patch ends, in a stream of type PUNCTUATED. RDF Patch has no such row; as text it is a comment."""

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
    """Join what is there into a line. The default graph is left out, as in N-Quads."""
    return " ".join(str(part) for part in (*parts, ".") if part is not None and part is not DEFAULT_GRAPH)
