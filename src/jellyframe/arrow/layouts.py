"""The layouts of statements in Arrow columns: their schemas, and batches as columns of each.

A layout says for each position of a statement (`s`, `p`, `o`, `g`) which columns show its term.

| layout | columns | a term is |
| --- | --- | --- |
| `struct` | s, p, o, g | struct<kind, value, datatype, lang> |
| `ntriples` | s, p, o, g | a string in N-Triples syntax |
| `flat` | s, p, o, o_kind, o_datatype, o_lang, g | a plain string; the columns next to `o` tell its kind |

`kind` is "iri", "bnode", "literal" or "triple"; `value` the IRI, the label without `_:`, the lexical form, or the text
`<< … >>` of a quoted triple. `datatype` is null for simple literals and those with a language. In `flat`, `s`, `p` and
`g` hold IRIs as they are, blank nodes as `_:label`, and other terms in N-Triples syntax.

The default graph is a null in `g`. All strings are plain `string`, or dictionary-encoded on request. All fields are
nullable in the schema, as engines such as Spark declare them, but only `g`, datatypes and languages are ever null.

The table of a patch has a column `op` in front: `A`, `D`, `PA`, `PD`, `TX`, `TC`, `TA` and `H` as in RDF Patch, and `P`
for the end of a patch. There the name of a namespace and the key of a header are literals in `s`, the IRI and the value
are in `o`, and any column is null where the row has no term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from jellyframe.arrow.columns import (
    KIND_NAMES,
    BatchColumns,
    DictionaryColumns,
    TermStrings,
    frame_numbers,
    string_array,
    validity_buffer,
)
from jellyframe.arrow.operations import OP_COLUMN, operation_names
from jellyframe.batch import BATCH_BYTES
from jellyframe.batch.batch import POSITIONS
from jellyframe.errors import TableError
from jellyframe.kernel.gather_cy import cut_rows
from jellyframe.kernel.kinds import KIND_DEFAULT_GRAPH, KIND_IRI
from jellyframe.kernel.memory_cy import Memory
from jellyframe.options import LayoutName

if TYPE_CHECKING:
    from jellyframe.batch import Batch

__all__ = [
    "FRAME_COLUMN",
    "KIND_NAMES",
    "LAYOUTS",
    "METADATA_COLUMN",
    "POSITIONS",
    "TERM_STRUCT",
    "ArrowView",
    "Layout",
    "frame_numbers",
    "get_layout",
    "string_array",
]

FRAME_COLUMN = "frame"
METADATA_COLUMN = "metadata"


def term_struct(string: pa.DataType) -> pa.DataType:
    """Return the type of terms in the layout `struct`, with strings of the given type."""
    return pa.struct([(name, string) for name in ("kind", "value", "datatype", "lang")])


_STRING = pa.string()
TERM_STRUCT = term_struct(_STRING)


class Layout(ABC):
    """A way to show the terms of statements in columns."""

    name: ClassVar[LayoutName]

    @abstractmethod
    def fields(self, position: str, string: pa.DataType = _STRING) -> list[pa.Field]:
        """Return the columns that show a position, with strings of the given type."""

    @abstractmethod
    def column(self, columns: BatchColumns, position: str, name: str) -> pa.Array:
        """Return one of these columns."""


class StructLayout(Layout):
    name = "struct"

    def fields(self, position: str, string: pa.DataType = _STRING) -> list[pa.Field]:
        return [pa.field(position, term_struct(string))]

    def column(self, columns: BatchColumns, position: str, name: str) -> pa.Array:
        valid, nulls = columns.validity(position)
        parts = [
            columns.kind_names(position),
            columns.all_strings(position, columns.shown_values(position)),
            columns.datatypes(position),
            columns.languages(position),
        ]
        return pa.Array.from_buffers(
            term_struct(columns.string_type), len(columns), [validity_buffer(valid)], nulls, children=parts
        )


class NTriplesLayout(Layout):
    name = "ntriples"

    def fields(self, position: str, string: pa.DataType = _STRING) -> list[pa.Field]:
        return [pa.field(position, string)]

    def column(self, columns: BatchColumns, position: str, name: str) -> pa.Array:
        return columns.strings(position, columns.terms.texts)


class FlatLayout(Layout):
    name = "flat"

    def fields(self, position: str, string: pa.DataType = _STRING) -> list[pa.Field]:
        names = ["o", "o_kind", "o_datatype", "o_lang"] if position == "o" else [position]
        return [pa.field(name, string) for name in names]

    def column(self, columns: BatchColumns, position: str, name: str) -> pa.Array:
        if name == "o_kind":
            return columns.kind_names_or_null(position)
        if name == "o_datatype":
            return columns.datatypes(position)
        if name == "o_lang":
            return columns.languages(position)
        if name == "o":
            return columns.strings(position, columns.shown_values(position))
        columns.terms.require_unambiguous_iris()
        only_iris = columns.kinds_in(position) <= {KIND_IRI, KIND_DEFAULT_GRAPH}
        return columns.strings(position, columns.terms.values if only_iris else columns.terms.plain_texts)


LAYOUTS: dict[LayoutName, Layout] = {layout.name: layout for layout in (StructLayout(), NTriplesLayout(), FlatLayout())}


def get_layout(name: str) -> Layout:
    """Return the layout of that name; TableError if there is none."""
    layout = next((known for known in LAYOUTS.values() if known.name == name), None)
    if layout is None:
        raise TableError(f"there is no layout {name!r}: the layouts are {', '.join(LAYOUTS)}")
    return layout


def requested_columns(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the names of columns. Raises TableError if there are none, or if one is not `known`."""
    names = list(names)
    if not names:
        raise TableError("no columns are requested; a table without columns has no rows")
    for name in names:
        if name not in known:
            raise TableError(f"there is no column {name!r} here: the columns are {', '.join(known)}")
    return names


class ArrowView:
    """Converts batches to record batches of one schema.

    Args:
        layout: `struct`, `ntriples` or `flat`
        has_graph: whether there is a column for graphs
        frame_column: add the number of the frame as a column `frame`
        op_column: add the operation as a column `op`, for batches of patches
        columns: the columns to make, in this order; all by default
        dictionary: encode strings with dictionaries; each batch has its own
    """

    def __init__(
        self,
        layout: str,
        has_graph: bool,
        *,
        frame_column: bool = False,
        op_column: bool = False,
        columns: Sequence[str] | None = None,
        dictionary: bool = False,
    ) -> None:
        self._layout = get_layout(layout)
        self._memory = Memory()
        self._has_graph = has_graph
        self._make_columns = DictionaryColumns if dictionary else BatchColumns
        self._is_dictionary = dictionary
        positions = POSITIONS if has_graph else POSITIONS[:3]
        string = self._make_columns.string_type
        fields = {OP_COLUMN: (OP_COLUMN, pa.field(OP_COLUMN, string))} if op_column else {}
        for position in positions:
            fields |= {field.name: (position, field) for field in self._layout.fields(position, string)}
        if frame_column:
            fields[FRAME_COLUMN] = (FRAME_COLUMN, pa.field(FRAME_COLUMN, pa.int64()))
        names = requested_columns(fields if columns is None else columns, fields)
        self._columns = [(name, fields[name][0]) for name in names]
        self._positions = sorted({position for _name, position in self._columns} - {FRAME_COLUMN, OP_COLUMN})
        self.schema = pa.schema([fields[name][1] for name in names])

    def record_batches(self, batches: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
        """Yield `batches` as record batches: several for one batch whose strings would take more than 32 MiB."""
        for batch in batches:
            terms = TermStrings(batch, self._memory)
            for part in self.parts(batch):
                yield self._converted(part, terms)

    def parts(self, batch: Batch) -> Iterator[Batch]:
        """Yield slices of a `batch` whose strings, repeated in every row, take up to 32 MiB."""
        columns = [column for name in self._positions if (column := getattr(batch, name)) is not None]
        most = len(batch) * len(columns) * batch.terms.longest_text()
        if self._is_dictionary or most <= BATCH_BYTES:
            yield batch
            return
        start = 0
        for stop in cut_rows(columns, batch.terms, BATCH_BYTES):
            yield batch.slice(start, stop)
            start = stop

    def convert(self, batch: Batch) -> pa.RecordBatch:
        """Return a `batch` as one record batch. Raises LimitError if a column would take more than 2 GiB."""
        return self._converted(batch, TermStrings(batch, self._memory))

    def _converted(self, batch: Batch, terms: TermStrings) -> pa.RecordBatch:
        if batch.has_graph and not self._has_graph:
            raise TableError("a stream of quads follows one of triples, which one table cannot hold; read batches")
        made = self._make_columns(batch, terms)
        columns = [self._column(made, batch, name, position) for name, position in self._columns]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _column(self, made: BatchColumns, batch: Batch, name: str, position: str) -> pa.Array:
        if position == FRAME_COLUMN:
            return frame_numbers(batch)
        if position == OP_COLUMN:
            return operation_names(batch, dictionary=self._is_dictionary)
        if position == "g" and not batch.has_graph:
            return pa.nulls(len(batch), self.schema.field(name).type)
        return self._layout.column(made, position, name)
