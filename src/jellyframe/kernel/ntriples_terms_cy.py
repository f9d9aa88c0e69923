"""Parse the terms of N-Triples and N-Quads into rows of a term table.

Much of a text is repeated: the subject of the line before, predicates in the same order, a few datatypes. The parser
remembers where such texts were and which terms they gave; when the same bytes come again, they are only compared.
"""

from __future__ import annotations

import re

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.cursor_cy import TextCursor
from jellyframe.kernel.labels import HEX_LABEL, original_label
from jellyframe.kernel.memory_cy import grown_ints, int_column
from jellyframe.kernel.table_cy import TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.cursor_cy import TextCursor
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import equal_bytes
    from jellyframe.kernel.scan_cy import Text

# The position of a term in a statement.
SUBJECT = cython.declare(cython.int, 0)
PREDICATE = cython.declare(cython.int, 1)
OBJECT = cython.declare(cython.int, 2)
GRAPH = cython.declare(cython.int, 3)
_PLACES = ("subject", "predicate", "object", "graph")

# The slots of the memo. Each has three numbers: the offset and the length of a text, and the term that it gave.
SUBJECT_MEMO = cython.declare(cython.Py_ssize_t, 0)
QUOTED_MEMO = cython.declare(cython.Py_ssize_t, 1)
GRAPH_MEMO = cython.declare(cython.Py_ssize_t, 2)
DATATYPE_MEMOS = cython.declare(cython.Py_ssize_t, 3)
DATATYPES_KEPT = cython.declare(cython.Py_ssize_t, 8)
PREDICATE_MEMOS = cython.declare(cython.Py_ssize_t, 11)
PREDICATES_KEPT = cython.declare(cython.Py_ssize_t, 512)
NOT_RECALLED = cython.declare(cython.int, -2)

NOT_IN_JELLY = "it came with RDF 1.2, and Jelly has no place for it yet"
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_XSD_STRING = b"http://www.w3.org/2001/XMLSchema#string"


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_letter(c: cython.int) -> cython.bint:
    return 0x61 <= (c | 0x20) <= 0x7A


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_digit(c: cython.int) -> cython.bint:
    return 0x30 <= c <= 0x39


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _byte(cursor: TextCursor, at: cython.Py_ssize_t) -> cython.int:
    """Return `cursor.byte_at(at)`, which as a method of another module cannot be inlined."""
    return cursor.text.data[at] if at < cursor.limit else 0x0A


@cython.cclass
class TermParser(TextCursor):
    """Reads terms at `pos`.

    `generalized`: any term is allowed at any position, except a quoted triple as graph. `any_iri`: IRIs need not be
    absolute, and labels that this package wrote in hexadecimal, as N-Triples do not allow them, are restored.
    """

    __slots__ = (
        "generalized",
        "last_predicate",
        "max_depth",
        "memo",
        "next_datatype",
        "stack",
        "table",
    )

    def __init__(self, generalized: cython.bint, any_iri: cython.bint, max_depth: cython.Py_ssize_t):
        TextCursor.__init__(self, any_iri)
        self.generalized = generalized
        self.max_depth = max_depth
        self.memo = memoryview(bytearray(24 * (PREDICATE_MEMOS + PREDICATES_KEPT))).cast("q")
        self.stack = int_column(12)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin(self, text: Text, table: TermTable, start: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.int:
        """Begin another text or another table, with an empty memo."""
        slot: cython.Py_ssize_t
        self.text = text
        self.table = table
        self.pos = start
        self.limit = limit
        self.line_start = start
        self.last_predicate = 0
        self.next_datatype = 0
        for slot in range(PREDICATE_MEMOS + PREDICATES_KEPT):
            self.memo[3 * slot + 1] = 0
        return 0

    # ---- the memo -------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _recall(self, slot: cython.Py_ssize_t) -> cython.int:
        """Skip a remembered text that is at `pos` again, and return its term; else NOT_RECALLED."""
        start: cython.Py_ssize_t = self.memo[3 * slot]
        n: cython.Py_ssize_t = self.memo[3 * slot + 1]
        if (
            n == 0
            or n > self.limit - self.pos
            or self.text.data[self.pos + n - 1] != self.text.data[start + n - 1]
            or not equal_bytes(self.text.data, start, self.text.data, self.pos, n)
        ):
            return NOT_RECALLED
        self.pos += n
        return cython.cast(cython.int, self.memo[3 * slot + 2])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _remember(self, slot: cython.Py_ssize_t, start: cython.Py_ssize_t, term: cython.int) -> cython.int:
        """Remember the text from `start` to `pos`, which gave `term`, if the text alone shows where it ends."""
        n: cython.Py_ssize_t = self.pos - start
        if self.text.data[self.pos - 1] != 0x3E:
            # Unless it ends with >, a term might go on, so the blank after it is remembered with it.
            if _byte(self, self.pos) != 0x20:
                return 0
            n += 1
        self.memo[3 * slot] = start
        self.memo[3 * slot + 1] = n
        self.memo[3 * slot + 2] = term
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def subject(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos
        term: cython.int = self._recall(SUBJECT_MEMO)
        if term == NOT_RECALLED:
            term = self.term(SUBJECT)
            if _byte(self, start + 1) != 0x3C:
                # A quoted triple has its own memo; this one is kept for the subjects in it.
                self._remember(SUBJECT_MEMO, start, term)
        return term

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def predicate(self) -> cython.int:
        """Read a predicate. They tend to come in the same order, so each has a memo of the two that last came next."""
        start: cython.Py_ssize_t = self.pos
        first: cython.Py_ssize_t = PREDICATE_MEMOS + 2 * (self.last_predicate & 0xFF)
        term: cython.int = self._recall(first)
        i: cython.Py_ssize_t
        if term == NOT_RECALLED:
            term = self._recall(first + 1)
            for i in range(3 * first, 3 * first + 3):
                self.memo[i], self.memo[i + 3] = self.memo[i + 3], self.memo[i]
            if term == NOT_RECALLED:
                term = self.term(PREDICATE)
                self._remember(first, start, term)
        self.last_predicate = term
        return term

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def graph(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos
        term: cython.int = self._recall(GRAPH_MEMO)
        if term == NOT_RECALLED:
            term = self.term(GRAPH)
            self._remember(GRAPH_MEMO, start, term)
        return term

    # ---- terms ----------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def term(self, place: cython.int) -> cython.int:
        """Read any term that is allowed at this position."""
        if _byte(self, self.pos) == 0x3C and _byte(self, self.pos + 1) == 0x3C:
            if place == GRAPH or (place == PREDICATE and not self.generalized):
                return self.expected(self.pos, self._allowed(place))
            return self._quoted_term()
        return self._plain_term(place)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _plain_term(self, place: cython.int) -> cython.int:
        """Read any term but a quoted triple."""
        c: cython.int = _byte(self, self.pos)
        self.scratch_size = 0
        if c == 0x3C:
            self._iri()
            if self.in_scratch:
                return self.table.intern(KIND_IRI, 0, self.scratch, self.span_start, self.span_stop - self.span_start)
            return self.table.intern(KIND_IRI, 0, self.text.data, self.span_start, self.span_stop - self.span_start)
        if c == 0x5F and (place != PREDICATE or self.generalized):
            return self._blank_node()
        if c == 0x22 and (place == OBJECT or self.generalized):
            return self._literal()
        return self.expected(self.pos, self._allowed(place))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _quoted_term(self) -> cython.int:
        """Read a quoted triple. For each one that is not complete, the stack has two terms and its outer position."""
        start: cython.Py_ssize_t = self.pos
        depth: cython.Py_ssize_t = -1
        place: cython.int = SUBJECT
        term: cython.int = self._recall(QUOTED_MEMO)
        if term != NOT_RECALLED:
            return term
        while True:
            if _byte(self, self.pos) == 0x3C and _byte(self, self.pos + 1) == 0x3C:
                if place == PREDICATE and not self.generalized:
                    return self.expected(self.pos, self._allowed(place))
                term = self._recall(QUOTED_MEMO) if depth >= 0 else NOT_RECALLED
                if term == NOT_RECALLED:
                    depth += 1
                    if depth >= self.max_depth:
                        return self.fail(self.pos, f"quoted triples are nested more than {self.max_depth} deep")
                    if 3 * depth + 3 > self.stack.shape[0]:
                        self.stack = grown_ints(self.stack, 3 * depth, 6 * depth)
                    self.stack[3 * depth + 2] = place
                    place = SUBJECT
                    self.refuse_triple_term()
                    self.pos += 2
                    self.skip_blanks()
                    continue
            elif place == PREDICATE:
                term = self.predicate()
            elif place == SUBJECT:
                term = self._recall(SUBJECT_MEMO)
                if term == NOT_RECALLED:
                    term = self._plain_term(SUBJECT)
            else:
                term = self._plain_term(place)
            while place == OBJECT:
                if self.skip_blanks() != 0x3E or _byte(self, self.pos + 1) != 0x3E:
                    return self.expected(self.pos, "'>>'")
                self.pos += 2
                term = self.table.add_quoted(self.stack[3 * depth], self.stack[3 * depth + 1], term)
                place = self.stack[3 * depth + 2]
                depth -= 1
                if depth < 0:
                    self._remember(QUOTED_MEMO, start, term)
                    return term
            self.stack[3 * depth + place] = term
            place += 1
            self.skip_blanks()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def refuse_triple_term(self) -> cython.int:
        """Raise if what begins with `<<` is a triple term of RDF 1.2, not a quoted triple of RDF-star."""
        if _byte(self, self.pos + 2) == 0x28:
            return self.fail(self.pos, f"a triple term, <<( … )>>: {NOT_IN_JELLY}")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def iri_span(self) -> cython.int:
        """Read an IRI as a span, in the text or, if it has escapes, in the scratch."""
        start: cython.Py_ssize_t = self.pos + 1
        end: cython.Py_ssize_t = self.text.iri_end(start, self.limit)
        self.in_scratch = False
        self.span_start = start
        self.span_stop = end
        if _byte(self, end) == 0x5C:
            self.unescape(end, True)
            end = self.pos
        if _byte(self, end) != 0x3E:
            return self.expected(end, "'>' or a character that IRIs may hold")
        if self.text.non_ascii >= 0x80:
            self.require_utf8(start, end)
        self.pos = end + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _iri(self) -> cython.int:
        """Read an IRI as a span. Raises if it is not absolute, unless `any_iri`."""
        start: cython.Py_ssize_t = self.pos
        self.iri_span()
        if self.is_absolute() or self.any_iri:
            return 0
        return self.fail(start, "expected an absolute IRI, one that begins with a scheme such as 'http:'")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_absolute(self) -> cython.bint:
        """Return whether the IRI that was just read begins with a scheme."""
        i: cython.Py_ssize_t = self.span_start
        c: cython.int
        source: cython.const[cython.uchar][::1]
        if not self.in_scratch:
            c = self.text.data[i]
            while 0x61 <= c <= 0x7A:
                i += 1
                c = self.text.data[i]
            if c == 0x3A and i > self.span_start:
                return True
        source = self.scratch if self.in_scratch else self.text.data
        return _SCHEME.match(source, self.span_start, self.span_stop) is not None

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _blank_node(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos + 2
        end: cython.Py_ssize_t
        if _byte(self, self.pos + 1) != 0x3A:
            return self.expected(self.pos + 1, "':' after '_'")
        end = self.text.label_end(start, self.limit)
        if end == start:
            return self.expected(start, "the label of a blank node")
        self.pos = end
        if self.any_iri and self.text.data[start] == 0x68 and end - start >= len(HEX_LABEL):
            return self._blank_node_in_hex(start, end)
        return self.table.intern(KIND_BLANK_NODE, 0, self.text.data, start, end - start)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _blank_node_in_hex(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Return a blank node whose label may be one that this package wrote in hexadecimal."""
        label: bytes = original_label(bytes(self.text.data[start:end]))
        return self.table.intern(KIND_BLANK_NODE, 0, memoryview(label), 0, len(label))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _literal(self) -> cython.int:
        start: cython.Py_ssize_t = self.pos + 1
        end: cython.Py_ssize_t = self.text.string_end(start, self.limit)
        after: cython.Py_ssize_t
        escaped: cython.bint = _byte(self, end) == 0x5C
        kind: cython.int = KIND_LITERAL
        detail: cython.int = 0
        c: cython.int
        if escaped:
            self.span_start = start
            self.unescape(end, False)
            end = self.pos
        if _byte(self, end) != 0x22:
            return self.expected(end, "the rest of a literal and '\"'")
        if self.text.non_ascii >= 0x80:
            self.require_utf8(start, end)
        if escaped:
            start = 0
            after = self.scratch_size
        else:
            after = end
        self.pos = end + 1
        c = _byte(self, self.pos)
        if c == 0x20 or c == 0x09:
            # Blanks may come before a language or datatype, but mostly another term follows them.
            c = self.skip_blanks()
        if c == 0x40:
            kind = KIND_LANG_LITERAL
            detail = self._language()
        elif c == 0x5E:
            detail = self._datatype() - 1
            if detail >= 0:
                kind = KIND_TYPED_LITERAL
            else:
                detail = 0
        if escaped:
            return self.table.intern(kind, detail, self.scratch, start, after - start)
        return self.table.intern(kind, detail, self.text.data, start, after - start)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _language(self) -> cython.int:
        """Read a language tag, and return its row in the table of languages."""
        start: cython.Py_ssize_t = self.pos + 1
        end: cython.Py_ssize_t = start
        part: cython.Py_ssize_t = start
        c: cython.int
        while True:
            c = _byte(self, end)
            if _is_letter(c) or (part > start and _is_digit(c)):
                end += 1
            elif end == part:
                if c == 0x2D and end > start:
                    return self.fail(end - 1, f"a literal with a base direction: {NOT_IN_JELLY}")
                return self.expected(end, "a language tag" if end == start else "more of a language tag")
            elif c == 0x2D:
                end += 1
                part = end
            else:
                break
        self.pos = end
        return self.table.intern_small(self.table.languages, self.text.data, start, end - start)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _datatype(self) -> cython.int:
        """Read a datatype, and return its row in the table of datatypes plus one, or 0 for xsd:string."""
        slot: cython.Py_ssize_t
        start: cython.Py_ssize_t
        found: cython.int
        if _byte(self, self.pos + 1) != 0x5E:
            return self.expected(self.pos + 1, "'^^'")
        self.pos += 2
        if self.skip_blanks() != 0x3C:
            return self.expected(self.pos, "the IRI of a datatype")
        for slot in range(DATATYPE_MEMOS, DATATYPE_MEMOS + DATATYPES_KEPT):
            found = self._recall(slot)
            if found != NOT_RECALLED:
                return found
        start = self.pos
        self._iri()
        found = self._datatype_row()
        self._remember(DATATYPE_MEMOS + self.next_datatype, start, found)
        self.next_datatype = (self.next_datatype + 1) % DATATYPES_KEPT
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _datatype_row(self) -> cython.int:
        n: cython.Py_ssize_t = self.span_stop - self.span_start
        source: cython.const[cython.uchar][::1] = self.scratch if self.in_scratch else self.text.data
        if n == len(_XSD_STRING) and bytes(source[self.span_start : self.span_stop]) == _XSD_STRING:
            return 0
        return self.table.intern_small(self.table.datatypes, source, self.span_start, n) + 1

    def _allowed(self, place: cython.int) -> str:
        """Return a description of the terms that are allowed at a position."""
        if self.generalized:
            kinds = "an IRI, a blank node or a literal" if place == GRAPH else "any term"
        else:
            kinds = (
                "an IRI, a blank node or a quoted triple",
                "an IRI",
                "an IRI, a blank node, a literal or a quoted triple",
                "an IRI or a blank node",
            )[place]
        return f"{kinds} as {_PLACES[place]}"
