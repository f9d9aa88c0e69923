"""Pages of statements, from any place of a file, filtered by their terms."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jellyframe.batch import Batch
from jellyframe.errors import OptionsError, StorageError, display_name
from jellyframe.formats import JELLY, format_by_path
from jellyframe.ops.browsing.anchors import FAR_BYTES, Anchors
from jellyframe.ops.filters import RowFilter, TermOrText
from jellyframe.options import Limits, StreamOptions
from jellyframe.storage.sources import ByteSource, open_input
from jellyframe.storage.types import InputHandle
from jellyframe.stream.reader import JellyReader, open_reader
from jellyframe.terms import Quad, Triple

PAGE_ROWS = 100
# Readers that stay open at the end of a page, so that the next page need not be searched.
_OPEN_CURSORS = 4
# Statements in a batch: few, as a page shows few.
_BATCH_ROWS = 4096
# The last page before the next restart point.
FROM_END = -1


class Place(NamedTuple):
    """A place in a file: some statements after a restart point, or the last page before the next one (`FROM_END`)."""

    anchor: int = 0
    skip: int = 0


class Row(NamedTuple):
    """A statement and its place: `frame` counts from the restart point, `number` from the start, if it is known."""

    place: Place
    number: int | None
    frame: int
    statement: Triple | Quad


@dataclass(frozen=True)
class Page:
    """Consecutive statements, and the places of the previous and the next page.

    If time ran out before the page was full, `is_full` is false and the search continues at `next`. `reached` is the
    fraction of the file before the end of the page, from 0 to 1, according to the restart points.
    """

    rows: list[Row]
    next: Place | None
    previous: Place | None
    is_full: bool
    reached: float


class _Cursor:
    """A reader at a place between two restart points."""

    def __init__(self, reader: JellyReader, place: Place) -> None:
        self._reader = reader
        self._batches = reader.batches()
        self._batch: Batch | None = None
        self._row = 0
        self.place = Place(place.anchor, 0)
        self._pass_over(place.skip)

    def _pass_over(self, count: int) -> None:
        while count and (batch := self.batch()) is not None:
            step = min(count, len(batch) - self._row)
            self.advance(step)
            count -= step

    def batch(self) -> Batch | None:
        """Return the batch with the next statement, the one at `row` in it; None at the end."""
        while self._batch is None or self._row >= len(self._batch):
            self._batch, self._row = next(self._batches, None), 0
            if self._batch is None:
                return None
        return self._batch

    @property
    def row(self) -> int:
        return self._row

    def advance(self, count: int) -> None:
        self._row += count
        self.place = Place(self.place.anchor, self.place.skip + count)

    def close(self) -> None:
        self._reader.close()


class BrowsedFile:
    """A Jelly file for browsing, by one thread at a time.

    Args:
        path: a path, or a URI
        limits: the limits for untrusted input
    """

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        self.path = path
        self.name = display_name(path)
        self.limits = limits or Limits()
        found = format_by_path(path)
        if found is not None and found is not JELLY:
            raise OptionsError(
                f"{self.name}: this is {found.title}, and only Jelly can be browsed: convert it with "
                "`jellyframe rdf to-jelly`"
            )
        with ByteSource(path, self.limits) as source:
            self.compression = source.compression
        with open_reader(path, limits=self.limits) as reader:
            self.options: StreamOptions = reader.options
            self.is_delimited = reader.is_delimited is not False
        self._file: InputHandle = open_input(path)
        self._cursors: OrderedDict[Place, _Cursor] = OrderedDict()
        self.anchors: Anchors | None = None
        try:
            if self.compression is None and self.is_delimited and self._file.seekable():
                self.anchors = Anchors(self._file, self.limits)
            self.size = self._file.seek(0, 2) if self._file.seekable() else None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file and all readers of it."""
        for cursor in self._cursors.values():
            cursor.close()
        self._cursors.clear()
        self._file.close()

    @property
    def statements(self) -> int | None:
        """The number of statements; None if it is unknown until the file is read."""
        return None if self.anchors is None else self.anchors.statements

    # ---- places ----

    def last_place(self) -> Place:
        """Return the place of the last page. Raises if there is no restart point in the last part of a large file."""
        anchor = 0 if self.anchors is None else self.anchors.last()
        if (self.size or 0) - anchor > FAR_BYTES:
            raise OptionsError(
                f"{self.name}: there is no restart point near the end of the file, so that all of it would have to be "
                "read: rewrite it with `jellyframe rdf transcode --index`"
            )
        return Place(anchor, FROM_END)

    def place_at(self, fraction: float) -> Place:
        """Return the restart point at about a fraction of the file, from 0 to 1."""
        if self.anchors is None:
            return Place()
        return Place(self.anchors.at(int(max(0.0, min(fraction, 1.0)) * (self.anchors.size - 1))))

    def place_of(self, number: int) -> Place:
        """Return the position of a statement by its number, from 0. Raises if there is no index."""
        if self.anchors is None or self.anchors.statements is None:
            raise OptionsError(f"{self.name}: statements are found by their numbers only in files with an index")
        low, high = 0, self.anchors.size
        number = max(0, min(number, self.anchors.statements - 1))
        while high - low > 1:
            middle = (low + high) // 2
            if (self.anchors.statements_before(self.anchors.at(middle)) or 0) <= number:
                low = middle
            else:
                high = middle
        anchor = self.anchors.at(low)
        return Place(anchor, number - (self.anchors.statements_before(anchor) or 0))

    # ---- pages ----

    def page(
        self,
        place: Place | None = None,
        filters: Mapping[str, Sequence[TermOrText]] | None = None,
        *,
        rows: int = PAGE_ROWS,
        seconds: float = 1.0,
    ) -> Page:
        """Return the statements from a place that pass the filters, as in `scan`.

        Args:
            place: where to start, by default at the start of the file
            filters: the wanted terms of each position (s, p, o, g) that is filtered
            rows: statements on a page
            seconds: how long to search for statements that pass the filters
        """
        row_filter = RowFilter(filters or {})
        start = self._resolved(place or Place(), rows)
        deadline = time.monotonic() + seconds
        found: list[Row] = []
        cursor = self._take_cursor(start)
        try:
            while len(found) < rows and (not row_filter or time.monotonic() < deadline):
                batch = cursor.batch()
                if batch is None:
                    after = self._after(cursor.place.anchor)
                    if after is None:
                        cursor.close()
                        return Page(found, None, self._previous(start, rows), True, 1.0)
                    cursor.close()
                    cursor = self._opened(Place(after))
                    continue
                self._collect(found, batch, cursor, row_filter, rows)
        except BaseException:
            cursor.close()
            raise
        self._keep(cursor)
        at_end = self._is_end(cursor)
        return Page(
            found,
            None if at_end else cursor.place,
            self._previous(start, rows),
            len(found) == rows or at_end,
            1.0 if at_end else self._reached(cursor.place),
        )

    def _collect(self, found: list[Row], batch: Batch, cursor: _Cursor, row_filter: RowFilter, rows: int) -> None:
        """Add the wanted rows of a batch, from where the cursor is, until the page is full."""
        mask = row_filter.mask(batch)
        wanted = range(cursor.row, len(batch)) if mask is None else list(_set_bytes(mask, cursor.row))
        chosen = wanted[: rows - len(found)]
        first = cursor.row
        place = cursor.place
        base = None if self.anchors is None else self.anchors.statements_before(place.anchor)
        spans = list(batch.frame_spans())
        span = 0
        for row, statement in zip(chosen, batch.take(chosen).statements(), strict=True):
            while row >= spans[span].stop:
                span += 1
            skip = place.skip + row - first
            number = None if base is None else base + skip
            found.append(Row(Place(place.anchor, skip), number, spans[span].number, statement))
        is_full = len(found) == rows
        cursor.advance((chosen[-1] + 1 if is_full else len(batch)) - first)

    def statement_at(self, place: Place) -> Triple | Quad:
        """Return the statement at a place."""
        page = self.page(place, rows=1)
        if not page.rows:
            raise StorageError(f"{self.name}: there is no statement at this place")
        return page.rows[0].statement

    # ---- implementation ----

    def _resolved(self, place: Place, rows: int) -> Place:
        if place.skip != FROM_END:
            return place
        return self._back(Place(place.anchor, self._count(place.anchor)), rows)

    def _back(self, place: Place, rows: int) -> Place:
        """Return the place a number of statements before another one, or the start of the file."""
        anchor, skip = place
        while skip < rows:
            before = None if self.anchors is None else self.anchors.before(anchor)
            if before is None:
                return Place(anchor, 0)
            anchor = before
            skip += self._count(before)
        return Place(anchor, skip - rows)

    def _count(self, anchor: int) -> int:
        """Return the number of statements between a restart point and the next."""
        known = None if self.anchors is None else self.anchors.statements_from(anchor)
        if known is not None:
            return known
        cursor = self._opened(Place(anchor))
        try:
            while (batch := cursor.batch()) is not None:
                cursor.advance(len(batch) - cursor.row)
            return cursor.place.skip
        finally:
            cursor.close()

    def _after(self, anchor: int) -> int | None:
        return None if self.anchors is None else self.anchors.after(anchor)

    def _previous(self, start: Place, rows: int) -> Place | None:
        if start == Place():
            return None
        if start.skip >= rows or (self.anchors is not None and self.anchors.is_indexed):
            return self._back(start, rows)
        # Counting the statements before the restart point takes time: that is done when the page is requested.
        if start.skip > 0:
            return Place(start.anchor)
        before = None if self.anchors is None else self.anchors.before(start.anchor)
        return None if before is None else Place(before, FROM_END)

    def _is_end(self, cursor: _Cursor) -> bool:
        return cursor.batch() is None and self._after(cursor.place.anchor) is None

    def _reached(self, place: Place) -> float:
        if self.anchors is None or not self.anchors.size:
            return 0.0
        total = self.anchors.statements
        before = self.anchors.statements_before(place.anchor)
        if total and before is not None:
            return (before + place.skip) / total
        return place.anchor / self.anchors.size

    def _opened(self, place: Place) -> _Cursor:
        after = self._after(place.anchor)
        whole = place.anchor == 0 and after is None
        reader = open_reader(
            self.path,
            limits=self.limits,
            batch_rows=_BATCH_ROWS,
            byte_range=None if whole else (place.anchor, after),
        )
        try:
            return _Cursor(reader, place)
        except BaseException:
            reader.close()
            raise

    def _take_cursor(self, place: Place) -> _Cursor:
        cursor = self._cursors.pop(place, None)
        return self._opened(place) if cursor is None else cursor

    def _keep(self, cursor: _Cursor) -> None:
        """Keep a reader open at its position."""
        known = self._cursors.pop(cursor.place, None)
        if known is not None:
            known.close()
        self._cursors[cursor.place] = cursor
        while len(self._cursors) > _OPEN_CURSORS:
            self._cursors.popitem(last=False)[1].close()


def _set_bytes(mask: bytes | memoryview, start: int) -> Iterator[int]:
    """Yield the positions of ones in a mask, from a row."""
    data = bytes(mask)
    at = data.find(1, start)
    while at >= 0:
        yield at
        at = data.find(1, at + 1)
