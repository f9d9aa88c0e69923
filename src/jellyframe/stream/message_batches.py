"""Convert many messages at a time: arrays of bare frames to record batches of statements, and back.

A reader or a writer for each message would cost more than the statements in it. Here one decoder reads a run of
messages, each of which begins a stream, and one encoder writes a self-contained frame for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.terms import BatchMaker
from jellyframe.batch import Batch
from jellyframe.dialects import dialect_named
from jellyframe.errors import EncodeError, JellyError, LimitError
from jellyframe.kernel.decode_cy import Decoder
from jellyframe.options import DEFAULT_LIMITS, DialectName, Limits, StreamOptions
from jellyframe.stream.decoder import KernelOptions, kernel_options
from jellyframe.stream.encoder import StreamEncoder
from jellyframe.stream.reader import open_reader

# Bytes of messages that become one record batch.
RUN_BYTES = 1 << 20
# Runs end by their bytes, before these limits. A message that reaches one is read separately.
_MAX_ROWS = 1 << 20
_MAX_TERM_BYTES = 64 << 20
# Memory for the rows of a message that is read separately: this much, or in proportion to its size.
_MAX_ROWS_BYTES = 128 << 20
_MAX_EXPANSION = 16
_ROW_TAG = _OPTIONS_TAG = 0x0A


class Part(NamedTuple):
    """Some messages: their numbers, how many statements each has, and the statements. Or a bad one and its error."""

    messages: list[int]
    counts: list[int]
    rows: pa.RecordBatch
    error: JellyError | None = None


class _SecondOptionsError(JellyError):
    """A message with more than one options row, which needs a separate reader."""


class MessageDecoder:
    """Decodes messages into a layout, always with a column for the graph."""

    def __init__(self, layout: str, limits: Limits | None = None, dialect: DialectName = "released") -> None:
        self._dialect = dialect_named(dialect)
        self._view = ArrowView(layout, True)
        self._limits = limits or DEFAULT_LIMITS
        self._known_options: dict[bytes, KernelOptions] = {}
        self._options_seen = 0

    def decode(self, payloads: pa.Array) -> Iterator[Part]:
        """Yield the messages of a binary array in order; nulls are left out."""
        payloads = payloads.cast(pa.binary())
        offsets = memoryview(payloads.buffers()[1]).cast("B").cast("i") if len(payloads) else memoryview(b"")
        data = memoryview(payloads.buffers()[2] or b"").cast("B") if len(payloads) else memoryview(b"")
        valid = payloads.is_valid().to_pylist() if payloads.null_count else None
        run: list[int] = []
        run_bytes = 0
        decoder = self._new_decoder()

        def message(number: int) -> memoryview:
            return data[offsets[payloads.offset + number] : offsets[payloads.offset + number + 1]]

        for number in range(len(payloads)):
            if valid is not None and not valid[number]:
                continue
            start, stop = offsets[payloads.offset + number], offsets[payloads.offset + number + 1]
            is_read = self._feed(decoder, data, start, stop)
            if not is_read and run:
                # It may be of another kind than those before it.
                yield from self._take(decoder, run, message)
                run, run_bytes, decoder = [], 0, self._new_decoder()
                is_read = self._feed(decoder, data, start, stop)
            if not is_read:
                yield self._read_separately(number, message(number))
                decoder = self._new_decoder()
                continue
            run.append(number)
            run_bytes += stop - start
            if run_bytes >= RUN_BYTES:
                yield from self._take(decoder, run, message)
                run, run_bytes = [], 0
        if run:
            yield from self._take(decoder, run, message)

    def _new_decoder(self) -> Decoder:
        limits = self._limits
        return self._dialect.decoder(
            self._read_options, limits.max_nesting_depth, limits.max_frame_bytes, _MAX_ROWS, _MAX_TERM_BYTES, True
        )

    def _feed(self, decoder: Decoder, data: memoryview, start: int, stop: int) -> bool:
        """Add a message to a run. Return false for one that is of another kind, or bad."""
        head = data[start : min(start + 3, stop)]
        # It has to begin with its options, so that it does not depend on the message before.
        if len(head) < 3 or head[0] != _ROW_TAG or head[1] > 0x7F or head[2] != _OPTIONS_TAG:
            return False
        self._options_seen = 0
        try:
            decoder.feed_bare(data, start, stop)
            if decoder.is_inside_frame():
                decoder.drop_unfinished_frame()
                return False
            decoder.end_of_input()
        except JellyError:
            decoder.drop_unfinished_frame()
            return False
        return True

    def _read_options(self, message: bytes, _is_first: bool) -> KernelOptions:
        self._options_seen += 1
        if self._options_seen > 1:
            raise _SecondOptionsError("another options row")
        known = self._known_options.get(message)
        if known is None:
            options = self._dialect.parse_options(message)
            self._dialect.check_readable(options, self._limits)
            known = kernel_options(options, *self._dialect.kernel_settings(options))
            self._known_options[message] = known
        return known

    def _take(self, decoder: Decoder, messages: list[int], message: Callable[[int], memoryview]) -> Iterator[Part]:
        columns, terms, _first, ends, _is_open, _metadata, _namespaces = decoder.take_batch()
        stops = list(ends[: len(messages)])
        try:
            rows = self._view.convert(Batch(columns, terms))
        except LimitError:
            # One of them stands for too much text; the others are not to be lost for it.
            yield from (self._read_separately(number, message(number)) for number in messages)
            return
        counts = [stop - start for start, stop in zip([0, *stops], stops, strict=False)]
        # A message that proved bad only at its end has left rows after those of the good ones.
        yield Part(messages, counts, rows.slice(0, stops[-1]))

    def _read_separately(self, number: int, message: memoryview) -> Part:
        nothing = self._view.schema.empty_table()
        try:
            with open_reader(bytes(message), limits=self._limits, dialect=self._dialect.name) as reader:
                rows = list(_bounded(self._view.record_batches(reader.batches()), len(message)))
                table = pa.Table.from_batches(rows, self._view.schema)
        except JellyError as error:
            return Part([number], [0], _one_batch(nothing), error)
        return Part([number], [table.num_rows], _one_batch(table))


def _bounded(rows: Iterable[pa.RecordBatch], message_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a message. Raises LimitError if they take far more memory than the message."""
    most = max(_MAX_ROWS_BYTES, _MAX_EXPANSION * message_bytes)
    size = 0
    for some in rows:
        size += some.nbytes
        if size > most:
            raise LimitError(f"the statements of a message of {message_bytes} bytes take more than {most} bytes")
        yield some


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)


def encode_messages(
    statements: pa.RecordBatch,
    ends: Sequence[int],
    options: StreamOptions | None = None,
    dialect: DialectName = "released",
) -> list[bytes]:
    """Return rows of statements as self-contained messages.

    Args:
        statements: rows in one of the layouts of `read_table`
        ends: the row after the last one of each message, in order; the first message begins with the first row
        options: the options of the messages; by default any statement is allowed
        dialect: the dialect of the messages

    Raises:
        EncodeError: if a statement cannot be written; the message says in which message it is
        TableError: if the columns do not hold statements
    """
    batch = BatchMaker(statements.schema).make(statements)
    stream = (options or StreamOptions()).resolved(has_graph=batch.has_graph)
    # With restart points after every byte, every frame is one.
    encoder = StreamEncoder(stream, frame_rows=None, frame_bytes=None, restart_every=1, dialect=dialect)
    messages: list[bytes] = []
    start = 0
    for stop in ends:
        try:
            encoder.encode(batch, start, stop)
        except EncodeError as error:
            raise type(error)(f"message {len(messages)}: {error.message}", row=error.row, advice=error.advice) from None
        encoder.end_frame()
        messages += encoder.take_frames()
        start = stop
    return messages
