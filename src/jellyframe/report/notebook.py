"""Readers, statistics and tables as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jellyframe.errors import JellyError
from jellyframe.report.page import facts, table_of
from jellyframe.report.text import clipped

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.ops.stats.result import Statistics
    from jellyframe.options import StreamOptions

# Rows of a table that are shown.
FIRST_ROWS = 10
_LETTERS = 80


def cell(text: object) -> str:
    """Return a value as the text of a cell, clipped if it is long."""
    return clipped(str(text), _LETTERS)


def reader_html(name: str | None, options: StreamOptions | JellyError, first: Batch | None) -> str:
    """Return a summary of a reader: the options of the stream, and the first statements if they are in memory."""
    if isinstance(options, JellyError):
        return facts([("stream", cell(name or "bytes or a file object")), ("error", str(options))])
    lines = [
        ("stream", cell(name or "bytes or a file object")),
        ("physical type", options.physical_type.name),
        ("logical type", options.logical_type.name),
        (
            "tables",
            f"{options.max_name_table_size} names, {options.max_prefix_table_size} prefixes, "
            f"{options.max_datatype_table_size} datatypes",
        ),
    ]
    rows = [] if first is None else first.statements(0, min(FIRST_ROWS, len(first)))
    head = ("s", "p", "o", "g") if options.has_graph else ("s", "p", "o")
    shown = table_of(head, [[cell(term) for term in statement] for statement in rows]) if rows else ""
    return facts(lines) + shown


def statistics_html(statistics: Statistics) -> str:
    """Return the counts, and the most frequent predicates and classes."""
    lines = [("statements", f"{statistics.statements:,}")]
    lines += [(f"distinct {name}", f"{count:,}") for name, count in statistics.distinct.items()]
    tables = [
        (("predicate", "statements"), [(name, count.uses) for name, count in statistics.predicates.items()]),
        (("class", "entities"), [(name, count.distinct) for name, count in statistics.classes.items()]),
        (("datatype", "literals"), [(name, count.uses) for name, count in statistics.datatypes.items()]),
        (("language", "literals"), [(name, count.uses) for name, count in statistics.languages.items()]),
    ]
    return facts(lines) + "".join(_top(head, rows) for head, rows in tables if rows)


def _top(head: Sequence[str], rows: Sequence[tuple[str, int]]) -> str:
    return table_of(head, [[cell(name), f"{count:,}"] for name, count in rows[:FIRST_ROWS]])


def table_html(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the first rows of a table."""
    return table_of(names, [[cell("" if value is None else value) for value in row] for row in rows])
