"""The restart points of a file, found with its index or by a search around the wanted place."""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import suppress
from itertools import islice

from jellyframe.errors import ParseError
from jellyframe.options import Limits
from jellyframe.storage.sources import CHUNK_BYTES
from jellyframe.storage.types import InputHandle
from jellyframe.stream.index import read_index, scan_restart_points
from jellyframe.stream.kinds import ANY_STATEMENTS
from jellyframe.stream.recovery import find_restart

# The first and the largest distance from a place at which restart points are searched.
NEAR_BYTES = 12 << 20
FAR_BYTES = 192 << 20


class Anchors:
    """The restart points of a seekable file; its start is one. `statements` is the number of statements, if known.

    Without an index they are searched on demand, so that the cost does not depend on the size of the file.
    """

    def __init__(self, file: InputHandle, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self.size = file.seek(0, os.SEEK_END)
        index = read_index(file)
        # The index of a file that was appended to another one covers only its own part.
        is_whole = index is not None and index.start == 0 and bool(index.restarts)
        self._indexed = [point.offset for point in index.restarts] if index is not None and is_whole else None
        self._before = (
            {point.offset: point.statements or 0 for point in index.restarts} if index is not None and is_whole else {}
        )
        self.statements = index.statements if index is not None and is_whole else None
        self._next: dict[int, int | None] = {}

    @property
    def is_indexed(self) -> bool:
        return self._indexed is not None

    def statements_before(self, anchor: int) -> int | None:
        """Return the number of statements before a restart point; None if it is unknown."""
        return 0 if anchor == 0 else self._before.get(anchor)

    def statements_from(self, anchor: int) -> int | None:
        """Return the number of statements between a restart point and the next; None if it is unknown."""
        if self.statements is None or anchor not in self._before:
            return None
        after = self.after(anchor)
        return (self.statements if after is None else self._before[after]) - self._before[anchor]

    def after(self, anchor: int) -> int | None:
        """Return the next restart point after one; None if there is none, or none within some hundred megabytes."""
        if self._indexed is not None:
            place = bisect_right(self._indexed, anchor)
            return self._indexed[place] if place < len(self._indexed) else None
        if anchor not in self._next:
            self._next[anchor] = self._search_after(anchor)
        return self._next[anchor]

    def _search_after(self, anchor: int) -> int | None:
        # Damage, and the end of the search range, end the search. The reader reports damage later.
        with suppress(ParseError):
            stop = min(anchor + FAR_BYTES, self.size)
            for point in islice(scan_restart_points(self._file, anchor, stop), 1, 2):
                return point.offset
        return None

    def at(self, offset: int) -> int:
        """Return the last restart point at or before an offset if one is near, otherwise the start of the file."""
        if offset <= 0:
            return 0
        if self._indexed is not None:
            return self._indexed[max(bisect_right(self._indexed, offset) - 1, 0)]
        width = NEAR_BYTES
        while True:
            start = max(offset - width, 0)
            found = self._last_between(start, min(offset + 1, self.size))
            if found is not None or start == 0 or width >= FAR_BYTES:
                return found or 0
            width *= 4

    def before(self, anchor: int) -> int | None:
        """Return the restart point before one; None for the start of the file."""
        return None if anchor == 0 else self.at(anchor - 1)

    def last(self) -> int:
        """Return the last restart point of the file, if one is near its end."""
        return self._indexed[-1] if self._indexed is not None else self.at(self.size - 1)

    def _last_between(self, start: int, stop: int) -> int | None:
        """Return the last restart point between `start` and `stop`: found by bytes, then by frames."""
        first = find_restart(self._file, start, self._stop_for_search(stop), ANY_STATEMENTS, self._limits)
        if first is None or first >= stop:
            return None
        last = first
        with suppress(ParseError):
            for point in scan_restart_points(self._file, first, self.size):
                if point.offset >= stop:
                    break
                last = point.offset
        return last

    def _stop_for_search(self, stop: int) -> int:
        # A restart point before `stop` is recognised only together with its first frame.
        return min(stop + CHUNK_BYTES, self.size)
