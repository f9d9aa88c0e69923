"""Read text line by line into batches: what the parsers of N-Triples, N-Quads and RDF Patch have in common."""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TextError
from jellyframe.kernel.ntriples_terms_cy import TermParser
from jellyframe.kernel.scan_cy import Text
from jellyframe.kernel.table_cy import BatchBuilder

if cython.compiled:
    from cython.cimports.jellyframe.kernel.ntriples_terms_cy import TermParser
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder


@cython.cclass
class LineParser(TermParser):
    """Reads lines into a batch that is being built. Subclasses read the content of lines, in `read_lines`.

    `on_error`, if given, is called with the error of each line that cannot be read, which is then left out.
    """

    __slots__ = ("on_error",)

    def __init__(
        self, generalized: cython.bint, any_iri: cython.bint, max_depth: cython.Py_ssize_t, on_error: Any = None
    ):
        TermParser.__init__(self, generalized, any_iri, max_depth)
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
        """Read from `start` on until the batch is full or no whole line is left, and return the end position.

        A batch is full when it has `max_rows` rows, or when its terms take `max_bytes`, as text. `stop` ends the
        available text and, if `final`, of the whole text. Lines and bytes are counted over all calls; the next call has
        to begin with the bytes that this one left.
        """
        text: Text = Text(data)
        self.base = self.base + self.pos - start if self.line else 0
        if self.line == 0:
            self.line = 1
        self.begin(text, builder.terms, start, stop if final else text.whole_lines_end(start, stop))
        while True:
            try:
                self.read_lines(builder, max_rows, max_bytes)
                return self.pos
            except TextError as error:
                if self.on_error is None:
                    raise
                self.on_error(error)
                self.record_loss(builder)
                self.pos = text.line_end(self.line_start, self.limit)
                self.end_line()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_lines(
        self, builder: BatchBuilder, max_rows: cython.Py_ssize_t, max_bytes: cython.Py_ssize_t
    ) -> cython.int:
        """Read lines until the batch is full or no whole line is left; for subclasses."""
        raise NotImplementedError

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def record_loss(self, builder: BatchBuilder) -> cython.int:
        """Record that a line is left out; for subclasses that need it."""
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end_line(self) -> cython.int:
        """Move to the next line, past blanks and a comment."""
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
