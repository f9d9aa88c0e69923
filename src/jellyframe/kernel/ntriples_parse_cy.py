"""N-Triples and N-Quads text to batches, and single terms in that syntax to rows of a term table."""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TextError
from jellyframe.kernel.memory_cy import int_column
from jellyframe.kernel.ntriples_terms_cy import NOT_IN_JELLY, TermParser
from jellyframe.kernel.runs import HASH_SEED
from jellyframe.kernel.scan_cy import Text
from jellyframe.kernel.steps import DEEPEST_NESTING
from jellyframe.kernel.table_cy import BatchBuilder, TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.ntriples_terms_cy import TermParser
    from cython.cimports.jellyframe.kernel.runs import equal_bytes, hash_bytes
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder, TermTable
else:
    from jellyframe.kernel.runs import equal_bytes, hash_bytes

OBJECT = cython.declare(cython.int, 2)
SEED = cython.declare(cython.uint, HASH_SEED)
# How many strings are remembered, a power of two, and how long they may be: longer ones hardly ever come again.
RECENT_STRINGS = cython.declare(cython.Py_ssize_t, 4096)
LONGEST_REMEMBERED = cython.declare(cython.Py_ssize_t, 128)


@cython.final
@cython.cclass
class TextParser(TermParser):
    """Reads statements, line by line, into a batch that is being built.

    `quads`: a fourth term is the graph; `graphs` counts the statements that had one. `any_iri`: IRIs need not be
    absolute. `on_error`, if given, is called with the error of each line that cannot be read, which is then left out.
    """

    __slots__ = ("graphs", "on_error", "quads")

    def __init__(
        self,
        quads: cython.bint,
        generalized: cython.bint = False,
        max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
        on_error: Any = None,
        any_iri: cython.bint = False,
    ):
        TermParser.__init__(self, generalized, any_iri, max_depth)
        self.quads = quads
        self.graphs = 0
        self.on_error = on_error

    def parse(
        self,
        builder: BatchBuilder,
        data: Any,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        final: cython.bint,
        max_rows: cython.Py_ssize_t,
        max_bytes: cython.Py_ssize_t = 0x7FFFFFFF,
    ) -> int:
        """Read from `start` on until the batch is full or no whole line is left; answer how far that went.

        A batch is full that has `max_rows` rows, or terms of `max_bytes` together. `stop` is the end of what is there,
        and, where this is `final`, of the text. Call after call the parser counts lines and bytes on; the next call has
        to begin with the bytes that this one left.
        """
        text: Text = Text(data)
        self.base = self.base + self.pos - start if self.line else 0
        if self.line == 0:
            self.line = 1
        self.begin(text, builder.terms, start, stop if final else text.whole_lines_end(start, stop))
        while True:
            try:
                self._lines(builder, max_rows, max_bytes)
                return self.pos
            except TextError as error:
                if self.on_error is None:
                    raise
                self.on_error(error)
                self.pos = text.line_end(self.line_start, self.limit)
                self._end_line()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lines(self, builder: BatchBuilder, max_rows: cython.Py_ssize_t, max_bytes: cython.Py_ssize_t) -> cython.int:
        s: cython.int
        p: cython.int
        o: cython.int
        g: cython.int
        c: cython.int
        while self.pos < self.limit and builder.rows < max_rows and self.table.values.data_size < max_bytes:
            self.line_start = self.pos
            c = self.text.data[self.pos]
            if c <= 0x23:
                # Most lines begin with a term, so what else a line may be is looked at only here.
                c = self.skip_blanks()
                if c == 0x0A or c == 0x0D or c == 0x23:
                    self._end_line()
                    continue
            elif c == 0x56 or c == 0x76:
                self._refuse_version()
            s = self.subject()
            self.skip_blanks()
            p = self.predicate()
            self.skip_blanks()
            o = self.term(OBJECT)
            c = self.skip_blanks()
            g = -1
            if self.quads:
                if c == 0x2E:
                    g = self.table.default_graph()
                else:
                    g = self.graph()
                    self.graphs += 1
                    c = self.skip_blanks()
            if c != 0x2E:
                return self.expected(
                    self.pos, "'.'" if self.quads or c in (0x0A, 0x0D) else "'.' (only N-Quads have a graph)"
                )
            self.pos += 1
            if self.pos < self.limit and self.text.data[self.pos] == 0x0A:
                self.pos += 1
                self.line += 1
            else:
                self._end_line()
            builder.add_row(s, p, o, g)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _refuse_version(self) -> cython.int:
        """Raise if the line is a version directive."""
        if bytes(self.text.data[self.pos : min(self.pos + 7, self.limit)]).upper() == b"VERSION":
            return self.fail(self.pos, f"a version directive: {NOT_IN_JELLY}")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_line(self) -> cython.int:
        """Move on to the next line, over what may stand behind a statement: blanks and a comment."""
        c: cython.int = self.skip_blanks()
        end: cython.Py_ssize_t
        if c == 0x23:
            end = self.text.line_end(self.pos, self.limit)
            if self.text.non_ascii >= 0x80:
                self.require_utf8(self.pos, end)
            self.pos = end
            c = self.byte_at(end)
        if c == 0x0D:
            if self.pos + 1 < self.limit and self.text.data[self.pos + 1] == 0x0A:
                self.pos += 1
        elif c != 0x0A:
            return self.expected(self.pos, "the end of the line")
        if self.pos < self.limit:
            self.pos += 1
            self.line += 1
        return 0


def parse_terms(
    offsets: cython.const[cython.int][::1],
    data: Any,
    table: TermTable,
    max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
) -> memoryview:
    """Strings that are one term each, as Arrow lays them out, to terms of the table.

    Most columns have the same strings again and again: one that came lately is not parsed, only compared. Any term is
    taken that this package writes: of every kind, and IRIs that are not absolute too. An error has the number of the
    string, from 1, as its line.
    """
    parser: TermParser = TermParser(True, True, max_depth)
    text: Text = Text(data)
    count: cython.Py_ssize_t = offsets.shape[0] - 1
    column = int_column(count)
    terms: cython.int[::1] = column
    # By their hashes, the strings that came last: one more than their numbers.
    recent: cython.int[::1] = int_column(RECENT_STRINGS)
    slot: cython.Py_ssize_t
    before: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    parser.begin(text, table, 0, 0)
    for i in range(count):
        n = offsets[i + 1] - offsets[i]
        if n <= LONGEST_REMEMBERED:
            slot = hash_bytes(text.data, offsets[i], n, SEED) & (RECENT_STRINGS - 1)
            before = recent[slot] - 1
            if (
                before >= 0
                and offsets[before + 1] - offsets[before] == n
                and equal_bytes(text.data, offsets[before], text.data, offsets[i], n)
            ):
                terms[i] = terms[before]
                continue
            recent[slot] = cython.cast(cython.int, i + 1)
        parser.line = i + 1
        parser.pos = parser.line_start = offsets[i]
        parser.base = -offsets[i]
        parser.limit = offsets[i + 1]
        terms[i] = parser.term(OBJECT)
        if parser.pos != parser.limit:
            parser.expected(parser.pos, "the end of the term")
    return column[:count]
