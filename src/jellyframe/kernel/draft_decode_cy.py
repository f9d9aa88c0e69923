"""Decode the rows of a stream in the draft dialect, whose terms are wrapped and whose ids are explicit.

Frames, options, lookup tables, graphs and batches are those of `decode_cy`. Rows differ: every term of a statement is
present, in its own `RdfTerm` or `RdfGraph`, repeated ones as an `RdfRepeat`; literals state their kind; the id 0 is the
empty prefix or name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.decode_cy import Decoder

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_cy import Decoder
    from cython.cimports.jellyframe.kernel.fields import (
        GRAPHS,
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_IRI,
        PART_LITERAL,
        PART_TRIPLE,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
        TRIPLES,
    )
    from cython.cimports.jellyframe.kernel.kinds import KIND_LANG_LITERAL, KIND_LITERAL, KIND_TYPED_LITERAL
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import (
        GRAPHS,
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_IRI,
        PART_LITERAL,
        PART_TRIPLE,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
        TRIPLES,
    )
    from jellyframe.kernel.kinds import KIND_LANG_LITERAL, KIND_LITERAL, KIND_TYPED_LITERAL
    from jellyframe.kernel.varints import read_length, read_varint

POSITION_NAMES = ("subject", "predicate", "object", "graph")
# The field `repeat` of RdfTerm and RdfGraph, and its part kind, which the released format does not have.
FIELD_REPEAT = cython.declare(cython.int, 10)
PART_REPEAT = cython.declare(cython.int, 6)


@cython.final
@cython.cclass
class DraftDecoder(Decoder):
    """Reads a stream of triples, quads or graphs. Of the options it takes the stream type and `use_repeat`."""

    use_repeat: cython.bint
    # Position of the current term's content, set by `find_term`.
    term_start: cython.Py_ssize_t
    term_stop: cython.Py_ssize_t

    def __init__(
        self,
        read_options: Callable[[bytes, bool], tuple[tuple[int, ...], bool, bool, int, int, int]],
        max_nesting_depth: cython.int,
        max_frame_bytes: cython.longlong,
        batch_rows: cython.Py_ssize_t,
        batch_bytes: cython.Py_ssize_t,
        concatenated: cython.bint,
    ):
        Decoder.__init__(self, read_options, max_nesting_depth, max_frame_bytes, batch_rows, batch_bytes, concatenated)
        self.row_fields ^= 1 << ROW_NAMESPACE
        # So that `read_row` also gets lookup entries, and can check that they have ids.
        self.name_field = self.prefix_field = self.datatype_field = 0
        self.use_repeat = False
        self.term_start = 0
        self.term_stop = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_stream(self, settings: Sequence[int]) -> cython.bint:
        has_graph: cython.bint = Decoder.begin_stream(self, settings)
        self.use_repeat = settings[1]
        # `read_row` gets all statements, as none is in the released format.
        self.statement_fields = 0
        return has_graph

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def check_frame_end(self) -> cython.int:
        if self.frame_number in self.metadata:
            self.fail("frame metadata, which the draft dialect does not have", self.pos)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        if field == ROW_TRIPLE and (self.physical_type == TRIPLES or self.graph >= 0):
            self.wrapped_statement(pos, stop, 3)
            return self.builder.add_row(self.last[0], self.last[1], self.last[2], self.graph)
        if field == ROW_QUAD and self.physical_type == QUADS:
            self.wrapped_statement(pos, stop, 4)
            return self.builder.add_row(self.last[0], self.last[1], self.last[2], self.last[3])
        if field == ROW_NAME:
            self.require_id("name", pos, stop)
            return self.name_entry(pos, stop)
        if field == ROW_PREFIX:
            self.require_id("prefix", pos, stop)
            return self.prefix_entry(pos, stop)
        if field == ROW_DATATYPE:
            self.require_id("datatype", pos, stop)
            return self.datatype_entry(pos, stop)
        if field == ROW_GRAPH_START and self.physical_type == GRAPHS and self.graph < 0:
            self.graph = self.wrapped_graph_name(pos, stop)
            return 0
        return Decoder.read_row(self, field, pos, stop)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_id(self, what: object, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Raise if a lookup entry leaves out its id, which has no default in the draft."""
        if self.entry_id(pos, stop) == 0:
            self.fail(f"a {what} entry with the id 0: in the draft dialect ids begin with 1", pos)
        return 0

    # ---- statements ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def wrapped_statement(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, width: cython.int) -> cython.int:
        """Read a triple (`width` 3) or a quad (4) into `last`, where repeated terms keep their value."""
        start: cython.Py_ssize_t = pos
        absent: cython.int = (1 << width) - 1
        position: cython.int
        kind: cython.int
        tag: cython.longlong
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag >= ((width + 1) << 3) or tag < 8:
                pos = self.skip(tag, self.pos, stop)
                continue
            position = self.new_position(tag, pos, absent)
            absent ^= 1 << position
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            kind = self.find_term(pos - n, pos, position)
            if kind == PART_REPEAT:
                self.require_repeat(position, pos - n)
            elif kind == PART_TRIPLE:
                self.last[position] = self.wrapped_quoted(self.term_start, self.term_stop, position)
            else:
                self.last[position] = self.plain_term(kind, self.term_start, self.term_stop, position)
        if absent != 0:
            position = 0
            while not absent >> position & 1:
                position += 1
            self.fail(
                f"a {'quad' if width == 4 else 'triple'} without its {POSITION_NAMES[position]}: "
                "in the draft dialect every term is there, also a repeated one",
                start,
            )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def new_position(self, tag: cython.longlong, pos: cython.Py_ssize_t, absent: cython.int) -> cython.int:
        """Return the position of a field of a statement. Raises if the statement already has a term there."""
        position: cython.int = cython.cast(cython.int, tag >> 3) - 1
        if (tag & 7) != 2:
            self.fail(f"field {tag >> 3} has the wire type {tag & 7}, and must have 2", pos)
        if not absent >> position & 1:
            self.fail(f"the {POSITION_NAMES[position]} is given twice", pos)
        return position

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def wrapped_graph_name(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the graph that an RdfGraphStart names."""
        start: cython.Py_ssize_t = pos
        kind: cython.int = PART_ABSENT
        tag: cython.longlong
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag >> 3 != 1:
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field 1 of a graph start has the wire type {tag & 7}, and must have 2", pos)
            if kind != PART_ABSENT:
                self.fail("the graph is given twice", pos)
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            kind = self.find_term(pos - n, pos, 3)
        if kind == PART_ABSENT:
            self.fail("a graph starts without a name; the default graph has to be named as such", start)
        if kind == PART_REPEAT:
            self.fail("a graph start repeats a term: its graph has to be named", start)
        return self.plain_term(kind, self.term_start, self.term_stop, 3)

    # ---- terms ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_term(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, position: cython.int) -> cython.int:
        """Return the part kind of an RdfTerm, or at position 3 an RdfGraph, and set `term_start` and `term_stop`."""
        start: cython.Py_ssize_t = pos
        found: cython.int = PART_ABSENT
        tag: cython.longlong
        field: cython.longlong
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            field = tag >> 3
            if field == 0 or (field > 4 and field != FIELD_REPEAT):
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field {field} of a term has the wire type {tag & 7}, and must have 2", pos)
            if found != PART_ABSENT:
                self.fail(f"the {POSITION_NAMES[position]} is given as two terms", start)
            n = read_length(self, self.pos, stop)
            self.term_start = self.pos
            pos = self.term_stop = self.pos + n
            if field == FIELD_REPEAT:
                found = PART_REPEAT
            elif field == 4 and position == 3:
                found = PART_DEFAULT_GRAPH
            else:
                found = cython.cast(cython.int, field) - 1
        if found == PART_ABSENT:
            self.fail(f"the {POSITION_NAMES[position]} is a message that holds no term", start)
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_repeat(self, position: cython.int, pos: cython.Py_ssize_t) -> cython.int:
        """Raise unless the term of the last statement at this position may be repeated."""
        if not self.use_repeat:
            self.fail(f"the {POSITION_NAMES[position]} is repeated, but the options do not set use_repeat", pos)
        return self.require_repeatable(1 << position, pos)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plain_term(
        self, kind: cython.int, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, position: cython.int
    ) -> cython.int:
        """Return a term that is neither repeated nor a quoted triple."""
        if kind == PART_IRI:
            return self.draft_iri(start, stop)
        if kind == PART_LITERAL:
            if not self.generalized and position != 2:
                self.fail_generalized(kind, position, start)
            return self.draft_literal(start, stop)
        # Blank nodes and the default graph are as in the released format.
        return self.term(kind, start, stop, position)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def draft_iri(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the IRI of a message with explicit ids; 0 is the empty prefix or name, which slot 0 holds."""
        start: cython.Py_ssize_t = pos
        prefix: cython.longlong = 0
        name: cython.longlong = 0
        generation: cython.longlong
        tag: cython.longlong
        found: cython.int
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x10:
                name = read_varint(self, self.pos, stop)
                pos = self.pos
            elif tag == 0x08:
                prefix = read_varint(self, self.pos, stop)
                pos = self.pos
            else:
                if tag >> 3 < 3:
                    self.fail(f"field {tag >> 3} of an IRI has the wire type {tag & 7}, and must have 0", pos)
                pos = self.skip(tag, self.pos, stop)
        if prefix == 0 and name == 0:
            self.fail("an IRI with neither a prefix nor a name", start)
        if prefix > self.prefixes.capacity or (prefix > 0 and self.prefixes.generations[prefix] == 0):
            self.fail_unset(self.prefixes, "prefix", prefix, start)
        if name > self.names.capacity or (name > 0 and self.names.generations[name] == 0):
            self.fail_unset(self.names, "name", name, start)
        generation = self.prefixes.generations[prefix]
        found = self.memo_term[name]
        if found < 0 or self.memo_prefix[name] != generation:
            found = self.terms.add_iri(
                self.prefixes.arena,
                self.prefixes.starts[prefix],
                self.prefixes.lengths[prefix],
                self.names.arena,
                self.names.starts[name],
                self.names.lengths[name],
            )
            self.memo_term[name] = found
            self.memo_prefix[name] = generation
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def draft_literal(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the literal of a message, of which exactly one of `simple`, `langtag` and `datatype` must be set."""
        start: cython.Py_ssize_t = pos
        lex: cython.Py_ssize_t = pos
        lex_length: cython.Py_ssize_t = 0
        language: cython.Py_ssize_t = 0
        language_length: cython.Py_ssize_t = -1
        datatype: cython.longlong = -1
        kinds: cython.int = 0
        kind: cython.int = KIND_LITERAL
        detail: cython.int = 0
        found: cython.int
        tag: cython.longlong
        n: cython.Py_ssize_t
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x0A:
                lex_length = read_length(self, self.pos, stop)
                lex = self.pos
                pos = lex + lex_length
                continue
            if tag == 0x12:
                n = read_length(self, self.pos, stop)
                pos = self.pos + n
            elif tag == 0x1A:
                language_length = read_length(self, self.pos, stop)
                language = self.pos
                pos = language + language_length
            elif tag == 0x20:
                datatype = read_varint(self, self.pos, stop)
                pos = self.pos
            else:
                if tag >> 3 < 5:
                    self.fail(f"field {tag >> 3} of a literal has the wrong wire type {tag & 7}", pos)
                pos = self.skip(tag, self.pos, stop)
                continue
            kinds += 1
        if kinds != 1:
            self.fail(f"a literal with {kinds} of simple, langtag and datatype: exactly one must be set", start)
        if datatype >= 0:
            detail = self.datatype_row(datatype, start)
            if detail >= 0:
                kind = KIND_TYPED_LITERAL
            else:
                detail = 0
        elif language_length == 0:
            self.fail("a literal with an empty language tag", start)
        elif language_length > 0:
            self.require_utf8(language, language + language_length, "a language tag")
            kind = KIND_LANG_LITERAL
            detail = self.terms.intern_small(self.terms.languages, self.buf, language, language_length)
        found = self.terms.intern(kind, detail, self.buf, lex, lex_length)
        if self.terms.non_ascii >= 0x80:
            self.require_utf8(lex, lex + lex_length, "the lexical form of a literal")
        return found

    # ---- quoted triples ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def wrapped_quoted(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, position: cython.int) -> cython.int:
        """Return a quoted triple. Levels of nesting are kept in arrays, so that input cannot exhaust the stack."""
        level: cython.Py_ssize_t = 1
        at: cython.Py_ssize_t
        found: cython.int
        self.enter_wrapped(level, start, stop, position)
        while True:
            position = self.part_next[level]
            at = 4 * level + position
            if position == 3:
                found = self.terms.add_quoted(self.part_term[at - 3], self.part_term[at - 2], self.part_term[at - 1])
                level -= 1
                if level == 0:
                    return found
                self.part_term[4 * level + self.part_next[level]] = found
                self.part_next[level] += 1
            elif self.part_kind[at] == PART_TRIPLE:
                level += 1
                self.enter_wrapped(level, self.part_start[at], self.part_stop[at], position)
            else:
                self.part_term[at] = self.plain_term(
                    self.part_kind[at], self.part_start[at], self.part_stop[at], position
                )
                self.part_next[level] = position + 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def enter_wrapped(
        self,
        level: cython.Py_ssize_t,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        position: cython.int,
    ) -> cython.int:
        """Record the positions of a quoted triple's terms."""
        start: cython.Py_ssize_t = pos
        absent: cython.int = 7
        tag: cython.longlong
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.check_quoted(level, start, position)
        self.reserve_level(level)
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag >= 0x20 or tag < 8:
                pos = self.skip(tag, self.pos, stop)
                continue
            position = self.new_position(tag, pos, absent)
            absent ^= 1 << position
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            at = 4 * level + position
            self.part_kind[at] = self.find_term(pos - n, pos, position)
            self.part_start[at] = self.term_start
            self.part_stop[at] = self.term_stop
            if self.part_kind[at] == PART_REPEAT:
                self.fail(f"the {POSITION_NAMES[position]} of a quoted triple is repeated, which is not allowed", start)
        if absent != 0:
            self.fail("a quoted triple that does not have all of its three terms", start)
        self.part_next[level] = 0
        return 0
