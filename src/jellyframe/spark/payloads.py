"""Messages in DataFrames: columns of bare Jelly frames, as they come from and go to Kafka, to statements and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructField, StructType

from jellyframe.arrow.grouping import changes
from jellyframe.arrow.layouts import get_layout
from jellyframe.errors import JellyError, OptionsError
from jellyframe.ops.bad_input import DROPMALFORMED, FAILFAST, MODES, PERMISSIVE, Mode
from jellyframe.options import LayoutName, Limits, StreamOptions
from jellyframe.spark.options import CORRUPT_COLUMN
from jellyframe.spark.schema import DEFAULT_LAYOUT, exact_arrow_schema, layout_columns
from jellyframe.stream.message_batches import MessageDecoder, Part, encode_messages

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_STATEMENT_COLUMNS = ("s", "p", "o", "o_kind", "o_datatype", "o_lang", "g")
VALUE_COLUMN = "value"
_TO_BYTES = "unbase64(…) or unhex(…) makes bytes of text that encodes them"


# ---- columns ----


def from_jelly(
    column: Column | str, *, layout: LayoutName = DEFAULT_LAYOUT, mode: Mode = FAILFAST, limits: Limits | None = None
) -> Column:
    """Return a binary column of messages as arrays of statements: of structs with the columns of a layout.

    A bad message is an error in the mode FAILFAST, and null in the mode PERMISSIVE. `inline(from_jelly(value))` gives a
    row for each statement; `decode_payloads` does the same, faster.

    Args:
        column: the column, or its name
        layout: `struct`, `ntriples` or `flat`
        mode: what to do about bad messages: `FAILFAST` or `PERMISSIVE`
        limits: what is accepted from messages that are not trusted
    """
    mode = _mode(mode)
    if mode == DROPMALFORMED:
        raise OptionsError("mode DROPMALFORMED: a function cannot drop rows; use PERMISSIVE, or decode_payloads")
    result = ArrayType(_statement_type(layout))
    kind = exact_arrow_schema(StructType([StructField("a", result)])).field(0).type

    def decode(payloads: pa.Array) -> pa.Array:
        if not _is_binary(payloads.type):
            raise OptionsError(f"from_jelly: the column is {payloads.type}, and messages are binary; {_TO_BYTES}")
        counts: list[int | None] = [None] * len(payloads)
        chunks = []
        for part in MessageDecoder(layout, limits).decode(payloads):
            if part.error is None:
                chunks.append(part.rows)
                for number, count in zip(part.messages, part.counts, strict=True):
                    counts[number] = count
            elif mode == FAILFAST:
                raise _placed(part)
        return _lists(chunks, counts, kind)

    decoded: Column = _function(decode, result)(column)
    return decoded


def to_jelly(*columns: Column | str, options: StreamOptions | None = None) -> Column:
    """Return statements as messages: a binary column of bare frames, each of which stands by itself.

    One column is an array of statements, as `from_jelly` gives it or as `collect_list(struct("s", "p", "o", "g"))`
    collects it. Three or more are the columns of a statement, of which each row has one.

    Args:
        columns: one column, or the columns of a statement
        options: the options of each message
    """
    if len(columns) == 2 or not columns:
        raise OptionsError("to_jelly takes one column, of arrays of statements, or the columns s, p, o and g")
    statements = columns[0] if len(columns) == 1 else functions.array(functions.struct(*columns))

    def encode(lists: pa.Array) -> pa.Array:
        if isinstance(lists, pa.LargeListArray):
            lists = lists.cast(pa.list_(lists.type.value_type))
        if not len(lists):
            return pa.array([], pa.binary())
        rows = lists.flatten()
        ends = pc.cumulative_sum(pc.fill_null(lists.value_lengths(), 0)).to_pylist()
        record_batch = pa.RecordBatch.from_arrays(rows.flatten(), names=[field.name for field in rows.type])
        messages = encode_messages(record_batch, ends, options)
        return pa.array(messages, pa.binary(), mask=lists.is_null().to_numpy(zero_copy_only=False))

    encoded: Column = _function(encode, BinaryType())(statements)
    return encoded


def _function(function: Callable[[pa.Array], pa.Array], result: DataType) -> Any:
    """A function of Spark's out of one of Arrow arrays."""
    arrow_udf: Any = getattr(functions, "arrow_udf", None)
    if arrow_udf is not None:

        def of_arrays(column: pa.Array) -> pa.Array:
            return function(column)

        of_arrays.__annotations__ = {"column": pa.Array, "return": pa.Array}
        return arrow_udf(of_arrays, result)
    import pandas as pd  # type: ignore[import-untyped]

    pandas_udf: Any = getattr(functions, "pandas_udf")  # noqa: B009

    def of_series(column: Any) -> Any:
        return pd.Series(function(pa.array(column)).to_pylist(), index=column.index, dtype=object)

    of_series.__annotations__ = {"column": pd.Series, "return": pd.Series}
    return pandas_udf(of_series, result)


def _lists(chunks: list[pa.RecordBatch], counts: list[int | None], kind: pa.DataType) -> pa.Array:
    structs = [pa.StructArray.from_arrays(chunk.columns, fields=list(kind.value_type)) for chunk in chunks]
    values = pa.concat_arrays(structs) if structs else pa.array([], kind.value_type)
    offsets = [0]
    for count in counts:
        offsets.append(offsets[-1] + (count or 0))
    mask = pa.array([count is None for count in counts], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind, mask=mask)


# ---- DataFrames ----


def decode_payloads(
    frame: DataFrame,
    column: str = VALUE_COLUMN,
    *,
    layout: LayoutName = DEFAULT_LAYOUT,
    keep: Sequence[str] = (),
    mode: Mode = FAILFAST,
    limits: Limits | None = None,
) -> DataFrame:
    """Return a row for each statement of the messages in a binary column, with the columns to `keep` of its message.

    In the mode PERMISSIVE a bad message becomes one row with no statement, and the reason in `_corrupt_record`.

    Args:
        frame: the messages
        column: the name of their column
        layout: `struct`, `ntriples` or `flat`
        keep: names of columns to keep
        mode: what to do about bad messages: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        limits: what is accepted from messages that are not trusted
    """
    mode = _mode(mode)
    statement = _statement_type(layout)
    _require_binary(frame, column)
    for name in keep:
        if name in statement.names or name == CORRUPT_COLUMN:
            raise OptionsError(f"keep: there is a column {name!r} among those of the statements; rename it before")
    schema = StructType([*(frame.schema[name] for name in keep), *statement.fields])
    if mode == PERMISSIVE:
        schema = schema.add(CORRUPT_COLUMN, StringType())
    arrow = exact_arrow_schema(schema)

    def decode(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = MessageDecoder(layout, limits)
        for record_batch in record_batches:
            for part in decoder.decode(record_batch[column]):
                if part.error is not None and mode == FAILFAST:
                    raise _placed(part)
                rows = _rows(part, record_batch.select(list(keep)), arrow, has_reports=mode == PERMISSIVE)
                if len(rows):
                    yield rows

    return frame.select(*dict.fromkeys((*keep, column))).mapInArrow(decode, schema)


def _require_binary(frame: DataFrame, column: str) -> None:
    if column not in frame.columns:
        raise OptionsError(f"there is no column {column!r}; there are {', '.join(frame.columns)}")
    kind = frame.schema[column].dataType
    if not isinstance(kind, BinaryType):
        raise OptionsError(f"column {column!r} is {kind.simpleString()}, and messages are binary; {_TO_BYTES}")


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_null(kind))


def _rows(part: Part, kept: pa.RecordBatch, arrow: pa.Schema, *, has_reports: bool) -> pa.RecordBatch:
    if part.error is not None and has_reports:
        arrays = [kept[name].take(pa.array(part.messages)) for name in kept.schema.names]
        arrays += [pa.nulls(1, field.type) for field in part.rows.schema]
        arrays.append(pa.array([str(part.error)]))
    else:
        arrays = [kept[name].take(_message_of_each_row(part)) for name in kept.schema.names]
        arrays += part.rows.columns
        if has_reports:
            arrays.append(pa.nulls(len(part.rows), pa.string()))
    arrays = [
        array if array.type == field.type else array.cast(field.type)
        for array, field in zip(arrays, arrow, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow)


def _message_of_each_row(part: Part) -> pa.Array:
    ends, messages, at = [], [], 0
    for number, count in zip(part.messages, part.counts, strict=True):
        if count:
            at += count
            ends.append(at)
            messages.append(number)
    if not ends:
        return pa.array([], pa.int32())
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(messages)))


def encode_payloads(
    frame: DataFrame,
    *,
    group_by: str | Sequence[str] | None = None,
    rows_per_message: int | None = None,
    options: StreamOptions | None = None,
) -> DataFrame:
    """Return statements as messages in a binary column `value`, each a bare frame that stands by itself.

    With `group_by` the rows with the same values in these columns, which are kept, make up a message; they are brought
    together first. With `rows_per_message` a message has at most so many statements.

    Args:
        frame: the statements, in any layout
        group_by: names of columns
        rows_per_message: statements in a message, at most
        options: the options of each message
    """
    keys = [group_by] if isinstance(group_by, str) else list(group_by or ())
    if not keys and rows_per_message is None:
        raise OptionsError("encode_payloads: say what makes up a message: group_by, rows_per_message or both")
    if rows_per_message is not None and rows_per_message < 1:
        raise OptionsError(f"rows_per_message is {rows_per_message}, and must be at least 1")
    columns = [name for name in _STATEMENT_COLUMNS if name in frame.columns]
    names = list(dict.fromkeys((*keys, *columns)))
    if VALUE_COLUMN in keys:
        raise OptionsError(f"group_by: {VALUE_COLUMN!r} is the name of the messages; rename the column")
    schema = StructType([*(frame.schema[name] for name in keys), StructField(VALUE_COLUMN, BinaryType())])
    arrow = exact_arrow_schema(schema)

    def encode(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rest: pa.RecordBatch | None = None
        for record_batch in record_batches:
            if not len(record_batch):
                continue
            if rest is not None:
                table = pa.Table.from_batches([rest, record_batch]).combine_chunks()
                (record_batch,) = table.to_batches()
            # The last message may go on.
            *ends, _last = _ends(record_batch, keys, rows_per_message)
            stop = ends[-1] if ends else 0
            if ends:
                yield _messages(record_batch.slice(0, stop), ends)
            rest = record_batch.slice(stop)
        if rest is not None:
            yield _messages(rest, [len(rest)])

    def _messages(record_batch: pa.RecordBatch, ends: list[int]) -> pa.RecordBatch:
        messages = encode_messages(record_batch.select(columns), ends, options)
        firsts = pa.array([0, *ends[:-1]], pa.int32())
        arrays = [record_batch[name].take(firsts) for name in keys]
        arrays = [array.cast(arrow.field(name).type) for array, name in zip(arrays, keys, strict=True)]
        return pa.RecordBatch.from_arrays([*arrays, pa.array(messages, pa.binary())], schema=arrow)

    chosen = frame.select(*names)
    if keys:
        chosen = chosen.repartition(*keys).sortWithinPartitions(*keys)
    return chosen.mapInArrow(encode, schema)


def _ends(record_batch: pa.RecordBatch, keys: Sequence[str], most: int | None) -> list[int]:
    """Where messages end: where a key changes, and where they have the rows that they may have."""
    rows = len(record_batch)
    groups = sorted({row for name in keys for row in changes(record_batch[name])} | {rows})
    if most is None:
        return groups
    ends: list[int] = []
    start = 0
    for stop in groups:
        ends += [*range(start + most, stop, most), stop]
        start = stop
    return ends


# ---- both ----


def _statement_type(layout: str) -> StructType:
    return StructType(
        [StructField(name, kind) for name, kind in layout_columns(get_layout(layout).name).items()],
    )


def _mode(mode: str) -> Mode:
    for known in MODES:
        if mode.upper() == known:
            return known
    raise OptionsError(f"mode is {mode!r}, and must be one of {', '.join(MODES)}")


def _placed(part: Part) -> JellyError:
    assert part.error is not None
    part.error.source = f"message {part.messages[0]} of an Arrow batch"
    return part.error
