"""Write rows as protobuf messages: a plan of steps in, the bytes of a frame out.

A row is written from its end to its start, so that the length of each message is known when it is written.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import Advice, EncodeError
from jellyframe.kernel.memory_cy import byte_column, grown_bytes, grown_ints, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.runs import append_bytes, move_bytes
    from cython.cimports.jellyframe.kernel.steps import CLOSE_TRIPLE, DEEPEST_NESTING, LARGEST_MESSAGE, STEP_OVERHEAD
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import append_bytes, move_bytes
    from jellyframe.kernel.steps import CLOSE_TRIPLE, DEEPEST_NESTING, LARGEST_MESSAGE, STEP_OVERHEAD
    from jellyframe.kernel.table_cy import StringTable, TermTable

# Most terms of a statement. Only triples that quote the same triple over and over exceed it.
MOST_STEPS = cython.declare(cython.Py_ssize_t, 1 << 20)
# Rows above this size get a buffer of just their size.
LARGE_ROW = cython.declare(cython.Py_ssize_t, 1 << 20)
# Room reserved in a frame for the row that ends a graph.
FRAME_RESERVE = cython.declare(cython.Py_ssize_t, 64)
GRAPH_END_SIZE = cython.declare(cython.Py_ssize_t, 4)


@cython.cclass
class RowWriter:
    """The plan of the current row, and the rows of the frame that is being written.

    `has_content` says whether the frame has rows other than options and lookup entries, which refused statements leave.
    """

    def __init__(self, frame_byte_limit: cython.Py_ssize_t):
        self.terms = TermTable()
        self.step_kind = int_column(16)
        self.step_field = int_column(16)
        self.step_a = int_column(16)
        self.step_b = int_column(16)
        self.steps = 0
        self.open_next = int_column(DEEPEST_NESTING + 1)
        self.row_bytes = 0
        self.row_at = -1
        self.row = byte_column(1024)
        self.frame = byte_column(4096)
        self.frame_size = 0
        self.frame_rows = 0
        self.has_content = False
        self.frame_byte_limit = frame_byte_limit

    @cython.final
    @cython.cfunc
    def refusal(self, message: str) -> EncodeError:
        """Return the error for the current row, with its place in the batch."""
        return EncodeError(message, row=None if self.row_at < 0 else self.row_at)

    @cython.final
    @cython.cfunc
    def refusal_by_option(self, message: str, option: str, value: str) -> EncodeError:
        """Return the error for the current row, with the option that allows it; no `value` for a size to raise."""
        return EncodeError(
            message, row=None if self.row_at < 0 else self.row_at, advice=Advice("stream option", option, value)
        )

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow_steps(self) -> cython.int:
        at: cython.Py_ssize_t = self.steps
        if at >= MOST_STEPS:
            raise self.refusal(f"a statement of more than {MOST_STEPS} terms")
        self.step_kind = grown_ints(self.step_kind, at, 2 * at)
        self.step_field = grown_ints(self.step_field, at, 2 * at)
        self.step_a = grown_ints(self.step_a, at, 2 * at)
        self.step_b = grown_ints(self.step_b, at, 2 * at)
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def reserve_frame(self, n: cython.Py_ssize_t) -> cython.int:
        """Make room for a row of `n` bytes, in a new frame if this one would get too large, even inside a statement."""
        if self.frame_byte_limit > 0 and self.frame_size > 0 and self.frame_size + n > self.frame_byte_limit:
            self.flush_frame(b"")
        if self.frame_size + n > self.frame.shape[0]:
            self.grow_frame(n)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow_frame(self, n: cython.Py_ssize_t) -> cython.int:
        need: cython.Py_ssize_t = self.frame_size + n
        if need > LARGEST_MESSAGE - FRAME_RESERVE and n > GRAPH_END_SIZE:
            raise self.refusal(f"the frame exceeds the {LARGEST_MESSAGE} bytes of a protobuf message; end it earlier")
        self.frame = grown_bytes(self.frame, self.frame_size, max(min(2 * self.frame.shape[0], LARGEST_MESSAGE), need))
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_number(self, value: cython.Py_ssize_t) -> cython.int:
        """Append a varint to the frame, which must have room for it."""
        self.frame_size = self.number_at(self.frame_size, value)
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def number_at(self, at: cython.Py_ssize_t, value: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write a varint to the frame at `at` and return the end position."""
        while value > 0x7F:
            self.frame[at] = value & 0x7F | 0x80
            at += 1
            value >>= 7
        self.frame[at] = value
        return at + 1

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_entry(
        self,
        row_field: cython.int,
        entry_id: cython.int,
        strings: StringTable,
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
    ) -> cython.int:
        """Append the row of a lookup entry to the frame."""
        content: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t
        if entry_id != 0:
            content += 1 + varint_size(entry_id)
        if n != 0:
            content += 1 + varint_size(n) + n
        self.reserve_frame(content + 32)
        at = self.number_at(self.frame_size, 0x0A)
        at = self.number_at(at, 1 + varint_size(content) + content)
        at = self.number_at(at, row_field << 3 | 2)
        at = self.number_at(at, content)
        if entry_id != 0:
            at = self.number_at(at, 0x08)
            at = self.number_at(at, entry_id)
        if n != 0:
            at = self.number_at(at, 0x12)
            at = self.number_at(at, n)
            append_bytes(self.frame, at, strings.data, start, n)
        self.frame_size = at + n
        self.frame_rows += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def number_before(self, at: cython.Py_ssize_t, value: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write a varint to the row so that it ends before `at`, and return the start position."""
        # The range is checked here and not by the index, so that the function is short enough to be inlined.
        if 1 < at <= len(self.row):
            with cython.boundscheck(False):
                if value < 0x80:
                    self.row[at - 1] = value
                    return at - 1
                if value < 0x4000:
                    self.row[at - 1] = value >> 7
                    self.row[at - 2] = value & 0x7F | 0x80
                    return at - 2
        return self.long_number_before(at, value)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def long_number_before(self, at: cython.Py_ssize_t, value: cython.Py_ssize_t) -> cython.Py_ssize_t:
        start: cython.Py_ssize_t = at - varint_size(value)
        i: cython.Py_ssize_t = start
        while value > 0x7F:
            self.row[i] = value & 0x7F | 0x80
            value >>= 7
            i += 1
        self.row[i] = value
        return start

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def string_before(
        self, at: cython.Py_ssize_t, strings: StringTable, i: cython.Py_ssize_t, tag: cython.int
    ) -> cython.Py_ssize_t:
        """Write a string, unless empty, with tag and length to the row, ending before `at`, and return its start."""
        n: cython.Py_ssize_t = strings.offsets[i + 1] - strings.offsets[i]
        if n == 0:
            return at
        move_bytes(self.row, at - n, strings.data, strings.offsets[i], n)
        return self.number_before(self.number_before(at - n, n), tag)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_row(self, row_field: cython.int) -> cython.Py_ssize_t:
        """Append the planned message to the frame as a row, clear the plan and return the size of the row."""
        at: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        end: cython.Py_ssize_t
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        kind: cython.int
        term: cython.int
        depth: cython.int = 0
        need: cython.Py_ssize_t = self.row_bytes + 2 * STEP_OVERHEAD
        if need > self.row.shape[0]:
            self.grow_row(need)
        end = at = self.row.shape[0]
        for i in range(self.steps - 1, -1, -1):
            kind = self.step_kind[i]
            stop = at
            term = self.step_a[i]
            if kind == CLOSE_TRIPLE:
                self.open_next[depth] = cython.cast(cython.int, at)
                depth += 1
                continue
            if kind == KIND_IRI:
                if self.step_b[i] != 0:
                    at = self.number_before(self.number_before(at, self.step_b[i]), 0x10)
                if term != 0:
                    at = self.number_before(self.number_before(at, term), 0x08)
            elif kind == KIND_BLANK_NODE:
                n = self.terms.values.offsets[term + 1] - self.terms.values.offsets[term]
                at -= n
                move_bytes(self.row, at, self.terms.values.data, self.terms.values.offsets[term], n)
            elif kind == KIND_QUOTED_TRIPLE:
                depth -= 1
                stop = self.open_next[depth]
            elif kind != KIND_DEFAULT_GRAPH:
                if kind == KIND_LANG_LITERAL:
                    at = self.string_before(at, self.terms.languages, self.step_b[i], 0x12)
                elif kind == KIND_TYPED_LITERAL:
                    at = self.number_before(self.number_before(at, self.step_b[i]), 0x18)
                at = self.string_before(at, self.terms.values, term, 0x0A)
            at = self.number_before(at, stop - at)
            at = self.number_before(at, self.step_field[i] << 3 | 2)
        at = self.number_before(at, end - at)
        at = self.number_before(at, row_field << 3 | 2)
        at = self.number_before(at, end - at)
        at = self.number_before(at, 0x0A)
        self.steps = 0
        self.row_bytes = 0
        self.reserve_frame(end - at)
        append_bytes(self.frame, self.frame_size, self.row, at, end - at)
        self.frame_size += end - at
        self.frame_rows += 1
        self.has_content = True
        return end - at

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow_row(self, need: cython.Py_ssize_t) -> cython.int:
        if need > LARGEST_MESSAGE:
            raise self.refusal(f"a statement of more than the {LARGEST_MESSAGE} bytes of a protobuf message")
        self.row = byte_column(need if need > LARGE_ROW else 2 * need)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def flush_frame(self, metadata: bytes) -> cython.int:
        """Finish the frame and begin an empty one."""
        raise NotImplementedError


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def varint_size(value: cython.Py_ssize_t) -> cython.Py_ssize_t:
    size: cython.Py_ssize_t = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size
