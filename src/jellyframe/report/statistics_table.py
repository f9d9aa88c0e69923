"""Statistics as text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from jellyframe.ops.stats.result import ESTIMATED, KIND_TITLES, Counts, Statistics
from jellyframe.report.text import clipped, short_iri

# Longer names would hide the numbers after them.
_NAME_LETTERS = 60


def text_table(statistics: Statistics, *, top: int) -> str:
    """Return the counts in a few tables; long ones are cut after the first lines."""
    facts = [("statements", f"{statistics.statements:,}")]
    if statistics.default_graph:
        facts.append(("in the default graph", f"{statistics.default_graph:,}"))
    for name, count in statistics.distinct.items():
        about = "about " if statistics.is_approximate and name in ESTIMATED else ""
        facts.append((f"distinct {name}", f"{about}{count:,}"))
    facts += [(f"used {KIND_TITLES[kind]}", f"{uses:,}") for kind, uses in statistics.uses_by_kind.items() if uses]
    tables = [
        aligned(facts),
        _top(("predicate", "statements"), [(name, c.uses) for name, c in statistics.predicates.items()], top),
        _top(
            ("class", "entities", "statements"),
            [(name, c.distinct, c.uses) for name, c in statistics.classes.items()],
            top,
        ),
        _top(("datatype", "literals", "distinct"), _uses(statistics.datatypes), top),
        _top(("language", "literals", "distinct"), _uses(statistics.languages), top),
    ]
    return "\n".join(table for table in tables if table)


def _uses(counts: Counts) -> list[tuple[str, int, int]]:
    return [(name, count.uses, count.distinct) for name, count in counts.items()]


def _top(head: tuple[str, ...], rows: Sequence[tuple[str, *tuple[int, ...]]], top: int) -> str:
    """Return the first rows of a table, and the number of the others."""
    if not rows:
        return ""
    lines = [head]
    for name, *numbers in rows[:top]:
        lines.append((clipped(short_iri(name), _NAME_LETTERS), *(f"{number:,}" for number in numbers)))
    if len(rows) > top:
        lines.append((f"… and {len(rows) - top:,} more", *("" for _ in head[1:])))
    return aligned(lines)


def aligned(lines: Sequence[tuple[str, ...]]) -> str:
    """Return lines of columns: names aligned left, numbers right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() + "\n" for line in lines
    )
