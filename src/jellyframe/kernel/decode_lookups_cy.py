"""Reading lookup entries: what the ids in terms refer to, and what was made of them for the batch in hand."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.decode_fields_cy import FieldDecoder
from jellyframe.kernel.lookup_slots_cy import LookupSlots
from jellyframe.kernel.memory_cy import grown_ints, grown_longs, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_fields_cy import FieldDecoder
    from cython.cimports.jellyframe.kernel.lookup_slots_cy import LookupSlots
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.runs import equal_bytes
    from jellyframe.kernel.varints import read_length, read_varint

XSD_STRING = memoryview(b"http://www.w3.org/2001/XMLSchema#string")

# A datatype slot's row in the batch's table of datatypes: not looked up yet, or xsd:string, which needs none.
DATATYPE_UNKNOWN = cython.declare(cython.int, -1)
DATATYPE_XSD_STRING = cython.declare(cython.int, -2)

# So many entries are made room for at once; tables that may be larger grow.
FIRST_SLOTS = cython.declare(cython.int, 4096)


@cython.cclass
class LookupDecoder(FieldDecoder):
    """The lookup tables of a stream, and which terms of the batch their entries have become."""

    def __init__(self, max_frame_bytes: cython.longlong):
        FieldDecoder.__init__(self, max_frame_bytes)
        self.no_look_back = False
        self.set_tables(0, 0, 0)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def set_tables(self, names: cython.int, prefixes: cython.int, datatypes: cython.int) -> cython.int:
        """Begin with empty tables of these sizes. Memory for many entries is taken when there are so many."""
        self.max_names = names
        self.max_prefixes = prefixes
        self.max_datatypes = datatypes
        self.names = LookupSlots(min(names, FIRST_SLOTS))
        self.prefixes = LookupSlots(min(prefixes, FIRST_SLOTS))
        self.datatypes = LookupSlots(min(datatypes, FIRST_SLOTS))
        self.generation = 0
        self.memo_term = int_column(self.names.size + 1)
        self.memo_prefix = memoryview(bytearray(8 * (self.names.size + 1))).cast("q")
        self.memo_datatype = int_column(self.datatypes.size + 1)
        self.forget_entries()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def forget_entries(self) -> cython.int:
        """Forget which terms entries have become: another batch begins."""
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
        """The row of a datatype in the batch's table, or DATATYPE_XSD_STRING."""
        detail: cython.int
        if datatype == 0:
            self.fail("a literal with the datatype id 0", pos)
        if datatype > self.max_datatypes:
            self.fail(f"datatype id {datatype} is above the table's size of {self.max_datatypes}", pos)
        if datatype > self.datatypes.size:
            self.fail_reference(f"datatype id {datatype} was never set", pos)
        detail = self.memo_datatype[datatype]
        if detail != DATATYPE_UNKNOWN:
            return -2 if detail == DATATYPE_XSD_STRING else detail
        if self.datatypes.generations[datatype] == 0:
            self.fail_reference(f"datatype id {datatype} was never set", pos)
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
    def entry(
        self,
        table: LookupSlots,
        maximum: cython.int,
        what: object,
        pos: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
    ) -> cython.int:
        """A lookup entry; the answer is the id that it sets."""
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
            if self.no_look_back and table.last_id == 0:
                self.fail(f"the first {what} entry behind a restart point leaves out its id", start)
            slot = table.last_id + 1
            if slot > maximum and maximum > 0:
                self.fail_reference(f"{what} entry id {slot} is above the table's size of {maximum}", start)
        if slot > table.size:
            if maximum == 0:
                self.fail(f"a {what} entry, but the options set the {what} table's size to 0", start)
            if slot > maximum:
                self.fail(f"{what} entry id {slot} is above the table's size of {maximum}", start)
            table.grow(cython.cast(cython.int, min(max(slot, 2 * table.size), maximum)))
        self.generation += 1
        table.last_id = cython.cast(cython.int, slot)
        if table.put(table.last_id, self.buf, value, n, self.generation) >= 0x80:
            self.require_utf8(value, value + n, f"a {what} entry")
        return table.last_id

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def name_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        slot: cython.int = self.entry(self.names, self.max_names, "name", pos, stop)
        i: cython.Py_ssize_t
        used: cython.Py_ssize_t
        if slot >= self.memo_term.shape[0]:
            used = self.memo_term.shape[0]
            self.memo_term = grown_ints(self.memo_term, used, self.names.size + 1)
            self.memo_prefix = grown_longs(self.memo_prefix, used, self.names.size + 1)
            for i in range(used, self.memo_term.shape[0]):
                self.memo_term[i] = -1
        self.memo_term[slot] = -1
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def prefix_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        self.entry(self.prefixes, self.max_prefixes, "prefix", pos, stop)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def datatype_entry(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        slot: cython.int = self.entry(self.datatypes, self.max_datatypes, "datatype", pos, stop)
        table: LookupSlots = self.datatypes
        i: cython.Py_ssize_t
        used: cython.Py_ssize_t
        if slot >= self.memo_datatype.shape[0]:
            used = self.memo_datatype.shape[0]
            self.memo_datatype = grown_ints(self.memo_datatype, used, table.size + 1)
            for i in range(used, self.memo_datatype.shape[0]):
                self.memo_datatype[i] = DATATYPE_UNKNOWN
        is_string: cython.bint = table.lengths[slot] == len(XSD_STRING) and equal_bytes(
            table.arena, table.starts[slot], XSD_STRING, 0, len(XSD_STRING)
        )
        self.memo_datatype[slot] = DATATYPE_XSD_STRING if is_string else DATATYPE_UNKNOWN
        return 0
