"""Read terms and statements from protobuf messages, with the lookup tables and defaults that they refer to.

Ids depend on the order of terms: subject, predicate, object, graph, depth first. A statement whose fields are in this
order is read in one pass. Others are read in two steps: first the position of each term, then the terms in order.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import Advice, LimitError
from jellyframe.kernel.decode_lookups_cy import LookupDecoder
from jellyframe.kernel.memory_cy import grown_ints, grown_longs, int_column, long_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_lookups_cy import LookupDecoder
    from cython.cimports.jellyframe.kernel.fields import (
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_IRI,
        PART_LITERAL,
        PART_TRIPLE,
    )
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import (
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_IRI,
        PART_LITERAL,
        PART_TRIPLE,
    )
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_LANG_LITERAL,
        KIND_LITERAL,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.varints import read_length, read_varint

POSITION_NAMES = ("subject", "predicate", "object", "graph")

# Neither a term nor -1, which signals an exception.
UNKNOWN_IRI = cython.declare(cython.int, -2)

# Levels of quoted triples reserved at first.
FIRST_LEVELS = cython.declare(cython.Py_ssize_t, 8)


@cython.cclass
class TermDecoder(LookupDecoder):
    """The state that terms depend on: lookup tables, the last ids, the last statement."""

    def __init__(self, max_nesting_depth: cython.int, max_frame_bytes: cython.longlong):
        LookupDecoder.__init__(self, max_frame_bytes)
        self.max_nesting_depth = max_nesting_depth
        self.part_kind = int_column(4 * FIRST_LEVELS)
        self.part_start = long_column(4 * FIRST_LEVELS)
        self.part_stop = long_column(4 * FIRST_LEVELS)
        self.part_term = int_column(4 * FIRST_LEVELS)
        self.part_next = int_column(FIRST_LEVELS)
        self.last = int_column(4)
        # Set where the messages of triples have fields for a graph, which must be left out.
        self.forbids_graph = False
        self.given_prefix = 0
        self.given_name = 0
        self.reset_lookups(0, 0, 0, False, False)

    @cython.ccall
    def reset_lookups(
        self,
        names: cython.int,
        prefixes: cython.int,
        datatypes: cython.int,
        generalized: cython.bint,
        rdf_star: cython.bint,
    ) -> None:
        """Begin a stream: empty tables, no terms to repeat, no last ids."""
        self.set_tables(names, prefixes, datatypes)
        self.generalized = generalized
        self.rdf_star = rdf_star
        self.last_prefix = 0
        self.last_name = 0
        self.forget_terms()

    @cython.ccall
    def forget_terms(self) -> None:
        """Forget the terms made of the entries and those of the last statement."""
        i: cython.Py_ssize_t
        self.forget_entries()
        for i in range(4):
            self.last[i] = -1

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve_level(self, level: cython.Py_ssize_t) -> cython.int:
        """Make room for the parts of a triple that is quoted at this level."""
        used: cython.Py_ssize_t = self.part_next.shape[0]
        if level < used:
            return 0
        self.part_kind = grown_ints(self.part_kind, 4 * used, 8 * used)
        self.part_start = grown_longs(self.part_start, 4 * used, 8 * used)
        self.part_stop = grown_longs(self.part_stop, 4 * used, 8 * used)
        self.part_term = grown_ints(self.part_term, 4 * used, 8 * used)
        self.part_next = grown_ints(self.part_next, used, 2 * used)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def scan(
        self,
        level: cython.Py_ssize_t,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        shift: cython.int,
        last_field: cython.int,
    ) -> cython.int:
        """Record the positions of a message's terms. With `shift` added, its field numbers are those of RdfQuad."""
        base: cython.Py_ssize_t = 4 * level
        tag: cython.longlong
        field: cython.longlong
        at: cython.Py_ssize_t
        n: cython.Py_ssize_t
        kind: cython.int
        self.part_kind[base] = PART_ABSENT
        self.part_kind[base + 1] = PART_ABSENT
        self.part_kind[base + 2] = PART_ABSENT
        self.part_kind[base + 3] = PART_ABSENT
        while pos < stop:
            tag = read_varint(self, pos, stop)
            field = (tag >> 3) + shift
            if field > last_field or tag < 8:
                if level == 0 and self.forbids_graph and field <= 16:
                    self.fail_graph(pos)
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field {tag >> 3} has the wire type {tag & 7}, and must have 2", pos)
            n = read_length(self, self.pos, stop)
            at = base + ((field - 1) >> 2)
            kind = (field - 1) & 3
            if field > 14:
                kind = PART_DEFAULT_GRAPH if field == 15 else PART_LITERAL
            if self.part_kind[at] != PART_ABSENT:
                self.fail(f"the {POSITION_NAMES[at - base]} is given twice", pos)
            self.part_kind[at] = kind
            self.part_start[at] = self.pos
            pos = self.pos + n
            self.part_stop[at] = pos
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def term(
        self, kind: cython.int, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, position: cython.int
    ) -> cython.int:
        """Return the term of a part that is neither absent nor a quoted triple."""
        found: cython.int
        if kind == PART_IRI:
            return self.iri(start, stop)
        if kind == PART_DEFAULT_GRAPH:
            while start < stop:
                start = self.skip(read_varint(self, start, stop), self.pos, stop)
            return self.terms.default_graph()
        if not self.generalized and position != 2 and (kind == PART_LITERAL or position == 1):
            self.fail_generalized(kind, position, start)
        if kind == PART_LITERAL:
            return self.literal(start, stop)
        found = self.terms.intern(KIND_BLANK_NODE, 0, self.buf, start, stop - start)
        if self.terms.non_ascii >= 0x80:
            self.require_utf8(start, stop, "the label of a blank node")
        return found

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_generalized(self, kind: cython.int, position: cython.int, pos: cython.Py_ssize_t) -> cython.int:
        """Raise for a term at a position where only generalized statements have it."""
        return self.fail(
            f"a {'literal' if kind == PART_LITERAL else 'blank node'} as {POSITION_NAMES[position]}, "
            "but the options do not set generalized_statements",
            pos,
        )

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def statement(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, width: cython.int) -> cython.int:
        """Read a triple (`width` 3) or a quad (4) into `last`, where absent terms keep their value.

        All known writers put the terms in the order of the numbering, so they are read in one pass. If they may be in
        another order, of which an unknown IRI is a sign too, the state is restored and they are read again.
        """
        start: cython.Py_ssize_t = pos
        old_prefix: cython.int = self.last_prefix
        old_name: cython.int = self.last_name
        old_s: cython.int = self.last[0]
        old_p: cython.int = self.last[1]
        old_o: cython.int = self.last[2]
        position: cython.int = -1
        next_position: cython.int
        absent: cython.int = (1 << width) - 1
        tag: cython.longlong
        n: cython.Py_ssize_t
        kind: cython.int
        found: cython.int
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag >= ((4 * width + 1) << 3) or tag < 8:
                if self.forbids_graph and tag < 17 << 3:
                    self.fail_graph(pos)
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field {tag >> 3} has the wire type {tag & 7}, and must have 2", pos)
            n = read_length(self, self.pos, stop)
            next_position = cython.cast(cython.int, (tag - 8) >> 5)
            found = UNKNOWN_IRI
            if next_position > position:
                position = next_position
                absent ^= 1 << position
                kind = cython.cast(cython.int, (tag - 8) >> 3) & 3
                if position == 3 and kind >= 2:
                    kind = PART_DEFAULT_GRAPH if kind == 2 else PART_LITERAL
                pos = self.pos + n
                if kind == PART_IRI:
                    found = self.iri_if_known(self.pos, pos)
                elif kind != PART_TRIPLE:
                    found = self.term(kind, self.pos, pos, position)
                elif self.is_ordered(position, pos, stop, width):
                    found = self.quoted(pos - n, pos, position)
            if found == UNKNOWN_IRI:
                self.last_prefix = old_prefix
                self.last_name = old_name
                self.last[0] = old_s
                self.last[1] = old_p
                self.last[2] = old_o
                return self.unordered_statement(start, stop, width)
            self.last[position] = found
        if absent != 0 and (self.last[0] < 0 or self.last[1] < 0 or self.last[2] < 0 or self.last[width - 1] < 0):
            self.require_repeatable(absent, start)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_graph(self, pos: cython.Py_ssize_t) -> cython.int:
        return self.fail("a graph in a stream of statement type TRIPLES", pos)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_ordered(
        self, position: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, width: cython.int
    ) -> cython.bint:
        """Return whether the terms after the one at `position` are in order, on which quoted triples depend."""
        tag: cython.longlong
        n: cython.Py_ssize_t
        next_position: cython.int
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag >= ((4 * width + 1) << 3) or (tag & 7) != 2:
                return False
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            next_position = cython.cast(cython.int, (tag - 8) >> 5)
            if next_position <= position:
                return False
            position = next_position
        return True

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_repeatable(self, absent: cython.int, pos: cython.Py_ssize_t) -> cython.int:
        """Raise if a position whose bit is set in `absent` has had no term yet."""
        position: cython.int
        for position in range(4):
            if absent >> position & 1 and self.last[position] < 0:
                self.fail_reference(
                    f"the {POSITION_NAMES[position]} is to be repeated, but no statement came before", pos
                )
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def unordered_statement(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, width: cython.int) -> cython.int:
        """Read a statement whose terms may come in any order."""
        position: cython.int
        kind: cython.int
        self.scan(0, pos, stop, 0, 4 * width)
        for position in range(width):
            kind = self.part_kind[position]
            if kind == PART_ABSENT:
                self.require_repeatable(1 << position, pos)
            elif kind == PART_TRIPLE:
                self.last[position] = self.quoted(self.part_start[position], self.part_stop[position], position)
            else:
                self.last[position] = self.term(kind, self.part_start[position], self.part_stop[position], position)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def graph_name(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the graph that an RdfGraphStart names."""
        self.scan(0, pos, stop, 12, 16)
        if self.part_kind[3] == PART_ABSENT:
            self.fail("a graph starts without a name; the default graph has to be named as such", pos)
        return self.term(self.part_kind[3], self.part_start[3], self.part_stop[3], 3)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def quoted(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, position: cython.int) -> cython.int:
        """Return a quoted triple. Levels of nesting are kept in arrays, so that input cannot exhaust the stack."""
        level: cython.Py_ssize_t = 1
        at: cython.Py_ssize_t
        found: cython.int
        if self.rdf_star and self.max_nesting_depth > 0 and (position != 1 or self.generalized):
            found = self.plain_quoted(start, stop)
            if found != UNKNOWN_IRI:
                return found
        self.enter_quoted(level, start, stop, position)
        while True:
            position = self.part_next[level]
            at = 4 * level
            if position == 3:
                found = self.terms.add_quoted(self.part_term[at], self.part_term[at + 1], self.part_term[at + 2])
                level -= 1
                if level == 0:
                    return found
                at = 4 * level + self.part_next[level]
                self.part_term[at] = found
                self.part_next[level] += 1
                continue
            at += position
            if self.part_kind[at] == PART_TRIPLE:
                level += 1
                self.enter_quoted(level, self.part_start[at], self.part_stop[at], position)
                continue
            if self.part_kind[at] == PART_ABSENT:
                self.fail(
                    f"a quoted triple without its {POSITION_NAMES[position]}: terms cannot be repeated there", start
                )
            self.part_term[at] = self.term(self.part_kind[at], self.part_start[at], self.part_stop[at], position)
            self.part_next[level] = position + 1

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plain_quoted(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return a quoted triple of three terms in order, none of them quoted (the usual case); else UNKNOWN_IRI.

        In that case the state is unchanged, and the general case finds out what is wrong with the triple, if anything.
        """
        old_prefix: cython.int = self.last_prefix
        old_name: cython.int = self.last_name
        position: cython.int
        kind: cython.int
        tag: cython.longlong
        n: cython.Py_ssize_t
        found: cython.int = UNKNOWN_IRI
        for position in range(3):
            found = UNKNOWN_IRI
            if pos >= stop:
                break
            tag = read_varint(self, pos, stop)
            kind = cython.cast(cython.int, (tag - 8) >> 3) & 3
            if (tag - 8) >> 5 != position or (tag & 7) != 2 or kind == PART_TRIPLE:
                break
            n = read_length(self, self.pos, stop)
            pos = self.pos + n
            if kind == PART_IRI:
                found = self.iri_if_known(self.pos, pos)
                if found == UNKNOWN_IRI:
                    break
            else:
                found = self.term(kind, self.pos, pos, position)
            self.part_term[4 + position] = found
        if found == UNKNOWN_IRI or pos != stop:
            self.last_prefix = old_prefix
            self.last_name = old_name
            return UNKNOWN_IRI
        return self.terms.add_quoted(self.part_term[4], self.part_term[5], self.part_term[6])

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def enter_quoted(
        self,
        level: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        position: cython.int,
    ) -> cython.int:
        self.check_quoted(level, start, position)
        self.reserve_level(level)
        self.scan(level, start, stop, 0, 12)
        self.part_next[level] = 0
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def check_quoted(self, level: cython.Py_ssize_t, start: cython.Py_ssize_t, position: cython.int) -> cython.int:
        """Raise unless a quoted triple is allowed at this position and level."""
        if not self.rdf_star:
            self.fail("a quoted triple, but the options do not set rdf_star", start)
        if position == 1 and not self.generalized:
            self.fail("a quoted triple as predicate, but the options do not set generalized_statements", start)
        if level > self.max_nesting_depth:
            raise LimitError(
                f"quoted triples are nested deeper than the limit of {self.max_nesting_depth}",
                advice=Advice("limit", "max_nesting_depth"),
                source=self.source_name,
                frame=self.frame_number,
                row=self.row_number,
                offset=self.base_offset + start,
            )
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def iri(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        found: cython.int = self.iri_if_known(pos, stop)
        if found == UNKNOWN_IRI:
            self.explain_unknown_iri(pos)
        return found

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def iri_if_known(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Return the IRI of a message, or UNKNOWN_IRI if the tables have no such ids; then no state has changed."""
        prefix: cython.longlong = 0
        name: cython.longlong = 0
        tag: cython.longlong
        generation: cython.longlong = 0
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
        self.given_prefix = prefix
        self.given_name = name
        if self.last_name == 0 and (name == 0 or (prefix == 0 and self.prefixes.size > 0)):
            if self.no_look_back:
                return UNKNOWN_IRI
            self.looked_back = True
        if prefix == 0:
            prefix = self.last_prefix
        if prefix != 0:
            if prefix > self.prefixes.capacity:
                return UNKNOWN_IRI
            generation = self.prefixes.generations[prefix]
            if generation == 0:
                return UNKNOWN_IRI
        if name == 0:
            name = self.last_name + 1
        if name > self.names.capacity:
            return UNKNOWN_IRI
        found = self.memo_term[name]
        if found < 0 or self.memo_prefix[name] != generation:
            if self.names.generations[name] == 0:
                return UNKNOWN_IRI
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
        self.last_prefix = cython.cast(cython.int, prefix)
        self.last_name = cython.cast(cython.int, name)
        return found

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def explain_unknown_iri(self, pos: cython.Py_ssize_t) -> cython.int:
        """Raise for the ids that `iri_if_known` has just found to be unknown."""
        prefix: cython.longlong = self.given_prefix if self.given_prefix != 0 else self.last_prefix
        name: cython.longlong = self.given_name if self.given_name != 0 else self.last_name + 1
        if self.last_name == 0 and self.no_look_back and (self.given_name == 0 or self.given_prefix == 0):
            self.fail("the first IRI after a restart point leaves out an id, so this is not a restart point", pos)
        if prefix != 0 and (prefix > self.prefixes.capacity or self.prefixes.generations[prefix] == 0):
            self.fail_unset(self.prefixes, "prefix", prefix, pos)
        if name > self.names.size and self.given_name == 0:
            self.fail_reference(f"name id {name} is above the table's size of {self.names.size}", pos)
        return self.fail_unset(self.names, "name", name, pos)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def literal(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        lex: cython.Py_ssize_t = pos
        lex_length: cython.Py_ssize_t = 0
        language: cython.Py_ssize_t = 0
        language_length: cython.Py_ssize_t = -1
        datatype: cython.longlong = -1
        kind: cython.int = KIND_LITERAL
        detail: cython.int = 0
        found: cython.int
        tag: cython.longlong
        start: cython.Py_ssize_t = pos
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x0A:
                lex_length = read_length(self, self.pos, stop)
                lex = self.pos
                pos = lex + lex_length
            elif tag == 0x18:
                datatype = read_varint(self, self.pos, stop)
                pos = self.pos
            elif tag == 0x12:
                language_length = read_length(self, self.pos, stop)
                language = self.pos
                pos = language + language_length
            else:
                if tag >> 3 < 4:
                    self.fail(f"field {tag >> 3} of a literal has the wrong wire type {tag & 7}", pos)
                pos = self.skip(tag, self.pos, stop)
        if datatype >= 0:
            if language_length >= 0:
                self.fail("a literal with both a language and a datatype", start)
            detail = self.datatype_row(datatype, start)
            if detail >= 0:
                kind = KIND_TYPED_LITERAL
            else:
                detail = 0
        elif language_length >= 0:
            if language_length == 0:
                self.fail("a literal with an empty language tag", start)
            self.require_utf8(language, language + language_length, "a language tag")
            kind = KIND_LANG_LITERAL
            detail = self.terms.intern_small(self.terms.languages, self.buf, language, language_length)
        found = self.terms.intern(kind, detail, self.buf, lex, lex_length)
        if self.terms.non_ascii >= 0x80:
            self.require_utf8(lex, lex + lex_length, "the lexical form of a literal")
        return found
