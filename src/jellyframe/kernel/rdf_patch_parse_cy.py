"""Parse RDF Patch text into batches of a patch. `decode_patch_cy` describes the columns.

The format has no row for the end of a patch, so rules (`ends`) tell where one ends: at the comment that this package
writes there or Jena's row `Z .`, at a header after other rows, or after a transaction. A punctuation mark is added.
"""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.memory_cy import grown_ints, int_column
from jellyframe.kernel.ntriples_lines_cy import LineParser
from jellyframe.kernel.steps import DEEPEST_NESTING
from jellyframe.kernel.table_cy import BatchBuilder

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_IRI, KIND_LITERAL
    from cython.cimports.jellyframe.kernel.ntriples_lines_cy import LineParser
    from cython.cimports.jellyframe.kernel.patch_fields import (
        PATCH_ADD,
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_LOST,
        PATCH_LOST_ROW,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
        PATCH_TRANSACTION_ABORT,
        PATCH_TRANSACTION_COMMIT,
        PATCH_TRANSACTION_START,
    )
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder
else:
    from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_IRI, KIND_LITERAL
    from jellyframe.kernel.patch_fields import (
        PATCH_ADD,
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_LOST,
        PATCH_LOST_ROW,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PUNCTUATION,
        PATCH_TRANSACTION_ABORT,
        PATCH_TRANSACTION_COMMIT,
        PATCH_TRANSACTION_START,
    )

OBJECT = cython.declare(cython.int, 2)
# Where patches end, as bits.
AT_MARKS = 1
AT_HEADERS = 2
AT_TRANSACTIONS = 4
_END_OF_PATCH = b"# end of patch"
_WORDS = "A, D, H, PA, PD, TX, TC, TA or Z"


@cython.final
@cython.cclass
class PatchTextParser(LineParser):
    """Reads rows of patches, line by line, into a batch that is being built; `take_ops` returns their operations.

    `quads`: a term after a statement or namespace is its graph. `strict`: transactions must start and end in turn.
    `ends` says where patches end. With `records_losses`, each line that is left out becomes a row that says so.
    """

    quads: cython.bint
    records_losses: cython.bint
    strict: cython.bint
    ends: cython.int
    ops: cython.int[::1]
    in_transaction: cython.bint
    # False after a line that was left out and may have started or ended a transaction.
    is_turn_known: cython.bint
    # Whether the line starts a transaction inside of one, or ends one outside of any.
    is_out_of_turn: cython.bint
    # The operation of the line, 0 until it is known.
    line_op: cython.int
    # Whether the patch has rows that are not headers, and whether it ends before the next row.
    has_rows: cython.bint
    is_end_due: cython.bint
    place: cython.Py_ssize_t

    def __init__(
        self,
        quads: cython.bint,
        generalized: cython.bint = False,
        max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
        on_error: Any = None,
        any_iri: cython.bint = False,
        strict: cython.bint = True,
        ends: cython.int = AT_MARKS,
        records_losses: cython.bint = False,
    ):
        LineParser.__init__(self, generalized, any_iri, max_depth, on_error)
        self.quads = quads
        self.strict = strict
        self.ends = ends
        self.records_losses = records_losses
        self.ops = int_column(16)
        self.in_transaction = False
        self.is_turn_known = True
        self.is_out_of_turn = False
        self.line_op = 0
        self.has_rows = False
        self.is_end_due = False
        self.place = 0

    def take_ops(self, rows: cython.Py_ssize_t) -> memoryview:
        """Return the operations of the rows of a finished batch."""
        ops = memoryview(self.ops)[:rows]
        self.ops = int_column(max(rows, 16))
        return ops

    def end_of_text(self) -> None:
        """Raise if the text ends inside a transaction."""
        if self.in_transaction and self.strict and self.is_turn_known:
            self.line_start = self.pos
            self.fail(self.pos, "the text ends inside a transaction, and must end it with 'TC .' or 'TA .'")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_lines(
        self, builder: BatchBuilder, max_rows: cython.Py_ssize_t, max_bytes: cython.Py_ssize_t
    ) -> cython.int:
        c: cython.int
        op: cython.int
        while self.pos < self.limit and builder.rows < max_rows and self.table.text_bytes() < max_bytes:
            self.line_start = self.pos
            self.line_op = 0
            self.is_out_of_turn = False
            c = self.text.data[self.pos]
            if c <= 0x23:
                c = self.skip_blanks()
                if c == 0x0A or c == 0x0D or c == 0x23:
                    if c == 0x23 and self.ends != 0 and self._is_mark():
                        self.place = self.pos
                        self._require_no_transaction("# end of patch")
                        self._mark(builder)
                    self.end_line()
                    continue
            self.place = self.pos
            op = self.line_op = self._operation(c)
            if op == PATCH_PUNCTUATION:
                self._segment(builder)
                continue
            if self.is_end_due or (op == PATCH_HEADER and self._begins_patch()):
                # The line is read again, after the mark.
                self._add_mark(builder, PATCH_PUNCTUATION)
                self.is_end_due = self.has_rows = False
                self.pos = self.line_start
                continue
            if op <= PATCH_DELETE:
                self._statement(builder, op)
            elif op == PATCH_HEADER:
                self._header(builder)
            elif op <= PATCH_NAMESPACE_DELETE:
                self._namespace(builder, op)
            else:
                self._transaction(builder, op)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _operation(self, c: cython.int) -> cython.int:
        """Read the word at the start of a row and return its operation."""
        op: cython.int = 0
        second: cython.int = self.byte_at(self.pos + 1)
        if c == 0x41:
            op = PATCH_ADD
        elif c == 0x44:
            op = PATCH_DELETE
        elif c == 0x48:
            op = PATCH_HEADER
        elif c == 0x50:
            op = PATCH_NAMESPACE_ADD if second == 0x41 else PATCH_NAMESPACE_DELETE if second == 0x44 else 0
        elif c == 0x54:
            if second == 0x58:
                op = PATCH_TRANSACTION_START
            elif second == 0x43:
                op = PATCH_TRANSACTION_COMMIT
            elif second == 0x41:
                op = PATCH_TRANSACTION_ABORT
        elif c == 0x5A:
            op = PATCH_PUNCTUATION
        if PATCH_NAMESPACE_ADD <= op < PATCH_HEADER:
            second = self.byte_at(self.pos + 2)
            self.pos += 1
        if op == 0 or not (
            second == 0x20
            or second == 0x09
            or (op >= PATCH_TRANSACTION_START and op != PATCH_HEADER and (second == 0x2E or second == 0x0A))
        ):
            return self.expected(self.place, f"a row of RDF Patch ({_WORDS})")
        self.pos += 1
        self.skip_blanks()
        return op

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _statement(self, builder: BatchBuilder, op: cython.int) -> cython.int:
        s: cython.int = self.subject()
        p: cython.int
        o: cython.int
        g: cython.int
        self.skip_blanks()
        p = self.predicate()
        self.skip_blanks()
        o = self.term(OBJECT)
        g = self._graph()
        self._end_row()
        return self._add(builder, op, s, p, o, g)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _header(self, builder: BatchBuilder) -> cython.int:
        key: cython.int = self._text("the key of the header, a word or a string in quotation marks", False)
        value: cython.int
        none: cython.int = self.table.default_graph()
        self.skip_blanks()
        value = self.term(OBJECT)
        self._end_row()
        return self._add(builder, PATCH_HEADER, key, none, value, none)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _namespace(self, builder: BatchBuilder, op: cython.int) -> cython.int:
        name: cython.int = self._text("the name of the namespace, in quotation marks or with a colon after it", True)
        none: cython.int = self.table.default_graph()
        iri: cython.int = none
        g: cython.int
        c: cython.int
        if op == PATCH_NAMESPACE_ADD:
            c = self.skip_blanks()
            if c == 0x22:
                iri = self._quoted_text(KIND_IRI, "the IRI of the namespace")
            else:
                self.scratch_size = 0
                if c != 0x3C:
                    return self.expected(self.pos, "the IRI of the namespace")
                self._iri()
                iri = self._intern_span(KIND_IRI)
        g = self._graph()
        self._end_row()
        return self._add(builder, op, name, none, iri, g)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _transaction(self, builder: BatchBuilder, op: cython.int) -> cython.int:
        is_start: cython.bint = op == PATCH_TRANSACTION_START
        if self.strict and is_start == self.in_transaction and self.is_turn_known:
            self.is_out_of_turn = True
            if is_start:
                return self.fail(self.place, "a transaction starts inside another transaction")
            word = "commit" if op == PATCH_TRANSACTION_COMMIT else "abort"
            return self.fail(self.place, f"a transaction {word} outside of a transaction")
        self._end_row()
        self._add_mark(builder, op)
        self.in_transaction = is_start
        self.is_turn_known = True
        self.is_end_due = not is_start and (self.ends & AT_TRANSACTIONS) != 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def record_loss(self, builder: BatchBuilder) -> cython.int:
        """Record what kind of line was left out."""
        op: cython.int = PATCH_LOST_ROW
        if self.line_op == 0 or PATCH_TRANSACTION_START <= self.line_op <= PATCH_TRANSACTION_ABORT:
            # A line that is out of turn still tells whether the rows after it are in a transaction.
            self.is_turn_known = self.is_out_of_turn
            op = PATCH_LOST
        return self._add_mark(builder, op) if self.records_losses else 0

    # ---- the end of a patch ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begins_patch(self) -> cython.bint:
        return self.has_rows and not self.in_transaction and (self.ends & AT_HEADERS) != 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _is_mark(self) -> cython.bint:
        """Return whether the comment is one that ends a patch."""
        stop: cython.Py_ssize_t = self.pos + len(_END_OF_PATCH)
        end: cython.Py_ssize_t = self.text.line_end(self.pos, self.limit)
        if stop > end or bytes(self.text.data[self.pos : stop]) != _END_OF_PATCH:
            return False
        return stop == end or bytes(self.text.data[stop:end]).isspace()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _segment(self, builder: BatchBuilder) -> cython.int:
        """Read the row `Z .`, with which Jena ends a segment of a text: a patch."""
        if self.ends == 0:
            return self._end_row()
        # If it cannot be read, it is unknown whether the rows after it are in a transaction.
        self.line_op = 0
        self._require_no_transaction("Z .")
        self._end_row()
        return self._mark(builder)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _require_no_transaction(self, mark: str) -> cython.int:
        if self.in_transaction and self.is_turn_known:
            return self.fail(self.place, f"'{mark}' inside a transaction")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _mark(self, builder: BatchBuilder) -> cython.int:
        self.in_transaction = False
        self.is_turn_known = True
        self._add_mark(builder, PATCH_PUNCTUATION)
        self.is_end_due = self.has_rows = False
        return 0

    # ---- parts of rows ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _plain_term(self, place: cython.int) -> cython.int:
        """Read any term but a quoted triple. Blank nodes may also read `<_:label>`, as Jena writes them."""
        if self.byte_at(self.pos) == 0x3C and self.byte_at(self.pos + 1) == 0x5F and self.byte_at(self.pos + 2) == 0x3A:
            self.scratch_size = 0
            self.iri_span()
            self.span_start += 2
            return self._intern_span(KIND_BLANK_NODE)
        return LineParser._plain_term(self, place)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _graph(self) -> cython.int:
        """Read the graph, if any, else return the default graph. In a patch of triples a graph is an error."""
        if self.skip_blanks() == 0x2E:
            return self.table.default_graph()
        if not self.quads:
            return self.expected(self.pos, "'.' (only a patch of quads has graphs)")
        return self.graph()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _text(self, what: str, is_name: cython.bint) -> cython.int:
        """Read a string, or a word: a name with a colon after it, or a key up to the next blank."""
        start: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t = start
        c: cython.int = self.byte_at(start)
        if c == 0x22:
            return self._quoted_text(KIND_LITERAL, what)
        while c > 0x20 and c != 0x3A and c != 0x3C and c != 0x22 and c != 0x23:
            end += 1
            c = self.byte_at(end)
        if is_name != (c == 0x3A) or (end == start and not is_name):
            return self.expected(start, what)
        self.require_utf8(start, end)
        self.pos = end + 1 if is_name else end
        c = self.byte_at(self.pos)
        if c != 0x20 and c != 0x09 and c != 0x3C and c != 0x22 and (c != 0x2E or not is_name):
            return self.expected(self.pos, "a blank")
        return self.table.intern(KIND_LITERAL, 0, self.text.data, start, end - start)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _quoted_text(self, kind: cython.int, what: str) -> cython.int:
        """Read a string in quotation marks as a term of the given kind."""
        start: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t = self.text.string_end(start + 1, self.limit)
        self.scratch_size = 0
        self.in_scratch = False
        self.span_start = start + 1
        self.span_stop = end
        if self.byte_at(end) == 0x5C:
            self.unescape(end, False)
            end = self.pos
        if self.byte_at(end) != 0x22:
            return self.expected(end, "the rest of a string and '\"'")
        if self.text.non_ascii >= 0x80:
            self.require_utf8(start + 1, end)
        self.pos = end + 1
        if self.byte_at(self.pos) == 0x40 or self.byte_at(self.pos) == 0x5E:
            return self.fail(start, f"expected {what}, found a literal with a language or datatype")
        if kind == KIND_IRI and not self.any_iri and not self.is_absolute():
            return self.fail(start, "expected an absolute IRI, one that begins with a scheme such as 'http:'")
        return self._intern_span(kind)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _intern_span(self, kind: cython.int) -> cython.int:
        n: cython.Py_ssize_t = self.span_stop - self.span_start
        if self.in_scratch:
            return self.table.intern(kind, 0, self.scratch, self.span_start, n)
        return self.table.intern(kind, 0, self.text.data, self.span_start, n)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_row(self) -> cython.int:
        if self.skip_blanks() != 0x2E:
            return self.expected(self.pos, "'.'")
        self.pos += 1
        if self.pos < self.limit and self.text.data[self.pos] == 0x0A:
            self.pos += 1
            self.line += 1
            return 0
        return self.end_line()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add_mark(self, builder: BatchBuilder, op: cython.int) -> cython.int:
        """Add a row that has no terms."""
        none: cython.int = self.table.default_graph()
        return self._add(builder, op, none, none, none, none)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add(
        self, builder: BatchBuilder, op: cython.int, s: cython.int, p: cython.int, o: cython.int, g: cython.int
    ) -> cython.int:
        row: cython.Py_ssize_t = builder.rows
        if row >= self.ops.shape[0]:
            self.ops = grown_ints(self.ops, row, 2 * row)
        self.ops[row] = op
        if op > PATCH_LOST_ROW and op != PATCH_HEADER:
            self.has_rows = True
        return builder.add_row(s, p, o, g)
