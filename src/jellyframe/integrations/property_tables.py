"""Property tables: one row for each subject, one column for each predicate, with types told by the literals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.tables import table_to_batches
from jellyframe.arrow.types import SupportsArrowStream
from jellyframe.batch import Batch
from jellyframe.errors import TableError
from jellyframe.integrations.column_types import ColumnType, converted, type_of
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.terms import IRI

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUBJECT_COLUMN = "subject"
_ROW_COLUMNS = ("s", "p", "o", "o_kind", "o_datatype")


class Property(NamedTuple):
    """A column of a property table: the type of its values, and whether a subject may have several."""

    type: ColumnType
    repeats: bool

    def merged(self, other: Property) -> Property:
        """Return a column that holds the values of both."""
        return Property(self.type.merged(other.type), self.repeats or other.repeats)

    def arrow(self) -> pa.DataType:
        """Return the Arrow type of the column."""
        return pa.list_(self.type.arrow()) if self.repeats else self.type.arrow()


# The columns of a table by the IRIs of their predicates.
Properties: TypeAlias = dict[str, Property]


def pivot(
    table: Statements | pa.Table | pa.RecordBatch | SupportsArrowStream,
    class_: IRI | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> pa.Table:
    """Return statements as a property table: one row for each subject, one column for each predicate.

    The column `subject` has the IRI, or `_:label`. The other columns are called by the last part of the predicate's
    IRI, or by all of it where two are called the same; the metadata of the field has it under `predicate`. Graphs and
    language tags are left aside, and the same value counts once.

    | values | column |
    | --- | --- |
    | integers | `int64`, or `decimal128(38, 0)` where one has more than 18 digits |
    | decimals, also with integers | `decimal128(38, scale)`, with as many digits behind the point as a value has |
    | doubles and floats | `float64` |
    | booleans; dates | `bool`; `date32` |
    | date-times with time zones; without | `timestamp[us, UTC]`; `timestamp[us]` |
    | all else: strings, IRIs, mixed types, a value that is not valid or does not fit | `string` |

    A predicate that a subject has several values of is a column of lists.

    Args:
        table: a table of statements in any layout, or a source as in `read_pandas`
        class_: the class whose instances are wanted; all subjects if None
        reading: as in `read_pandas`, for sources
    """
    rows = statement_rows(_batches(table, reading))
    if class_ is not None:
        rows = instances(rows, str(class_.value if isinstance(class_, IRI) else class_))
    return make_table(rows, properties_of(rows))


def _batches(table: Any, reading: ReadingOptions) -> Iterator[Batch]:
    if isinstance(table, pa.Table | pa.RecordBatch) or hasattr(table, "__arrow_c_stream__"):
        if reading:
            raise TableError(f"{', '.join(reading)}: for sources that are read, not for tables: filter the table")
        return table_to_batches(table)
    return StatementSource(table, reading).batches()


def statement_rows(batches: Iterable[Batch]) -> pa.Table:
    """Return statements as rows, each different one once, in the order in which they come."""
    view = ArrowView("flat", True, columns=_ROW_COLUMNS)
    rows = pa.Table.from_batches(view.record_batches(batches), view.schema)
    return rows.group_by(list(_ROW_COLUMNS), use_threads=False).aggregate([])


def classes_of(rows: pa.Table) -> list[str]:
    """Return the IRIs of the classes that subjects are instances of."""
    return list(rows.filter(_is_type(rows))["o"].unique().to_pylist())


def _is_type(rows: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.equal(rows["p"], RDF_TYPE), pc.equal(rows["o_kind"], "iri"))


def instances(rows: pa.Table, class_iri: str) -> pa.Table:
    """Return the rows whose subjects are instances of a class."""
    of_class = rows.filter(pc.and_(_is_type(rows), pc.equal(rows["o"], class_iri)))
    return rows.filter(pc.is_in(rows["s"], value_set=of_class["s"].combine_chunks()))


def untyped(rows: pa.Table) -> pa.Table:
    """Return the rows whose subjects are not instances of any class."""
    typed = rows.filter(_is_type(rows))["s"].combine_chunks()
    return rows.filter(pc.invert(pc.is_in(rows["s"], value_set=typed)))


class _Part(NamedTuple):
    """The rows of a predicate: the numbers of their subjects in ascending order, and what the objects are."""

    predicate: str
    subjects: pa.Array
    values: pa.Array
    kinds: pa.Array
    datatypes: pa.Array


def _parts(rows: pa.Table) -> tuple[pa.Array, list[_Part]]:
    """Return the different subjects, and the rows of each predicate."""
    s, p = (rows[name].combine_chunks().dictionary_encode() for name in ("s", "p"))
    numbers = pa.table({"p": p.indices, "s": s.indices})
    order = pc.sort_indices(numbers, sort_keys=[("p", "ascending"), ("s", "ascending")])
    numbers = numbers.take(order).combine_chunks()
    objects = rows.select(["o", "o_kind", "o_datatype"]).take(order).combine_chunks()
    parts = []
    start = 0
    for counted in pc.value_counts(numbers["p"]).to_pylist():
        size = counted["counts"]
        columns = [_one(column.slice(start, size)) for column in (numbers["s"], *objects.columns)]
        parts.append(_Part(p.dictionary[counted["values"]].as_py(), *columns))
        start += size
    return s.dictionary, parts


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def properties_of(rows: pa.Table) -> Properties:
    """Return what columns rows make."""
    found: Properties = {}
    for part in _parts(rows)[1]:
        repeats = pc.count_distinct(part.subjects).as_py() < len(part.subjects)
        found[part.predicate] = Property(type_of(part.values, part.kinds, part.datatypes), repeats)
    return found


def merge_properties(known: Properties, others: Mapping[str, Property]) -> None:
    """Add columns to those that are known, with types that hold the values of both."""
    for predicate, found in others.items():
        before = known.get(predicate)
        known[predicate] = found if before is None else before.merged(found)


def make_table(rows: pa.Table, properties: Properties) -> pa.Table:
    """Return rows as a property table with these columns, which have to fit them."""
    subjects, parts = _parts(rows)
    by_predicate = {part.predicate: part for part in parts}
    numbers = pa.array(range(len(subjects)), pa.int32())
    names = column_names(properties)
    fields, arrays = [pa.field(SUBJECT_COLUMN, pa.string())], [subjects.cast(pa.string())]
    for predicate, column in properties.items():
        part = by_predicate.get(predicate)
        fields.append(pa.field(names[predicate], column.arrow(), metadata={"predicate": predicate}))
        arrays.append(pa.nulls(len(subjects), column.arrow()) if part is None else _column(part, column, numbers))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _column(part: _Part, column: Property, numbers: pa.Array) -> pa.Array:
    values = converted(part.values, part.kinds, column.type)
    if not column.repeats:
        return values.take(pc.index_in(numbers, value_set=part.subjects))
    counted = pc.value_counts(part.subjects)
    counts = counted.field("counts").take(pc.index_in(numbers, value_set=counted.field("values")))
    ends = pc.cumulative_sum(pc.fill_null(counts, 0)).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    return pa.ListArray.from_arrays(offsets, values, mask=counts.is_null())


def column_names(properties: Iterable[str]) -> dict[str, str]:
    """Return the name of each predicate's column: the last part of its IRI, or all of it where that is not unique."""
    short = {predicate: re.split(r"[/#:]", predicate.rstrip("/#:"))[-1] or predicate for predicate in properties}
    # Engines that tables are for do not tell upper from lower case.
    uses: dict[str, int] = {SUBJECT_COLUMN: 1}
    for name in short.values():
        uses[name.lower()] = uses.get(name.lower(), 0) + 1
    return {predicate: name if uses[name.lower()] == 1 else predicate for predicate, name in short.items()}
