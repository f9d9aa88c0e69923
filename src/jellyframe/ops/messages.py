"""Columns of messages, each a bare Jelly frame, as statements in Arrow (lists or rows), and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.grouping import changes
from jellyframe.errors import JellyError
from jellyframe.ops.bad_input import FAILFAST, PERMISSIVE, Mode
from jellyframe.options import DialectName, Limits, StreamOptions
from jellyframe.stream.message_batches import MessageDecoder, Part, encode_messages


def is_binary(kind: pa.DataType) -> bool:
    """Return whether a column of a type can hold messages."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_null(kind))


# ---- lists --------------------------------------------------------------------------------------------------


def decode_lists(
    payloads: pa.Array,
    kind: pa.DataType,
    *,
    layout: str,
    mode: Mode = FAILFAST,
    limits: Limits | None = None,
    dialect: DialectName = "released",
) -> pa.Array:
    """Return a binary array of messages as an array of lists of statements, of the type `kind`.

    A bad message raises in the mode FAILFAST, and is null in the others.
    """
    counts: list[int | None] = [None] * len(payloads)
    chunks = []
    for part in MessageDecoder(layout, limits, dialect).decode(payloads):
        if part.error is None:
            chunks.append(part.rows)
            for number, count in zip(part.messages, part.counts, strict=True):
                counts[number] = count
        elif mode == FAILFAST:
            raise _placed(part.error, part)
    return _lists(chunks, counts, kind)


def _lists(chunks: list[pa.RecordBatch], counts: list[int | None], kind: pa.DataType) -> pa.Array:
    structs = [pa.StructArray.from_arrays(chunk.columns, fields=list(kind.value_type)) for chunk in chunks]
    values = pa.concat_arrays(structs) if structs else pa.array([], kind.value_type)
    offsets = [0]
    for count in counts:
        offsets.append(offsets[-1] + (count or 0))
    mask = pa.array([count is None for count in counts], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind, mask=mask)


def encode_lists(lists: pa.Array, options: StreamOptions | None = None, dialect: DialectName = "released") -> pa.Array:
    """Return an array of lists of statements as a binary array of messages. Nulls stay nulls."""
    if isinstance(lists, pa.LargeListArray):
        lists = lists.cast(pa.list_(lists.type.value_type))
    if not len(lists):
        return pa.array([], pa.binary())
    rows = lists.flatten()
    ends = pc.cumulative_sum(pc.fill_null(lists.value_lengths(), 0)).to_pylist()
    record_batch = pa.RecordBatch.from_arrays(rows.flatten(), names=[field.name for field in rows.type])
    messages = encode_messages(record_batch, ends, options, dialect)
    return pa.array(messages, pa.binary(), mask=lists.is_null().to_numpy(zero_copy_only=False))


# ---- rows ---------------------------------------------------------------------------------------------------


def decode_rows(
    record_batches: Iterable[pa.RecordBatch],
    column: str,
    schema: pa.Schema,
    *,
    keep: Sequence[str] = (),
    layout: str,
    mode: Mode = FAILFAST,
    limits: Limits | None = None,
    dialect: DialectName = "released",
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each statement of the messages in a column, with the columns to `keep` of its message.

    `schema` is that of the result: the columns to keep, those of the layout, and in the mode PERMISSIVE one for
    errors: each bad message becomes a row with its error.
    """
    decoder = MessageDecoder(layout, limits, dialect)
    for record_batch in record_batches:
        for part in decoder.decode(record_batch[column]):
            if part.error is not None and mode == FAILFAST:
                raise _placed(part.error, part)
            rows = _rows(part, record_batch.select(list(keep)), schema, has_reports=mode == PERMISSIVE)
            if len(rows):
                yield rows


def _rows(part: Part, kept: pa.RecordBatch, schema: pa.Schema, *, has_reports: bool) -> pa.RecordBatch:
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
        for array, field in zip(arrays, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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


def encode_rows(
    record_batches: Iterable[pa.RecordBatch],
    columns: Sequence[str],
    schema: pa.Schema,
    *,
    keys: Sequence[str] = (),
    rows_per_message: int | None = None,
    options: StreamOptions | None = None,
    dialect: DialectName = "released",
) -> Iterator[pa.RecordBatch]:
    """Yield statements as messages: consecutive statements with the same values in the columns `keys`.

    A message has at most `rows_per_message` statements. `columns` are those of the statements, `schema` is that of the
    result: the keys, and a binary column.
    """

    def messages(record_batch: pa.RecordBatch, ends: list[int]) -> pa.RecordBatch:
        encoded = encode_messages(record_batch.select(list(columns)), ends, options, dialect)
        firsts = pa.array([0, *ends[:-1]], pa.int32())
        arrays = [record_batch[name].take(firsts).cast(schema.field(name).type) for name in keys]
        return pa.RecordBatch.from_arrays([*arrays, pa.array(encoded, pa.binary())], schema=schema)

    rest: pa.RecordBatch | None = None
    for record_batch in record_batches:
        if not len(record_batch):
            continue
        if rest is not None:
            table = pa.Table.from_batches([rest, record_batch]).combine_chunks()
            (record_batch,) = table.to_batches()
        # The last message may continue in the next batch.
        *ends, _last = _ends(record_batch, keys, rows_per_message)
        stop = ends[-1] if ends else 0
        if ends:
            yield messages(record_batch.slice(0, stop), ends)
        rest = record_batch.slice(stop)
    if rest is not None:
        yield messages(rest, [len(rest)])


def _ends(record_batch: pa.RecordBatch, keys: Sequence[str], most: int | None) -> list[int]:
    """Return the ends of messages: where a key changes, and where they have the maximum number of rows."""
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


def _placed(error: JellyError, part: Part) -> JellyError:
    return error.replace(source=f"message {part.messages[0]} of an Arrow batch")
