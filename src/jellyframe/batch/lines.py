"""Statements as error messages quote them: the start of a line of N-Triples or N-Quads, of bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from jellyframe.errors import TextError, short_line
from jellyframe.kernel.from_objects_cy import build_statements
from jellyframe.kernel.ntriples_stream_cy import LineStream

if TYPE_CHECKING:
    from jellyframe.kernel.table_cy import TermTable
    from jellyframe.terms import Quad, Statement, Triple

LINE_BYTES = 300
_Columns: TypeAlias = tuple[memoryview, memoryview, memoryview, memoryview | None]


class Rows(Protocol):
    """The part of a batch's interface that is needed here: `Batch` is above this module."""

    @property
    def columns(self) -> _Columns: ...

    @property
    def terms(self) -> TermTable: ...

    def statements(self, start: int = 0, stop: int | None = None) -> list[Triple | Quad]: ...


def row_line(batch: Rows, row: int) -> str:
    """Return a row as a line; of a long one only about the first 300 bytes are built."""
    try:
        return _line(batch.columns, batch.terms, row)
    except TextError:
        # A language tag that N-Triples cannot hold.
        (statement,) = batch.statements(row, row + 1)
        return short_line(statement.to_line())


def statement_line(statement: Statement) -> str:
    """Return a statement as a line, as `row_line` does."""
    builder = build_statements([statement], None)
    try:
        return _line(builder.columns(), builder.terms, 0)
    except TextError:
        return short_line(statement.to_line())


def _line(columns: _Columns, terms: TermTable, row: int) -> str:
    line = bytes(LineStream(columns, terms, row, row + 1, LINE_BYTES).next_piece())
    if len(line) <= LINE_BYTES and line.endswith(b"\n"):
        return line.decode().rstrip("\n")
    return line[:LINE_BYTES].decode(errors="ignore") + "…"
