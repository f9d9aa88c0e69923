"""How statements lie in Arrow columns: the layouts, their schemas, and batches as columns of each.

A layout says for each position of a statement (`s`, `p`, `o`, `g`) what columns show its term.

| layout | columns | a term is |
| --- | --- | --- |
| `struct` | s, p, o, g | struct<kind, value, datatype, lang> |
| `ntriples` | s, p, o, g | a string in N-Triples syntax |
| `flat` | s, p, o, o_kind, o_datatype, o_lang, g | a plain string; what `o` is, the columns beside it tell |

`kind` is "iri", "bnode", "literal" or "triple"; `value` the IRI, the label without `_:`, the lexical form, or the text
`<< … >>` of a quoted triple. `datatype` is null for simple literals and those with a language. In `flat`, `s`, `p` and
`g` hold IRIs as they are, blank nodes as `_:label`, and what else there may be in N-Triples syntax.

The default graph is a null in `g`. All strings are plain `string`, and every field may be null as far as the schema
goes, which is what engines such as Spark declare; but only `g`, datatypes and languages ever are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.memory import ColumnMemory
from jellyframe.errors import TableError, shortened
from jellyframe.kernel.columns_cy import first_unclear_iri, kinds_used
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

POSITIONS = ("s", "p", "o", "g")
FRAME_COLUMN = "frame"
METADATA_COLUMN = "metadata"
KIND_NAMES = {
    KIND_IRI: "iri",
    KIND_BLANK_NODE: "bnode",
    KIND_LITERAL: "literal",
    KIND_LANG_LITERAL: "literal",
    KIND_TYPED_LITERAL: "literal",
    KIND_QUOTED_TRIPLE: "triple",
}
TERM_STRUCT = pa.struct([(name, pa.string()) for name in ("kind", "value", "datatype", "lang")])


class _RepeatedStrings:
    """Columns of one string again and again, or of nulls. They are cut from one array, so that they cost nothing."""

    def __init__(self) -> None:
        self._arrays: dict[str | None, pa.Array] = {}

    def get(self, value: str | None, n: int) -> pa.Array:
        array = self._arrays.get(value)
        if array is None or len(array) < n:
            array = self._arrays[value] = pa.repeat(pa.scalar(value, pa.string()), n)
        return array.slice(0, n)


_REPEATED = _RepeatedStrings()

_MEMORY = ColumnMemory()


def string_array(strings: StringTable) -> pa.Array:
    """A table of strings as an Arrow array over the same memory."""
    offsets, data = strings.buffers()
    return pa.StringArray.from_buffers(strings.count, pa.py_buffer(offsets), pa.py_buffer(data))


class Strings(NamedTuple):
    """A table of strings as the kernel reads it."""

    offsets: memoryview
    data: memoryview

    def with_room(self) -> Strings:
        """A copy with some bytes behind the last string. Short strings are copied in long steps, if there is room."""
        return Strings(self.offsets, memoryview(bytes(self.data) + bytes(64)))


# The names of kinds by their numbers, as eight bytes, and how many of these count. The default graph has no name.
_KINDS = [KIND_NAMES.get(kind, "").encode() for kind in range(KIND_DEFAULT_GRAPH + 1)]
_KIND_WORDS = memoryview(b"".join(name.ljust(8) for name in _KINDS)).cast("Q")
_KIND_LENGTHS = memoryview(array("i", map(len, _KINDS)))


def _set_bits(n: int) -> memoryview:
    """A bitmap of at least `n` bits, all of them set."""
    return memoryview(bytearray(b"\xff") * ((n + 7) // 8))


def _buffer(bits: memoryview | None) -> pa.Buffer | None:
    return None if bits is None else pa.py_buffer(bits)


class _StringColumn:
    """A column of strings that is being made: the offsets first, and then, when their size is known, the bytes."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._offsets_size = 4 * (rows + 1)
        self._offsets = _MEMORY.column(self._offsets_size)
        self.offsets = self._offsets.view[: self._offsets_size].cast("i")

    def bytes(self, size: int) -> memoryview:
        self._bytes = _MEMORY.column(size)
        return self._bytes.view

    def array(self, size: int, valid: memoryview | None = None, nulls: int = 0) -> pa.Array:
        offsets, data = self._offsets.buffer(self._offsets_size), self._bytes.buffer(size)
        return pa.StringArray.from_buffers(self._rows, offsets, data, _buffer(valid), nulls)


class BatchArrays:
    """A batch as Arrow arrays of its positions. What is not asked for is not made."""

    def __init__(self, batch: Batch, memory: Memory) -> None:
        self._batch = batch
        self._memory = memory
        self._kinds_in: dict[str, frozenset[int]] = {}
        self._kinds, self._details, _ = batch.terms.buffers()

    def __len__(self) -> int:
        return len(self._batch)

    # ---- terms ----------------------------------------------------------------------------------------
    @cached_property
    def values(self) -> Strings:
        return Strings(*self._batch.terms.values.buffers())

    def _texts(self, plain_kinds: int) -> Strings:
        """Each term in N-Triples syntax, or its value alone if its kind is a bit of `plain_kinds`."""
        from jellyframe.kernel.ntriples_write_cy import term_strings

        return Strings(*term_strings(self._batch.terms, self._memory, plain_kinds).buffers())

    @cached_property
    def texts(self) -> Strings:
        """Each term in N-Triples syntax."""
        return self._texts(0)

    @cached_property
    def values_and_quoted(self) -> Strings:
        """The values, and of quoted triples the text."""
        return self._texts(~(1 << KIND_QUOTED_TRIPLE))

    @cached_property
    def plain_texts(self) -> Strings:
        """IRIs as they are, and other terms in N-Triples syntax."""
        return self._texts(1 << KIND_IRI)

    def require_clear_iris(self) -> None:
        """Raise if an IRI could not be told from another kind of term where only its string is shown."""
        term = first_unclear_iri(self._batch.terms)
        if term >= 0:
            raise TableError(
                f"the IRI {shortened(self._batch.terms.values.string(term))} would not be taken for one in the layout "
                "'flat', where strings that begin with _:, \" or << are other terms; use another layout"
            )

    # ---- rows -----------------------------------------------------------------------------------------
    def rows(self, position: str) -> memoryview:
        """The terms of a position, as their numbers."""
        rows: memoryview = getattr(self._batch, position)
        return rows

    def validity(self, position: str) -> tuple[memoryview | None, int]:
        """Which rows are not the default graph, as a bitmap, and how many are; no bitmap if there are none."""
        if KIND_DEFAULT_GRAPH not in self.kinds_in(position):
            return None, 0
        valid = _set_bits(len(self))
        nulls = clear_default_graphs(self.rows(position), self._kinds, valid)
        return valid, nulls

    def kinds_in(self, position: str) -> frozenset[int]:
        """The kinds of term that a position has. All that the rows refer to is there: that is looked at, too."""
        kinds = self._kinds_in.get(position)
        if kinds is None:
            used = kinds_used(self.rows(position), self._batch.terms)
            kinds = frozenset(kind for kind in range(KIND_DEFAULT_GRAPH + 1) if used >> kind & 1)
            self._kinds_in[position] = kinds
        return kinds

    def strings(self, position: str, strings: Strings) -> pa.Array:
        """The string of each row's term; null for the default graph."""
        return self._gathered(strings, self.rows(position), *self.validity(position))

    def all_strings(self, position: str, strings: Strings) -> pa.Array:
        """The same for a column inside one that is null there: what lies behind a null is never seen."""
        return self._gathered(strings, self.rows(position))

    @staticmethod
    def _gathered(strings: Strings, rows: memoryview, valid: memoryview | None = None, nulls: int = 0) -> pa.Array:
        """The column that has, row by row, the string with that number."""
        column = _StringColumn(len(rows))
        size = gather_offsets(rows, strings.offsets, column.offsets)
        gather_bytes(rows, strings.offsets, strings.data, column.bytes(size))
        return column.array(size, valid, nulls)

    def kind_names(self, position: str) -> pa.Array:
        names = {KIND_NAMES.get(kind) for kind in self.kinds_in(position)}
        if len(names) == 1:
            return _REPEATED.get(names.pop(), len(self))
        column = _StringColumn(len(self))
        data = column.bytes(8 * len(self))
        size = gather_kinds(self.rows(position), self._kinds, _KIND_WORDS, _KIND_LENGTHS, column.offsets, data)
        return column.array(size)

    def shown_values(self, position: str) -> Strings:
        has_quoted = KIND_QUOTED_TRIPLE in self.kinds_in(position)
        return self.values_and_quoted if has_quoted else self.values

    def datatypes(self, position: str) -> pa.Array:
        return self._details_of(position, KIND_TYPED_LITERAL, self._batch.terms.datatypes)

    def languages(self, position: str) -> pa.Array:
        return self._details_of(position, KIND_LANG_LITERAL, self._batch.terms.languages)

    def _details_of(self, position: str, kind: int, table: StringTable) -> pa.Array:
        """What the details of the terms of a kind refer to; null for terms of other kinds."""
        if kind not in self.kinds_in(position):
            return _REPEATED.get(None, len(self))
        rows, strings = self.rows(position), Strings(*table.buffers()).with_room()
        column, valid = _StringColumn(len(self)), _set_bits(len(self))
        size, nulls = detail_offsets(rows, self._kinds, self._details, kind, strings.offsets, column.offsets, valid)
        detail_bytes(rows, self._details, *strings, column.offsets, column.bytes(size))
        return column.array(size, valid, nulls)


def frame_numbers(batch: Batch) -> pa.Array:
    """The number of each row's frame."""
    spans = [span for span in batch.frame_spans() if span.stop > span.start]
    if not spans:
        return pa.array([], pa.int64())
    ends = pa.array([span.stop for span in spans], pa.int32())
    numbers = pa.array([span.number for span in spans], pa.int64())
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, numbers))


class Layout(ABC):
    """A way to show the terms of statements in columns."""

    name: ClassVar[str]

    @abstractmethod
    def fields(self, position: str) -> list[pa.Field]:
        """The columns that show a position."""

    @abstractmethod
    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        """One of these columns."""


class StructLayout(Layout):
    name = "struct"

    def fields(self, position: str) -> list[pa.Field]:
        return [pa.field(position, TERM_STRUCT)]

    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        valid, nulls = arrays.validity(position)
        parts = [
            arrays.kind_names(position),
            arrays.all_strings(position, arrays.shown_values(position)),
            arrays.datatypes(position),
            arrays.languages(position),
        ]
        return pa.Array.from_buffers(TERM_STRUCT, len(arrays), [_buffer(valid)], nulls, children=parts)


class NTriplesLayout(Layout):
    name = "ntriples"

    def fields(self, position: str) -> list[pa.Field]:
        return [pa.field(position, pa.string())]

    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        return arrays.strings(position, arrays.texts)


class FlatLayout(Layout):
    name = "flat"

    def fields(self, position: str) -> list[pa.Field]:
        names = ["o", "o_kind", "o_datatype", "o_lang"] if position == "o" else [position]
        return [pa.field(name, pa.string()) for name in names]

    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        if name == "o_kind":
            return arrays.kind_names(position)
        if name == "o_datatype":
            return arrays.datatypes(position)
        if name == "o_lang":
            return arrays.languages(position)
        if name == "o":
            return arrays.strings(position, arrays.shown_values(position))
        arrays.require_clear_iris()
        only_iris = arrays.kinds_in(position) <= {KIND_IRI, KIND_DEFAULT_GRAPH}
        return arrays.strings(position, arrays.values if only_iris else arrays.plain_texts)


LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in (StructLayout(), NTriplesLayout(), FlatLayout())}


def get_layout(name: str) -> Layout:
    layout = LAYOUTS.get(name)
    if layout is None:
        raise TableError(f"there is no layout {name!r}: the layouts are {', '.join(LAYOUTS)}")
    return layout


class ArrowView:
    """Batches as record batches of one schema: a layout, with or without graphs, and some or all of its columns."""

    def __init__(
        self, layout: str, has_graph: bool, *, frame_column: bool = False, columns: Sequence[str] | None = None
    ) -> None:
        self._layout = get_layout(layout)
        self._memory = Memory()
        self._has_graph = has_graph
        positions = POSITIONS if has_graph else POSITIONS[:3]
        fields = {field.name: (position, field) for position in positions for field in self._layout.fields(position)}
        if frame_column:
            fields[FRAME_COLUMN] = (FRAME_COLUMN, pa.field(FRAME_COLUMN, pa.int64()))
        names = list(fields) if columns is None else list(columns)
        if not names:
            raise TableError("no columns are asked for; a table without columns has no rows")
        for name in names:
            if name not in fields:
                raise TableError(f"there is no column {name!r} here: the columns are {', '.join(fields)}")
        self._columns = [(name, fields[name][0]) for name in names]
        self.schema = pa.schema([fields[name][1] for name in names])

    def convert(self, batch: Batch) -> pa.RecordBatch:
        if batch.has_graph and not self._has_graph:
            raise TableError("a stream of quads follows one of triples: they do not go in one table; read batches")
        arrays = BatchArrays(batch, self._memory)
        columns = [self._column(arrays, batch, name, position) for name, position in self._columns]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, arrays: BatchArrays, batch: Batch, name: str, position: str) -> pa.Array:
        if position == FRAME_COLUMN:
            return frame_numbers(batch)
        if position == "g" and not batch.has_graph:
            return pa.nulls(len(batch), self.schema.field(name).type)
        return self._layout.column(arrays, position, name)
