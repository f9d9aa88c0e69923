"""Decode and encode messages in DataFrames: binary columns of bare Jelly frames, as in Kafka topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql import functions
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructField, StructType

from jellyframe.arrow.layouts import get_layout
from jellyframe.arrow.tables import arrow_schema
from jellyframe.errors import OptionsError
from jellyframe.ops.bad_input import CORRUPT_COLUMN, DROPMALFORMED, FAILFAST, MODES, PERMISSIVE, Mode
from jellyframe.ops.messages import decode_lists, decode_rows, encode_lists, encode_rows, is_binary
from jellyframe.options import DialectName, LayoutName, Limits, StreamOptions, check_number, check_word
from jellyframe.spark.schema import DEFAULT_LAYOUT, exact_arrow_schema, layout_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

VALUE_COLUMN = "value"
_TO_BYTES = "unbase64(…) or unhex(…) decodes text to bytes"


# ---- columns ----


def from_jelly(
    column: Column | str,
    *,
    layout: LayoutName = DEFAULT_LAYOUT,
    mode: Mode = FAILFAST,
    limits: Limits | None = None,
    dialect: DialectName = "released",
) -> Column:
    """Return a binary column of messages as arrays of statements: structs with the columns of a layout.

    A bad message is an error in the mode FAILFAST, and null in the mode PERMISSIVE. `inline(from_jelly(value))` gives a
    row for each statement; `decode_payloads` does the same, faster.

    Args:
        column: the column, or its name
        layout: `struct`, `ntriples` or `flat`
        mode: what to do about bad messages: `FAILFAST` or `PERMISSIVE`
        limits: what is accepted from messages that are not trusted
        dialect: `released`, or `draft` for the draft of the format
    """
    mode = _mode(mode)
    if mode == DROPMALFORMED:
        raise OptionsError("mode DROPMALFORMED: a function cannot drop rows; use PERMISSIVE, or decode_payloads")
    result = ArrayType(_statement_type(layout))
    kind = exact_arrow_schema(StructType([StructField("a", result)])).field(0).type

    def decode(payloads: pa.Array) -> pa.Array:
        if not is_binary(payloads.type):
            raise OptionsError(f"from_jelly: the column is {payloads.type}, and messages are binary; {_TO_BYTES}")
        return decode_lists(payloads, kind, layout=layout, mode=mode, limits=limits, dialect=dialect)

    decoded: Column = _function(decode, result)(column)
    return decoded


def to_jelly(*columns: Column | str, options: StreamOptions | None = None, dialect: DialectName = "released") -> Column:
    """Return statements as messages: a binary column of bare frames, which do not depend on each other.

    A single column holds arrays of statements, as `from_jelly` returns them or `collect_list(struct("s", "p", "o",
    "g"))` collects them. Three or more columns are those of one statement per row.

    Args:
        columns: one column, or the columns of a statement
        options: the options of each message
        dialect: `released`, or `draft` for the draft of the format
    """
    if len(columns) == 2 or not columns:
        raise OptionsError(
            f"to_jelly is given {len(columns)} columns; it takes one, of arrays of statements, or s, p, o and g"
        )
    statements = columns[0] if len(columns) == 1 else functions.array(functions.struct(*columns))

    def encode(lists: pa.Array) -> pa.Array:
        return encode_lists(lists, options, dialect)

    encoded: Column = _function(encode, BinaryType())(statements)
    return encoded


def _function(function: Callable[[pa.Array], pa.Array], result: DataType) -> Any:
    """Return a function on Arrow arrays as a Spark UDF: an Arrow UDF, or before Spark 4.1 a pandas UDF."""
    arrow_udf: Any = getattr(functions, "arrow_udf", None)
    if arrow_udf is not None:

        def of_arrays(column: pa.Array) -> pa.Array:
            return function(column)

        of_arrays.__annotations__ = {"column": pa.Array, "return": pa.Array}
        return arrow_udf(of_arrays, result)
    import pandas as pd

    pandas_udf: Any = getattr(functions, "pandas_udf")  # noqa: B009

    def of_series(column: Any) -> Any:
        return pd.Series(function(pa.array(column)).to_pylist(), index=column.index, dtype=object)

    of_series.__annotations__ = {"column": pd.Series, "return": pd.Series}
    return pandas_udf(of_series, result)


# ---- DataFrames ----


def decode_payloads(
    frame: DataFrame,
    column: str = VALUE_COLUMN,
    *,
    layout: LayoutName = DEFAULT_LAYOUT,
    keep: Sequence[str] = (),
    mode: Mode = FAILFAST,
    limits: Limits | None = None,
    dialect: DialectName = "released",
) -> DataFrame:
    """Return a DataFrame with a row for each statement of the messages in a binary column.

    In the mode PERMISSIVE a bad message becomes one row without a statement, and with the reason in `_corrupt_record`.

    Args:
        frame: the messages
        column: the name of their column
        layout: `struct`, `ntriples` or `flat`
        keep: names of columns whose values are repeated for each statement of the message
        mode: what to do about bad messages: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        limits: what is accepted from messages that are not trusted
        dialect: `released`, or `draft` for the draft of the format
    """
    mode = _mode(mode)
    statement = _statement_type(layout)
    _require_binary(frame, column)
    for name in keep:
        if name in statement.names or name == CORRUPT_COLUMN:
            raise OptionsError(f"keep: {name!r} is also a column of the result; rename it first")
    schema = StructType([*(frame.schema[name] for name in keep), *statement.fields])
    if mode == PERMISSIVE:
        schema = schema.add(CORRUPT_COLUMN, StringType())
    arrow = exact_arrow_schema(schema)

    def decode(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return decode_rows(
            record_batches, column, arrow, keep=keep, layout=layout, mode=mode, limits=limits, dialect=dialect
        )

    return frame.select(*dict.fromkeys((*keep, column))).mapInArrow(decode, schema)


def _require_binary(frame: DataFrame, column: str) -> None:
    if column not in frame.columns:
        raise OptionsError(f"there is no column {column!r}; there are {', '.join(frame.columns)}")
    kind = frame.schema[column].dataType
    if not isinstance(kind, BinaryType):
        raise OptionsError(f"column {column!r} is {kind.simpleString()}, and messages are binary; {_TO_BYTES}")


def encode_payloads(
    frame: DataFrame,
    *,
    group_by: str | Sequence[str] | None = None,
    rows_per_message: int | None = None,
    options: StreamOptions | None = None,
    dialect: DialectName = "released",
) -> DataFrame:
    """Return statements as messages in a binary column `value`: bare frames, which do not depend on each other.

    With `group_by`, rows with the same values in these columns make up a message, and the result keeps the columns.
    The rows are shuffled and sorted for that.

    Args:
        frame: the statements, in any layout
        group_by: names of columns
        rows_per_message: the maximum number of statements in a message
        options: the options of each message
        dialect: `released`, or `draft` for the draft of the format
    """
    keys = [group_by] if isinstance(group_by, str) else list(group_by or ())
    if not keys and rows_per_message is None:
        raise OptionsError("encode_payloads needs group_by, rows_per_message or both, which say what a message holds")
    if rows_per_message is not None:
        check_number("rows_per_message", rows_per_message, 1)
    columns = [name for name in arrow_schema("flat", True).names if name in frame.columns]
    names = list(dict.fromkeys((*keys, *columns)))
    if VALUE_COLUMN in keys:
        raise OptionsError(f"group_by: {VALUE_COLUMN!r} is the column of the messages; rename yours first")
    schema = StructType([*(frame.schema[name] for name in keys), StructField(VALUE_COLUMN, BinaryType())])
    arrow = exact_arrow_schema(schema)

    def encode(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return encode_rows(
            record_batches,
            columns,
            arrow,
            keys=keys,
            rows_per_message=rows_per_message,
            options=options,
            dialect=dialect,
        )

    chosen = frame.select(*names)
    if keys:
        chosen = chosen.repartition(*keys).sortWithinPartitions(*keys)
    return chosen.mapInArrow(encode, schema)


# ---- both ----


def _statement_type(layout: str) -> StructType:
    return StructType(
        [StructField(name, kind) for name, kind in layout_columns(get_layout(layout).name).items()],
    )


def _mode(mode: str) -> Mode:
    known = mode.upper() if mode.upper() in MODES else mode
    check_word("mode", known, MODES)
    return cast("Mode", known)
