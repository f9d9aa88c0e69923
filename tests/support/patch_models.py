"""Patches and data as Python sets: an independent model of what operations on them have to give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

from jellyframe.patch import (
    Add,
    Delete,
    Header,
    PatchRow,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.strategies import blank_nodes

A, B = IRI("http://example.org/a"), IRI("http://example.org/b")
_SUBJECTS = st.sampled_from([A, B, Triple(A, B, BlankNode("n"))]) | blank_nodes()
_OBJECTS = st.sampled_from(
    [
        A,
        Literal("x"),
        Literal("x", language="en"),
        Literal("x", language="EN"),
        Literal("x", datatype="urn:t"),
        Literal("<a>"),
    ]
)
# Few of them, so that the same statement comes again.
STATEMENTS: st.SearchStrategy[Quad] = st.builds(
    Quad, _SUBJECTS, st.sampled_from([A, B]), _OBJECTS, st.sampled_from([DEFAULT_GRAPH, A, BlankNode("n")])
)
DATA = st.lists(STATEMENTS, max_size=30)
_ROWS: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda quad: Add(*quad), STATEMENTS),
    st.builds(lambda quad: Delete(*quad), STATEMENTS),
    st.builds(lambda quad: Delete(*quad), STATEMENTS),
    st.sampled_from([TransactionStart(), TransactionCommit(), TransactionAbort(), Header("k", Literal("v"))]),
)


def _in_turn(rows: Iterable[PatchRow], finished: bool) -> list[PatchRow]:
    """Return the rows without those of transactions that are out of turn."""
    kept: list[PatchRow] = []
    is_open = False
    for row in rows:
        if isinstance(row, TransactionStart):
            if is_open:
                continue
            is_open = True
        elif isinstance(row, TransactionCommit | TransactionAbort):
            if not is_open:
                continue
            is_open = False
        kept.append(row)
    return [*kept, TransactionCommit()] if is_open and finished else kept


PATCHES: st.SearchStrategy[list[PatchRow]] = st.lists(_ROWS, max_size=40).map(lambda rows: _in_turn(rows, True))
UNFINISHED_PATCHES: st.SearchStrategy[list[PatchRow]] = st.lists(_ROWS, max_size=40).map(
    lambda rows: _in_turn(rows, False)
)


def applied(data: Iterable[Quad], rows: Iterable[PatchRow]) -> set[Quad]:
    """Return the data as the rows leave it behind."""
    state = set(data)
    before: set[Quad] | None = None
    for row in rows:
        match row:
            case TransactionStart():
                before = set(state)
            case TransactionCommit():
                before = None
            case TransactionAbort():
                assert before is not None
                state, before = before, None
            case Add():
                state.add(as_quad(row.statement))
            case Delete():
                state.discard(as_quad(row.statement))
    return state if before is None else before


def as_quad(statement: Triple | Quad) -> Quad:
    return statement if isinstance(statement, Quad) else Quad(*statement, DEFAULT_GRAPH)


class Twin:
    """Modules of one twin of the package, and the terms of the other as its own."""

    def __init__(self, package: ModuleType) -> None:
        self.package = package
        self.core = import_module(f"{package.__name__}.ops.patches.core")
        self.committed = import_module(f"{package.__name__}.ops.patches.committed")
        self._terms = import_module(f"{package.__name__}.terms")
        self._patch = import_module(f"{package.__name__}.patch")

    def term(self, term: Any) -> Any:
        match term:
            case IRI():
                return self._terms.IRI(term.value)
            case BlankNode():
                return self._terms.BlankNode(term.label)
            case Literal():
                language = {"language": term.language} if term.language else {"datatype": term.datatype}
                return self._terms.Literal(term.lex, **language)
            case Triple():
                return self._terms.Triple(*map(self.term, term))
        return self._terms.DEFAULT_GRAPH

    def data(self, statements: Sequence[Quad], rows: int = 7) -> Any:
        own = [self._terms.Quad(*map(self.term, quad)) for quad in statements]

        def batches() -> Iterator[Any]:
            for start in range(0, len(own), rows):
                yield self.package.Batch.from_statements(own[start : start + rows], quads=True)

        return batches

    def patch(self, rows: Sequence[PatchRow], size: int = 5) -> Any:
        own = [self._row(row) for row in rows]

        def batches() -> Iterator[Any]:
            for start in range(0, len(own), size):
                yield from self._patch.row_batches(own[start : start + size], has_graph=True)

        return batches

    def _row(self, row: PatchRow) -> Any:
        kind = getattr(self._patch, type(row).__name__)
        match row:
            case Add() | Delete():
                return kind(*map(self.term, (row.s, row.p, row.o, row.g)))
            case Header():
                return kind(row.key, self.term(row.value))
        return kind()

    def rows(self, batches: Iterable[Any]) -> list[Any]:
        return [row for batch in batches for row in self._patch.rows_of(batch)]


__all__ = ["DATA", "PATCHES", "STATEMENTS", "UNFINISHED_PATCHES", "Twin", "applied", "as_quad"]
