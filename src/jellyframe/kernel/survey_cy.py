"""Count the parts of a Jelly stream without decoding it: rows, terms, lookup entries, and their bytes.

Only the structure is read, so that a stream with broken references can be surveyed too.
"""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError
from jellyframe.kernel.decode_terms_cy import TermDecoder
from jellyframe.kernel.memory_cy import int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_terms_cy import TermDecoder
    from cython.cimports.jellyframe.kernel.fields import (
        FRAME_METADATA,
        FRAME_ROWS,
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_TRIPLE,
        ROW_DATATYPE,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_OPTIONS,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import (
        FRAME_METADATA,
        FRAME_ROWS,
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_TRIPLE,
        ROW_DATATYPE,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_OPTIONS,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from jellyframe.kernel.varints import read_length, read_varint

# Indices into `counts`. Rows are counted by field number, terms by position and kind (PART_…).
AT_FRAMES = 0
AT_FRAME_BYTES = 1
AT_METADATA = 2
AT_METADATA_BYTES = 3
AT_ROWS = 4
AT_ROW_BYTES = 16
AT_TERMS = 28
AT_TERM_BYTES = 52
AT_QUOTED = 76
AT_REPLACED = 82
COUNTERS = 85

FRAMES = cython.declare(cython.Py_ssize_t, AT_FRAMES)
FRAME_BYTES = cython.declare(cython.Py_ssize_t, AT_FRAME_BYTES)
METADATA = cython.declare(cython.Py_ssize_t, AT_METADATA)
METADATA_BYTES = cython.declare(cython.Py_ssize_t, AT_METADATA_BYTES)
ROWS = cython.declare(cython.Py_ssize_t, AT_ROWS)
ROW_BYTES = cython.declare(cython.Py_ssize_t, AT_ROW_BYTES)
TERMS = cython.declare(cython.Py_ssize_t, AT_TERMS)
TERM_BYTES = cython.declare(cython.Py_ssize_t, AT_TERM_BYTES)
QUOTED = cython.declare(cython.Py_ssize_t, AT_QUOTED)
REPLACED = cython.declare(cython.Py_ssize_t, AT_REPLACED)
KINDS = cython.declare(cython.Py_ssize_t, 6)

# Ids from this one on are not tracked; no table that readers accept by default is as large.
TRACKED_IDS = cython.declare(cython.Py_ssize_t, 1 << 16)


@cython.final
@cython.cclass
class Survey(TermDecoder):
    """Counts over all frames that were fed. `counts` only grows, so that the counts of a frame are a difference."""

    counts: cython.longlong[::1]
    concatenated: cython.bint
    keep_metadata: cython.bint
    used_ids: cython.uchar[::1]
    last_ids: cython.int[::1]
    is_draft = cython.declare(cython.bint, visibility="public")
    options_message = cython.declare(object, visibility="readonly")
    metadata = cython.declare(list, visibility="readonly")

    def __init__(
        self,
        max_nesting_depth: cython.int,
        max_frame_bytes: cython.longlong,
        concatenated: cython.bint,
        keep_metadata: cython.bint,
    ):
        TermDecoder.__init__(self, max_nesting_depth, max_frame_bytes)
        self.concatenated = concatenated
        self.keep_metadata = keep_metadata
        self.is_draft = False
        self.counts = memoryview(bytearray(8 * COUNTERS)).cast("q")
        self.options_message = None
        self.metadata = []
        self.begin_stream()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_stream(self) -> cython.int:
        self.used_ids = memoryview(bytearray(3 * TRACKED_IDS))
        self.last_ids = int_column(3)
        return 0

    def numbers(self) -> list[int]:
        """Return all counts as they are now."""
        return list(memoryview(self.counts))

    def feed(self, buf: Any, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, frames: cython.Py_ssize_t) -> int:
        """Survey up to `frames` delimited frames of `buf[pos:stop]` and return the position after them.

        If fewer of them are whole, the next one requires at least `needed` bytes from that position on.
        """
        length: cython.Py_ssize_t
        self.buf = memoryview(buf)
        self.needed = 0
        while pos < stop and frames > 0:
            self.row_number = 0
            length = self.frame_length(pos, stop)
            if length < 0:
                break
            pos = self.frame(self.pos, self.pos + length)
            frames -= 1
        self.buf = memoryview(b"")
        return pos

    def feed_bare(self, buf: Any) -> None:
        """Survey a whole buffer as one bare frame."""
        self.buf = memoryview(buf)
        self.row_number = 0
        self.check_frame_length(self.buf.shape[0], 0)
        self.frame(0, self.buf.shape[0])
        self.buf = memoryview(b"")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def frame(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        tag: cython.longlong
        n: cython.Py_ssize_t
        self.counts[FRAMES] += 1
        self.counts[FRAME_BYTES] += stop - pos
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == (FRAME_ROWS << 3 | 2):
                n = read_length(self, self.pos, stop)
                pos = self.row(self.pos, self.pos + n)
                self.row_number += 1
            elif tag == (FRAME_METADATA << 3 | 2):
                n = read_length(self, self.pos, stop)
                pos = self.pos + n
                self.counts[METADATA] += 1
                self.counts[METADATA_BYTES] += n
                if self.keep_metadata:
                    self.metadata.append(bytes(memoryview(self.buf)[pos - n : pos]))
            else:
                pos = self.skip(tag, self.pos, stop)
        self.frame_number += 1
        return stop

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def row(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
        tag: cython.longlong
        field: cython.Py_ssize_t
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if (tag & 7) != 2 or tag < 8 or tag >= 96:
                pos = self.skip(tag, self.pos, stop)
                continue
            field = cython.cast(cython.Py_ssize_t, tag >> 3)
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            if self.options_message is None and field != ROW_OPTIONS:
                self.fail("the stream does not begin with an options row", pos - n)
            self.counts[ROWS + field] += 1
            self.counts[ROW_BYTES + field] += n
            if field == ROW_TRIPLE:
                self.statement_parts(pos - n, pos, 3)
            elif field == ROW_QUAD:
                self.statement_parts(pos - n, pos, 4)
            elif field >= ROW_NAME and field <= ROW_DATATYPE:
                self.lookup_entry(field - ROW_NAME, pos - n, pos)
            elif field == ROW_GRAPH_START:
                self.scan_terms(0, pos - n, pos, 3, 4)
                self.part(3)
            elif field == ROW_OPTIONS:
                if self.options_message is None:
                    self.options_message = bytes(memoryview(self.buf)[pos - n : pos])
                elif self.concatenated:
                    self.begin_stream()
        return stop

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def statement_parts(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, width: cython.int) -> cython.int:
        position: cython.int
        self.scan_terms(0, pos, stop, 0, width)
        for position in range(width):
            self.part(position)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def scan_terms(
        self,
        level: cython.Py_ssize_t,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        first: cython.int,
        width: cython.int,
    ) -> cython.int:
        """Record where the terms at the positions from `first` up to `width` are in a message, in either dialect."""
        if self.is_draft:
            return self.scan_wrapped(level, pos, stop, first, width)
        return self.scan(level, pos, stop, 4 * first, 4 * width)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def scan_wrapped(
        self,
        level: cython.Py_ssize_t,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        first: cython.int,
        width: cython.int,
    ) -> cython.int:
        """Do the same in the draft dialect, where each term has its own message; a repeated one counts as absent."""
        position: cython.Py_ssize_t
        tag: cython.longlong
        end: cython.Py_ssize_t
        n: cython.Py_ssize_t
        for position in range(4):
            self.part_kind[4 * level + position] = PART_ABSENT
        while pos < stop:
            tag = read_varint(self, pos, stop)
            position = cython.cast(cython.Py_ssize_t, tag >> 3) - 1 + first
            if (tag & 7) != 2 or tag < 8 or position >= width:
                pos = self.skip(tag, self.pos, stop)
                continue
            n = read_length(self, self.pos, stop)
            pos = self.pos
            end = pos + n
            while pos < end:
                tag = read_varint(self, pos, end)
                if (tag & 7) != 2 or tag < 8 or tag >= 5 << 3:
                    pos = self.skip(tag, self.pos, end)
                    continue
                n = read_length(self, self.pos, end)
                self.part_kind[4 * level + position] = cython.cast(cython.int, tag >> 3) - 1
                if position == 3 and tag >> 3 == 4:
                    self.part_kind[4 * level + position] = PART_DEFAULT_GRAPH
                self.part_start[4 * level + position] = self.pos
                pos = self.pos + n
                self.part_stop[4 * level + position] = pos
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def part(self, position: cython.Py_ssize_t) -> cython.int:
        """Count the term at a position of the statement that was scanned, also an absent one, which is a repetition."""
        kind: cython.Py_ssize_t = self.part_kind[position]
        self.counts[TERMS + KINDS * position + kind] += 1
        if kind <= PART_TRIPLE:
            self.counts[TERM_BYTES + KINDS * position + kind] += self.part_stop[position] - self.part_start[position]
            if kind == PART_TRIPLE:
                self.quoted_parts(self.part_start[position], self.part_stop[position])
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def quoted_parts(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Count the terms of a quoted triple, at all levels of nesting."""
        level: cython.Py_ssize_t = 1
        at: cython.Py_ssize_t
        self.scan_terms(level, start, stop, 0, 3)
        self.part_next[level] = 0
        while level > 0:
            at = 4 * level + self.part_next[level]
            if self.part_next[level] == 3:
                level -= 1
                continue
            self.part_next[level] += 1
            self.counts[QUOTED + self.part_kind[at]] += 1
            if self.part_kind[at] == PART_TRIPLE:
                level += 1
                if level > self.max_nesting_depth:
                    raise LimitError(
                        f"quoted triples are nested deeper than the limit of {self.max_nesting_depth}",
                        frame=self.frame_number,
                        row=self.row_number,
                        offset=self.base_offset + start,
                    )
                self.reserve_level(level)
                self.scan_terms(level, self.part_start[at], self.part_stop[at], 0, 3)
                self.part_next[level] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def lookup_entry(self, table: cython.Py_ssize_t, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Record which id an entry sets, and count it if it replaces another entry."""
        slot: cython.longlong = self.entry_id(pos, stop)
        at: cython.Py_ssize_t
        if slot == 0:
            slot = self.last_ids[table] + 1
        if slot < TRACKED_IDS:
            self.last_ids[table] = cython.cast(cython.int, slot)
            at = table * TRACKED_IDS + cython.cast(cython.Py_ssize_t, slot)
            self.counts[REPLACED + table] += self.used_ids[at]
            self.used_ids[at] = 1
        return 0


def text_size(
    s: cython.const[cython.int][::1],
    p: cython.const[cython.int][::1],
    o: cython.const[cython.int][::1],
    g: object,
    sizes: cython.const[cython.longlong][::1],
) -> int:
    """Return the size of the rows as N-Triples or N-Quads lines. `sizes` has the size of each term's text."""
    graphs: cython.const[cython.int][::1] = s if g is None else g
    has_graph: cython.bint = g is not None
    size: cython.longlong = 0
    row: cython.Py_ssize_t
    for row in range(s.shape[0]):
        size += sizes[s[row]] + sizes[p[row]] + sizes[o[row]] + 5
        if has_graph and sizes[graphs[row]] > 0:
            size += sizes[graphs[row]] + 1
    return size


def term_uses(column: cython.const[cython.int][::1], terms: cython.Py_ssize_t) -> memoryview:
    """Return how often each term of the table occurs in a column."""
    uses: cython.int[::1] = int_column(terms)
    row: cython.Py_ssize_t
    for row in range(column.shape[0]):
        uses[column[row]] += 1
    return memoryview(uses)
