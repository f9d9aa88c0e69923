"""Write batches as N-Triples, N-Quads and RDF Patch in bounded memory, even if quoted triples repeat long terms."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.line_write_cy import PATCH_END, is_word, patch_word, row_refusal
from jellyframe.kernel.ntriples_write_cy import TermWriter
from jellyframe.kernel.table_cy import StringTable, TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LITERAL,
        KIND_QUOTED_TRIPLE,
    )
    from cython.cimports.jellyframe.kernel.patch_fields import (
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
    )
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LITERAL,
        KIND_QUOTED_TRIPLE,
    )
    from jellyframe.kernel.patch_fields import (
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
    )

# Longer strings are written in slices.
SLICE_BYTES = cython.declare(cython.Py_ssize_t, 1 << 20)
# Entries of `_todo` other than terms.
SPACE = cython.declare(cython.int, -1)
QUOTE_START = cython.declare(cython.int, -2)
QUOTE_END = cython.declare(cython.int, -3)
LINE_END = cython.declare(cython.int, -4)


@cython.final
@cython.cclass
class LineStream:
    """Writes the rows `start` to `stop` as lines, in pieces of about `piece_bytes`, which may end anywhere.

    The text of a term is written into the pieces each time that it occurs, so that no more memory is needed than a
    piece takes, however long a line is. With `ops`, the rows are those of a patch.
    """

    __slots__ = (
        "_columns",
        "_ops",
        "_piece_bytes",
        "_row",
        "_slice_at",
        "_slice_term",
        "_stop",
        "_table",
        "_todo",
        "_writer",
    )

    _columns: tuple[memoryview, memoryview, memoryview, memoryview | None]
    _ops: memoryview | None
    _piece_bytes: cython.Py_ssize_t
    _row: cython.Py_ssize_t
    _slice_at: cython.Py_ssize_t
    _slice_term: cython.int
    _stop: cython.Py_ssize_t
    _table: TermTable
    _todo: list[int]
    _writer: TermWriter

    def __init__(
        self,
        columns: tuple[memoryview, memoryview, memoryview, memoryview | None],
        table: TermTable,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        piece_bytes: cython.Py_ssize_t,
        ops: memoryview | None = None,
    ):
        self._columns = columns
        self._ops = ops
        self._table = table
        self._row = start
        self._stop = stop
        self._piece_bytes = piece_bytes
        self._writer = TermWriter(table, None, 0, 0)
        # Parts to write before the next row, the last entry first.
        self._todo = []
        self._slice_term = -1
        self._slice_at = 0

    def term_start(self, term: cython.int) -> bytes:
        """Return the first `piece_bytes` of the text of a term, at most. For streams without rows."""
        self._todo = [term]
        self._slice_term = -1
        return bytes(self.next_piece()[: self._piece_bytes])

    def next_piece(self) -> memoryview:
        """Return the next piece; it is empty at the end."""
        out: StringTable = StringTable(0, self._piece_bytes)
        self._writer.begin(out)
        while out.data_size < self._piece_bytes:
            if self._slice_term >= 0:
                self._put_slice()
            elif self._todo:
                self._put(self._todo.pop())
            elif self._row < self._stop:
                if self._ops is None:
                    self._begin_row()
                else:
                    self._begin_operation(self._ops[self._row])
            else:
                break
        return out.buffers()[1]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_row(self) -> cython.int:
        self._todo.append(LINE_END)
        for column in reversed(self._columns):
            if column is not None and self._table.kinds[column[self._row]] != KIND_DEFAULT_GRAPH:
                self._todo.append(SPACE)
                self._todo.append(column[self._row])
        self._row += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_operation(self, op: cython.int) -> cython.int:
        """Write the word of an operation and the key of a header, and queue the other terms."""
        start: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        if op == PATCH_PUNCTUATION:
            self._writer.put_raw(PATCH_END)
            self._row += 1
            return 0
        columns = self._columns
        self._require_terms(op, columns[0][self._row], columns[1][self._row], columns[2][self._row])
        self._writer.put_raw(patch_word(op) + b" ")
        if op == PATCH_HEADER:
            start = self._table.values.offsets[columns[0][self._row]]
            stop = self._table.values.offsets[columns[0][self._row] + 1]
            if is_word(self._table.values.data, start, stop):
                self._writer.put_raw(bytes(self._table.values.data[start:stop]) + b" ")
                self._columns = (columns[1], columns[1], columns[2], columns[3])
        elif op == PATCH_NAMESPACE_DELETE:
            self._columns = (columns[0], columns[1], columns[1], columns[3])
        # A column that is not to be written has been replaced by the predicates, which these rows do not have.
        self._begin_row()
        self._columns = columns
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _require_terms(self, op: cython.int, s: cython.int, p: cython.int, o: cython.int) -> cython.int:
        """Raise if a row lacks terms that its operation needs."""
        kinds = self._table.kinds
        if op <= PATCH_DELETE:
            is_right = KIND_DEFAULT_GRAPH not in (kinds[s], kinds[p], kinds[o])
        elif op == PATCH_HEADER:
            is_right = kinds[s] == KIND_LITERAL and kinds[o] != KIND_DEFAULT_GRAPH
        elif op == PATCH_NAMESPACE_ADD:
            is_right = kinds[s] == KIND_LITERAL and kinds[o] == KIND_IRI
        else:
            is_right = op != PATCH_NAMESPACE_DELETE or kinds[s] == KIND_LITERAL
        if not is_right:
            raise row_refusal(op, self._row)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put(self, part: cython.int) -> cython.int:
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        table: TermTable = self._table
        if part == SPACE:
            self._writer.put_raw(b" ")
            return 0
        if part == QUOTE_START:
            self._writer.put_raw(b"<< ")
            return 0
        if part == QUOTE_END:
            self._writer.put_raw(b">>")
            return 0
        if part == LINE_END:
            self._writer.put_raw(b".\n")
            return 0
        if table.kinds[part] == KIND_QUOTED_TRIPLE:
            at = 3 * table.details[part]
            self._todo.append(QUOTE_END)
            for place in range(at + 2, at - 1, -1):
                self._todo.append(SPACE)
                self._todo.append(table.quoted[place])
            self._todo.append(QUOTE_START)
            return 0
        if table.kinds[part] == KIND_BLANK_NODE or table.text_size(part) <= SLICE_BYTES:
            self._writer.put_whole(part)
            return 0
        self._slice_term = part
        self._slice_at = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _put_slice(self) -> cython.int:
        """Write the next slice of a long IRI or literal."""
        if self._writer.put_slice(self._slice_term, self._slice_at, SLICE_BYTES):
            self._slice_at += SLICE_BYTES
        else:
            self._slice_term = -1
        return 0
