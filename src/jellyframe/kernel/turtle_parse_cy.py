"""Parse Turtle and TriG text into batches, with the quoted triples and annotations of RDF-star.

The parser is a pushdown automaton: a token changes its state or pushes a level on its stack (the properties of a blank
node, a collection, a quoted triple, an annotation). Nothing recurses, so input cannot exhaust the call stack, and
parsing can stop between any two tokens: where the available text ends, or where a batch is full.
"""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TextError
from jellyframe.kernel.memory_cy import grown_ints
from jellyframe.kernel.scan_cy import Text
from jellyframe.kernel.steps import DEEPEST_NESTING
from jellyframe.kernel.table_cy import BatchBuilder, TermTable
from jellyframe.kernel.turtle_terms_cy import TurtleLexer

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import KIND_IRI
    from cython.cimports.jellyframe.kernel.scan_cy import Text
    from cython.cimports.jellyframe.kernel.table_cy import BatchBuilder, TermTable
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
    from cython.cimports.jellyframe.kernel.turtle_terms_cy import TurtleLexer
else:
    from jellyframe.kernel.kinds import KIND_IRI
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

# States: what is expected next.
STATEMENT = cython.declare(cython.int, 0)
VERB = cython.declare(cython.int, 1)
VERB_OR_END = cython.declare(cython.int, 2)  # after a semicolon
VERB_OR_DOT = cython.declare(cython.int, 3)  # after a subject that is a list of properties
OBJECT = cython.declare(cython.int, 4)
AFTER_OBJECT = cython.declare(cython.int, 5)
ITEM = cython.declare(cython.int, 6)
QUOTED_SUBJECT = cython.declare(cython.int, 7)
QUOTED_VERB = cython.declare(cython.int, 8)
QUOTED_OBJECT = cython.declare(cython.int, 9)
QUOTED_END = cython.declare(cython.int, 10)
PREFIX_NAME = cython.declare(cython.int, 11)
PREFIX_IRI = cython.declare(cython.int, 12)
BASE_IRI = cython.declare(cython.int, 13)
DIRECTIVE_DOT = cython.declare(cython.int, 14)
GRAPH_NAME = cython.declare(cython.int, 15)
GRAPH_BRACE = cython.declare(cython.int, 16)
_EXPECTED = (
    "a statement or a directive",
    "a predicate",
    "a predicate, ';' or the end of the list",
    "a predicate or '.'",
    "an object",
    "',', ';' or the end of the list",
    "an item of the collection or ')'",
    "the subject of a quoted triple",
    "the predicate of a quoted triple",
    "the object of a quoted triple",
    "'>>'",
    "a prefix and ':'",
    "an IRI in angle brackets",
    "an IRI in angle brackets",
    "'.' at the end of the directive",
    "the name of a graph",
    "'{'",
)
# Kinds of levels of the stack.
TOP = cython.declare(cython.int, 0)
PROPERTIES = cython.declare(cython.int, 1)
COLLECTION = cython.declare(cython.int, 2)
QUOTED = cython.declare(cython.int, 3)
ANNOTATION = cython.declare(cython.int, 4)
# Numbers in a level of the stack: its kind, its subject, predicate and last object, and its state.
LEVEL = cython.declare(cython.Py_ssize_t, 5)
# An error this near the end of the available text may be due to a token that is cut there.
NEAR_END = cython.declare(cython.Py_ssize_t, 12)

_RDF = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@cython.final
@cython.cclass
class TurtleParser(TurtleLexer):
    """Reads statements into a batch that is being built. `graphs`: the text is TriG, and rows have a graph."""

    __slots__ = ("_graph", "_in_graph", "_is_label", "_level", "_o", "_p", "_prefix", "_s", "_state", "depth", "graphs")

    def __init__(
        self,
        graphs: cython.bint,
        base_iri: str | None,
        label_prefix: bytes,
        any_iri: cython.bint = False,
        max_depth: cython.Py_ssize_t = DEEPEST_NESTING,
    ):
        TurtleLexer.__init__(self, any_iri, max_depth, base_iri, label_prefix)
        self.graphs = graphs
        self.table = None  # type: ignore[assignment]
        self.depth = 0
        self._state = STATEMENT
        self._level = TOP
        self._s = self._p = self._o = -1
        self._graph = -1
        self._in_graph = False
        self._is_label = False
        self._prefix = ""

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
        """Read from `start` on until the batch is full or no whole token is left, and return the end position.

        A batch is full when it has `max_rows` rows, or when its terms take `max_bytes`, as text. `stop` ends the
        available text and, if `final`, of the whole text. The next call has to begin with the bytes that this one left.
        """
        text: Text = Text(data)
        if self.line == 0:
            self.line = 1
            self.line_start = start
        else:
            self.base += self.pos - start
            self._move_line(self.pos - start)
        if self.table is not builder.terms:
            self._adopt(builder.terms)
        self.text = text
        self.pos = start
        self.limit = stop
        self.final = final
        self._tokens(builder, max_rows, max_bytes)
        if final and self.pos >= self.limit and (self._state != STATEMENT or self._in_graph):
            self.expected(self.limit, "'}'" if self._state == STATEMENT else _EXPECTED[self._state])
        return self.pos

    def _move_line(self, shift: cython.Py_ssize_t) -> None:
        """Update `line_start` for a text without the first `shift` bytes, and `columns_before` for that part."""
        begin: cython.Py_ssize_t = self.line_start - shift
        if begin < 0:
            dropped = bytes(self.text.data[max(self.line_start, 0) : shift])
            self.columns_before += len(dropped.decode(errors="replace"))
            begin = 0
        self.line_start = begin

    def _adopt(self, table: TermTable) -> None:
        """Switch to the table of another batch, and copy the terms that later statements need."""
        old: TermTable = self.table
        i: cython.Py_ssize_t
        part: cython.Py_ssize_t
        self.table = table
        self.forget_names()
        if old is None:
            return
        self._s = self._adopted(old, self._s)
        self._p = self._adopted(old, self._p)
        self._o = self._adopted(old, self._o)
        self._graph = self._adopted(old, self._graph)
        for i in range(self.depth):
            for part in range(1, 4):
                self.stack[LEVEL * i + part] = self._adopted(old, self.stack[LEVEL * i + part])
        # They may fill a batch by themselves, which would then end before it has a row.
        table.end_of_inherited()

    def _adopted(self, old: TermTable, term: cython.int) -> int:
        return -1 if term < 0 else self.table.adopt(old, term)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tokens(self, builder: BatchBuilder, max_rows: cython.Py_ssize_t, max_bytes: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t
        line: cython.longlong
        line_start: cython.Py_ssize_t
        columns: cython.longlong
        token: cython.int
        is_cut: cython.bint
        while builder.rows < max_rows and self.table.new_text() < max_bytes:
            self.touches_end = False
            if self.skip_space() == 0:
                if self.pos < self.limit and not self.touches_end:
                    return self.expected(self.pos, _EXPECTED[self._state])
                return 0
            start = self.pos
            line = self.line
            line_start = self.line_start
            columns = self.columns_before
            token = 0
            try:
                if self._state == PREFIX_NAME:
                    self.touches_end = False
                    self._prefix = self.prefix_name()
                elif self._state == PREFIX_IRI or self._state == BASE_IRI:
                    self.scratch_size = 0
                    if self.text.data[self.pos] != 0x3C:
                        return self.expected(self.pos, _EXPECTED[self._state])
                    self.iri_span()
                else:
                    token = self.token()
                is_cut = self.is_cut()
            except TextError as error:
                if self.final or not (self.touches_end or (error.offset or 0) - self.base >= self.limit - NEAR_END):
                    raise
                is_cut = True
            if is_cut:
                self.pos = start
                self.line = line
                self.line_start = line_start
                self.columns_before = columns
                return 0
            if token == 0:
                self._declare(start)
            elif not self._act(token, builder):
                self.line = line
                self.line_start = line_start
                self.columns_before = columns
                return self.expected(start, _EXPECTED[self._state])
        return 0

    # ---- directives -----------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _declare(self, start: cython.Py_ssize_t) -> cython.int:
        """Act on the part of a directive that was just read, which began at `start`."""
        if self._state == PREFIX_NAME:
            self._state = PREFIX_IRI
            return 0
        iri: str = self.resolved(start).decode()
        if self._state == PREFIX_IRI:
            self.prefixes[self._prefix] = iri
        else:
            self.base_iri = iri
        self.forget_names()
        self._state = DIRECTIVE_DOT if self._is_label else STATEMENT
        return 0

    # ---- the automaton --------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _act(self, token: cython.int, builder: BatchBuilder) -> cython.int:
        """Act on a token and return 1; return 0 if it is not allowed here. The methods below do the same."""
        state: cython.int = self._state
        if state == AFTER_OBJECT:
            if token == 0x2C:
                self._state = OBJECT
                return 1
            if token == 0x3B:
                self._state = VERB_OR_END
                return 1
            if token == TOKEN_OPEN_ANNOTATION:
                self._push(ANNOTATION)
                self._s = self.table.add_quoted(self._s, self._p, self._o)
                self._state = VERB
                return 1
            return self._end_list(token, builder)
        if state in (OBJECT, ITEM, QUOTED_SUBJECT, QUOTED_OBJECT, STATEMENT):
            return self._node(token, builder)
        if VERB <= state <= VERB_OR_DOT or state == QUOTED_VERB:
            return self._verb(token, builder)
        if state == QUOTED_END:
            if token != TOKEN_CLOSE_QUOTED:
                return 0
            return self._pop(self.table.add_quoted(self._s, self._p, self._o), builder)
        if state == DIRECTIVE_DOT:
            if token != 0x2E:
                return 0
            self._state = STATEMENT
            return 1
        if state == GRAPH_NAME:
            if token != TOKEN_IRI and token != TOKEN_BLANK_NODE:
                return 0
            self._graph = self.new_blank_node() if self.found < 0 else self.found
            self._state = GRAPH_BRACE
            return 1
        if token != 0x7B:
            return 0
        self._in_graph = True
        self._state = STATEMENT
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _verb(self, token: cython.int, builder: BatchBuilder) -> cython.int:
        if token in (TOKEN_IRI, TOKEN_A):
            self._p = self.found if token == TOKEN_IRI else self._rdf(b"type")
            self._state = QUOTED_OBJECT if self._state == QUOTED_VERB else OBJECT
            return 1
        if self._state == VERB_OR_END:
            return 1 if token == 0x3B else self._end_list(token, builder)
        if self._state == VERB_OR_DOT:
            return self._end_list(token, builder)
        if token == 0x7B and self._level == TOP and self.graphs and self._is_label and not self._in_graph:
            self._graph = self._s
            self._in_graph = True
            self._state = STATEMENT
            return 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_list(self, token: cython.int, builder: BatchBuilder) -> cython.int:
        """End a list of predicates and objects, if the token is the one that ends it."""
        if self._level == TOP:
            if token == 0x2E:
                self._state = STATEMENT
                return 1
            return self._close_graph(token)
        if self._level == PROPERTIES and token == 0x5D:
            return self._pop(self._s, builder)
        if self._level == ANNOTATION and token == TOKEN_CLOSE_ANNOTATION:
            return self._pop(-1, builder)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _close_graph(self, token: cython.int) -> cython.int:
        if token != 0x7D or not self._in_graph:
            return 0
        self._in_graph = False
        self._graph = -1
        self._state = STATEMENT
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _node(self, token: cython.int, builder: BatchBuilder) -> cython.int:
        """Act on a subject, an object or an item, or on another token that may begin a statement."""
        state: cython.int = self._state
        if token in (TOKEN_IRI, TOKEN_BLANK_NODE):
            self._is_label = True
            return self._place_term(self.new_blank_node() if self.found < 0 else self.found, builder)
        if token == TOKEN_LITERAL:
            return 0 if state in (STATEMENT, QUOTED_SUBJECT) else self._place_term(self.found, builder)
        if token == TOKEN_OPEN_QUOTED:
            self._push(QUOTED)
            self._state = QUOTED_SUBJECT
            return 1
        if state in (QUOTED_SUBJECT, QUOTED_OBJECT):
            return 0
        if token == 0x5B:
            self._push(PROPERTIES)
            self._s = self.new_blank_node()
            self._state = VERB
            return 1
        if token == 0x28:
            self._push(COLLECTION)
            self._s = self._p = -1
            self._state = ITEM
            return 1
        if state == ITEM and token == 0x29:
            return self._end_collection(builder)
        return self._begin(token) if state == STATEMENT else 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin(self, token: cython.int) -> cython.int:
        """Act on a token that begins a directive or a graph, or ends a graph."""
        if self._in_graph:
            return self._close_graph(token)
        if token in (TOKEN_AT_PREFIX, TOKEN_PREFIX):
            self._state = PREFIX_NAME
        elif token in (TOKEN_AT_BASE, TOKEN_BASE):
            self._state = BASE_IRI
        elif token == TOKEN_GRAPH and self.graphs:
            self._state = GRAPH_NAME
        elif token == 0x7B and self.graphs:
            self._in_graph = True
        else:
            return 0
        # For directives, this tells whether a dot ends them.
        self._is_label = token in (TOKEN_AT_PREFIX, TOKEN_AT_BASE)
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _place_term(self, term: cython.int, builder: BatchBuilder) -> cython.int:
        """Use a term at the position where one is expected."""
        state: cython.int = self._state
        cell: cython.int
        if state == OBJECT:
            self._o = term
            self._state = AFTER_OBJECT
            return self._row(builder, self._s, self._p, term)
        if state == STATEMENT:
            self._s = term
            self._state = VERB
        elif state == QUOTED_SUBJECT:
            self._s = term
            self._state = QUOTED_VERB
        elif state == QUOTED_OBJECT:
            self._o = term
            self._state = QUOTED_END
        elif state == ITEM:
            cell = self.new_blank_node()
            if self._s < 0:
                self._p = cell
            else:
                self._row(builder, self._s, self._rdf(b"rest"), cell)
            self._s = cell
            return self._row(builder, cell, self._rdf(b"first"), term)
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_collection(self, builder: BatchBuilder) -> cython.int:
        if self._s < 0:
            return self._pop(self._rdf(b"nil"), builder)
        self._row(builder, self._s, self._rdf(b"rest"), self._rdf(b"nil"))
        return self._pop(self._p, builder)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _row(self, builder: BatchBuilder, s: cython.int, p: cython.int, o: cython.int) -> cython.int:
        graph: cython.int = self._graph
        if self.graphs and graph < 0:
            graph = self.table.default_graph()
        builder.add_row(s, p, o, graph)
        return 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rdf(self, name: bytes) -> cython.int:
        """Return a term of the RDF vocabulary."""
        iri: bytes = _RDF + name
        return self.table.intern(KIND_IRI, 0, memoryview(iri), 0, len(iri))

    # ---- the stack ------------------------------------------------------------------------------------
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _push(self, level: cython.int) -> cython.int:
        at: cython.Py_ssize_t = LEVEL * self.depth
        if self.depth >= self.max_depth:
            return self.fail(self.pos, f"brackets are nested more than {self.max_depth} deep")
        if at + LEVEL > self.stack.shape[0]:
            self.stack = grown_ints(self.stack, at, 2 * at + LEVEL)
        self.stack[at] = self._level
        self.stack[at + 1] = self._s
        self.stack[at + 2] = self._p
        self.stack[at + 3] = self._o
        self.stack[at + 4] = self._state
        self.depth += 1
        self._level = level
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pop(self, term: cython.int, builder: BatchBuilder) -> cython.int:
        """Return to the level below, and use a term there, unless it is -1."""
        level: cython.int = self._level
        at: cython.Py_ssize_t = LEVEL * (self.depth - 1)
        self.depth -= 1
        self._level = self.stack[at]
        self._s = self.stack[at + 1]
        self._p = self.stack[at + 2]
        self._o = self.stack[at + 3]
        self._state = self.stack[at + 4]
        if term < 0:
            return 1
        self._is_label = False
        self._place_term(term, builder)
        if level == PROPERTIES and self._state == VERB:
            self._state = VERB_OR_DOT
        return 1
