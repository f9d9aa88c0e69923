"""The parts of a batch: growing integer columns and a growing table of terms, all in Arrow's memory layout.

All that makes batches (the Jelly decoder, the N-Triples parser, Arrow tables, Python statements) adds terms here and
gets small integers back. This module does not know where the bytes come from.
"""

from __future__ import annotations

from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError
from jellyframe.kernel.memory_cy import Memory, int_column
from jellyframe.kernel.runs import HASH_SEED

if cython.compiled:
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.memory_cy import Memory
    from cython.cimports.jellyframe.kernel.runs import copy_bytes, equal_bytes, hash_bytes, move_bytes
else:
    from jellyframe.kernel.kinds import (
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import copy_bytes, equal_bytes, hash_bytes, move_bytes

# Longer strings are hardly ever repeated in a batch, and a search would cost more than storing them again.
LONGEST_INTERNED = 128
INTERN_MAX_BYTES = cython.declare(cython.Py_ssize_t, LONGEST_INTERNED)
# How far back a small table is searched: enough for real data, and a bound for hostile data.
FIND_LATEST = cython.declare(cython.Py_ssize_t, 64)
# Offsets are 32-bit, as in Arrow's plain string arrays.
MAX_STRING_BYTES = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)
# Sums of text sizes, which quoted triples that repeat terms would make overflow, are clamped to this.
MAX_TEXT_SIZE = cython.declare(cython.longlong, 1 << 60)
SEED = cython.declare(cython.uint, HASH_SEED)
# A bit that is set in the hash of all entries of a hash table, above the bits that choose the slot.
USED = cython.declare(cython.longlong, 1 << 30)


@cython.final
@cython.cclass
class StringTable:
    """Strings end to end in one run of at most `max_bytes` bytes, with their offsets."""

    __slots__ = ("_max_bytes", "_memory", "count", "data", "data_size", "offsets")

    def __init__(
        self,
        strings: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        memory: Memory | None = None,
        max_bytes: cython.Py_ssize_t = MAX_STRING_BYTES,
    ):
        self._max_bytes = min(max_bytes, MAX_STRING_BYTES)
        self._memory = Memory() if memory is None else memory
        self.offsets = self._memory.unset_ints(strings + 1)
        self.offsets[0] = 0
        # A block may be larger than asked for, and offsets must not reach beyond the limit.
        self.data = self._memory.unset_bytes(min(size, self._max_bytes))[: self._max_bytes]
        self.count = 0
        self.data_size = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, n: cython.Py_ssize_t) -> cython.int:
        """Make room for one more string of `n` bytes."""
        if self.data_size + n > self.data.shape[0]:
            if self.data_size + n > self._max_bytes:
                raise LimitError(f"the strings of one batch exceed {self._max_bytes} bytes; use batches of fewer rows")
            self.data = self._memory.more_bytes(
                self.data,
                self.data_size,
                min(max(2 * self.data.shape[0], self.data_size + n, 256), self._max_bytes),
            )[: self._max_bytes]
        if self.count + 2 > self.offsets.shape[0]:
            self.offsets = self._memory.more_ints(self.offsets, self.count + 1, 2 * self.offsets.shape[0] + 2)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def append(
        self, src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t
    ) -> cython.int:
        """Add a string, and return a number that is below 0x80 if and only if it is ASCII."""
        non_ascii: cython.int
        self.reserve(n)
        non_ascii = copy_bytes(self.data, self.data_size, src, start, n)
        self.data_size += n
        self.count += 1
        self.offsets[self.count] = cython.cast(cython.int, self.data_size)
        return non_ascii

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find(self, src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
        """Return the index of a string among the latest ones, or -2. For tables of a few strings, such as languages."""
        i: cython.Py_ssize_t
        oldest: cython.Py_ssize_t = max(0, self.count - FIND_LATEST)
        for i in range(self.count - 1, oldest - 1, -1):
            if self.offsets[i + 1] - self.offsets[i] == n and equal_bytes(self.data, self.offsets[i], src, start, n):
                return cython.cast(cython.int, i)
        return -2

    def string(self, i: cython.Py_ssize_t) -> str:
        """Return one of the strings, decoded."""
        return str(memoryview(self.data)[self.offsets[i] : self.offsets[i + 1]], "utf-8")

    def strings(self) -> list[str]:
        """Return all strings, decoded. For tables of a few strings."""
        return [self.string(i) for i in range(self.count)]

    def buffers(self) -> tuple[memoryview, memoryview]:
        """Return the offsets and the bytes, without reserved space."""
        return memoryview(self.offsets)[: self.count + 1], memoryview(self.data)[: self.data_size]


@cython.final
@cython.cclass
class TermTable:
    """The terms of a batch. A term is its row here: a kind, a string, and a detail whose meaning follows the kind.

    | kind | string | detail |
    | --- | --- | --- |
    | IRI, BLANK_NODE, LITERAL | the IRI, the label, the lexical form | 0 |
    | LANG_LITERAL | the lexical form | row in `languages` |
    | TYPED_LITERAL | the lexical form | row in `datatypes` |
    | QUOTED_TRIPLE | empty | row in `quoted`, which holds three terms a row |
    | DEFAULT_GRAPH | empty | 0 |

    Terms are interned as far as that is cheap, so most are distinct; equal ones may still occur twice.

    `text_bytes` is the approximate size of all terms as text. That may be far more than their strings take: a datatype,
    and a term that is quoted, is stored once and written with every term that refers to it.
    """

    __slots__ = (
        "_default_graph",
        "_index",
        "_inherited_text",
        "_memory",
        "_quoted_texts",
        "_slots",
        "count",
        "datatypes",
        "details",
        "kinds",
        "languages",
        "longest_detail",
        "non_ascii",
        "quoted",
        "quoted_count",
        "quoted_text",
        "values",
    )

    def __init__(self, terms: cython.Py_ssize_t = 16, size: cython.Py_ssize_t = 512, memory: Memory | None = None):
        slots: cython.Py_ssize_t = 256
        terms = max(terms, 16)
        while slots < 2 * terms:
            slots *= 2
        self.count = 0
        self._memory = Memory() if memory is None else memory
        self.kinds = self._memory.unset_bytes(terms)
        self.details = self._memory.unset_ints(terms)
        self.values = StringTable(terms, size, self._memory)
        self.datatypes = StringTable(4, 64)
        self.languages = StringTable(2, 16)
        self.quoted = int_column(0)
        self.quoted_count = 0
        self._quoted_texts = memoryview(bytearray(8)).cast("q")
        self.quoted_text = 0
        self.longest_detail = 0
        self._inherited_text = 0
        self.non_ascii = 0
        self._default_graph = -1
        if cython.compiled:
            # A block may be larger than asked for, and the size of the hash table must be a power of two.
            self._slots = self._memory.unset_bytes(8 * slots)[: 8 * slots].cast("q")
            self._slots[:] = 0
        else:
            self._index: dict[tuple[int, int, bytes], int] = {}

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _new_term(self, kind: cython.int, detail: cython.int) -> cython.int:
        """Add a term whose value is already the last string of `values`."""
        term: cython.int = self.count
        capacity: cython.Py_ssize_t
        if term >= self.kinds.shape[0] or term >= self.details.shape[0]:
            capacity = 2 * max(term, 8)
            self.kinds = self._memory.more_bytes(self.kinds, term, capacity)
            self.details = self._memory.more_ints(self.details, term, capacity)
        self.kinds[term] = kind
        self.details[term] = detail
        self.count = term + 1
        return term

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_iri(
        self,
        prefix: cython.const[cython.uchar][::1],
        prefix_start: cython.Py_ssize_t,
        prefix_length: cython.Py_ssize_t,
        name: cython.const[cython.uchar][::1],
        name_start: cython.Py_ssize_t,
        name_length: cython.Py_ssize_t,
    ) -> cython.int:
        """Add an IRI in two parts, without checking whether it exists: the decoder knows that it does not."""
        values: StringTable = self.values
        values.reserve(prefix_length + name_length)
        move_bytes(values.data, values.data_size, prefix, prefix_start, prefix_length)
        move_bytes(values.data, values.data_size + prefix_length, name, name_start, name_length)
        values.data_size += prefix_length + name_length
        values.count += 1
        values.offsets[values.count] = cython.cast(cython.int, values.data_size)
        return self._new_term(KIND_IRI, 0)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def intern(
        self,
        kind: cython.int,
        detail: cython.int,
        src: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
    ) -> cython.int:
        """Return the term with this value: the one that the table has, or a new one.

        Afterwards `non_ascii` is 0x80 or more if a new string that is not ASCII was stored: the caller then checks that
        it is UTF-8. A string that the table had has been checked before.
        """
        values: StringTable = self.values
        h: cython.longlong
        entry: cython.longlong
        slot: cython.Py_ssize_t
        mask: cython.Py_ssize_t
        term: cython.int
        if n > INTERN_MAX_BYTES:
            self.non_ascii = values.append(src, start, n)
            return self._new_term(kind, detail)
        if cython.compiled:
            # Never zero, which marks an empty slot.
            h = hash_bytes(src, start, n, SEED + kind + 31 * cython.cast(cython.uint, detail)) | USED
            mask = self._slots.shape[0] - 1
            slot = h & mask
            while True:
                entry = self._slots[slot]
                if entry == 0:
                    break
                term = cython.cast(cython.int, entry)  # its lower half
                if (
                    entry >> 32 == h
                    and values.offsets[term + 1] - values.offsets[term] == n
                    and self.kinds[term] == kind
                    and self.details[term] == detail
                    and equal_bytes(values.data, values.offsets[term], src, start, n)
                ):
                    self.non_ascii = 0
                    return term
                slot = (slot + 1) & mask
            self.non_ascii = values.append(src, start, n)
            term = self._new_term(kind, detail)
            self._slots[slot] = (h << 32) | term
            if 2 * term > mask:
                self._rehash()
            return term
        else:
            key = (kind, detail, bytes(src[start : start + n]))
            term = self._index.get(key, -1)
            self.non_ascii = 0
            if term < 0:
                self.non_ascii = values.append(src, start, n)
                term = self._index[key] = self._new_term(kind, detail)
            return term

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rehash(self) -> cython.int:
        """Double the hash table. Only its own entries move: terms that were never interned stay out of it."""
        old: cython.longlong[::1] = self._slots
        new: cython.longlong[::1] = memoryview(bytearray(16 * old.shape[0])).cast("q")
        mask: cython.Py_ssize_t = new.shape[0] - 1
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for i in range(old.shape[0]):
            if old[i] != 0:
                slot = (old[i] >> 32) & mask
                while new[slot] != 0:
                    slot = (slot + 1) & mask
                new[slot] = old[i]
        self._slots = new
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_quoted(self, s: cython.int, p: cython.int, o: cython.int) -> cython.int:
        """Add a quoted triple of three terms that the table holds already."""
        at: cython.Py_ssize_t = 3 * self.quoted_count
        size: cython.longlong = min(8 + self.text_size(s) + self.text_size(p) + self.text_size(o), MAX_TEXT_SIZE)
        if at + 3 > self.quoted.shape[0]:
            self.quoted = self._memory.more_ints(self.quoted, at, 2 * at + 48)
        if self.quoted_count >= self._quoted_texts.shape[0]:
            self._quoted_texts = self._grown_sizes(2 * self.quoted_count + 16)
        self.quoted[at] = s
        self.quoted[at + 1] = p
        self.quoted[at + 2] = o
        self._quoted_texts[self.quoted_count] = size
        self.quoted_text = min(self.quoted_text + size, MAX_TEXT_SIZE)
        self.quoted_count += 1
        self.values.append(self.values.data, 0, 0)
        return self._new_term(KIND_QUOTED_TRIPLE, cython.cast(cython.int, self.quoted_count - 1))

    @cython.cfunc
    def _grown_sizes(self, capacity: cython.Py_ssize_t) -> Any:
        sizes = memoryview(bytearray(8 * capacity)).cast("q")
        sizes[: self.quoted_count] = memoryview(self._quoted_texts)[: self.quoted_count]
        return sizes

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def text_size(self, term: cython.int) -> cython.longlong:
        """Return how many bytes the text of a term takes, escapes not counted."""
        detail: cython.int = self.details[term]
        size: cython.longlong = self.values.offsets[term + 1] - self.values.offsets[term] + 2
        if self.kinds[term] == KIND_QUOTED_TRIPLE:
            return self._quoted_texts[detail]
        if self.kinds[term] == KIND_TYPED_LITERAL:
            return size + 4 + self.datatypes.offsets[detail + 1] - self.datatypes.offsets[detail]
        if self.kinds[term] == KIND_LANG_LITERAL:
            return size + 1 + self.languages.offsets[detail + 1] - self.languages.offsets[detail]
        return size

    def longest_text(self) -> int:
        """Return an upper bound of the size of one term's text, escapes not counted."""
        longest: cython.longlong = 0
        i: cython.Py_ssize_t
        offsets: cython.int[::1] = self.values.offsets
        for i in range(self.count):
            longest = max(longest, offsets[i + 1] - offsets[i])
        longest += self.longest_detail + 6
        for i in range(self.quoted_count):
            longest = max(longest, self._quoted_texts[i])
        return longest

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def text_bytes(self) -> cython.longlong:
        """Return the approximate size of the texts of all terms; never less than that of their strings."""
        return self.values.data_size + self.quoted_text + self.longest_detail * self.count

    def end_of_inherited(self) -> None:
        """Note that the terms so far come from another table: `new_text` does not count them."""
        self._inherited_text = self.text_bytes()

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def new_text(self) -> cython.longlong:
        """Return about how many bytes the texts of the terms take that were not inherited."""
        return self.text_bytes() - self._inherited_text

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def default_graph(self) -> cython.int:
        if self._default_graph < 0:
            self.values.append(self.values.data, 0, 0)
            self._default_graph = self._new_term(KIND_DEFAULT_GRAPH, 0)
        return self._default_graph

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def intern_small(
        self,
        table: StringTable,
        src: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
    ) -> cython.int:
        """Return the index of a datatype or language in its small table, adding it when it is new."""
        found: cython.int = table.find(src, start, n)
        if found >= 0:
            return found
        table.append(src, start, n)
        self.longest_detail = max(self.longest_detail, n)
        return cython.cast(cython.int, table.count - 1)

    def add_string(self, value: bytes) -> int:
        """Add a string from Python, which must be UTF-8, as an IRI, and return the term."""
        return self.intern(KIND_IRI, 0, memoryview(value), 0, len(value))

    def default_graph_term(self) -> int:
        """Return the default graph as a term."""
        return self.default_graph()

    def adopt(self, source: TermTable, term: cython.int) -> int:
        """Add a term of another table, with the terms that it quotes, and return the term here."""
        current: cython.int
        at: cython.Py_ssize_t
        taken: dict[int, int] = {}
        waiting = [term]
        while waiting:
            current = waiting[len(waiting) - 1]
            if current in taken:
                waiting.pop()
            elif source.kinds[current] != KIND_QUOTED_TRIPLE:
                taken[current] = self._adopt_plain(source, current)
            else:
                at = 3 * source.details[current]
                parts = [source.quoted[at], source.quoted[at + 1], source.quoted[at + 2]]
                missing = [part for part in parts if part not in taken]
                if missing:
                    waiting.extend(missing)
                else:
                    taken[current] = self.add_quoted(taken[parts[0]], taken[parts[1]], taken[parts[2]])
        return taken[term]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _adopt_plain(self, source: TermTable, term: cython.int) -> cython.int:
        kind: cython.int = source.kinds[term]
        detail: cython.int = source.details[term]
        start: cython.Py_ssize_t = source.values.offsets[term]
        n: cython.Py_ssize_t = source.values.offsets[term + 1] - start
        small: StringTable
        if kind == KIND_DEFAULT_GRAPH:
            return self.default_graph()
        if kind == KIND_LANG_LITERAL:
            small = source.languages
            detail = self.intern_small(
                self.languages, small.data, small.offsets[detail], small.offsets[detail + 1] - small.offsets[detail]
            )
        elif kind == KIND_TYPED_LITERAL:
            small = source.datatypes
            detail = self.intern_small(
                self.datatypes, small.data, small.offsets[detail], small.offsets[detail + 1] - small.offsets[detail]
            )
        return self.intern(kind, detail, source.values.data, start, n)

    def forget_index(self) -> None:
        """Free the memory that only interning needs. No term can be interned afterwards."""
        if cython.compiled:
            self._slots = memoryview(bytearray(8)).cast("q")
        else:
            self._index = {}

    def buffers(self) -> tuple[memoryview, memoryview, memoryview]:
        """Return the kinds, the details and the quoted triples, without reserved space."""
        return (
            memoryview(self.kinds)[: self.count],
            memoryview(self.details)[: self.count],
            memoryview(self.quoted)[: 3 * self.quoted_count],
        )


@cython.final
@cython.cclass
class BatchBuilder:
    """The columns of the batch that is being made, and its terms."""

    __slots__ = ("_capacity", "_memory", "g", "has_graph", "o", "p", "rows", "s", "terms")

    def __init__(
        self,
        has_graph: cython.bint,
        rows: cython.Py_ssize_t = 16,
        terms: TermTable | None = None,
        memory: Memory | None = None,
    ):
        self._memory = Memory() if memory is None else memory
        rows = max(rows, 16)
        self.has_graph = has_graph
        self.rows = 0
        self._capacity = rows
        self.s = self._memory.unset_ints(rows)
        self.p = self._memory.unset_ints(rows)
        self.o = self._memory.unset_ints(rows)
        self.g = self._memory.unset_ints(rows if has_graph else 0)
        self.terms = TermTable(memory=self._memory) if terms is None else terms

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_row(self, s: cython.int, p: cython.int, o: cython.int, g: cython.int) -> cython.int:
        row: cython.Py_ssize_t = self.rows
        if row >= self._capacity:
            self._grow_rows()
        self.s[row] = s
        self.p[row] = p
        self.o[row] = o
        if self.has_graph:
            self.g[row] = g
        self.rows = row + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow_rows(self) -> cython.int:
        self._capacity *= 2
        self.s = self._memory.more_ints(self.s, self.rows, self._capacity)
        self.p = self._memory.more_ints(self.p, self.rows, self._capacity)
        self.o = self._memory.more_ints(self.o, self.rows, self._capacity)
        if self.has_graph:
            self.g = self._memory.more_ints(self.g, self.rows, self._capacity)
        return 0

    def columns(self) -> tuple[memoryview, memoryview, memoryview, memoryview | None]:
        """Return s, p, o and g of the rows so far; g is None if statements have no graph."""
        return (
            memoryview(self.s)[: self.rows],
            memoryview(self.p)[: self.rows],
            memoryview(self.o)[: self.rows],
            memoryview(self.g)[: self.rows] if self.has_graph else None,
        )

    def keep_rows(self, rows: cython.Py_ssize_t) -> None:
        """Drop all rows but the first `rows`."""
        self.rows = min(self.rows, rows)
