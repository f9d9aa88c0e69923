"""Recognise the dialect of a frame by its rows.

Every statement shows its dialect. In the draft a triple has its three terms in the fields 1 to 3, all of them, even if
they repeat. In the released format these fields are alternatives of the subject, of which at most one is set, and the
other terms have higher numbers. So no statement is valid in both dialects, and a stream without statements cannot be
misread.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from jellyframe.errors import ParseError
from jellyframe.options import VERSION_1_0, DialectName
from jellyframe.wire import BYTES, VARINT, decode_fields

# Number of significant rows to check: all agree, unless the frame is damaged.
_MOST_VOTES: Final = 64
_ROWS, _METADATA = 1, 15
_OPTIONS, _TRIPLE, _QUAD, _GRAPH_START, _NAMESPACE = 1, 2, 3, 4, 6
_ENTRIES: Final = (9, 10, 11)


def recognised_dialect(frame: bytes | memoryview) -> DialectName | None:
    """Return the dialect that the rows of a frame show; None if they show none, or contradict each other.

    The frame may be truncated or damaged: only complete rows before that are read.
    """
    votes = set(islice(_votes(frame), _MOST_VOTES))
    return votes.pop() if len(votes) == 1 else None


def _votes(frame: bytes | memoryview) -> Iterator[DialectName]:
    """Yield the dialects for which the rows of a frame are evidence."""
    try:
        for field, _wire_type, row in decode_fields(frame):
            if field == _METADATA:
                yield "released"
            elif field == _ROWS and isinstance(row, bytes):
                for number, _type, message in decode_fields(row):
                    vote = _vote(number, list(decode_fields(message))) if isinstance(message, bytes) else None
                    if vote is not None:
                        yield vote
    except ParseError:
        return


def _vote(row: int, fields: list[tuple[int, int, int | bytes]]) -> DialectName | None:
    numbers = {field for field, _wire_type, _value in fields}
    if row == _NAMESPACE:
        return "released"
    if row in (_TRIPLE, _QUAD):
        alternatives = len(numbers & {1, 2, 3, 4})
        others = any(4 < field < 17 for field in numbers)
        if alternatives > 1:
            return None if others else "draft"
        return "released"
    if row == _GRAPH_START:
        return _vote_of_graph(fields)
    if row in _ENTRIES:
        return None if any(field == 1 and value for field, _wire_type, value in fields) else "released"
    if row == _OPTIONS:
        values = {field: value for field, wire_type, value in fields if wire_type == VARINT}
        version = values.get(15, VERSION_1_0)
        if 14 in values or (isinstance(version, int) and version > VERSION_1_0):
            return "released"
        return "draft" if 5 in values else None
    return None


def _vote_of_graph(fields: list[tuple[int, int, int | bytes]]) -> DialectName | None:
    """Return the dialect of an RdfGraphStart: the draft wraps the graph in a message."""
    for field, wire_type, value in fields:
        if field in (2, 3, 4):
            return "released"
        if field == 1 and wire_type == BYTES and isinstance(value, bytes):
            # An RdfIri holds numbers only, an RdfGraph messages and strings.
            return "draft" if any(inner == BYTES for _number, inner, _value in decode_fields(value)) else "released"
    return None
