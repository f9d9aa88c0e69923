"""Statements of an iterable, encoded in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import EncodeError
from jellyframe.kernel.from_objects_cy import StatementBuilder

if TYPE_CHECKING:
    from jellyframe.stream.encoder import StreamEncoder
    from jellyframe.terms import Quad, Triple

BATCH_BYTES: Final = 8 << 20


def batches_of(
    statements: Iterable[Triple | Quad] | Iterable[tuple[Any, ...]],
    *,
    has_graph: bool | None = None,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    text_classes: dict[type, int] | None = None,
) -> Iterator[Batch]:
    """Return the statements of an iterable in batches of bounded rows and bytes.

    If a statement is refused, or the iterable raises any error, the statements before it are yielded first.

    Args:
        statements: any iterable of triples or of quads; no more of it is drawn than the next batch takes
        has_graph: whether they are quads; None to let the first one decide
        batch_rows: the maximum number of statements in a batch
        text_classes: the kinds of term that another library's subclasses of str stand for

    Raises:
        EncodeError: if an item is not a statement of this kind, or a part of it is not a term
    """
    return built_batches(StatementBuilder(has_graph, text_classes=text_classes), statements, batch_rows)


def built_batches(
    builder: StatementBuilder, statements: Iterable[Any], batch_rows: int = DEFAULT_BATCH_ROWS
) -> Iterator[Batch]:
    """Yield the batches that a builder makes of an iterable. Items before a refused one are yielded first."""
    iterator = iter(statements)
    while True:
        try:
            added = builder.add(iterator, batch_rows, BATCH_BYTES)
        except BaseException:
            if builder.rows:
                yield Batch.from_builder(builder.take())
            raise
        if added == 0:
            return
        yield Batch.from_builder(builder.take())


def item_error(error: EncodeError, before: int, what: str) -> EncodeError:
    """Return an error of a row of a batch as one of an item given, of which `before` came before the batch."""
    if error.row is None:
        return error
    return EncodeError(f"{what} {before + error.row} of those given: {error.message}", advice=error.advice)


def encode_statements(
    encoder: StreamEncoder, statements: Iterable[Triple | Quad], *, batch_rows: int = DEFAULT_BATCH_ROWS
) -> Iterator[int]:
    """Encode the statements of an iterable, and yield how many are encoded each time output may be taken.

    `batch_rows` are drawn from the iterable at a time: few, if they come slowly and each frame is to be sent at once.

    If a statement is refused, or the iterable raises, those before it are encoded. Those after a statement that the
    encoder refuses are not, though an iterator may have been drawn further.

    Raises:
        EncodeError: if a statement cannot be written; the message says which of those given it is
    """
    given = 0
    has_graph = None if encoder.options is None else encoder.options.has_graph
    for batch in batches_of(statements, has_graph=has_graph, batch_rows=batch_rows):
        row = 0
        while row < len(batch):
            try:
                row = encoder.encode(batch, row)
            except EncodeError as error:
                raise item_error(error, given, "statement") from None
            yield given + row
        given += len(batch)
