"""Convert Arrow columns, in any of the layouts, to batches.

Most strings of a column occur many times. Those in N-Triples syntax are parsed in order, by a parser that remembers
the last ones. Other columns are first dictionary-encoded by Arrow, unless they already are, and only the dictionary is
read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import FRAME_COLUMN, KIND_NAMES, POSITIONS, get_layout
from jellyframe.arrow.operations import OP_COLUMN, operations, require_no_terms
from jellyframe.batch import Batch
from jellyframe.errors import TableError, TextError, shortened
from jellyframe.kernel.columns_cy import (
    LiteralParts,
    datatype_rows,
    default_graph,
    intern_flat,
    intern_indexed_parts,
    intern_iris,
    intern_parts,
    language_rows,
    pick,
    put_parsed,
)
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LITERAL,
    KIND_QUOTED_TRIPLE,
)
from jellyframe.kernel.memory_cy import int_column
from jellyframe.kernel.table_cy import TermTable
from jellyframe.options import LayoutName
from jellyframe.terms import RDF_LANG_STRING

_NULL = -1
# The datatype and the language tell the kind of a literal.
_KIND_CODES = {
    KIND_NAMES[kind].encode(): kind for kind in (KIND_IRI, KIND_BLANK_NODE, KIND_LITERAL, KIND_QUOTED_TRIPLE)
}


# ---- schemas ------------------------------------------------------------------------------------------
def _is_string(kind: pa.DataType) -> bool:
    """Return whether a column of this type can hold strings; one of nulls only has the type null."""
    if pa.types.is_dictionary(kind):
        return _is_string(kind.value_type)
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(check(kind) for check in checks)


def _is_term_struct(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind):
        return bool(pa.types.is_null(kind))
    types = {field.name: field.type for field in kind}
    return {"kind", "value"} <= set(types) and all(
        _is_string(types.get(name, pa.string())) for name in ("kind", "value", "datatype", "lang")
    )


def find_layout(schema: pa.Schema, layout: str | None = None) -> LayoutName:
    """Return the layout of a table.

    Args:
        schema: the columns of the table
        layout: the layout that they should have; by default it is inferred from the columns

    Raises:
        TableError: if columns of the layout are missing or of another type, or no layout fits
    """
    if layout is None:
        return _guess_layout(schema)
    name = get_layout(layout).name
    _require_single_columns(schema)
    needed = (*POSITIONS[:3], "o_kind") if name == "flat" else POSITIONS[:3]
    optional = ("g", "o_datatype", "o_lang") if name == "flat" else ("g",)
    is_right = _is_term_struct if name == "struct" else _is_string
    what = "structs of strings with `kind` and `value`" if name == "struct" else "strings"
    for column in (*needed, *optional):
        if column not in schema.names:
            if column in needed:
                raise TableError(
                    f"the layout {name!r} needs a column {column!r}: the columns here are {_names(schema)}"
                )
        elif not is_right(schema.field(column).type):
            raise TableError(
                f"column {column!r} is {schema.field(column).type}, and in the layout {name!r} it holds {what}"
            )
    return name


def _names(schema: pa.Schema) -> str:
    return ", ".join(schema.names) or "none"


def _require_single_columns(schema: pa.Schema) -> None:
    for name in schema.names:
        if len(schema.get_all_field_indices(name)) > 1:
            raise TableError(f"the table has more than one column {name!r}")


def _guess_layout(schema: pa.Schema) -> LayoutName:
    for position in POSITIONS[:3]:
        if schema.get_all_field_indices(position) == []:
            raise TableError(
                f"the table has no column {position!r}: statements are in s, p, o and, for quads, g; "
                f"the columns here are {_names(schema)}"
            )
    _require_single_columns(schema)
    types = {name: schema.field(name).type for name in POSITIONS if name in schema.names}
    details = [name for name in ("o_kind", "o_datatype", "o_lang") if name in schema.names]
    if all(map(_is_string, types.values())) and all(_is_string(schema.field(name).type) for name in details):
        return "flat" if "o_kind" in details else "ntriples"
    if all(map(_is_term_struct, types.values())):
        return "struct"
    raise TableError(
        "the columns are in no layout that we know: all strings, or all structs of strings with `kind` and `value`; "
        + ", ".join(f"{name} is {kind}" for name, kind in types.items())
    )


# ---- arrays -------------------------------------------------------------------------------------------
def _supported(array: pa.Array) -> pa.Array:
    """Return an array in a form that this module handles: plain strings, a dictionary without nulls, or structs."""
    if pa.types.is_dictionary(array.type):
        if array.dictionary.null_count:
            return _supported(array.dictionary_decode())
        if pa.types.is_string_view(array.type.value_type):
            # Arrow cannot compare dictionaries of string views, which Polars makes.
            return pa.DictionaryArray.from_arrays(array.indices, _supported(array.dictionary))
        return array
    if pa.types.is_string(array.type) or pa.types.is_struct(array.type):
        return array
    try:
        return array.cast(pa.string())
    except pa.ArrowException as error:
        raise TableError(f"the column cannot be converted to plain strings: {error}") from error


def _ints(array: pa.Array) -> memoryview:
    """Return the numbers of an array of 32-bit integers without nulls."""
    if not len(array):
        return int_column(0)[:0]
    return memoryview(array.buffers()[1]).cast("B").cast("i")[array.offset : array.offset + len(array)]


def _buffers(array: pa.Array) -> tuple[memoryview, memoryview]:
    """Return the offsets and the bytes of an array of plain strings."""
    if not len(array):
        return int_column(1), memoryview(b"")
    _, offsets, data = array.buffers()
    return (
        memoryview(offsets).cast("B").cast("i")[array.offset : array.offset + len(array) + 1],
        memoryview(b"" if data is None else data).cast("B"),
    )


def _first(mask: pa.Array) -> int:
    """Return the first row where a mask is true, or -1."""
    return int(pc.index(mask, pa.scalar(True)).as_py())


class _Distinct(NamedTuple):
    """A (supported) column as its distinct strings and the index of the string in each row; _NULL for none."""

    strings: pa.Array
    indices: memoryview

    @classmethod
    def of(cls, array: pa.Array) -> _Distinct:
        is_made_here = not pa.types.is_dictionary(array.type)
        if is_made_here:
            array = array.dictionary_encode()
        strings, indices = array.dictionary, array.indices
        if not is_made_here:
            # It may have strings of other rows or columns, which must not become terms here.
            used = indices.unique().drop_null()
            if len(used) < len(strings):
                strings, indices = strings.take(used), pc.index_in(indices, used)
        indices = indices.cast(pa.int32())
        return cls(_supported(strings), _ints(indices.fill_null(_NULL) if indices.null_count else indices))

    @classmethod
    def all_null(cls, rows: int) -> _Distinct:
        return cls(pa.array([], pa.string()), _ints(pa.repeat(pa.scalar(_NULL, pa.int32()), rows)))

    def row_of(self, index: int) -> int:
        """Return the first row with the string of this index."""
        return self.indices.tolist().index(index)

    def each(self, make: _Maker, table: TermTable) -> memoryview:
        """Apply a function to the distinct strings. The row of an error, which is an index, becomes a row here."""
        try:
            return make(self.strings, table)
        except TableError as error:
            row = None if error.row is None else self.row_of(error.row)
            raise TableError(error.message, row=row) from error.__cause__


# ---- strings to terms, or rows of datatypes or languages ------------------------------------------------
_Maker: TypeAlias = Callable[[pa.Array, TermTable], memoryview]


def _kinds(strings: pa.Array, _table: TermTable) -> memoryview:
    codes = int_column(len(strings))[: len(strings)]
    for index, name in enumerate(strings):
        code = _KIND_CODES.get(name.as_buffer().to_pybytes())
        if code is None:
            kinds = b", ".join(_KIND_CODES).decode()
            raise TableError(f"{_shown(name)} is not a kind of term: the kinds are {kinds}", row=index)
        codes[index] = code
    return codes


def _iris(strings: pa.Array, table: TermTable) -> memoryview:
    return intern_iris(*_buffers(strings), table)


def _datatypes(strings: pa.Array, table: TermTable) -> memoryview:
    return datatype_rows(*_buffers(strings), table)


def _languages(strings: pa.Array, table: TermTable) -> memoryview:
    if (empty := pc.index(strings, "").as_py()) >= 0:
        raise TableError("the language is empty; it is null where there is none", row=empty)
    return language_rows(*_buffers(strings), table)


def _texts(strings: pa.Array, table: TermTable) -> memoryview:
    """Return the terms of strings in N-Triples syntax."""
    from jellyframe.kernel.ntriples_parse_cy import parse_terms

    try:
        return parse_terms(*_buffers(strings), table)
    except TextError as error:
        index = (error.line or 1) - 1
        raise TableError(f"{error.message}, in {_shown(strings[index])}", row=index) from error


def _plain_texts(strings: pa.Array, table: TermTable) -> memoryview:
    """Return the terms of strings that are IRIs or, told by how they begin, other terms."""
    terms = intern_flat(*_buffers(strings), table)
    _parse_rest(terms, strings, table)
    return terms


def _parse_rest(terms: memoryview, strings: pa.Array, table: TermTable, begin: str = "") -> None:
    """Parse the strings that have no term yet, which must begin with `begin`."""
    is_missing = pc.equal(pa.Array.from_buffers(pa.int32(), len(terms), [None, pa.py_buffer(terms)]), _NULL)
    if not is_missing.true_count:
        return
    places = pc.indices_nonzero(is_missing)
    rest = strings.take(places)
    try:
        if pa.types.is_dictionary(rest.type):
            distinct = _Distinct.of(rest)
            parsed = distinct.each(lambda some, into: _parsed(some, into, begin), table)
            put_parsed(terms, pick(parsed, distinct.indices, _NULL))
        else:
            put_parsed(terms, _parsed(rest, table, begin))
    except TableError as error:
        raise TableError(error.message, row=places[error.row].as_py()) from error.__cause__


def _parsed(strings: pa.Array, table: TermTable, begin: str) -> memoryview:
    """Return the terms of strings, which must begin with `begin`."""
    if (other := _first(pc.invert(pc.starts_with(strings, begin)))) >= 0:
        raise TableError(f"not a quoted triple, which begins with {begin}: {_shown(strings[other])}", row=other)
    return _texts(strings, table)


def _shown(string: pa.Scalar) -> str:
    """Return a string for a message, even if it is not UTF-8."""
    return shortened(string.as_buffer().to_pybytes().decode("utf-8", "replace"))


# ---- columns to terms ---------------------------------------------------------------------------------
class _Terms:
    """The terms of one record batch, added column by column."""

    def __init__(self, record_batch: pa.RecordBatch, *, is_patch: bool) -> None:
        self._record_batch = record_batch
        self._is_patch = is_patch
        rows = len(record_batch)
        # A guess that fits most data, so that the table need not grow often.
        self.table = TermTable(rows // 2, 16 * rows)

    def _column(self, name: str) -> pa.Array | None:
        return _supported(self._record_batch[name]) if name in self._record_batch.schema.names else None

    def column(self, layout: str, position: str) -> memoryview:
        """Return the terms of a position."""
        array = _supported(self._record_batch[position])
        if array.null_count and position != "g" and not self._is_patch:
            raise TableError("there is no term (null)", row=_first(array.is_null()))
        if pa.types.is_struct(array.type):
            return self._structs(array)
        if layout == "flat" and position == "o":
            kinds, datatypes, languages = map(self._column, ("o_kind", "o_datatype", "o_lang"))
            assert kinds is not None
            is_term = pc.or_(array.is_valid(), kinds.is_valid()) if array.null_count and self._is_patch else None
            return self._parts(array, kinds, datatypes, languages, is_term=is_term)
        if layout == "ntriples" and not array.null_count and not pa.types.is_dictionary(array.type):
            return _texts(array, self.table)
        distinct = _Distinct.of(array)
        terms = distinct.each(_plain_texts if layout == "flat" else _texts, self.table)
        return pick(terms, distinct.indices, default_graph(self.table) if array.null_count else _NULL)

    def _structs(self, array: pa.Array) -> memoryview:
        children = array.flatten() if array.null_count else [array.field(i) for i in range(array.type.num_fields)]
        named = {field.name: _supported(child) for field, child in zip(array.type, children, strict=True)}
        return self._parts(
            named["value"],
            named["kind"],
            named.get("datatype"),
            named.get("lang"),
            is_term=array.is_valid() if array.null_count else None,
        )

    def _parts(
        self,
        values: pa.Array,
        kinds: pa.Array,
        datatypes: pa.Array | None,
        languages: pa.Array | None,
        *,
        is_term: pa.Array | None,
    ) -> memoryview:
        """Return the terms of a column given in parts. Rows where `is_term` is false have the default graph."""
        for part, name in ((kinds, "kind"), (values, "value")):
            if part.null_count:
                is_missing = part.is_null() if is_term is None else pc.and_(part.is_null(), is_term)
                if (row := _first(is_missing)) >= 0:
                    raise TableError(f"the {name} of the term is null", row=row)
        has_details = _has_values(datatypes) or _has_values(languages)
        if not has_details and pc.all(pc.equal(kinds, "iri")).as_py():
            distinct = _Distinct.of(values)
            for_null = _NULL if is_term is None else default_graph(self.table)
            return pick(distinct.each(_iris, self.table), distinct.indices, for_null)
        kind_names = _Distinct.of(kinds)
        codes = pick(kind_names.each(_kinds, self.table), kind_names.indices, KIND_DEFAULT_GRAPH)
        parts = self._literal_parts(datatypes, languages, len(values))
        if pa.types.is_dictionary(values.type):
            distinct = _Distinct.of(values)
            terms = intern_indexed_parts(codes, distinct.indices, *_buffers(distinct.strings), parts, self.table)
        else:
            terms = intern_parts(codes, *_buffers(values), parts, self.table)
        _parse_rest(terms, values, self.table, begin="<<")
        return terms

    def _literal_parts(self, datatypes: pa.Array | None, languages: pa.Array | None, rows: int) -> LiteralParts:
        datatype = _Distinct.of(datatypes) if _has_values(datatypes) else _Distinct.all_null(rows)
        language = _Distinct.of(languages) if _has_values(languages) else _Distinct.all_null(rows)
        return LiteralParts(
            datatype.indices,
            language.indices,
            datatype.each(_datatypes, self.table),
            language.each(_languages, self.table),
            pc.index(datatype.strings, RDF_LANG_STRING).as_py(),
        )


def _has_values(array: pa.Array | None) -> bool:
    return array is not None and array.null_count < len(array)


# ---- record batches to batches ------------------------------------------------------------------------
class BatchMaker:
    """Converts the record batches of one schema, in order, to batches.

    If there is a column `frame`, a change of its number ends a frame. The numbers themselves are not kept. The table
    of a patch (`is_patch`) has a column `op`, and nulls where a row has no term.
    """

    def __init__(self, schema: pa.Schema, layout: str | None = None, *, is_patch: bool = False) -> None:
        self._layout = find_layout(schema, layout)
        self._is_patch = is_patch
        if is_patch and (OP_COLUMN not in schema.names or not _is_string(schema.field(OP_COLUMN).type)):
            raise TableError(f"the table of a patch needs a column 'op' of strings: the columns are {_names(schema)}")
        self._has_graph = "g" in schema.names
        self._has_frames = FRAME_COLUMN in schema.names
        if self._has_frames and not pa.types.is_integer(schema.field(FRAME_COLUMN).type):
            raise TableError(f"the column 'frame' is {schema.field(FRAME_COLUMN).type}, not an integer")
        self._rows = 0
        self._frame = 0
        self._last_number: int | None = None

    def make(self, record_batch: pa.RecordBatch) -> Batch:
        terms = _Terms(record_batch, is_patch=self._is_patch)
        op = self._operations(record_batch) if self._is_patch else None
        s, p, o = (self._column(terms, position) for position in POSITIONS[:3])
        g = self._column(terms, "g") if self._has_graph else None
        first_frame = self._frame
        frame_ends = self._frame_ends(record_batch.column(FRAME_COLUMN)) if self._has_frames else None
        self._rows += len(record_batch)
        return Batch((s, p, o, g), terms.table, first_frame=first_frame, frame_ends=frame_ends, op=op)

    def _operations(self, record_batch: pa.RecordBatch) -> memoryview:
        try:
            ops = operations(_supported(record_batch[OP_COLUMN]))
            require_no_terms(ops, record_batch)
            return ops
        except TableError as error:
            row = None if error.row is None else self._rows + error.row
            raise TableError(f"column 'op': {error.message}", row=row) from None

    def _column(self, terms: _Terms, position: str) -> memoryview:
        try:
            return terms.column(self._layout, position)
        except TableError as error:
            row = None if error.row is None else self._rows + error.row
            raise TableError(f"column {position!r}: {error.message}", row=row) from error.__cause__

    def _frame_ends(self, numbers: pa.Array) -> memoryview:
        """Return where frames end. One that may continue in the next record batch ends there, possibly without rows."""
        if numbers.null_count:
            raise TableError("column 'frame': null", row=self._rows + _first(numbers.is_null()))
        runs = pc.run_end_encode(numbers.cast(pa.int64()))
        ends = runs.run_ends.to_pylist()
        if ends:
            if self._last_number is not None and runs.values[0].as_py() != self._last_number:
                ends.insert(0, 0)
            self._last_number = runs.values[-1].as_py()
        else:
            ends = [0]
        self._frame += len(ends) - 1
        column = int_column(len(ends))[: len(ends)]
        for i, end in enumerate(ends):
            column[i] = end
        return column
