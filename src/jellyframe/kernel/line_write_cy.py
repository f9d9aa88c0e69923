"""Write batches as lines of N-Triples, N-Quads and RDF Patch.

The text of each term of a batch is made once; a line is then a few copies. Where these texts would take too much
memory, because quoted triples repeat long terms, `ntriples_stream_cy` writes the lines instead.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError
from jellyframe.kernel.memory_cy import Memory
from jellyframe.kernel.table_cy import StringTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.memory_cy import Memory
    from cython.cimports.jellyframe.kernel.patch_fields import (
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
    )
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.table_cy import StringTable
else:
    from jellyframe.kernel.patch_fields import (
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
    )
    from jellyframe.kernel.runs import move_bytes

MAX_STRING_BYTES = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)
# The comment that stands for a punctuation mark, as the text has no such row.
PATCH_END = b"# end of patch\n"
# A longer key of a header is written in quotation marks, whatever it is.
LONGEST_WORD = cython.declare(cython.Py_ssize_t, 255)
# The letters of the word for each operation; a blank where there is none.
_FIRST_LETTERS = cython.declare(cython.const[cython.uchar][::1], b"  ADPPTTT     H ")
_SECOND_LETTERS = cython.declare(cython.const[cython.uchar][::1], b"    ADXCA       ")
# Most bytes of a line besides its terms: a punctuation mark, or else a word, the blanks after it and after four terms,
# the full stop and the line end.
LINE_EXTRA = cython.declare(cython.Py_ssize_t, len(PATCH_END))


def write_lines(
    s: cython.const[cython.int][::1],
    p: cython.const[cython.int][::1],
    o: cython.const[cython.int][::1],
    g: object,
    strings: StringTable,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    max_bytes: cython.Py_ssize_t = MAX_STRING_BYTES,
    memory: Memory | None = None,
) -> tuple[memoryview, int]:
    """Return the rows `start` to `stop` as lines, but no more than `max_bytes`, and the row at which they end.

    `strings` are the texts of the terms; `g` is None for triples. If even the first row takes more, there are no lines.
    With a `memory`, buffers of earlier lines that nothing refers to any more are reused.
    """
    writer: LineWriter = LineWriter(strings)
    graphs: cython.const[cython.int][::1]
    row: cython.Py_ssize_t
    # All terms but the graph, with a blank after each, the full stop and the line end.
    size: cython.Py_ssize_t = 5 * (stop - start)
    for row in range(start, stop):
        size += writer.length(s[row]) + writer.length(p[row]) + writer.length(o[row])
    if g is not None:
        graphs = g
        for row in range(start, stop):
            size += writer.length(graphs[row]) + 1
    # Mostly all rows fit, and the sum shows that at less cost than a check of each row.
    while size > max_bytes:
        stop -= 1
        size -= 5 + writer.length(s[stop]) + writer.length(p[stop]) + writer.length(o[stop])
        if g is not None:
            size -= writer.length(graphs[stop]) + 1
    lines = writer.begin(size, Memory() if memory is None else memory)
    if g is None:
        for row in range(start, stop):
            writer.put(s[row])
            writer.put(p[row])
            writer.put(o[row])
            writer.end_line()
        return lines, stop
    for row in range(start, stop):
        writer.put(s[row])
        writer.put(p[row])
        writer.put(o[row])
        if writer.length(graphs[row]) > 0:
            writer.put(graphs[row])
        writer.end_line()
    return lines[: writer.size], stop


def write_patch_lines(
    op: cython.const[cython.int][::1],
    s: cython.const[cython.int][::1],
    p: cython.const[cython.int][::1],
    o: cython.const[cython.int][::1],
    g: object,
    strings: StringTable,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    max_bytes: cython.Py_ssize_t = MAX_STRING_BYTES,
    memory: Memory | None = None,
) -> tuple[memoryview, int]:
    """Return rows of a patch as lines of RDF Patch, as `write_lines` does with statements."""
    writer: LineWriter = LineWriter(strings)
    graphs: cython.const[cython.int][::1] = s if g is None else g
    has_graph: cython.bint = g is not None
    row: cython.Py_ssize_t
    size: cython.Py_ssize_t = 0
    line: cython.Py_ssize_t
    for row in range(start, stop):
        line = LINE_EXTRA + writer.length(s[row]) + writer.length(p[row]) + writer.length(o[row])
        if has_graph:
            line += writer.length(graphs[row])
        if size + line > max_bytes:
            stop = row
            break
        size += line
    lines = writer.begin(size, Memory() if memory is None else memory)
    for row in range(start, stop):
        if op[row] == PATCH_PUNCTUATION:
            writer.put_bytes(PATCH_END)
            continue
        writer.put_word(op[row])
        if op[row] <= PATCH_DELETE:
            if writer.length(s[row]) == 0 or writer.length(p[row]) == 0 or writer.length(o[row]) == 0:
                raise row_refusal(op[row], row)
            writer.put(s[row])
            writer.put(p[row])
            writer.put(o[row])
        elif op[row] == PATCH_HEADER:
            if not writer.is_string(s[row]) or writer.length(o[row]) == 0:
                raise row_refusal(op[row], row)
            writer.put_key(s[row])
            writer.put(o[row])
        elif op[row] <= PATCH_NAMESPACE_DELETE:
            if not writer.is_string(s[row]) or (op[row] == PATCH_NAMESPACE_ADD and not writer.is_iri(o[row])):
                raise row_refusal(op[row], row)
            writer.put(s[row])
            if op[row] == PATCH_NAMESPACE_ADD:
                writer.put(o[row])
        if has_graph and writer.length(graphs[row]) > 0:
            writer.put(graphs[row])
        writer.end_line()
    return lines[: writer.size], stop


def row_refusal(op: cython.int, row: cython.Py_ssize_t) -> EncodeError:
    """Return the error for a row that lacks terms that its operation needs."""
    if op == PATCH_HEADER:
        return EncodeError("a header needs a plain literal as key, and a value", row=row)
    if op == PATCH_NAMESPACE_ADD:
        return EncodeError("a namespace needs a plain literal as name, and an IRI", row=row)
    if op == PATCH_NAMESPACE_DELETE:
        return EncodeError("a namespace needs a plain literal as name", row=row)
    return EncodeError("a statement needs a subject, a predicate and an object", row=row)


def patch_word(op: cython.int) -> bytes:
    """Return the word for an operation of a patch other than a punctuation mark."""
    if op < 0 or op >= len(_FIRST_LETTERS) or _FIRST_LETTERS[op] == 0x20:
        raise EncodeError(f"{op} is not an operation of a patch")
    return bytes((_FIRST_LETTERS[op], _SECOND_LETTERS[op])).rstrip()


def is_word(text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> bool:
    """Return whether the key of a header can be written without quotation marks."""
    i: cython.Py_ssize_t
    c: cython.int
    if start >= stop or stop - start > LONGEST_WORD or not _is_letter(text[start]):
        return False
    for i in range(start, stop):
        c = text[i]
        if not _is_letter(c) and not 0x30 <= c <= 0x39 and c != 0x2D:
            return False
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_letter(c: cython.int) -> cython.bint:
    return 0x61 <= (c | 0x20) <= 0x7A or c == 0x5F


@cython.final
@cython.cclass
class LineWriter:
    """Writes the texts of terms into lines."""

    __slots__ = ("_offsets", "_out", "_texts", "size")

    size: cython.Py_ssize_t
    _offsets: cython.int[::1]
    _texts: cython.uchar[::1]
    _out: cython.uchar[::1]

    def __init__(self, strings: StringTable):
        self._offsets = strings.offsets
        self._texts = strings.data
        self.size = 0

    @cython.cfunc
    def begin(self, size: cython.Py_ssize_t, memory: Memory) -> memoryview:
        """Return the buffer that the lines will be written to."""
        lines = memory.unset_bytes(size)[:size]
        self._out = lines
        return lines

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def length(self, term: cython.int) -> cython.Py_ssize_t:
        return self._offsets[term + 1] - self._offsets[term]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def put(self, term: cython.int) -> cython.int:
        """Write a term and a blank."""
        n: cython.Py_ssize_t = self.length(term)
        move_bytes(self._out, self.size, self._texts, self._offsets[term], n)
        self._out[self.size + n] = 0x20
        self.size += n + 1
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def end_line(self) -> cython.int:
        self._out[self.size] = 0x2E
        self._out[self.size + 1] = 0x0A
        self.size += 2
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_string(self, term: cython.int) -> cython.bint:
        """Return whether a term is a plain literal: nothing follows its quotation marks."""
        n: cython.Py_ssize_t = self.length(term)
        start: cython.Py_ssize_t = self._offsets[term]
        return n >= 2 and self._texts[start] == 0x22 and self._texts[start + n - 1] == 0x22

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_iri(self, term: cython.int) -> cython.bint:
        start: cython.Py_ssize_t = self._offsets[term]
        return self.length(term) >= 2 and self._texts[start] == 0x3C and self._texts[start + 1] != 0x3C

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_word(self, op: cython.int) -> cython.int:
        """Write the word for an operation, and a blank."""
        if op < 0 or op >= len(_FIRST_LETTERS) or _FIRST_LETTERS[op] == 0x20:
            raise EncodeError(f"{op} is not an operation of a patch")
        self._out[self.size] = _FIRST_LETTERS[op]
        self._out[self.size + 1] = _SECOND_LETTERS[op]
        self.size += 2
        if _SECOND_LETTERS[op] != 0x20:
            self._out[self.size] = 0x20
            self.size += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_key(self, term: cython.int) -> cython.int:
        """Write the key of a header, without quotation marks if it is a word, and a blank."""
        start: cython.Py_ssize_t = self._offsets[term] + 1
        n: cython.Py_ssize_t = self.length(term) - 2
        if n < 1 or not is_word(self._texts, start, start + n):
            return self.put(term)
        move_bytes(self._out, self.size, self._texts, start, n)
        self._out[self.size + n] = 0x20
        self.size += n + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put_bytes(self, piece: cython.const[cython.uchar][::1]) -> cython.int:
        move_bytes(self._out, self.size, piece, 0, len(piece))
        self.size += len(piece)
        return 0
