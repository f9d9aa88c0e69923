"""Plan how terms and statements are written, with the lookup tables and defaults that make them small.

A statement is written in two steps. The plan goes over its terms in the order that ids depend on, finds or makes
their lookup entries and records what to write. Then `encode_rows_cy` writes the row.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import shortened
from jellyframe.kernel.encode_rows_cy import RowWriter
from jellyframe.kernel.lookup_write_cy import LookupWriter
from jellyframe.kernel.memory_cy import int_column
from jellyframe.kernel.runs import HASH_SEED

if cython.compiled:
    from cython.cimports.jellyframe.kernel.compare_cy import same_term
    from cython.cimports.jellyframe.kernel.encode_rows_cy import RowWriter
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
    from cython.cimports.jellyframe.kernel.recency import touch
    from cython.cimports.jellyframe.kernel.runs import after_last, equal_bytes, hash_bytes
    from cython.cimports.jellyframe.kernel.steps import CLOSE_TRIPLE, DEEPEST_NESTING, STEP_OVERHEAD
    from cython.cimports.jellyframe.kernel.table_cy import StringTable, TermTable
else:
    from jellyframe.kernel.compare_cy import same_term
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.lookup_slots_cy import LookupSlots
    from jellyframe.kernel.recency import touch
    from jellyframe.kernel.runs import after_last, equal_bytes, hash_bytes
    from jellyframe.kernel.steps import CLOSE_TRIPLE, DEEPEST_NESTING, STEP_OVERHEAD
    from jellyframe.kernel.table_cy import StringTable, TermTable

SEED = cython.declare(cython.uint, HASH_SEED)
POSITION_NAMES = ("subject", "predicate", "object", "graph")


@cython.cclass
class TermEncoder(RowWriter):
    """The state that terms depend on: lookup tables, last ids, the last statement."""

    def __init__(
        self,
        names: cython.int,
        prefixes: cython.int,
        datatypes: cython.int,
        generalized: cython.bint,
        rdf_star: cython.bint,
        frame_byte_limit: cython.Py_ssize_t,
    ):
        RowWriter.__init__(self, frame_byte_limit)
        self.names = LookupWriter(names)
        self.prefixes = LookupWriter(prefixes)
        self.datatypes = LookupWriter(datatypes)
        self.generalized = generalized
        self.rdf_star = rdf_star
        # The fields of lookup entries among the rows of the stream, set by subclasses.
        self.name_row = 0
        self.prefix_row = 0
        self.datatype_row = 0
        # Set where ids are always written, and 0 is the id of an empty prefix or name.
        self.explicit_ids = False
        self.deepest_nesting = DEEPEST_NESTING
        self.last_prefix = 0
        self.last_name = 0
        self.latest_prefix = 0
        self.stamp = 0
        # Set while a statement is written that needs more prefixes than the table has: its IRIs are then not split.
        self.whole_iris = False
        self.is_prefix_table_too_small = False
        self.memo = int_column(0)
        self.memo_datatype = int_column(0)
        self.previous = int_column(4)
        self.previous_terms = self.terms
        self.undo_previous = int_column(4)
        self.undo_terms = self.terms
        self.undo_stamp = -1
        self.undo_prefix = 0
        self.undo_name = 0
        self.open_term = int_column(DEEPEST_NESTING + 1)

    @cython.final
    @cython.cfunc
    def use_terms(self, terms: TermTable) -> None:
        """Switch to another table of terms, with empty memos."""
        self.terms = terms
        self.memo = int_column(4 * cython.cast(cython.Py_ssize_t, terms.count))
        self.memo_datatype = int_column(2 * terms.datatypes.count)

    # ---- the plan ----

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_statement(self) -> cython.int:
        """Save the state, so that the statement can be undone if it is refused."""
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
        """Undo a statement that failed. Lookup entries made for it stay: they are valid, and already in the frame."""
        self.steps = 0
        self.row_bytes = 0
        self.whole_iris = False
        self.is_prefix_table_too_small = False
        self.last_prefix = self.undo_prefix
        self.last_name = self.undo_name
        self.previous[:] = self.undo_previous
        if self.undo_stamp == self.stamp:
            self.previous_terms = self.undo_terms
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_statement(
        self, s: cython.int, p: cython.int, o: cython.int, g: cython.int, has_graph: cython.bint
    ) -> cython.int:
        """Plan the terms of a statement that do not repeat those of the last one."""
        self.begin_statement()
        self.plan_position(0, s)
        self.plan_position(1, p)
        self.plan_position(2, o)
        if has_graph:
            self.plan_position(3, g)
        if self.previous_terms is not self.terms:
            self.change_previous_terms()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def change_previous_terms(self) -> cython.int:
        """Record that repeatable terms are in another table. Undoing the current statement reverts this."""
        self.undo_terms = self.previous_terms
        self.undo_stamp = self.stamp
        self.previous_terms = self.terms
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_graph(self, graph: cython.int) -> cython.int:
        """Plan the graph of a row that has no other terms of a statement, unless it repeats the last one."""
        self.plan_position(3, graph)
        if self.previous_terms is not self.terms:
            # The other terms of the last statement are in the earlier table, and are not repeated.
            self.previous[0] = self.previous[1] = self.previous[2] = 0
            self.change_previous_terms()
        return 0

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def plan_position(self, position: cython.int, term: cython.int) -> cython.int:
        before: cython.int = self.previous[position] - 1
        self.previous[position] = term + 1
        if before == term and self.previous_terms is self.terms:
            return 0
        if self.terms.kinds[term] == KIND_IRI:
            return self.plan_iri(term, 4 * position + 1, before)
        if before >= 0 and self.is_repeated(before, term):
            return 0
        return self.plan(term, position)

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def is_repeated(self, before: cython.int, term: cython.int) -> cython.bint:
        """Return whether a term is the same as one of the last statement. A cheap test mostly shows that it is not."""
        a: StringTable = self.previous_terms.values
        b: StringTable = self.terms.values
        end: cython.Py_ssize_t = b.offsets[term + 1]
        n: cython.Py_ssize_t = end - b.offsets[term]
        if (
            self.previous_terms.kinds[before] != self.terms.kinds[term]
            or a.offsets[before + 1] - a.offsets[before] != n
        ):
            return False
        if n > 0 and a.data[a.offsets[before + 1] - 1] != b.data[end - 1]:
            return False
        return same_term(self.previous_terms, before, self.terms, term)

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def has_ids_of(self, before: cython.int, at: cython.Py_ssize_t) -> cython.bint:
        """Return whether the IRI whose memo is at `at` has the ids of the term `before`."""
        b: cython.Py_ssize_t = 4 * cython.cast(cython.Py_ssize_t, before)
        return (
            self.memo[b] == self.memo[at]
            and self.memo[b + 1] == self.memo[at + 1]
            and self.memo[b + 2] == self.memo[at + 2]
            and self.memo[b + 3] == self.memo[at + 3]
        )

    @cython.final
    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def step(self, kind: cython.int, field: cython.int, a: cython.int, b: cython.int) -> cython.int:
        at: cython.Py_ssize_t = self.steps
        if at >= self.step_kind.shape[0]:
            self.grow_steps()
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
        """Plan the term at a position of a statement, with the terms that it quotes."""
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
            raise self.refusal_by_option("a quoted triple, which the stream does not allow", "rdf_star", "True")
        if position == 3:
            raise self.refusal("a quoted triple cannot name a graph")
        if position == 1 and not self.generalized:
            raise self.refusal_by_option(
                "a quoted triple as predicate, which the stream does not allow", "generalized_statements", "True"
            )
        if depth >= self.deepest_nesting:
            raise self.refusal(
                f"triples quoted more than {self.deepest_nesting} deep: no reader of Jelly could read that"
            )
        self.open_term[depth] = term
        self.open_next[depth] = 0
        return self.step(KIND_QUOTED_TRIPLE, 4 * position + 4, 0, 0)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_plain(self, term: cython.int, position: cython.int) -> cython.int:
        """Plan a term that is not a quoted triple."""
        kind: cython.int = self.terms.kinds[term]
        detail: cython.int
        if kind == KIND_IRI:
            return self.plan_iri(term, 4 * position + 1, -1)
        if kind == KIND_DEFAULT_GRAPH:
            if position != 3:
                raise self.refusal(f"the default graph as {POSITION_NAMES[position]}: it can only be a graph")
            return self.step(kind, 15, 0, 0)
        if not self.generalized and position != 2 and (position == 1 or kind != KIND_BLANK_NODE):
            raise self.refusal_by_option(
                f"a {'blank node' if kind == KIND_BLANK_NODE else 'literal'} as {POSITION_NAMES[position]}, "
                "which the stream does not allow",
                "generalized_statements",
                "True",
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
    def plan_iri(self, term: cython.int, field: cython.int, before: cython.int) -> cython.int:
        """Find the ids of an IRI, adding entries where it has none, and plan those that differ from the defaults.

        Nothing is planned if it repeats the term `before` of the last statement; -1 if there is none to repeat.
        """
        names: LookupWriter = self.names
        prefixes: LookupWriter = self.prefixes
        at: cython.Py_ssize_t = 4 * cython.cast(cython.Py_ssize_t, term)
        name: cython.int = self.memo[at]
        prefix: cython.int = self.memo[at + 2]
        if self.previous_terms is not self.terms:
            # The memo has the ids of one table's terms only.
            if before >= 0 and self.is_repeated(before, term):
                return 0
            before = -1
        if (
            name != 0
            and not self.whole_iris
            and cython.cast(cython.int, names.slots.generations[name]) == self.memo[at + 1]
            and cython.cast(cython.int, prefixes.slots.generations[prefix]) == self.memo[at + 3]
        ):
            if before >= 0 and self.has_ids_of(before, at):
                return 0
            touch(names, name, self.stamp)
            if prefix != 0:
                touch(prefixes, prefix, self.stamp)
        else:
            self.find_iri(term)
            if before >= 0 and self.has_ids_of(before, at):
                return 0
            name = self.memo[at]
            prefix = self.memo[at + 2]
        if self.explicit_ids:
            return self.step(KIND_IRI, field, prefix, name)
        # The first IRI of a stream states both ids, so that nothing depends on what a reader read before.
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
        """Give both parts of an IRI a slot, and put the slots into the memo."""
        values: StringTable = self.terms.values
        at: cython.Py_ssize_t = 4 * cython.cast(cython.Py_ssize_t, term)
        start: cython.Py_ssize_t = values.offsets[term]
        stop: cython.Py_ssize_t = values.offsets[term + 1]
        split: cython.Py_ssize_t = start
        prefix: cython.int = 0
        name: cython.int = 0
        if self.prefixes.slots.size > 0:
            if self.names.slots.size == 0:
                split = stop
            elif not self.whole_iris:
                # After the last '#', or else after the last '/'.
                split = after_last(values.data, start, stop - start, 0x23)
                if split == start:
                    split = after_last(values.data, start, stop - start, 0x2F)
            if split > start or not self.explicit_ids:
                prefix = self.prefix_slot(start, split - start)
        if split < stop or prefix == 0 or not self.explicit_ids:
            name = self.slot(self.names, self.name_row, "name", values, split, stop - split)
        self.memo[at] = name
        self.memo[at + 1] = cython.cast(cython.int, self.names.slots.generations[name])
        self.memo[at + 2] = prefix
        self.memo[at + 3] = cython.cast(cython.int, self.prefixes.slots.generations[prefix])
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def prefix_slot(self, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
        """Return the slot of a prefix. The prefix of the last new IRI is tried first, as it often comes again."""
        slots: LookupSlots = self.prefixes.slots
        latest: cython.int = self.latest_prefix
        if (
            latest != 0
            and slots.generations[latest] != 0
            and slots.lengths[latest] == n
            and equal_bytes(slots.arena, slots.starts[latest], self.terms.values.data, start, n)
        ):
            touch(self.prefixes, latest, self.stamp)
            return latest
        self.latest_prefix = self.slot(self.prefixes, self.prefix_row, "prefix", self.terms.values, start, n)
        return self.latest_prefix

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def datatype_slot(self, detail: cython.int) -> cython.int:
        table: StringTable = self.terms.datatypes
        at: cython.Py_ssize_t = 2 * detail
        slot: cython.int = self.memo_datatype[at]
        if slot != 0 and cython.cast(cython.int, self.datatypes.slots.generations[slot]) == self.memo_datatype[at + 1]:
            touch(self.datatypes, slot, self.stamp)
            return slot
        if self.datatypes.slots.size == 0:
            raise self.refusal_by_option(
                f"a literal of type {shortened(table.string(detail))}, but the stream has no datatype table",
                "max_datatype_table_size",
                "",
            )
        slot = self.slot(
            self.datatypes,
            self.datatype_row,
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
        """Return the slot of a string in a lookup table, and write its entry if it is new there."""
        h: cython.longlong = hash_bytes(strings.data, start, n, SEED)
        slot: cython.int = table.find(strings.data, start, n, h)
        entry_id: cython.int
        if slot != 0:
            touch(table, slot, self.stamp)
            return slot
        # Everything that can fail comes before the table changes: an entry of the table must be in the stream.
        self.reserve_frame(n + 64)
        slot = table.insert(strings.data, start, n, h, self.stamp)
        if slot == 0:
            self.is_prefix_table_too_small = table is self.prefixes
            raise self.refusal_by_option(
                f"one statement needs more than the {table.slots.size} entries that the {what} table has",
                f"max_{what}_table_size",
                "",
            )
        # The first entry states its id, so that nothing depends on what a reader read before.
        entry_id = slot
        if table.slots.last_id != 0 and slot == table.slots.last_id + 1 and not self.explicit_ids:
            entry_id = 0
        table.slots.last_id = slot
        self.write_entry(row_field, entry_id, strings, start, n)
        return slot
