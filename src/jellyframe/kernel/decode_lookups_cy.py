"""Read lookup entries: the strings that ids in terms refer to, and the terms made of them for the current batch."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.decode_fields_cy import FieldDecoder
from jellyframe.kernel.lookup_slots_cy import LookupSlots
from jellyframe.kernel.memory_cy import int_column, long_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_fields_cy import FieldDecoder
    from cython.cimports.jellyframe.kernel.lookup_slots_cy import LookupSlots
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.runs import equal_bytes
    from jellyframe.kernel.varints import read_length, read_varint

XSD_STRING = memoryview(b"http://www.w3.org/2001/XMLSchema#string")

# Instead of a datatype's row in the batch's table: not looked up yet, or xsd:string, which has no row.
DATATYPE_UNKNOWN = cython.declare(cython.int, -1)
DATATYPE_XSD_STRING = cython.declare(cython.int, -2)


@cython.cclass
class LookupDecoder(FieldDecoder):
    """The lookup tables of a stream, and which terms of the batch their entries have become.

    If the first entry of a table or the first IRI leaves out its id, the id depends on what a reader read before:
    `looked_back` records that, and with `no_look_back` it is an error.
    """

    def __init__(self, max_frame_bytes: cython.longlong):
        FieldDecoder.__init__(self, max_frame_bytes)
        self.no_look_back = False
        self.looked_back = False
        self.entry_counts = long_column(6)
        self.set_tables(0, 0, 0)

    def lookup_entries(self) -> list[int]:
        """Return how many names, prefixes and datatypes were set, and how many of each replaced another."""
        return list(self.entry_counts)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def set_tables(self, names: cython.int, prefixes: cython.int, datatypes: cython.int) -> cython.int:
        """Begin with empty tables of these sizes."""
        self.names = LookupSlots(names)
        self.prefixes = LookupSlots(prefixes)
        self.datatypes = LookupSlots(datatypes)
        self.generation = 0
        self.memo_term = int_column(self.names.capacity + 1)
        self.memo_prefix = long_column(self.names.capacity + 1)
        self.memo_datatype = int_column(self.datatypes.capacity + 1)
        self.forget_entries()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_entries(self) -> cython.int:
        """Forget which terms were made of the entries, as another batch begins."""
        i: cython.Py_ssize_t
        for i in range(self.memo_term.shape[0]):
            self.memo_term[i] = -1
        for i in range(self.memo_datatype.shape[0]):
            if self.memo_datatype[i] != DATATYPE_XSD_STRING:
                self.memo_datatype[i] = DATATYPE_UNKNOWN
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def datatype_row(self, datatype: cython.longlong, pos: cython.Py_ssize_t) -> cython.int:
        """Return the row of a datatype in the batch's table, or DATATYPE_XSD_STRING."""
        detail: cython.int
        if datatype == 0:
            self.fail("a literal with the datatype id 0", pos)
        if datatype > self.datatypes.capacity:
            self.fail_unset(self.datatypes, "datatype", datatype, pos)
        detail = self.memo_datatype[datatype]
        if detail != DATATYPE_UNKNOWN:
            return detail
        if self.datatypes.generations[datatype] == 0:
            self.fail_unset(self.datatypes, "datatype", datatype, pos)
        detail = self.terms.intern_small(
            self.terms.datatypes,
            self.datatypes.arena,
            self.datatypes.starts[datatype],
            self.datatypes.lengths[datatype],
        )
        self.memo_datatype[datatype] = detail
        return detail

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_unset(
        self, table: LookupSlots, what: object, entry_id: cython.longlong, pos: cython.Py_ssize_t
    ) -> cython.int:
        """Raise for a reference to an entry that the table does not have."""
        if entry_id > table.size:
            return self.fail(f"{what} id {entry_id} is above the table's size of {table.size}", pos)
        return self.fail_reference(f"{what} id {entry_id} was never set", pos)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def entry(
        self,
        table: LookupSlots,
        number: cython.int,
        what: object,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
    ) -> cython.int:
        """Read an entry into a lookup table, whose number in `entry_counts` is given, and return its id."""
        slot: cython.longlong = 0
        start: cython.Py_ssize_t = pos
        value: cython.Py_ssize_t = pos
        n: cython.Py_ssize_t = 0
        tag: cython.longlong
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x12:
                n = read_length(self, self.pos, stop)
                value = self.pos
                pos = value + n
            elif tag == 0x08:
                slot = read_varint(self, self.pos, stop)
                pos = self.pos
            else:
                if tag >> 3 < 3:
                    self.fail(f"field {tag >> 3} of a {what} entry has the wrong wire type {tag & 7}", pos)
                pos = self.skip(tag, self.pos, stop)
        if slot == 0:
            if table.last_id == 0:
                if self.no_look_back:
                    self.fail(f"the first {what} entry after a restart point leaves out its id", start)
                self.looked_back = True
            slot = table.last_id + 1
            if slot > table.size > 0:
                self.fail_reference(f"{what} entry id {slot} is above the table's size of {table.size}", start)
        if slot > table.size:
            if table.size == 0:
                self.fail(f"a {what} entry, but the options set the {what} table's size to 0", start)
            self.fail(f"{what} entry id {slot} is above the table's size of {table.size}", start)
        self.generation += 1
        self.entry_counts[number] += 1
        if slot <= table.capacity and table.generations[slot] != 0:
            self.entry_counts[3 + number] += 1
        table.last_id = cython.cast(cython.int, slot)
        if table.put(table.last_id, self.buf, value, n, self.generation) >= 0x80:
            self.require_utf8(value, value + n, f"a {what} entry")
        return table.last_id

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def name_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        slot: cython.int = self.entry(self.names, 0, "name", pos, stop)
        if slot >= self.memo_term.shape[0]:
            self.grow_memo()
        self.memo_term[slot] = -1
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow_memo(self) -> cython.int:
        """Grow the memo of terms to the number of names that the table has room for."""
        known: cython.Py_ssize_t = self.memo_term.shape[0]
        terms: cython.int[::1] = int_column(self.names.capacity + 1)
        prefixes: cython.longlong[::1] = long_column(self.names.capacity + 1)
        i: cython.Py_ssize_t
        terms[:known] = self.memo_term
        prefixes[:known] = self.memo_prefix
        for i in range(known, terms.shape[0]):
            terms[i] = -1
        self.memo_term = terms
        self.memo_prefix = prefixes
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def prefix_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        self.entry(self.prefixes, 1, "prefix", pos, stop)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def datatype_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        slot: cython.int = self.entry(self.datatypes, 2, "datatype", pos, stop)
        table: LookupSlots = self.datatypes
        known: cython.Py_ssize_t = self.memo_datatype.shape[0]
        memo: cython.int[::1]
        i: cython.Py_ssize_t
        if slot >= known:
            memo = int_column(table.capacity + 1)
            memo[:known] = self.memo_datatype
            for i in range(known, memo.shape[0]):
                memo[i] = DATATYPE_UNKNOWN
            self.memo_datatype = memo
        is_string: cython.bint = table.lengths[slot] == len(XSD_STRING) and equal_bytes(
            table.arena, table.starts[slot], XSD_STRING, 0, len(XSD_STRING)
        )
        self.memo_datatype[slot] = DATATYPE_XSD_STRING if is_string else DATATYPE_UNKNOWN
        return 0
