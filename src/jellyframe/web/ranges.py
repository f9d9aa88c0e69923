"""Byte ranges of requests."""

from __future__ import annotations

import re

_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.IGNORECASE)


class NoSuchRangeError(Exception):
    """The range begins after the end of the file."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the start and the end of the requested range in a file of some size; None for the whole file.

    An invalid header, or one with several ranges, is ignored, as RFC 9110 allows.
    """
    found = _RANGE.fullmatch(header or "")
    if found is None or max(len(found[1]), len(found[2])) > 18 or not (found[1] or found[2]):
        return None
    if not found[1]:
        start, stop = max(size - int(found[2]), 0), size
    else:
        start, stop = int(found[1]), min(int(found[2]) + 1, size) if found[2] else size
        if found[2] and int(found[2]) < start:
            return None
    if start >= size or start >= stop:
        raise NoSuchRangeError
    return start, stop
