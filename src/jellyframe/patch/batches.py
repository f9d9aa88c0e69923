"""Convert rows of patches from Python objects to batches, and back."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from jellyframe.batch import Batch
from jellyframe.errors import EncodeError, NamedGraphError
from jellyframe.kernel import patch_fields as fields
from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.kernel.from_objects_cy import StatementBuilder
from jellyframe.patch.rows import (
    Add,
    Delete,
    Header,
    NamespaceAdd,
    NamespaceDelete,
    PatchRow,
    Punctuation,
    TransactionAbort,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.stream.statements import built_batches, item_error
from jellyframe.terms import DEFAULT_GRAPH, Literal
from jellyframe.wire import require_str

# Rows converted to objects at a time.
ROWS_AT_A_TIME: Final = 4096
_OPERATIONS: Final[dict[type, int]] = {
    Add: fields.PATCH_ADD,
    Delete: fields.PATCH_DELETE,
    NamespaceAdd: fields.PATCH_NAMESPACE_ADD,
    NamespaceDelete: fields.PATCH_NAMESPACE_DELETE,
    Header: fields.PATCH_HEADER,
    TransactionStart: fields.PATCH_TRANSACTION_START,
    TransactionCommit: fields.PATCH_TRANSACTION_COMMIT,
    TransactionAbort: fields.PATCH_TRANSACTION_ABORT,
    Punctuation: fields.PATCH_PUNCTUATION,
}
_NOTHING: Final = DEFAULT_GRAPH
# The terms of a row, with DEFAULT_GRAPH for missing ones.
_Terms = tuple[Any, Any, Any, Any]


def rows_of(batch: Batch, start: int = 0, stop: int | None = None) -> Iterator[PatchRow]:
    """Yield rows of the `batch` of a patch as objects, from `start` to `stop`, without `stop`."""
    ops = batch.operations
    stop = len(batch) if stop is None else stop
    for first in range(start, stop, ROWS_AT_A_TIME):
        last = min(first + ROWS_AT_A_TIME, stop)
        for op, terms in zip(ops[first:last].tolist(), batch.statements(first, last), strict=True):
            yield _MAKERS[op](terms)


def rows_with(batch: Batch, operations: int) -> list[int]:
    """Return the rows of a batch that have one of some operations, which are bits."""
    mask = mask_of_operations(batch.operations, operations)
    if mask is None:
        return []
    found: list[int] = []
    row = mask.find(1)
    while row >= 0:
        found.append(row)
        row = mask.find(1, row + 1)
    return found


def headers_of(batch: Batch) -> Iterator[Header]:
    """Yield the headers in a batch."""
    for place in rows_with(batch, 1 << fields.PATCH_HEADER):
        row = next(rows_of(batch, place, place + 1))
        assert isinstance(row, Header)
        yield row


def row_batches(rows: Iterable[PatchRow], *, has_graph: bool) -> Iterator[Batch]:
    """Yield the rows of an iterable in batches of bounded rows and bytes.

    If a row is refused, or the iterable raises any error, the rows before it are yielded first.

    Args:
        rows: any iterable of rows, which is drawn no further than the next batch needs
        has_graph: whether they are rows of a stream of quads

    Raises:
        EncodeError: if an item is not a row, has a graph in a stream of triples, or holds an object that is not a term
    """
    ops = array("i")
    builder = StatementBuilder(has_graph, True)

    def terms_of_rows() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            op = _OPERATIONS.get(type(row))
            if op is None:
                raise EncodeError(f"a {type(row).__name__} is not a row of a patch")
            terms = _terms_of(row)
            if not has_graph:
                if terms[3] is not None and terms[3] is not DEFAULT_GRAPH:
                    raise NamedGraphError("a row with a graph in a stream of triples; set statement_type to QUADS")
                terms = terms[:3]  # type: ignore[assignment]
            elif terms[3] is None:
                terms = (*terms[:3], DEFAULT_GRAPH)
            ops.append(op)
            yield terms

    for batch in built_batches(builder, terms_of_rows()):
        # The last operation may be that of a refused row.
        yield batch.replace(op=memoryview(ops)[: len(batch)])
        ops = array("i")


def write_given(rows: Iterable[PatchRow], write: Callable[[Batch], object], *, has_graph: bool) -> None:
    """Write the rows of an iterable in batches; the EncodeError for one that `write` refuses says which it is."""
    given = 0
    for batch in row_batches(rows, has_graph=has_graph):
        try:
            write(batch)
        except EncodeError as error:
            raise item_error(error, given, "row") from None
        given += len(batch)


def _terms_of(row: PatchRow) -> _Terms:
    match row:
        case Add() | Delete():
            return (row.s, row.p, row.o, row.g)
        case NamespaceAdd() | NamespaceDelete():
            return (_text(row.name, "a namespace's name"), _NOTHING, _NOTHING if row.iri is None else row.iri, row.g)
        case Header():
            return (_text(row.key, "a header's key"), _NOTHING, row.value, _NOTHING)
        case _:
            return (_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def _text(text: str, what: str) -> Literal:
    require_str(text, what)
    return Literal(text)


def _graph_of(terms: tuple[Any, ...]) -> Any:
    return terms[3] if len(terms) == 4 else None


_MAKERS: Final[dict[int, Callable[[Any], PatchRow]]] = {
    fields.PATCH_ADD: lambda terms: Add(*terms),
    fields.PATCH_DELETE: lambda terms: Delete(*terms),
    fields.PATCH_NAMESPACE_ADD: lambda terms: NamespaceAdd(terms[0].lex, terms[2], _graph_of(terms)),
    fields.PATCH_NAMESPACE_DELETE: lambda terms: NamespaceDelete(
        terms[0].lex, None if terms[2] is DEFAULT_GRAPH else terms[2], _graph_of(terms)
    ),
    fields.PATCH_HEADER: lambda terms: Header(terms[0].lex, terms[2]),
    fields.PATCH_TRANSACTION_START: lambda _terms: TransactionStart(),
    fields.PATCH_TRANSACTION_COMMIT: lambda _terms: TransactionCommit(),
    fields.PATCH_TRANSACTION_ABORT: lambda _terms: TransactionAbort(),
    fields.PATCH_PUNCTUATION: lambda _terms: Punctuation(),
}
