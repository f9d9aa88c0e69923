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
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.errors import TableError, shortened
from jellyframe.kernel.columns_cy import first_unclear_iri, kinds_used
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.kernel.table_cy import StringTable

POSITIONS = ("s", "p", "o", "g")
FRAME_COLUMN = "frame"
KIND_NAMES = {
    KIND_IRI: "iri",
    KIND_BLANK_NODE: "bnode",
    KIND_LITERAL: "literal",
    KIND_LANG_LITERAL: "literal",
    KIND_TYPED_LITERAL: "literal",
    KIND_QUOTED_TRIPLE: "triple",
}
TERM_STRUCT = pa.struct([(name, pa.string()) for name in ("kind", "value", "datatype", "lang")])

_NAMES_BY_KIND = pa.array([KIND_NAMES.get(kind) for kind in range(KIND_DEFAULT_GRAPH + 1)])


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


def string_array(strings: StringTable) -> pa.Array:
    """A table of strings as an Arrow array over the same memory."""
    offsets, data = strings.buffers()
    return pa.StringArray.from_buffers(strings.count, pa.py_buffer(offsets), pa.py_buffer(data))


def _int_array(kind: pa.DataType, values: memoryview) -> pa.Array:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _take(terms: pa.Array, rows: pa.Array) -> pa.Array:
    """What some rows refer to. That they do refer to terms `kinds_used` has looked at, so it is not checked again."""
    return pc.take(terms, rows, boundscheck=False)


class BatchArrays:
    """A batch as Arrow arrays: its terms, and its columns as indices into them. What is not asked for is not made."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._kinds_in: dict[str, frozenset[int]] = {}
        kinds, details, _ = batch.terms.buffers()
        self._kinds = _int_array(pa.uint8(), kinds)
        self._details = _int_array(pa.int32(), details)

    def __len__(self) -> int:
        return len(self._batch)

    # ---- terms ----------------------------------------------------------------------------------------
    def _is(self, kind: int) -> pa.Array:
        return pc.equal(self._kinds, pa.scalar(kind, pa.uint8()))

    @cached_property
    def values(self) -> pa.Array:
        return string_array(self._batch.terms.values)

    @cached_property
    def texts(self) -> pa.Array:
        """Each term in N-Triples syntax."""
        from jellyframe.kernel.ntriples_write_cy import term_strings

        return string_array(term_strings(self._batch.terms))

    @cached_property
    def values_and_quoted(self) -> pa.Array:
        """The values, and of quoted triples the text."""
        return pc.if_else(self._is(KIND_QUOTED_TRIPLE), self.texts, self.values)

    @cached_property
    def plain_texts(self) -> pa.Array:
        """IRIs as they are, and other terms in N-Triples syntax."""
        return pc.if_else(self._is(KIND_IRI), self.values, self.texts)

    def _details_of(self, kind: int) -> pa.Array:
        return pc.if_else(self._is(kind), self._details, pa.scalar(None, pa.int32()))

    @cached_property
    def _datatype_rows(self) -> pa.Array:
        return self._details_of(KIND_TYPED_LITERAL)

    @cached_property
    def _language_rows(self) -> pa.Array:
        return self._details_of(KIND_LANG_LITERAL)

    @cached_property
    def _datatypes(self) -> pa.Array:
        return string_array(self._batch.terms.datatypes)

    @cached_property
    def _languages(self) -> pa.Array:
        return string_array(self._batch.terms.languages)

    def require_clear_iris(self) -> None:
        """Raise if an IRI could not be told from another kind of term where only its string is shown."""
        term = first_unclear_iri(self._batch.terms)
        if term >= 0:
            raise TableError(
                f"the IRI {shortened(self.values[term].as_py())} would not be taken for one in the layout 'flat', "
                'where strings that begin with _:, " or << are other terms; use another layout'
            )

    # ---- rows -----------------------------------------------------------------------------------------
    def rows(self, position: str) -> pa.Array:
        """The terms of a position as indices; null for the default graph."""
        indices = _int_array(pa.int32(), getattr(self._batch, position))
        if KIND_DEFAULT_GRAPH in self.kinds_in(position):
            is_default = pc.equal(_take(self._kinds, indices), pa.scalar(KIND_DEFAULT_GRAPH, pa.uint8()))
            return pc.if_else(is_default, pa.scalar(None, pa.int32()), indices)
        return indices

    def kinds_in(self, position: str) -> frozenset[int]:
        """The kinds of term that a position has."""
        kinds = self._kinds_in.get(position)
        if kinds is None:
            used = kinds_used(getattr(self._batch, position), self._batch.terms)
            kinds = frozenset(kind for kind in range(KIND_DEFAULT_GRAPH + 1) if used >> kind & 1)
            self._kinds_in[position] = kinds
        return kinds

    def kind_names(self, position: str, rows: pa.Array) -> pa.Array:
        names = {KIND_NAMES.get(kind) for kind in self.kinds_in(position)}
        if len(names) == 1:
            return _REPEATED.get(names.pop(), len(rows))
        return _NAMES_BY_KIND.take(_take(self._kinds, rows))

    def shown_values(self, position: str, rows: pa.Array) -> pa.Array:
        has_quoted = KIND_QUOTED_TRIPLE in self.kinds_in(position)
        return _take(self.values_and_quoted if has_quoted else self.values, rows)

    def datatypes(self, position: str, rows: pa.Array) -> pa.Array:
        if KIND_TYPED_LITERAL not in self.kinds_in(position):
            return _REPEATED.get(None, len(rows))
        return self._datatypes.take(_take(self._datatype_rows, rows))

    def languages(self, position: str, rows: pa.Array) -> pa.Array:
        if KIND_LANG_LITERAL not in self.kinds_in(position):
            return _REPEATED.get(None, len(rows))
        return self._languages.take(_take(self._language_rows, rows))

    def frame_numbers(self) -> pa.Array:
        """The number of each row's frame."""
        spans = [span for span in self._batch.frame_spans() if span.stop > span.start]
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
        rows = arrays.rows(position)
        return pa.StructArray.from_arrays(
            [
                arrays.kind_names(position, rows),
                arrays.shown_values(position, rows),
                arrays.datatypes(position, rows),
                arrays.languages(position, rows),
            ],
            fields=list(TERM_STRUCT),
            mask=rows.is_null() if rows.null_count else None,
        )


class NTriplesLayout(Layout):
    name = "ntriples"

    def fields(self, position: str) -> list[pa.Field]:
        return [pa.field(position, pa.string())]

    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        return _take(arrays.texts, arrays.rows(position))


class FlatLayout(Layout):
    name = "flat"

    def fields(self, position: str) -> list[pa.Field]:
        names = ["o", "o_kind", "o_datatype", "o_lang"] if position == "o" else [position]
        return [pa.field(name, pa.string()) for name in names]

    def column(self, arrays: BatchArrays, position: str, name: str) -> pa.Array:
        rows = arrays.rows(position)
        if name == "o_kind":
            return arrays.kind_names(position, rows)
        if name == "o_datatype":
            return arrays.datatypes(position, rows)
        if name == "o_lang":
            return arrays.languages(position, rows)
        if name == "o":
            return arrays.shown_values(position, rows)
        arrays.require_clear_iris()
        only_iris = arrays.kinds_in(position) <= {KIND_IRI, KIND_DEFAULT_GRAPH}
        return _take(arrays.values if only_iris else arrays.plain_texts, rows)


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
        arrays = BatchArrays(batch)
        columns = [self._column(arrays, batch, name, position) for name, position in self._columns]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, arrays: BatchArrays, batch: Batch, name: str, position: str) -> pa.Array:
        if position == FRAME_COLUMN:
            return arrays.frame_numbers()
        if position == "g" and not batch.has_graph:
            return pa.nulls(len(batch), self.schema.field(name).type)
        return self._layout.column(arrays, position, name)
