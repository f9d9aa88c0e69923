"""The columns of property tables: found in rows, merged over parts of a data set, and filled. Needs numpy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from jellyframe.errors import LimitError
from jellyframe.integrations.column_types import ColumnType, converted, type_of
from jellyframe.integrations.subject_rows import Part, SubjectRows, Terms

SUBJECT_COLUMN = "subject"
# An empty cell uses four bytes as a string, and some more while it is written.
_MOST_CELLS = 1 << 25


class Property(NamedTuple):
    """A column of a property table: the type of its values, and whether a subject may have several."""

    type: ColumnType
    repeats: bool

    def merged(self, other: Property) -> Property:
        """Return a column for the values of both."""
        return Property(self.type.merged(other.type), self.repeats or other.repeats)

    def arrow(self) -> pa.DataType:
        """Return the Arrow type of the column."""
        return pa.list_(self.type.arrow()) if self.repeats else self.type.arrow()


# The columns of a table by the IRIs of their predicates.
Properties: TypeAlias = dict[str, Property]


def properties_of(terms: Terms, parts: Iterable[Part]) -> Properties:
    """Return the columns for the rows of predicates."""
    return {part.predicate: Property(_type_of(terms, part), part.repeats) for part in parts}


def _type_of(terms: Terms, part: Part) -> ColumnType:
    return type_of(lambda: terms.values.take(pa.array(np.unique(part.objects))), terms.datatypes(part.objects))


def merge_properties(known: Properties, others: Mapping[str, Property]) -> None:
    """Merge columns into the known ones, with types for the values of both."""
    for predicate, found in others.items():
        before = known.get(predicate)
        known[predicate] = found if before is None else before.merged(found)


def columns_as_json(columns: Properties) -> dict[str, Any]:
    """Return columns as JSON values for `columns_from_json`."""
    return {predicate: [*column.type, column.repeats] for predicate, column in columns.items()}


def columns_from_json(found: Mapping[str, Any]) -> Properties:
    """Return the columns of JSON values made by `columns_as_json`."""
    return {
        predicate: Property(ColumnType(kind, digits, scale), repeats)
        for predicate, (kind, digits, scale, repeats) in found.items()
    }


def make_table(rows: SubjectRows, parts: Iterable[Part], properties: Properties) -> pa.Table:
    """Return the rows of predicates as a property table with these columns, which must fit the values."""
    by_predicate = {part.predicate: part for part in parts}
    size = len(rows.subjects)
    names = column_names(properties)
    fields, arrays = [pa.field(SUBJECT_COLUMN, pa.string())], [rows.names]
    for predicate, column in properties.items():
        part = by_predicate.get(predicate)
        fields.append(pa.field(names[predicate], column.arrow(), metadata={"predicate": predicate}))
        arrays.append(pa.nulls(size, column.arrow()) if part is None else _column(rows.terms, part, column, size))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def make_tables(rows: SubjectRows, parts: Sequence[Part], properties: Properties) -> Iterator[pa.Table]:
    """Yield the table of `make_table` in parts, each with some of the subjects, if there are very many cells.

    In a wide table a subject has values in few columns, but each cell uses memory.
    """
    size = rows_of_cells(len(properties) + 1)
    if len(rows.subjects) <= size:
        yield make_table(rows, parts, properties)
        return
    for start in range(0, len(rows.subjects), size):
        some = rows.of_subjects(np.arange(start, min(start + size, len(rows.subjects)), dtype=np.int32))
        yield make_table(some, some.parts(), properties)


def rows_of_cells(columns: int) -> int:
    """Return the number of rows per batch for a number of columns."""
    return max(_MOST_CELLS // columns, 1)


def _column(terms: Terms, part: Part, column: Property, size: int) -> pa.Array:
    strings = terms.texts if column.type.kind == "string" else terms.values
    if column.repeats:
        values = converted(_taken(strings, pa.array(part.objects)), column.type)
        counts = np.bincount(part.subjects, minlength=size)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(counts == 0))
    objects = np.full(size, -1, np.int32)
    objects[part.subjects] = part.objects
    return converted(_taken(strings, pa.array(objects, mask=objects < 0)), column.type)


def _taken(strings: pa.Array, numbers: pa.Array) -> pa.Array:
    try:
        return strings.take(numbers)
    except pa.ArrowInvalid as error:
        raise LimitError(
            "a column of the table would take more than 2 GiB: choose some subjects, predicates or graphs"
        ) from error


def column_names(properties: Iterable[str], taken: str = SUBJECT_COLUMN) -> dict[str, str]:
    """Return the name of each predicate's column: the last part of its IRI, or the whole IRI if that is not unique.

    `taken` is the name of the subject's column.
    """
    short = {predicate: re.split(r"[/#:]", predicate.rstrip("/#:"))[-1] or predicate for predicate in properties}
    # Many engines do not distinguish upper and lower case.
    uses: dict[str, int] = {taken: 1}
    for name in short.values():
        uses[name.lower()] = uses.get(name.lower(), 0) + 1
    return {predicate: name if uses[name.lower()] == 1 else predicate for predicate, name in short.items()}
