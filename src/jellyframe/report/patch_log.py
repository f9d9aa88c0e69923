"""The history of patches as a table for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from jellyframe.errors import one_line
from jellyframe.ops.documents import json_document
from jellyframe.ops.patches.history import LogEntry
from jellyframe.report.statistics_table import aligned
from jellyframe.report.text import clipped, size

_NAME_LETTERS = 50
_ID_LETTERS = 40


def log_table(entries: Sequence[LogEntry]) -> str:
    """Return a line for each entry, and their sum."""
    head = ("file", "time", "size", "patches", "added", "deleted", "namespaces", "committed", "aborted", "id", "prev")
    lines = [head, *map(_line, entries)]
    if len(entries) > 1:
        sizes = [entry.bytes for entry in entries if entry.bytes is not None]
        numbers = [[getattr(entry, name) for entry in entries] for name in _NUMBERS]
        lines.append(
            (
                "all",
                "",
                size(sum(sizes)).replace("\u202f", " ") if sizes else "",
                *(f"{sum(column):,}" for column in numbers),
                "",
                "",
            )
        )
    # Empty columns are left out.
    used = [column for column in range(len(head)) if any(line[column] not in ("", "0") for line in lines[1:])]
    return aligned([tuple(line[column] for column in used) for line in lines])


_NUMBERS = ("patches", "added", "deleted", "namespaces", "committed", "aborted")


def _line(entry: LogEntry) -> tuple[str, ...]:
    name = entry.file if entry.patch is None else f"{entry.file} #{entry.patch}"
    return (
        clipped(one_line(name), _NAME_LETTERS),
        "" if entry.time is None else entry.time.strftime("%Y-%m-%d %H:%M:%S"),
        "" if entry.bytes is None else size(entry.bytes).replace("\u202f", " "),
        *(f"{getattr(entry, name):,}" for name in _NUMBERS),
        clipped(one_line(entry.id or ""), _ID_LETTERS),
        clipped(one_line(entry.previous or ""), _ID_LETTERS),
    )


def log_json(entries: Sequence[LogEntry]) -> str:
    """Return the entries as a JSON list of objects."""
    rows = [{**entry._asdict(), "time": None if entry.time is None else entry.time.isoformat()} for entry in entries]
    return json_document(rows)
