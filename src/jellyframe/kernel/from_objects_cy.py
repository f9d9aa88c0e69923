"""Convert Python statements to batches. Each distinct term is converted once per batch, not once per row."""

from __future__ import annotations

from collections.abc import Iterable
from operator import length_hint
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError, shortened
from jellyframe.kernel.memory_cy import byte_column
from jellyframe.kernel.terms_cy import DEFAULT_GRAPH, XSD_STRING
from jellyframe.wire import lone_surrogate

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder, TermTable
    from cython.cimports.jellyframe.kernel.terms_cy import IRI, BlankNode, Literal
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.table_cy import BatchBuilder, TermTable
    from jellyframe.kernel.terms_cy import IRI, BlankNode, Literal

# Deeper nesting than any reader accepts. A bound, because conversion recurses.
MAX_NESTING_DEPTH = cython.declare(cython.int, 200)
NO_TERM = cython.declare(cython.int, -2)
SCRATCH_BYTES = cython.declare(cython.Py_ssize_t, 128)
# Most rows to reserve on an iterable's own estimate of its length, which may be wrong.
MOST_ROWS_HINTED = cython.declare(cython.Py_ssize_t, 1 << 16)
# Approximate bytes of a term beyond its string, here and in the encoder.
TERM_BYTES = cython.declare(cython.Py_ssize_t, 64)
NO_LIMIT = 0x7FFFFFFFFFFFFFFF
# Differs from every object that can be passed as a term.
NOTHING = object()


@cython.final
@cython.cclass
class StatementBuilder:
    """Fills a batch with Python statements: triples, or quads when `has_graph`.

    A statement is a `Triple`, a `Quad`, or a plain tuple of as many terms. If `has_graph` is None, the first statement
    decides. With `may_lack_terms`, for rows of patches, DEFAULT_GRAPH stands for an absent term.

    `text_classes` lets terms be objects of another library's subclasses of str: it has the kind of term for each class.
    Literals have the attributes `language` and `datatype`. The objects are read directly, without making ours of them.
    """

    _builder: BatchBuilder
    _is_open: cython.bint
    _may_lack_terms: cython.bint
    _text_classes: dict[type, int]
    _has_text_classes: cython.bint
    _ids: dict[object, int]
    _quoted_ids: dict[tuple[int, int, int], int]
    _quoted_objects: dict[int, tuple[object, int]]
    _datatype_rows: dict[str, int]
    _language_rows: dict[str, int]
    _scratch: cython.uchar[::1]
    _taken: cython.Py_ssize_t

    __slots__ = (
        "_builder",
        "_datatype_rows",
        "_has_text_classes",
        "_ids",
        "_is_open",
        "_language_rows",
        "_may_lack_terms",
        "_quoted_ids",
        "_quoted_objects",
        "_scratch",
        "_taken",
        "_text_classes",
    )

    def __init__(
        self,
        has_graph: bool | None = None,
        may_lack_terms: cython.bint = False,
        text_classes: dict[type, int] | None = None,
    ):
        self._is_open = has_graph is None
        self._may_lack_terms = may_lack_terms
        self._text_classes = text_classes or {}
        self._has_text_classes = text_classes is not None
        self._taken = 0
        self._scratch = byte_column(SCRATCH_BYTES)
        self._begin(bool(has_graph), 0)

    @cython.cfunc
    def _begin(self, has_graph: cython.bint, rows: cython.Py_ssize_t) -> object:
        """Begin a new batch, with room for some rows and for as many terms as they are likely to have."""
        terms: cython.Py_ssize_t = rows if rows < 1024 else rows // 2
        self._builder = BatchBuilder(has_graph, rows, TermTable(terms, 32 * terms))
        self._ids = {}
        self._quoted_ids = {}
        self._quoted_objects = {}
        self._datatype_rows = {}
        self._language_rows = {}
        return None

    @property
    def rows(self) -> int:
        """Return the number of statements that the next `take` returns."""
        return self._builder.rows

    @property
    def has_graph(self) -> bool | None:
        """Whether the statements are quads; None if the first statement is still to decide."""
        return None if self._is_open else bool(self._builder.has_graph)

    def take(self) -> BatchBuilder:
        """Return the statements added since the last call, and begin a new batch of the same kind of statement."""
        builder = self._builder
        self._taken += builder.rows
        self._begin(builder.has_graph, 0)
        return builder

    def add(
        self,
        statements: Iterable[tuple[Any, ...]],
        max_rows: cython.Py_ssize_t,
        max_bytes: cython.Py_ssize_t = NO_LIMIT,
    ) -> int:
        """Add up to `max_rows` statements, or until their terms take `max_bytes`, and return how many were added.

        No more are drawn than are added: given an iterator, the next call continues where this one stopped. 0 means
        that it is exhausted. If a statement is refused, or the iterable raises, those before it have been added.
        """
        rows: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        wanted: cython.Py_ssize_t
        s: cython.int = NO_TERM
        p: cython.int = NO_TERM
        o: cython.int = NO_TERM
        g: cython.int = NO_TERM
        last_s: object = NOTHING
        last_p: object = NOTHING
        last_g: object = NOTHING
        terms: tuple[Any, ...]
        if max_rows <= 0:
            return 0
        if self._builder.rows == 0:
            self._begin(self._builder.has_graph, _room_for(statements, max_rows))
        for statement in statements:
            if not isinstance(statement, tuple):
                raise self._error(f"is {_described(statement)}, not a Triple or a Quad")
            terms = cython.cast(tuple, statement) if cython.compiled else statement
            size = len(terms)
            if self._is_open and (size == 4) != self._builder.has_graph:
                self._begin(size == 4, _room_for(statements, max_rows))
            wanted = 4 if self._builder.has_graph else 3
            if size != wanted:
                raise self._error(_wrong_size(size, wanted))
            # Neighbouring statements often share terms, and comparing two objects for identity costs nothing.
            if terms[0] is not last_s:
                last_s = terms[0]
                s = self._id(last_s)
            if terms[1] is not last_p:
                last_p = terms[1]
                p = self._id(last_p)
            o = self._id(terms[2])
            if wanted == 4 and terms[3] is not last_g:
                last_g = terms[3]
                g = self._builder.terms.default_graph() if last_g is DEFAULT_GRAPH else self._id(last_g)
            self._builder.add_row(s, p, o, g)
            self._is_open = False
            rows += 1
            if rows >= max_rows or self._size() >= max_bytes:
                break
        return rows

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _size(self) -> cython.Py_ssize_t:
        """Return the approximate number of bytes that the terms of the batch take."""
        terms: TermTable = self._builder.terms
        return (
            terms.values.data_size
            + terms.datatypes.data_size
            + terms.languages.data_size
            + TERM_BYTES * cython.cast(cython.Py_ssize_t, terms.count)
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _id(self, term: object) -> cython.int:
        """Return the row of a term in the table of the batch."""
        if self._has_text_classes:
            # By identity, as hashing and comparing may run Python code of the other library.
            held = self._quoted_objects.get(id(term))
            if held is not None:
                return held[1]
            if isinstance(term, str):
                return self._text_id(cython.cast(str, term) if cython.compiled else term)
        if isinstance(term, tuple):
            return self._quoted_id(cython.cast(tuple, term) if cython.compiled else term, 1)
        try:
            known = self._ids.get(term)
        except TypeError:
            raise self._error(f"has {_described(term)} for a term; {_TERMS}") from None
        if known is None:
            return self._new_id(term)
        return known

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _text_id(self, term: object) -> cython.int:
        """Return the row of a term of another library, whose text is the object itself."""
        known: cython.int
        kind = self._text_classes.get(type(term))
        if kind is None:
            kind = self._inherited_kind(term)
        # A subclass may override `__str__`.
        raw = self._utf8(str.__str__(term))
        if kind != KIND_LITERAL:
            known = self._intern(kind, 0, raw)
        else:
            language = term.language
            datatype = term.datatype
            if language:
                known = self._intern(KIND_LANG_LITERAL, self._language_row(str(language)), raw)
            elif datatype is None or str(datatype) == XSD_STRING:
                known = self._intern(KIND_LITERAL, 0, raw)
            elif not str(datatype):
                raise self._error("has a literal with an empty datatype")
            else:
                known = self._intern(KIND_TYPED_LITERAL, self._datatype_row(str(datatype)), raw)
        self._quoted_objects[id(term)] = (term, known)
        return known

    @cython.cfunc
    def _inherited_kind(self, term: object) -> Any:
        for base in type(term).__mro__:
            kind = self._text_classes.get(base)
            if kind is not None:
                self._text_classes[type(term)] = kind
                return kind
        raise self._error(f"has {_described(term)} for a term; {_TERMS}")

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _new_id(self, term: object) -> cython.int:
        iri: IRI
        node: BlankNode
        literal: Literal
        known: cython.int
        if isinstance(term, IRI):
            iri = term
            known = self._intern(KIND_IRI, 0, self._utf8(iri._text))
        elif isinstance(term, BlankNode):
            node = term
            known = self._intern(KIND_BLANK_NODE, 0, self._utf8(node._text))
        elif isinstance(term, Literal):
            literal = term
            if literal._language is not None:
                known = self._language_row(literal._language)
                known = self._intern(KIND_LANG_LITERAL, known, self._utf8(literal._text))
            elif literal._datatype is XSD_STRING or literal._datatype == XSD_STRING:
                known = self._intern(KIND_LITERAL, 0, self._utf8(literal._text))
            else:
                known = self._datatype_row(literal._datatype)
                known = self._intern(KIND_TYPED_LITERAL, known, self._utf8(literal._text))
        elif term is DEFAULT_GRAPH and self._may_lack_terms:
            return self._builder.terms.default_graph()
        elif term is DEFAULT_GRAPH:
            raise self._error("has DEFAULT_GRAPH for a term; it can only be a graph")
        else:
            raise self._error(f"has {_described(term)} for a term; {_TERMS}")
        self._ids[term] = known
        return known

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _intern(self, kind: cython.int, detail: cython.int, raw: bytes) -> cython.int:
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(raw)
        if cython.compiled and n <= SCRATCH_BYTES:
            # Asking a bytes object for its memory takes longer than copying a short one.
            for i in range(n):
                self._scratch[i] = raw[i]
            return self._builder.terms.intern(kind, detail, self._scratch, 0, n)
        return self._builder.terms.intern(kind, detail, raw, 0, n)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _datatype_row(self, datatype: str) -> cython.int:
        row = self._datatype_rows.get(datatype)
        if row is None:
            raw = self._utf8(datatype)
            table: TermTable = self._builder.terms
            row = self._datatype_rows[datatype] = table.intern_small(table.datatypes, raw, 0, len(raw))
        return row

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _language_row(self, language: str) -> cython.int:
        row = self._language_rows.get(language)
        if row is None:
            raw = self._utf8(language)
            table: TermTable = self._builder.terms
            row = self._language_rows[language] = table.intern_small(table.languages, raw, 0, len(raw))
        return row

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _quoted_id(self, parts: tuple[object, ...], depth: cython.int) -> cython.int:
        s: cython.int
        p: cython.int
        o: cython.int
        known: cython.int
        # By identity first: triples that quote one triple twice at each level would take exponential time otherwise.
        # An entry holds its object, so that no other can get the same identity.
        earlier = self._quoted_objects.get(id(parts))
        if earlier is not None:
            return earlier[1]
        if len(parts) != 3:
            raise self._error(f"has a tuple of {len(parts)} for a term; a quoted triple has three terms")
        if depth > MAX_NESTING_DEPTH:
            raise self._error(f"nests quoted triples more than {MAX_NESTING_DEPTH} deep")
        s = self._part_id(parts[0], depth)
        p = self._part_id(parts[1], depth)
        o = self._part_id(parts[2], depth)
        key = (s, p, o)
        found = self._quoted_ids.get(key)
        if found is None:
            known = self._builder.terms.add_quoted(s, p, o)
            self._quoted_ids[key] = known
        else:
            known = found
        self._quoted_objects[id(parts)] = (parts, known)
        return known

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _part_id(self, part: object, depth: cython.int) -> cython.int:
        if isinstance(part, tuple):
            return self._quoted_id(cython.cast(tuple, part) if cython.compiled else part, depth + 1)
        return self._id(part)

    @cython.cfunc
    def _utf8(self, text: str) -> bytes:
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self._error(f"has {lone_surrogate(text, error)}") from None

    @cython.cfunc
    def _error(self, what: str) -> EncodeError:
        """Return an error for the next statement to be added."""
        return EncodeError(f"statement {self._taken + self._builder.rows} {what}")


def _room_for(statements: Iterable[tuple[Any, ...]], max_rows: int) -> int:
    """Return the number of rows to reserve: the iterable's own estimate, up to a limit."""
    return min(max_rows, length_hint(statements), MOST_ROWS_HINTED)


def build_statements(statements: Iterable[tuple[Any, ...]], quads: bool | None = None) -> BatchBuilder:
    """Return a builder with all the statements. If `quads` is None, the first one decides whether they are."""
    builder = StatementBuilder(quads)
    builder.add(statements, 0x7FFFFFFF)
    return builder.take()


_TERMS = "pass an IRI, a BlankNode, a Literal or a Triple"


def _described(value: object) -> str:
    """Return a description of a value for messages: the text of a string, the type of other values."""
    return f"the str {shortened(value)}" if type(value) is str else f"a {type(value).__name__}"


def _wrong_size(size: int, wanted: int) -> str:
    if size == 3:
        return "has no graph, in a stream of quads; pass Quad(s, p, o, DEFAULT_GRAPH)"
    if size == 4:
        return "has a graph, in a stream of triples; write quads, or pass Triple(s, p, o)"
    return f"has {size} terms, not {wanted}"
