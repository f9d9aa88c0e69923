"""Property tables: one row for each subject, one column for each predicate, with types inferred from the literals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import pyarrow as pa

from jellyframe.arrow.tables import table_to_batches
from jellyframe.arrow.types import SupportsArrowStream
from jellyframe.batch import Batch
from jellyframe.errors import TableError, needed_by
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.terms import IRI


def pivot(
    table: Statements | pa.Table | pa.RecordBatch | SupportsArrowStream,
    class_: IRI | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> pa.Table:
    """Return statements as a property table: one row for each subject, one column for each predicate.

    The column `subject` has the IRI, or `_:label`. The other columns are named by the last part of the predicate's
    IRI, or by the whole IRI if two names would be equal; the metadata of the field has the IRI under `predicate`.
    Graphs and language tags are ignored, and repeated values count once.

    | values | column |
    | --- | --- |
    | integers | `int64`, or `decimal128(38, 0)` if one has more than 18 digits |
    | decimals, also with integers | `decimal128(38, scale)`, with as many fractional digits as needed |
    | doubles and floats | `float64` |
    | booleans; dates | `bool`; `date32` |
    | date-times with time zones; without | `timestamp[us, UTC]`; `timestamp[us]` |
    | others: strings, IRIs, mixed types, a value that is not valid or does not fit | `string` |

    If a subject has several values of a predicate, the column has lists.

    Args:
        table: a table of statements in any layout, or a source as in `read_pandas`
        class_: the class whose instances are wanted; all subjects if None
        reading: as in `read_pandas`, for sources
    """
    with needed_by("pivot"):
        from jellyframe.integrations.property_columns import make_table, properties_of
        from jellyframe.integrations.subject_rows import SubjectRows
    rows = SubjectRows.of(_batches(table, reading))
    if class_ is not None:
        rows = rows.instances(str(class_.value if isinstance(class_, IRI) else class_))
    parts = rows.parts()
    return make_table(rows, parts, properties_of(rows.terms, parts))


def _batches(table: Any, reading: ReadingOptions) -> Iterator[Batch]:
    if isinstance(table, pa.Table | pa.RecordBatch) or hasattr(table, "__arrow_c_stream__"):
        if reading:
            raise TableError(f"{', '.join(reading)}: for sources that are read, not for tables: filter the table")
        return table_to_batches(table)
    return StatementSource(table, reading).batches()
