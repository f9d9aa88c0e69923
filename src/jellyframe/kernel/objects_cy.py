"""Convert batches to Python statements. Each distinct term is converted once per batch, not once per row."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.statements import Quad, Triple
from jellyframe.kernel.terms_cy import DEFAULT_GRAPH, RDF_LANG_STRING, XSD_STRING

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.python_api import new_statement
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
    from cython.cimports.jellyframe.kernel.terms_cy import IRI, BlankNode, Literal
else:
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.table_cy import TermTable
    from jellyframe.kernel.terms_cy import IRI, BlankNode, Literal

    new_statement = tuple.__new__


@cython.final
@cython.cclass
class StatementMaker:
    """Makes statements from the columns of a batch, and keeps the terms it has made for the next call."""

    _s: cython.const[cython.int][::1]
    _p: cython.const[cython.int][::1]
    _o: cython.const[cython.int][::1]
    _g: cython.const[cython.int][::1]
    _has_graph: cython.bint
    _table: TermTable
    _text: bytes
    _datatypes: list[str]
    _languages: list[str]
    _made: list[object]

    __slots__ = (
        "_datatypes",
        "_g",
        "_has_graph",
        "_languages",
        "_made",
        "_o",
        "_p",
        "_s",
        "_table",
        "_text",
    )

    def __init__(self, s: memoryview, p: memoryview, o: memoryview, g: memoryview | None, terms: TermTable):
        self._s = s
        self._p = p
        self._o = o
        self._has_graph = g is not None
        self._g = s if g is None else g
        self._table = terms
        # A string is decoded fastest from a slice of a bytes object.
        self._text = bytes(terms.values.buffers()[1])
        self._datatypes = terms.datatypes.strings()
        self._languages = terms.languages.strings()
        self._made = [None] * terms.count

    def make(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> list[Triple | Quad]:
        """Return the statements of rows `start` to `stop`."""
        row: cython.Py_ssize_t
        statements: list[Triple | Quad] = []
        if self._has_graph:
            for row in range(start, stop):
                s = self._term(self._s[row])
                p = self._term(self._p[row])
                o = self._term(self._o[row])
                statements.append(new_statement(Quad, (s, p, o, self._term(self._g[row]))))
        else:
            for row in range(start, stop):
                s = self._term(self._s[row])
                p = self._term(self._p[row])
                statements.append(new_statement(Triple, (s, p, self._term(self._o[row]))))
        return statements

    def term(self, term: cython.int) -> object:
        """Return one term of the table."""
        return self._term(term)

    @cython.cfunc
    @cython.inline
    def _term(self, term: cython.int) -> object:
        made = self._made[term]
        if made is None:
            made = self._make_term(term)
        return made

    @cython.cfunc
    def _make_term(self, term: cython.int) -> object:
        if self._table.kinds[term] == KIND_QUOTED_TRIPLE:
            self._make_quoted(term)
        else:
            self._made[term] = self._make_simple(term)
        return self._made[term]

    @cython.cfunc
    def _make_simple(self, term: cython.int) -> object:
        kind: cython.int = self._table.kinds[term]
        detail: cython.int = self._table.details[term]
        start: cython.Py_ssize_t = self._table.values.offsets[term]
        stop: cython.Py_ssize_t = self._table.values.offsets[term + 1]
        iri: IRI
        node: BlankNode
        literal: Literal
        text: str = self._text[start:stop].decode("utf-8")
        if kind == KIND_DEFAULT_GRAPH:
            return DEFAULT_GRAPH
        datatype: str = self._datatypes[detail] if kind == KIND_TYPED_LITERAL else XSD_STRING
        language: str | None = self._languages[detail] if kind == KIND_LANG_LITERAL else None
        if cython.compiled:
            # Without the constructors, whose checks are for values from callers.
            if kind == KIND_IRI:
                iri = IRI.__new__(IRI)
                iri._text = text
                return iri
            if kind == KIND_BLANK_NODE:
                node = BlankNode.__new__(BlankNode)
                node._text = text
                return node
            literal = Literal.__new__(Literal)
            literal._text = text
            literal._datatype = datatype if language is None else RDF_LANG_STRING
            literal._language = language
            return literal
        else:
            if kind == KIND_IRI:
                return IRI(text)
            if kind == KIND_BLANK_NODE:
                return BlankNode(text)
            return Literal(text, None if language else datatype, language)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_quoted(self, term: cython.int) -> cython.int:
        """Make a quoted triple, after those that it quotes."""
        table: TermTable = self._table
        current: cython.int
        part: cython.int
        place: cython.Py_ssize_t
        at: cython.Py_ssize_t
        waiting = [term]
        while waiting:
            current = waiting[len(waiting) - 1]
            at = 3 * table.details[current]
            is_ready = True
            for place in range(at, at + 3):
                part = table.quoted[place]
                if self._made[part] is None:
                    if table.kinds[part] == KIND_QUOTED_TRIPLE:
                        waiting.append(part)
                        is_ready = False
                    else:
                        self._made[part] = self._make_simple(part)
            if is_ready:
                s = self._made[table.quoted[at]]
                p = self._made[table.quoted[at + 1]]
                self._made[current] = new_statement(Triple, (s, p, self._made[table.quoted[at + 2]]))
                waiting.pop()
        return 0
