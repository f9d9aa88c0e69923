"""Read the tokens of Turtle and TriG, and parse terms into rows of a term table.

A text comes in pieces, and a token may be cut where a piece ends. So a token has no effect until it is whole: the
parser calls `is_cut` before it acts on a token, and reads a cut one again when more of the text is there.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.memory_cy import int_column
from jellyframe.kernel.ntriples_terms_cy import NOT_IN_JELLY, TermParser
from jellyframe.kernel.resolving import resolve_iri

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.ntriples_terms_cy import TermParser
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.tokens import (
        TOKEN_A,
        TOKEN_AT_BASE,
        TOKEN_AT_PREFIX,
        TOKEN_BASE,
        TOKEN_BLANK_NODE,
        TOKEN_CLOSE_ANNOTATION,
        TOKEN_CLOSE_QUOTED,
        TOKEN_GRAPH,
        TOKEN_IRI,
        TOKEN_LITERAL,
        TOKEN_OPEN_ANNOTATION,
        TOKEN_OPEN_QUOTED,
        TOKEN_PREFIX,
    )
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import move_bytes
    from jellyframe.kernel.tokens import (
        TOKEN_A,
        TOKEN_AT_BASE,
        TOKEN_AT_PREFIX,
        TOKEN_BASE,
        TOKEN_BLANK_NODE,
        TOKEN_CLOSE_ANNOTATION,
        TOKEN_CLOSE_QUOTED,
        TOKEN_GRAPH,
        TOKEN_IRI,
        TOKEN_LITERAL,
        TOKEN_OPEN_ANNOTATION,
        TOKEN_OPEN_QUOTED,
        TOKEN_PREFIX,
    )

# This near the end of a piece a name might go on: an escape or a character may be cut.
NEAR = cython.declare(cython.Py_ssize_t, 4)

_XSD = b"http://www.w3.org/2001/XMLSchema#"
_KEYWORDS = {b"PREFIX": TOKEN_PREFIX, b"BASE": TOKEN_BASE, b"GRAPH": TOKEN_GRAPH}
_DIRECTIVES = {b"@prefix": TOKEN_AT_PREFIX, b"@base": TOKEN_AT_BASE}


@cython.cclass
class TurtleLexer(TermParser):
    """Reads tokens at `pos`. If a token is a term, `found` is its row in the table.

    Relative IRIs are resolved against `base_iri`; with `any_iri` they may stay relative if there is none. Blank nodes
    without a label get one that begins with `label_prefix`.
    """

    __slots__ = (
        "_datatype_rows",
        "_label_prefix",
        "_labels",
        "_names",
        "base_iri",
        "final",
        "found",
        "prefixes",
        "touches_end",
    )

    def __init__(
        self, any_iri: cython.bint, max_depth: cython.Py_ssize_t, base_iri: str | None, label_prefix: bytes
    ) -> None:
        TermParser.__init__(self, False, any_iri, max_depth)
        self.strict_escapes = not any_iri
        self.base_iri = base_iri
        self.prefixes: dict[str, str] = {}
        self.found = -1
        self.final = False
        self.touches_end = False
        self._label_prefix = label_prefix
        self._labels = 0
        self._names: dict[bytes, int] = {}
        self._datatype_rows: dict[bytes, int] = {}
        self.stack = int_column(60)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_names(self) -> cython.int:
        """Forget the rows of names, as their IRIs or the table are about to change."""
        self._names = {}
        self._datatype_rows = {}
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def at(self, i: cython.Py_ssize_t) -> cython.int:
        """Return the byte at `i`, or 0 beyond the end."""
        return self.text.data[i] if i < self.limit else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_cut(self) -> cython.bint:
        """Return whether the token that was just read might go on after the available text."""
        return not self.final and (self.touches_end or self.pos >= self.limit)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def skip_space(self) -> cython.int:
        """Skip white space and comments, and return the next byte; 0 at the end."""
        i: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t
        c: cython.int
        while i < self.limit:
            c = self.text.data[i]
            if c == 0x0A:
                self.line += 1
                self.line_start = i + 1
                self.columns_before = 0
            elif c == 0x23:
                end = self.text.line_end(i, self.limit)
                if end == self.limit and not self.final:
                    self.touches_end = True
                    break
                if self.text.non_ascii >= 0x80:
                    self.require_utf8(i, end)
                i = end
                continue
            elif c != 0x20 and c != 0x09 and c != 0x0D:
                self.pos = i
                return c
            i += 1
        self.pos = i
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def new_blank_node(self) -> cython.int:
        label: bytes = self._label_prefix + str(self._labels).encode()
        self._labels += 1
        return self.table.intern(KIND_BLANK_NODE, 0, memoryview(label), 0, len(label))

    # ---- tokens ---------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def token(self) -> cython.int:
        """Read and return the token at `pos`: a single character stands for itself, others are above 0x7F."""
        c: cython.int = self.text.data[self.pos]
        self.scratch_size = 0
        self.touches_end = False
        if c == 0x3C:
            if self.at(self.pos + 1) == 0x3C:
                self.refuse_triple_term()
                self.pos += 2
                return TOKEN_OPEN_QUOTED
            return self._iri_token()
        if c == 0x22 or c == 0x27:
            return self._literal_token(c)
        if c == 0x5F:
            self.found = self._label()
            return TOKEN_BLANK_NODE
        if c == 0x5B:
            return self._bracket()
        if c == 0x2C or c == 0x3B or c == 0x5D or c == 0x28 or c == 0x29 or c == 0x7D:
            self.pos += 1
            return c
        if c == 0x2E and not 0x30 <= self.at(self.pos + 1) <= 0x39:
            self.pos += 1
            return c
        if c == 0x2E or c == 0x2B or c == 0x2D or 0x30 <= c <= 0x39:
            return self._number()
        if c == 0x7B:
            self.pos += 1
            if self.at(self.pos) != 0x7C:
                return c
            self.pos += 1
            return TOKEN_OPEN_ANNOTATION
        if c == 0x40:
            return self._directive()
        if c == 0x3E or c == 0x7C:
            return self._closing(c)
        if c == 0x7E:
            return self.fail(self.pos, f"a reifier, ~: {NOT_IN_JELLY}")
        return self._name()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _closing(self, c: cython.int) -> cython.int:
        expected: cython.int = 0x3E if c == 0x3E else 0x7D
        if self.at(self.pos + 1) != expected:
            return self.expected(self.pos + 1, "'>>'" if c == 0x3E else "'|}'")
        self.pos += 2
        return TOKEN_CLOSE_QUOTED if c == 0x3E else TOKEN_CLOSE_ANNOTATION

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _bracket(self) -> cython.int:
        """Read `[]`, a blank node, or `[`, which begins the list of its properties."""
        start: cython.Py_ssize_t = self.pos
        line: cython.longlong = self.line
        line_start: cython.Py_ssize_t = self.line_start
        columns: cython.longlong = self.columns_before
        self.pos += 1
        if self.skip_space() == 0x5D:
            self.pos += 1
            self.found = -1
            return TOKEN_BLANK_NODE
        if self.pos >= self.limit:
            self.touches_end = True
        self.pos = start + 1
        self.line = line
        self.line_start = line_start
        self.columns_before = columns
        return 0x5B

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _directive(self) -> cython.int:
        end: cython.Py_ssize_t = self.pos + 1
        while 0x61 <= (self.at(end) | 0x20) <= 0x7A:
            end += 1
        self.touches_end = end >= self.limit
        word: bytes = bytes(self.text.data[self.pos : end])
        if word == b"@version":
            return self.fail(self.pos, f"a version directive: {NOT_IN_JELLY}")
        if word not in _DIRECTIVES:
            return self.expected(self.pos, "a directive or a term")
        self.pos = end
        return _DIRECTIVES[word]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _name(self) -> cython.int:
        """Read a prefixed name or a keyword."""
        start: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t = self.text.name_end(start, self.limit, False)
        self.touches_end = self.limit - self.text.reach < NEAR
        if self.at(end) == 0x3A:
            end = self.text.name_end(end + 1, self.limit, True)
            self.touches_end = self.limit - self.text.reach < NEAR
            self.pos = end
            text: bytes = bytes(self.text.data[start:end])
            found = self._names.get(text)
            if found is None:
                iri: bytes = self._expanded(text, start)
                found = self._names[text] = self.table.intern(KIND_IRI, 0, memoryview(iri), 0, len(iri))
            self.found = found
            return TOKEN_IRI
        word: bytes = bytes(self.text.data[start:end])
        self.pos = end
        if word == b"a":
            return TOKEN_A
        if word == b"true" or word == b"false":
            return self._typed(start, end, _XSD + b"boolean")
        if word.upper() in _KEYWORDS:
            return _KEYWORDS[word.upper()]
        if word.upper() == b"VERSION":
            return self.fail(start, f"a version directive: {NOT_IN_JELLY}")
        if word and self.text.reach < self.limit:
            return self.fail(start, f"expected a term or a keyword, found {word.decode(errors='replace')[:60]!r}")
        return self.expected(start, "a term or a keyword")

    def _expanded(self, name: bytes, start: cython.Py_ssize_t) -> bytes:
        """Return the IRI of a prefixed name."""
        prefix, _, local = name.partition(b":")
        namespace = self.prefixes.get(prefix.decode())
        if namespace is None:
            self.fail(start, f"the prefix {prefix.decode()[:60] + ':'!r} is not declared")
            raise AssertionError("fail raises")
        if b"\\" in local:
            parts = local.split(b"\\")
            local = b"".join(parts)
        return namespace.encode() + local

    @cython.cfunc
    def prefix_name(self) -> str:
        """Read the prefix that a directive declares, without its colon."""
        start: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t = self.text.name_end(start, self.limit, False)
        self.touches_end = self.limit - self.text.reach < NEAR
        if self.at(end) != 0x3A:
            self.expected(end, "a prefix and ':'")
        self.pos = end + 1
        return bytes(self.text.data[start:end]).decode()

    # ---- IRIs and blank nodes -------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _iri_token(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos
        self.iri_span()
        if self.is_absolute():
            if self.in_scratch:
                self.found = self.table.intern(
                    KIND_IRI, 0, self.scratch, self.span_start, self.span_stop - self.span_start
                )
            else:
                self.found = self.table.intern(
                    KIND_IRI, 0, self.text.data, self.span_start, self.span_stop - self.span_start
                )
        else:
            iri: bytes = self.resolved(start)
            self.found = self.table.intern(KIND_IRI, 0, memoryview(iri), 0, len(iri))
        return TOKEN_IRI

    def resolved(self, start: cython.Py_ssize_t) -> bytes:
        """Return the IRI of the span as an absolute one; the span began at `start`."""
        source = self.scratch if self.in_scratch else self.text.data
        iri = bytes(source[self.span_start : self.span_stop])
        if self.is_absolute():
            return iri
        if self.base_iri is None:
            if not self.any_iri:
                self.fail(start, "a relative IRI, and there is no base to resolve it against")
            return iri
        return resolve_iri(self.base_iri, iri.decode()).encode()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _label(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos + 2
        end: cython.Py_ssize_t
        if self.at(self.pos + 1) != 0x3A:
            return self.expected(self.pos + 1, "':' after '_'")
        end = self.text.label_end(start, self.limit)
        # More of the label, or of a character of it, may come.
        self.touches_end = self.limit - end < NEAR
        if end == start:
            return self.expected(start, "the label of a blank node")
        self.pos = end
        return self.table.intern(KIND_BLANK_NODE, 0, self.text.data, start, end - start)

    # ---- literals -------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _typed(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t, datatype: bytes) -> cython.int:
        """Add a literal that is written without quotation marks, with its datatype."""
        row: cython.int = self.table.intern_small(self.table.datatypes, memoryview(datatype), 0, len(datatype))
        self.found = self.table.intern(KIND_TYPED_LITERAL, row, self.text.data, start, end - start)
        return TOKEN_LITERAL

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _digits_end(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        while 0x30 <= self.at(start) <= 0x39:
            start += 1
        return start

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _number(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos
        i: cython.Py_ssize_t = start
        end: cython.Py_ssize_t
        datatype: bytes = b"integer"
        if self.at(i) == 0x2B or self.at(i) == 0x2D:
            i += 1
        digits: cython.Py_ssize_t = i
        i = self._digits_end(i)
        has_digits: cython.bint = i > digits
        if self.at(i) == 0x2E:
            end = self._digits_end(i + 1)
            if end > i + 1:
                datatype = b"decimal"
                i = end
                has_digits = True
            elif has_digits and (self.at(end) | 0x20) == 0x65:
                # 1.e5 is a double; 1. is an integer at the end of a statement.
                i = end
            self.touches_end = end >= self.limit - 2
        if not has_digits:
            return self.expected(i, "a digit")
        if (self.at(i) | 0x20) == 0x65:
            end = i + 1
            if self.at(end) == 0x2B or self.at(end) == 0x2D:
                end += 1
            digits = end
            end = self._digits_end(end)
            if end == digits:
                self.touches_end = end >= self.limit
                return self.expected(end, "the digits of an exponent")
            datatype = b"double"
            i = end
        if i >= self.limit:
            self.touches_end = True
        self.pos = i
        return self._typed(start, i, _XSD + datatype)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _literal_token(self, quote: cython.int) -> cython.int:
        start: cython.Py_ssize_t = self.pos
        kind: cython.int = KIND_LITERAL
        detail: cython.int = 0
        c: cython.int
        self._string(quote)
        value_start: cython.Py_ssize_t = self.span_start
        value_stop: cython.Py_ssize_t = self.span_stop
        escaped: cython.bint = self.in_scratch
        c = self.at(self.pos)
        if c != 0x40 and c != 0x5E:
            c = self.skip_space()
        if c == 0x40:
            kind = KIND_LANG_LITERAL
            detail = self._language()
        elif c == 0x5E:
            detail = self._turtle_datatype() - 1
            if detail >= 0:
                kind = KIND_TYPED_LITERAL
            else:
                detail = 0
        if self.is_cut():
            # A long string is not stored before it is whole.
            self.pos = start
            self.touches_end = True
            return TOKEN_LITERAL
        if escaped:
            self.found = self.table.intern(kind, detail, self.scratch, value_start, value_stop - value_start)
        else:
            self.found = self.table.intern(kind, detail, self.text.data, value_start, value_stop - value_start)
        return TOKEN_LITERAL

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _string(self, quote: cython.int) -> cython.int:
        """Read a string in one or three quotation marks; the span is the text between them."""
        i: cython.Py_ssize_t = self.pos + 1
        is_long: cython.bint = self.at(i) == quote and self.at(i + 1) == quote
        non_ascii: cython.int = 0
        end: cython.Py_ssize_t
        run: cython.Py_ssize_t
        first: cython.Py_ssize_t
        self.in_scratch = False
        if is_long:
            i += 2
        run = first = i
        while True:
            end = self.text.quoted_end(i, self.limit, quote)
            non_ascii |= self.text.non_ascii
            if end >= self.limit:
                self.touches_end = True
                return self.expected(end, "the rest of a literal and its quotation mark")
            c: cython.int = self.text.data[end]
            if c == quote:
                if not is_long or (self.at(end + 1) == quote and self.at(end + 2) == quote):
                    break
                if end + 2 >= self.limit:
                    self.touches_end = True
                i = end + 1
            elif c == 0x5C:
                self._keep_run(run, end)
                i = run = self._escape(end, False)
            elif not is_long:
                return self.expected(end, "the rest of a literal and its quotation mark")
            else:
                i = end + 1
                if c == 0x0A:
                    self.line += 1
                    self.line_start = i
                    self.columns_before = 0
        if non_ascii >= 0x80:
            self.require_utf8(first, end)
        if self.in_scratch:
            self._keep_run(run, end)
            self.span_start = 0
            self.span_stop = self.scratch_size
        else:
            self.span_start = first
            self.span_stop = end
        self.pos = end + (3 if is_long else 1)
        self.touches_end = False
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _keep_run(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Copy a part of the text without escapes to the scratch."""
        self.in_scratch = True
        self._reserve(end - start)
        move_bytes(self.scratch, self.scratch_size, self.text.data, start, end - start)
        self.scratch_size += end - start
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _turtle_datatype(self) -> cython.int:
        """Read `^^` and a datatype, and return its row in the table of datatypes plus one, or 0 for xsd:string."""
        start: cython.Py_ssize_t
        end: cython.Py_ssize_t
        iri: bytes
        if self.at(self.pos + 1) != 0x5E:
            return self.expected(self.pos + 1, "'^^'")
        self.pos += 2
        c: cython.int = self.skip_space()
        start = self.pos
        if c == 0x3C:
            self.iri_span()
            end = self.pos
        else:
            end = self.text.name_end(start, self.limit, False)
            self.touches_end = self.limit - self.text.reach < NEAR
            if self.at(end) != 0x3A:
                return self.expected(start, "the IRI of a datatype")
            end = self.text.name_end(end + 1, self.limit, True)
            self.touches_end = self.limit - self.text.reach < NEAR
        self.pos = end
        text: bytes = bytes(self.text.data[start:end])
        row = self._datatype_rows.get(text)
        if row is None:
            iri = self.resolved(start) if c == 0x3C else self._expanded(text, start)
            if iri == _XSD + b"string":
                row = 0
            else:
                row = self.table.intern_small(self.table.datatypes, memoryview(iri), 0, len(iri)) + 1
            self._datatype_rows[text] = row
        return row
