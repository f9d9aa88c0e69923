"""A batch as Arrow arrays of its positions: the strings of terms, their kinds, datatypes and languages.

Plain columns repeat the string of a term in every row that has it. Dictionary-encoded ones are the integers of the
batch, over its own term table.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.memory import new_column
from jellyframe.errors import TableError, shortened
from jellyframe.kernel.columns_cy import first_ambiguous_iri, kinds_used
from jellyframe.kernel.gather_cy import (
    clear_default_graphs,
    detail_bytes,
    detail_offsets,
    gather_bytes,
    gather_kinds,
    gather_offsets,
)
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)
from jellyframe.kernel.memory_cy import Memory

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.kernel.table_cy import StringTable

KIND_NAMES = {
    KIND_IRI: "iri",
    KIND_BLANK_NODE: "bnode",
    KIND_LITERAL: "literal",
    KIND_LANG_LITERAL: "literal",
    KIND_TYPED_LITERAL: "literal",
    KIND_QUOTED_TRIPLE: "triple",
}


# Bytes that are copied at a time for short strings, where there is room after them.
_ROOM_BYTES = 64


class _RepeatedStrings:
    """Columns that repeat one string, or nulls. They are slices of one array, so that they cost nothing."""

    def __init__(self) -> None:
        self._arrays: dict[str | None, pa.Array] = {}

    def get(self, value: str | None, n: int) -> pa.Array:
        array = self._arrays.get(value)
        if array is None or len(array) < n:
            array = self._arrays[value] = pa.repeat(pa.scalar(value, pa.string()), n)
        return array.slice(0, n)


_REPEATED = _RepeatedStrings()


class Strings(NamedTuple):
    """A table of strings as the kernel reads it."""

    offsets: memoryview
    data: memoryview

    def with_room(self) -> Strings:
        """Return a copy with room after the last string, as short strings are copied in long steps."""
        return Strings(self.offsets, memoryview(bytes(self.data) + bytes(_ROOM_BYTES)))


# The name of each kind as eight bytes, and its length. The default graph has no name.
_KINDS = [KIND_NAMES.get(kind, "").encode() for kind in range(KIND_DEFAULT_GRAPH + 1)]
_KIND_WORDS = memoryview(b"".join(name.ljust(8) for name in _KINDS)).cast("Q")
_KIND_LENGTHS = memoryview(array("i", map(len, _KINDS)))


# For dictionaries: the names, and the index of each kind's name.
_KIND_DICTIONARY = pa.array(dict.fromkeys(KIND_NAMES.values()), pa.string())
_KIND_INDICES = pa.array(
    [_KIND_DICTIONARY.index(KIND_NAMES.get(kind, "iri")).as_py() for kind in range(KIND_DEFAULT_GRAPH + 1)], pa.int32()
)


def _set_bits(n: int) -> memoryview:
    """Return a bitmap of at least `n` bits, all of them set."""
    return memoryview(bytearray(b"\xff") * ((n + 7) // 8))


def validity_buffer(bits: memoryview | None) -> pa.Buffer | None:
    return None if bits is None else pa.py_buffer(bits)


def _string_array(strings: Strings) -> pa.Array:
    """Return a table of strings as an Arrow array over the same memory."""
    offsets, data = strings
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def string_array(strings: StringTable) -> pa.Array:
    """Return a table of strings as an Arrow array over the same memory."""
    return _string_array(Strings(*strings.buffers()))


class _StringColumn:
    """A column of strings that is being made: the offsets first, and then, when their size is known, the bytes."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._offsets = new_column(4 * (rows + 1))
        self.offsets = self._offsets.view[: 4 * (rows + 1)].cast("i")

    def bytes(self, size: int) -> memoryview:
        """Return memory for `size` bytes, and a little more: short strings are copied in long steps."""
        self._bytes = new_column(size + _ROOM_BYTES)
        return self._bytes.view

    def array(self, size: int, valid: memoryview | None = None, nulls: int = 0) -> pa.Array:
        offsets = self._offsets.buffer(4 * (self._rows + 1))
        return pa.StringArray.from_buffers(self._rows, offsets, self._bytes.buffer(size), validity_buffer(valid), nulls)


class TermStrings:
    """The terms of a batch as strings, in the forms that layouts show. Each is made when it is first used."""

    def __init__(self, batch: Batch, memory: Memory) -> None:
        self.terms = batch.terms
        self._columns = batch.columns
        self._memory = memory
        self._dictionaries: dict[int, _Dictionary] = {}

    @cached_property
    def values(self) -> Strings:
        return Strings(*self.terms.values.buffers())

    def _texts(self, plain_kinds: int) -> Strings:
        """Each term in N-Triples syntax, or its value alone if its kind is a bit of `plain_kinds`."""
        from jellyframe.kernel.ntriples_write_cy import term_strings

        return Strings(*term_strings(self.terms, self._memory, plain_kinds, columns=self._columns).buffers())

    @cached_property
    def texts(self) -> Strings:
        """Each term in N-Triples syntax."""
        return self._texts(0)

    @cached_property
    def values_and_quoted(self) -> Strings:
        """The values of terms, and the texts of quoted triples."""
        return self._texts(~(1 << KIND_QUOTED_TRIPLE))

    @cached_property
    def plain_texts(self) -> Strings:
        """IRIs as they are, and other terms in N-Triples syntax."""
        return self._texts(1 << KIND_IRI)

    @cached_property
    def datatypes(self) -> Strings:
        return Strings(*self.terms.datatypes.buffers())

    @cached_property
    def languages(self) -> Strings:
        return Strings(*self.terms.languages.buffers())

    def dictionary(self, strings: Strings) -> _Dictionary:
        """Return one of these tables as a dictionary, which columns of the same table share."""
        known = self._dictionaries.get(id(strings))
        if known is None:
            known = self._dictionaries[id(strings)] = _Dictionary.of(strings)
        return known

    def require_unambiguous_iris(self) -> None:
        """Raise if the string of an IRI would stand for another kind of term."""
        term = first_ambiguous_iri(self.terms)
        if term >= 0:
            raise TableError(
                f"the IRI {shortened(self.terms.values.string(term))} would not be taken for one in the layout "
                "'flat', where strings that begin with _:, \" or << are other terms; use another layout"
            )


class _Dictionary(NamedTuple):
    """Distinct strings, and for each string of a table its index among them; None if they are the table itself."""

    strings: pa.Array
    indices: pa.Array | None

    @classmethod
    def of(cls, strings: Strings) -> _Dictionary:
        array = _string_array(strings)
        encoded = array.dictionary_encode()
        if len(encoded.dictionary) == len(array):
            return cls(array, None)
        return cls(encoded.dictionary, encoded.indices)


class BatchColumns:
    """A batch as Arrow arrays of its positions, with a string in every row."""

    string_type = pa.string()

    def __init__(self, batch: Batch, terms: TermStrings) -> None:
        self._batch = batch
        self.terms = terms
        self._kinds_in: dict[str, frozenset[int]] = {}
        self._kinds, self._details, _ = batch.terms.buffers()

    def __len__(self) -> int:
        return len(self._batch)

    # ---- rows -----------------------------------------------------------------------------------------
    def rows(self, position: str) -> memoryview:
        """Return the terms of a position, as their numbers."""
        rows: memoryview = getattr(self._batch, position)
        return rows

    def validity(self, position: str) -> tuple[memoryview | None, int]:
        """Return a bitmap of the rows that are not the default graph, and how many are; no bitmap if none is."""
        if KIND_DEFAULT_GRAPH not in self.kinds_in(position):
            return None, 0
        valid = _set_bits(len(self))
        nulls = clear_default_graphs(self.rows(position), self._kinds, valid)
        return valid, nulls

    def kinds_in(self, position: str) -> frozenset[int]:
        """Return the kinds of term that a position has. Raises IndexError if a row refers to an unknown term."""
        kinds = self._kinds_in.get(position)
        if kinds is None:
            used = kinds_used(self.rows(position), self._batch.terms)
            kinds = frozenset(kind for kind in range(KIND_DEFAULT_GRAPH + 1) if used >> kind & 1)
            self._kinds_in[position] = kinds
        return kinds

    def strings(self, position: str, strings: Strings) -> pa.Array:
        """Return the string of each row's term; null for the default graph."""
        return self._gathered(strings, self.rows(position), *self.validity(position))

    def all_strings(self, position: str, strings: Strings) -> pa.Array:
        """Return the same without nulls, for a child of a nullable column: values under a null parent do not show."""
        return self._gathered(strings, self.rows(position), None, 0)

    def _gathered(self, strings: Strings, rows: memoryview, valid: memoryview | None, nulls: int) -> pa.Array:
        """Return a column with the strings whose numbers are given."""
        column = _StringColumn(len(rows))
        size = gather_offsets(rows, strings.offsets, column.offsets)
        gather_bytes(rows, strings.offsets, strings.data, column.bytes(size))
        return column.array(size, valid, nulls)

    def kind_names(self, position: str) -> pa.Array:
        """Return the name of the kind of each row's term."""
        names = {KIND_NAMES.get(kind) for kind in self.kinds_in(position)}
        if len(names) == 1:
            return _REPEATED.get(names.pop(), len(self))
        column = _StringColumn(len(self))
        data = column.bytes(8 * len(self))
        size = gather_kinds(self.rows(position), self._kinds, _KIND_WORDS, _KIND_LENGTHS, column.offsets, data)
        return column.array(size)

    def kind_names_or_null(self, position: str) -> pa.Array:
        """Return the same, but null for the default graph."""
        names = self.kind_names(position)
        valid, nulls = self.validity(position)
        if not nulls:
            return names
        is_term = pa.Array.from_buffers(pa.bool_(), len(self), [None, validity_buffer(valid)])
        if pa.types.is_dictionary(names.type):
            indices = pc.if_else(is_term, names.indices, pa.scalar(None, names.indices.type))
            return pa.DictionaryArray.from_arrays(indices, names.dictionary)
        return pc.if_else(is_term, names, pa.scalar(None, names.type))

    def shown_values(self, position: str) -> Strings:
        """Return the values of terms, with texts for quoted triples if the position has any."""
        has_quoted = KIND_QUOTED_TRIPLE in self.kinds_in(position)
        return self.terms.values_and_quoted if has_quoted else self.terms.values

    def datatypes(self, position: str) -> pa.Array:
        """Return the datatype of each row's term; null for terms without one, and for simple literals."""
        return self._details_of(position, KIND_TYPED_LITERAL, self.terms.datatypes)

    def languages(self, position: str) -> pa.Array:
        """Return the language of each row's term; null for terms without one."""
        return self._details_of(position, KIND_LANG_LITERAL, self.terms.languages)

    def _details_of(self, position: str, kind: int, strings: Strings) -> pa.Array:
        """Return the detail strings of the terms of one kind; null for terms of other kinds."""
        if kind not in self.kinds_in(position):
            return _REPEATED.get(None, len(self))
        rows, strings = self.rows(position), strings.with_room()
        column, valid = _StringColumn(len(self)), _set_bits(len(self))
        size, nulls = detail_offsets(rows, self._kinds, self._details, kind, strings.offsets, column.offsets, valid)
        detail_bytes(rows, self._details, *strings, column.offsets, column.bytes(size))
        return column.array(size, valid, nulls)


class DictionaryColumns(BatchColumns):
    """A batch as Arrow arrays of its positions, with dictionary-encoded strings.

    The dictionaries are the term table of the batch: strings are made once per term, not once per row.
    """

    string_type = pa.dictionary(pa.int32(), pa.string())

    def _gathered(self, strings: Strings, rows: memoryview, valid: memoryview | None, nulls: int) -> pa.Array:
        return self._encoded(strings, _int_array(rows, valid, nulls))

    def _encoded(self, strings: Strings, indices: pa.Array) -> pa.Array:
        dictionary = self.terms.dictionary(strings)
        if dictionary.indices is not None:
            indices = dictionary.indices.take(indices)
        # Not checked again: `kinds_in` has checked that all rows refer to terms of the table.
        return pa.DictionaryArray.from_arrays(indices, dictionary.strings, safe=False)

    def kind_names(self, position: str) -> pa.Array:
        codes = pa.Array.from_buffers(pa.uint8(), len(self._kinds), [None, pa.py_buffer(self._kinds)])
        indices = _KIND_INDICES.take(codes.take(_int_array(self.rows(position))))
        return pa.DictionaryArray.from_arrays(indices, _KIND_DICTIONARY, safe=False)

    def _details_of(self, position: str, kind: int, strings: Strings) -> pa.Array:
        if kind not in self.kinds_in(position):
            return pa.nulls(len(self), self.string_type)
        kinds = pa.Array.from_buffers(pa.uint8(), len(self._kinds), [None, pa.py_buffer(self._kinds)])
        is_kind = pc.equal(kinds, pa.scalar(kind, pa.uint8()))
        details = pc.if_else(is_kind, _int_array(self._details), pa.scalar(None, pa.int32()))
        return self._encoded(strings, details.take(_int_array(self.rows(position))))


def _int_array(values: memoryview, valid: memoryview | None = None, nulls: int = 0) -> pa.Array:
    """Return 32-bit integers as an Arrow array over the same memory."""
    return pa.Array.from_buffers(pa.int32(), len(values), [validity_buffer(valid), pa.py_buffer(values)], nulls)


def frame_numbers(batch: Batch) -> pa.Array:
    """Return the number of each row's frame."""
    spans = [span for span in batch.frame_spans() if span.stop > span.start]
    if not spans:
        return pa.array([], pa.int64())
    ends = pa.array([span.stop for span in spans], pa.int32())
    numbers = pa.array([span.number for span in spans], pa.int64())
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, numbers))
