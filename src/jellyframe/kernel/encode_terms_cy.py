"""Writing terms and statements as protobuf messages, with the lookup tables and defaults that make them small.

A statement is written in two steps. The plan goes over its terms in the order of the format's numbering, finds or makes
their lookup entries and notes what to write. Then the row is written from its end to its start, so that the length of
each message is known when its turn comes.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError
from jellyframe.kernel.lookup_write_cy import LookupWriter
from jellyframe.kernel.runs import HASH_SEED
from jellyframe.kernel.table_cy import byte_column, grown_bytes, grown_ints, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.compare_cy import same_term
    from cython.cimports.jellyframe.kernel.fields import ROW_DATATYPE, ROW_NAME, ROW_PREFIX
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.lookup_slots_cy import LookupSlots
    from cython.cimports.jellyframe.kernel.lookup_write_cy import LookupWriter
    from cython.cimports.jellyframe.kernel.runs import behind_last, equal_bytes, hash_bytes, move_bytes
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.compare_cy import same_term
    from jellyframe.kernel.fields import ROW_DATATYPE, ROW_NAME, ROW_PREFIX
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.lookup_slots_cy import LookupSlots
    from jellyframe.kernel.runs import behind_last, equal_bytes, hash_bytes, move_bytes
    from jellyframe.kernel.table_cy import StringTable, TermTable

SEED = cython.declare(cython.uint, HASH_SEED)
POSITION_NAMES = ("subject", "predicate", "object", "graph")
# Protobuf readers give up at 100 nested messages, of which a frame, its row and the statement are three.
DEEPEST_NESTING = cython.declare(cython.int, 96)
# What a step of the plan writes beyond the bytes of its strings is less than this.
STEP_OVERHEAD = cython.declare(cython.Py_ssize_t, 48)
# A statement of more terms than this is not written: only triples that quote the same triple over and over get there.
MOST_STEPS = cython.declare(cython.Py_ssize_t, 1 << 20)
# A step that closes a quoted triple; all others have the kind of their term.
CLOSE_TRIPLE = cython.declare(cython.int, 8)


@cython.cclass
class TermEncoder:
    """The state that terms depend on (lookup tables, last ids) and the rows of the frame that is being written."""

    def __init__(
        self,
        names: cython.int,
        prefixes: cython.int,
        datatypes: cython.int,
        generalized: cython.bint,
        rdf_star: cython.bint,
    ):
        self.names = LookupWriter(names)
        self.prefixes = LookupWriter(prefixes)
        self.datatypes = LookupWriter(datatypes)
        self.generalized = generalized
        self.rdf_star = rdf_star
        self.last_prefix = 0
        self.last_name = 0
        self.latest_prefix = 0
        self.stamp = 0
        # Set while a statement is written that needs more prefixes than the table has: its IRIs are then not split.
        self.whole_iris = False
        self.is_prefix_table_too_small = False
        self.terms = TermTable()
        self.memo = int_column(0)
        self.memo_datatype = int_column(0)
        self.previous = int_column(4)
        self.previous_terms = self.terms
        self.undo_previous = int_column(4)
        self.undo_prefix = 0
        self.undo_name = 0
        self.step_kind = int_column(16)
        self.step_field = int_column(16)
        self.step_a = int_column(16)
        self.step_b = int_column(16)
        self.steps = 0
        self.open_term = int_column(DEEPEST_NESTING + 1)
        self.open_next = int_column(DEEPEST_NESTING + 1)
        self.row_bytes = 0
        self.row = byte_column(1024)
        self.frame = byte_column(4096)
        self.frame_size = 0
        self.frame_rows = 0

    @cython.final
    @cython.cfunc
    def use_terms(self, terms: TermTable) -> None:
        """Take another table of terms. What was remembered of the last one's terms no longer holds."""
        self.terms = terms
        self.memo = int_column(4 * terms.count)
        self.memo_datatype = int_column(2 * terms.datatypes.count)

    # ---- the plan ----

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_statement(self) -> cython.int:
        """Note where things stand, so that a statement that turns out to be impossible can be undone."""
        self.stamp += 1
        self.undo_prefix = self.last_prefix
        self.undo_name = self.last_name
        self.undo_previous[0] = self.previous[0]
        self.undo_previous[1] = self.previous[1]
        self.undo_previous[2] = self.previous[2]
        self.undo_previous[3] = self.previous[3]
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def undo_statement(self) -> cython.int:
        """Forget a statement that failed. Lookup entries made for it stay: they are in the frame already, and right."""
        self.steps = 0
        self.row_bytes = 0
        self.whole_iris = False
        self.is_prefix_table_too_small = False
        self.last_prefix = self.undo_prefix
        self.last_name = self.undo_name
        self.previous[:] = self.undo_previous
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_position(self, position: cython.int, term: cython.int) -> cython.int:
        """Plan a term of a statement, unless it repeats that of the last statement."""
        before: cython.int = self.previous[position] - 1
        self.previous[position] = term + 1
        if before >= 0 and (
            (before == term and self.previous_terms is self.terms)
            or same_term(self.previous_terms, before, self.terms, term)
        ):
            return 0
        return self.plan(term, position)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def step(self, kind: cython.int, field: cython.int, a: cython.int, b: cython.int) -> cython.int:
        at: cython.Py_ssize_t = self.steps
        if at >= self.step_kind.shape[0]:
            if at >= MOST_STEPS:
                raise EncodeError(f"a statement of more than {MOST_STEPS} terms")
            self.step_kind = grown_ints(self.step_kind, at, 2 * at)
            self.step_field = grown_ints(self.step_field, at, 2 * at)
            self.step_a = grown_ints(self.step_a, at, 2 * at)
            self.step_b = grown_ints(self.step_b, at, 2 * at)
        self.step_kind[at] = kind
        self.step_field[at] = field
        self.step_a[at] = a
        self.step_b[at] = b
        self.steps = at + 1
        self.row_bytes += STEP_OVERHEAD
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan(self, term: cython.int, position: cython.int) -> cython.int:
        """Plan the term at a position of a statement, with all that it quotes."""
        depth: cython.int = 0
        child: cython.int
        at: cython.int
        if self.terms.kinds[term] != KIND_QUOTED_TRIPLE:
            return self.plan_plain(term, position)
        self.open_triple(term, position, depth)
        while depth >= 0:
            at = self.open_next[depth]
            if at == 3:
                self.step(CLOSE_TRIPLE, 0, 0, 0)
                depth -= 1
                continue
            self.open_next[depth] = at + 1
            child = self.terms.quoted[3 * self.terms.details[self.open_term[depth]] + at]
            if self.terms.kinds[child] == KIND_QUOTED_TRIPLE:
                depth += 1
                self.open_triple(child, at, depth)
            else:
                self.plan_plain(child, at)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def open_triple(self, term: cython.int, position: cython.int, depth: cython.int) -> cython.int:
        if not self.rdf_star:
            raise EncodeError("a quoted triple, but the options do not set rdf_star")
        if position == 3:
            raise EncodeError("a quoted triple cannot name a graph")
        if position == 1 and not self.generalized:
            raise EncodeError("a quoted triple as predicate, but the options do not set generalized_statements")
        if depth >= DEEPEST_NESTING:
            raise EncodeError(f"triples quoted more than {DEEPEST_NESTING} deep: no reader of Jelly could read that")
        self.open_term[depth] = term
        self.open_next[depth] = 0
        return self.step(KIND_QUOTED_TRIPLE, 4 * position + 4, 0, 0)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_plain(self, term: cython.int, position: cython.int) -> cython.int:
        """Plan a term that is no quoted triple."""
        kind: cython.int = self.terms.kinds[term]
        detail: cython.int
        if kind == KIND_IRI:
            return self.plan_iri(term, 4 * position + 1)
        if kind == KIND_DEFAULT_GRAPH:
            if position != 3:
                raise EncodeError(f"the default graph as {POSITION_NAMES[position]}: it can only stand as graph")
            return self.step(kind, 15, 0, 0)
        if not self.generalized and position != 2 and (position == 1 or kind != KIND_BLANK_NODE):
            raise EncodeError(
                f"a {'blank node' if kind == KIND_BLANK_NODE else 'literal'} as {POSITION_NAMES[position]}, "
                "but the options do not set generalized_statements"
            )
        self.row_bytes += self.terms.values.offsets[term + 1] - self.terms.values.offsets[term]
        if kind == KIND_BLANK_NODE:
            return self.step(kind, 4 * position + 2, term, 0)
        detail = self.terms.details[term]
        if kind == KIND_TYPED_LITERAL:
            detail = self.datatype_slot(detail)
        elif kind == KIND_LANG_LITERAL:
            self.row_bytes += self.terms.languages.offsets[detail + 1] - self.terms.languages.offsets[detail]
        return self.step(kind, 16 if position == 3 else 4 * position + 3, term, detail)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_iri(self, term: cython.int, field: cython.int) -> cython.int:
        """Find the ids of an IRI, adding entries where it has none, and plan them as what differs from the defaults."""
        names: LookupWriter = self.names
        prefixes: LookupWriter = self.prefixes
        at: cython.Py_ssize_t = 4 * cython.cast(cython.Py_ssize_t, term)
        name: cython.int = self.memo[at]
        prefix: cython.int = self.memo[at + 2]
        if (
            name != 0
            and not self.whole_iris
            and cython.cast(cython.int, names.slots.generations[name]) == self.memo[at + 1]
            and cython.cast(cython.int, prefixes.slots.generations[prefix]) == self.memo[at + 3]
        ):
            names.touch(name, self.stamp)
            if prefix != 0:
                prefixes.touch(prefix, self.stamp)
        else:
            self.find_iri(term)
            name = self.memo[at]
            prefix = self.memo[at + 2]
        # The first IRI of a stream says both ids, so that nothing depends on what a reader had before.
        self.step(
            KIND_IRI,
            field,
            0 if prefix == self.last_prefix else prefix,
            0 if name == self.last_name + 1 and self.last_name != 0 else name,
        )
        self.last_prefix = prefix
        self.last_name = name
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_iri(self, term: cython.int) -> cython.int:
        """Give both parts of an IRI a slot and remember which."""
        values: StringTable = self.terms.values
        at: cython.Py_ssize_t = 4 * cython.cast(cython.Py_ssize_t, term)
        start: cython.Py_ssize_t = values.offsets[term]
        stop: cython.Py_ssize_t = values.offsets[term + 1]
        split: cython.Py_ssize_t = start
        prefix: cython.int = 0
        name: cython.int
        if self.prefixes.slots.size > 0:
            if not self.whole_iris:
                # Behind the last '#', or else behind the last '/'.
                split = behind_last(values.data, start, stop - start, 0x23)
                if split == start:
                    split = behind_last(values.data, start, stop - start, 0x2F)
            prefix = self.prefix_slot(start, split - start)
        name = self.slot(self.names, ROW_NAME, "name", values, split, stop - split)
        self.memo[at] = name
        self.memo[at + 1] = cython.cast(cython.int, self.names.slots.generations[name])
        self.memo[at + 2] = prefix
        self.memo[at + 3] = cython.cast(cython.int, self.prefixes.slots.generations[prefix])
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def prefix_slot(self, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
        """The slot of a prefix. New IRIs tend to come with the prefix of the last new one, which is quick to see."""
        slots: LookupSlots = self.prefixes.slots
        latest: cython.int = self.latest_prefix
        if (
            latest != 0
            and slots.generations[latest] != 0
            and slots.lengths[latest] == n
            and equal_bytes(slots.arena, slots.starts[latest], self.terms.values.data, start, n)
        ):
            self.prefixes.touch(latest, self.stamp)
            return latest
        self.latest_prefix = self.slot(self.prefixes, ROW_PREFIX, "prefix", self.terms.values, start, n)
        return self.latest_prefix

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def datatype_slot(self, detail: cython.int) -> cython.int:
        table: StringTable = self.terms.datatypes
        at: cython.Py_ssize_t = 2 * detail
        slot: cython.int = self.memo_datatype[at]
        if slot != 0 and cython.cast(cython.int, self.datatypes.slots.generations[slot]) == self.memo_datatype[at + 1]:
            self.datatypes.touch(slot, self.stamp)
            return slot
        if self.datatypes.slots.size == 0:
            raise EncodeError(
                f"a literal of type {table.string(detail)}, but the options set max_datatype_table_size to 0"
            )
        slot = self.slot(
            self.datatypes,
            ROW_DATATYPE,
            "datatype",
            table,
            table.offsets[detail],
            table.offsets[detail + 1] - table.offsets[detail],
        )
        self.memo_datatype[at] = slot
        self.memo_datatype[at + 1] = cython.cast(cython.int, self.datatypes.slots.generations[slot])
        return slot

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def slot(
        self,
        table: LookupWriter,
        row_field: cython.int,
        what: object,
        strings: StringTable,
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
    ) -> cython.int:
        """The slot of a string in a lookup table; when it is new there, its entry is written."""
        h: cython.longlong = hash_bytes(strings.data, start, n, SEED)
        slot: cython.int = table.find(strings.data, start, n, h)
        entry_id: cython.int
        if slot != 0:
            table.touch(slot, self.stamp)
            return slot
        slot = table.insert(strings.data, start, n, h, self.stamp)
        if slot == 0:
            self.is_prefix_table_too_small = row_field == ROW_PREFIX
            raise EncodeError(
                f"one statement needs more than the {table.slots.size} entries that the {what} table has; "
                f"raise max_{what}_table_size"
            )
        # The first entry says its id, so that nothing depends on what a reader had before.
        entry_id = 0 if table.slots.last_id != 0 and slot == table.slots.last_id + 1 else slot
        table.slots.last_id = slot
        self.write_entry(row_field, entry_id, strings, start, n)
        return slot

    # ---- writing ----

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve_frame(self, n: cython.Py_ssize_t) -> cython.int:
        if self.frame_size + n > self.frame.shape[0]:
            self.frame = grown_bytes(self.frame, self.frame_size, max(2 * self.frame.shape[0], self.frame_size + n))
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_number(self, value: cython.Py_ssize_t) -> cython.int:
        """Append a varint to the frame, which must have room for it."""
        while value > 0x7F:
            self.frame[self.frame_size] = value & 0x7F | 0x80
            self.frame_size += 1
            value >>= 7
        self.frame[self.frame_size] = value
        self.frame_size += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_entry(
        self,
        row_field: cython.int,
        entry_id: cython.int,
        strings: StringTable,
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
    ) -> cython.int:
        """Append the row of a lookup entry to the frame."""
        content: cython.Py_ssize_t = 0
        if entry_id != 0:
            content += 1 + varint_size(entry_id)
        if n != 0:
            content += 1 + varint_size(n) + n
        self.make_room(content + 32)
        self.reserve_frame(content + 32)
        self.write_number(0x0A)
        self.write_number(1 + varint_size(content) + content)
        self.write_number(row_field << 3 | 2)
        self.write_number(content)
        if entry_id != 0:
            self.write_number(0x08)
            self.write_number(entry_id)
        if n != 0:
            self.write_number(0x12)
            self.write_number(n)
            move_bytes(self.frame, self.frame_size, strings.data, start, n)
            self.frame_size += n
        self.frame_rows += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def number_before(self, at: cython.Py_ssize_t, value: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write a varint to the row so that it ends before `at`; the answer is where it starts."""
        # The range is checked here and not by the index, so that the function is short enough to be inlined.
        if value < 0x80 and 0 < at <= len(self.row):
            with cython.boundscheck(False):
                self.row[at - 1] = value
            return at - 1
        return self.long_number_before(at, value)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def long_number_before(self, at: cython.Py_ssize_t, value: cython.Py_ssize_t) -> cython.Py_ssize_t:
        start: cython.Py_ssize_t = at - varint_size(value)
        i: cython.Py_ssize_t = start
        while value > 0x7F:
            self.row[i] = value & 0x7F | 0x80
            value >>= 7
            i += 1
        self.row[i] = value
        return start

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def string_before(
        self, at: cython.Py_ssize_t, strings: StringTable, i: cython.Py_ssize_t, tag: cython.int
    ) -> cython.Py_ssize_t:
        """Write a string to the row before `at`, with its tag and length in front of it, if it is not empty."""
        n: cython.Py_ssize_t = strings.offsets[i + 1] - strings.offsets[i]
        if n == 0:
            return at
        move_bytes(self.row, at - n, strings.data, strings.offsets[i], n)
        return self.number_before(self.number_before(at - n, n), tag)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_row(self, row_field: cython.int) -> cython.int:
        """Append the planned message to the frame, as a row, and clear the plan."""
        at: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        end: cython.Py_ssize_t
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        kind: cython.int
        term: cython.int
        depth: cython.int = 0
        need: cython.Py_ssize_t = self.row_bytes + 2 * STEP_OVERHEAD
        if need > self.row.shape[0]:
            self.row = byte_column(2 * need)
        end = at = self.row.shape[0]
        for i in range(self.steps - 1, -1, -1):
            kind = self.step_kind[i]
            stop = at
            term = self.step_a[i]
            if kind == CLOSE_TRIPLE:
                self.open_next[depth] = cython.cast(cython.int, at)
                depth += 1
                continue
            if kind == KIND_IRI:
                if self.step_b[i] != 0:
                    at = self.number_before(self.number_before(at, self.step_b[i]), 0x10)
                if term != 0:
                    at = self.number_before(self.number_before(at, term), 0x08)
            elif kind == KIND_BLANK_NODE:
                n = self.terms.values.offsets[term + 1] - self.terms.values.offsets[term]
                at -= n
                move_bytes(self.row, at, self.terms.values.data, self.terms.values.offsets[term], n)
            elif kind == KIND_QUOTED_TRIPLE:
                depth -= 1
                stop = self.open_next[depth]
            elif kind != KIND_DEFAULT_GRAPH:
                if kind == KIND_LANG_LITERAL:
                    at = self.string_before(at, self.terms.languages, self.step_b[i], 0x12)
                elif kind == KIND_TYPED_LITERAL:
                    at = self.number_before(self.number_before(at, self.step_b[i]), 0x18)
                at = self.string_before(at, self.terms.values, term, 0x0A)
            at = self.number_before(at, stop - at)
            at = self.number_before(at, self.step_field[i] << 3 | 2)
        at = self.number_before(at, end - at)
        at = self.number_before(at, row_field << 3 | 2)
        at = self.number_before(at, end - at)
        at = self.number_before(at, 0x0A)
        self.steps = 0
        self.row_bytes = 0
        self.make_room(end - at)
        self.reserve_frame(end - at)
        move_bytes(self.frame, self.frame_size, self.row, at, end - at)
        self.frame_size += end - at
        self.frame_rows += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def make_room(self, n: cython.Py_ssize_t) -> cython.int:
        """Called before a row of `n` bytes goes to the frame."""
        return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def varint_size(value: cython.Py_ssize_t) -> cython.Py_ssize_t:
    size: cython.Py_ssize_t = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size
