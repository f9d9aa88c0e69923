"""Parse N-Triples and N-Quads text into batches, and single terms into rows of a term table."""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.memory_cy import int_column
from jellyframe.kernel.ntriples_lines_cy import LineParser
from jellyframe.kernel.ntriples_terms_cy import NOT_IN_JELLY, TermParser
from jellyframe.kernel.runs import HASH_SEED
from jellyframe.kernel.scan_cy import Text
from jellyframe.kernel.steps import DEEPEST_NESTING
from jellyframe.kernel.table_cy import BatchBuilder, TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.ntriples_lines_cy import LineParser
    from cython.cimports.jellyframe.kernel.ntriples_terms_cy import TermParser
    from cython.cimports.jellyframe.kernel.runs import equal_bytes, hash_bytes
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder, TermTable
else:
    from jellyframe.kernel.runs import equal_bytes, hash_bytes

OBJECT = cython.declare(cython.int, 2)
SEED = cython.declare(cython.uint, HASH_SEED)
# Number of strings remembered, a power of two, and their greatest length: longer ones are hardly ever repeated.
RECENT_STRINGS = cython.declare(cython.Py_ssize_t, 4096)
LONGEST_REMEMBERED = cython.declare(cython.Py_ssize_t, 128)


@cython.final
@cython.cclass
class TextParser(LineParser):
    """Reads statements, line by line, into a batch that is being built.

    `quads`: a fourth term is the graph; `graphs` counts the statements that had one. `any_iri`: IRIs need not be
    absolute. `on_error`, if given, is called with the error of each line that cannot be read, which is then left out.
    """

    __slots__ = ("graphs", "quads")

    def __init__(
        self,
        quads: cython.bint,
        generalized: cython.bint = False,
        max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
        on_error: Any = None,
        any_iri: cython.bint = False,
    ):
        LineParser.__init__(self, generalized, any_iri, max_depth, on_error)
        self.quads = quads
        self.graphs = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_lines(
        self, builder: BatchBuilder, max_rows: cython.Py_ssize_t, max_bytes: cython.Py_ssize_t
    ) -> cython.int:
        s: cython.int
        p: cython.int
        o: cython.int
        g: cython.int
        c: cython.int
        while self.pos < self.limit and builder.rows < max_rows and self.table.text_bytes() < max_bytes:
            self.line_start = self.pos
            c = self.text.data[self.pos]
            if c <= 0x23:
                # Most lines begin with a term, so blanks, comments and empty lines are checked only here.
                c = self.skip_blanks()
                if c == 0x0A or c == 0x0D or c == 0x23:
                    self.end_line()
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
                self.end_line()
            builder.add_row(s, p, o, g)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _refuse_version(self) -> cython.int:
        """Raise if the line is a version directive."""
        if bytes(self.text.data[self.pos : min(self.pos + 7, self.limit)]).upper() == b"VERSION":
            return self.fail(self.pos, f"a version directive: {NOT_IN_JELLY}")
        return 0


def parse_terms(
    offsets: cython.const[cython.int][::1],
    data: Any,
    table: TermTable,
    max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
) -> memoryview:
    """Return the terms of the strings of an Arrow column, each of which is one term.

    Most columns repeat strings: a recent one is compared, not parsed again. All terms that this package writes are
    accepted, IRIs that are not absolute included. The line of an error is the number of the string, from 1.
    """
    parser: TermParser = TermParser(True, True, max_depth)
    text: Text = Text(data)
    count: cython.Py_ssize_t = offsets.shape[0] - 1
    column = int_column(count)
    terms: cython.int[::1] = column
    # For each hash, the number, from 1, of the last string that had it.
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
