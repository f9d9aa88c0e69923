"""Statements as plain tuples, so that every implementation can be compared with every other.

    ("iri", value)  ("bnode", label)  ("literal", lex, datatype | None, language | None)
    ("triple", s, p, o) for a quoted triple  ("default",) for the default graph

A simple literal and one of type xsd:string are the same term, and have the datatype None. A statement is a
tuple of three or four such terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
RDF_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

PlainTerm = tuple[Any, ...]
PlainStatement = tuple[PlainTerm, ...]


def plain_literal(lex: str, datatype: str | None, language: str | None) -> PlainTerm:
    if language is not None or datatype == XSD_STRING:
        datatype = None
    return "literal", lex, datatype, language


def plain_term(term: Any) -> PlainTerm:
    """A term of this package, on either kernel, as a tuple. Fails on anything that is not one."""
    # By name, because the terms of the two kernels are of different classes.
    match type(term).__name__:
        case "DefaultGraph":
            return ("default",)
        case "IRI":
            return "iri", term.value
        case "BlankNode":
            return "bnode", term.label
        case "Literal":
            assert (term.language is not None) == (term.datatype == RDF_LANG_STRING), term
            return plain_literal(term.lex, term.datatype, term.language)
        case "Triple":
            return "triple", *map(plain_term, term)
    raise TypeError(f"not a term: {term!r}")


def build_term(terms: ModuleType, term: PlainTerm) -> Any:
    """The term as an object of `terms`, the module of one kernel."""
    match term:
        case ("default",):
            return terms.DEFAULT_GRAPH
        case ("iri", value):
            return terms.IRI(value)
        case ("bnode", label):
            return terms.BlankNode(label)
        case ("literal", lex, datatype, language):
            return terms.Literal(lex, datatype=datatype, language=language)
        case ("triple", s, p, o):
            return terms.Triple(*(build_term(terms, part) for part in (s, p, o)))
    raise TypeError(f"not a plain term: {term!r}")


def build(terms: ModuleType, statements: Iterable[PlainStatement]) -> list[Any]:
    """Statements as objects of `terms`, the module of one kernel."""
    made = []
    for statement in statements:
        kind = terms.Triple if len(statement) == 3 else terms.Quad
        made.append(kind(*(build_term(terms, term) for term in statement)))
    return made


def plain_statement(statement: Iterable[Any]) -> PlainStatement:
    return tuple(map(plain_term, statement))


def plain(statements: Iterable[Iterable[Any]]) -> list[PlainStatement]:
    return [plain_statement(statement) for statement in statements]


def blank_labels(statement: PlainTerm | PlainStatement) -> Iterator[str]:
    """The labels of the blank nodes of a statement, in order, those in quoted triples included."""
    for term in statement:
        if isinstance(term, tuple):
            if term[0] == "bnode":
                yield term[1]
            else:
                yield from blank_labels(term)


class BlankNodeMap:
    """A one-to-one correspondence between the blank nodes of two streams, grown by comparing statements."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def _renamed(self, term: Any) -> Any:
        if not isinstance(term, tuple):
            return term
        if term[0] == "bnode":
            return "bnode", self._there[term[1]]
        return tuple(map(self._renamed, term))

    def same(self, left: PlainStatement, right: PlainStatement) -> bool:
        ours, theirs = list(blank_labels(left)), list(blank_labels(right))
        if len(ours) != len(theirs):
            return False
        for mine, other in zip(ours, theirs, strict=True):
            if self._there.setdefault(mine, other) != other or self._back.setdefault(other, mine) != mine:
                return False
        return bool(self._renamed(left) == right)


def assert_same_frames(got: list[list[PlainStatement]], expected: list[list[PlainStatement]], what: str = "") -> None:
    """Equal frame by frame and in order, blank nodes mapped one to one over the whole stream."""
    assert len(got) == len(expected), f"{what}: {len(got)} frames, expected {len(expected)}"
    mapping = BlankNodeMap()
    for index, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        assert len(ours) == len(theirs), f"{what}: frame {index} has {len(ours)} statements, not {len(theirs)}"
        for row, (left, right) in enumerate(zip(ours, theirs, strict=True)):
            assert mapping.same(left, right), f"{what}: frame {index}, statement {row}:\n{left}\n{right}"
