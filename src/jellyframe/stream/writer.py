"""Writing Jelly: from statements, frames, batches and Arrow tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame
from jellyframe.errors import EncodeError, JellyError, OptionsError
from jellyframe.kernel.encode_cy import Encoder
from jellyframe.kernel.table_cy import TermTable
from jellyframe.options import VERSION_1_1, LogicalType, PhysicalType, StreamOptions
from jellyframe.storage.sinks import ByteSink
from jellyframe.stream.index import encode_index_frame
from jellyframe.wire import encode_metadata

if TYPE_CHECKING:
    from jellyframe.terms import Quad, Triple

DEFAULT_FRAME_ROWS = 256
DEFAULT_FRAME_BYTES = 1_000_000
DEFAULT_RESTART_EVERY = 8 << 20
WRITE_BATCH_ROWS = 16_384
# Bytes are handed on in pieces of about this size.
OUTPUT_BYTES = 1 << 20

_BY_KIND_OF_STREAM: Final = -1


def open_writer(
    sink: Any,
    options: StreamOptions | None = None,
    *,
    frame_rows: int | None = DEFAULT_FRAME_ROWS,
    frame_bytes: int | None = DEFAULT_FRAME_BYTES,
    delimited: bool = True,
    compression: str | None = None,
    restart_every: int | None = _BY_KIND_OF_STREAM,
    index: bool = False,
) -> JellyWriter:
    """Open a Jelly stream for writing.

    `sink` is a path, where the file appears when the writer is closed, or a binary file object. Without `options` the
    first statement decides between triples and quads. Frames are cut after `frame_rows` rows or `frame_bytes` bytes,
    except in grouped streams, where each `end_frame` ends one. `restart_every` is the distance of restart points in
    bytes, None for none; by default flat streams to a path have one every 8 MiB. `index` appends an index of them.
    `compression` is gzip or zstd.
    """
    return JellyWriter(
        sink,
        options,
        frame_rows=frame_rows,
        frame_bytes=frame_bytes,
        delimited=delimited,
        compression=compression,
        restart_every=restart_every,
        index=index,
    )


def default_options(*, has_graph: bool) -> StreamOptions:
    """The options of a writer that was given none: flat, every kind of term allowed, the preset `big`."""
    return StreamOptions(
        physical_type=PhysicalType.QUADS if has_graph else PhysicalType.TRIPLES,
        logical_type=LogicalType.FLAT_QUADS if has_graph else LogicalType.FLAT_TRIPLES,
        generalized_statements=True,
        rdf_star=True,
    )


class JellyWriter:
    """A Jelly stream that is being written."""

    def __init__(
        self,
        sink: Any,
        options: StreamOptions | None,
        *,
        frame_rows: int | None,
        frame_bytes: int | None,
        delimited: bool,
        compression: str | None,
        restart_every: int | None,
        index: bool,
    ) -> None:
        for name, value in (("frame_rows", frame_rows), ("frame_bytes", frame_bytes)):
            if value is not None and value < 1:
                raise OptionsError(f"{name} is {value}, and must be at least 1, or None for no limit")
        if index and (compression is not None or not delimited):
            raise OptionsError("an index is of use in delimited files without compression only")
        if options is not None:
            options.check()
            if index and options.logical_type.is_grouped:
                raise OptionsError("an index is a frame without statements: in a grouped stream, an empty graph")
        self._frame_rows = frame_rows
        self._frame_bytes = frame_bytes
        self._is_delimited = delimited
        self._restart_every = restart_every
        self._is_path = isinstance(sink, str | os.PathLike)
        self._has_index = index
        self._encoder: Encoder | None = None
        self._is_closed = False
        self._options = options
        if options is not None:
            self._options = options.with_version(uses_1_1=index)
        self._sink = ByteSink(sink, compression)

    @property
    def options(self) -> StreamOptions | None:
        """The options of the stream; None as long as the first statement has yet to decide."""
        return self._options

    @property
    def statements_written(self) -> int:
        return 0 if self._encoder is None else self._encoder.statements

    @property
    def restarts(self) -> list[tuple[int, int]]:
        """The restart points so far: for each its offset in the stream, and how many statements come before it."""
        return [] if self._encoder is None else list(self._encoder.restarts)

    # ---- what can be written ----

    def write(self, statements: Iterable[Triple | Quad]) -> None:
        """Write statements, from any iterable, as they come."""
        from jellyframe.kernel.objects_cy import StatementBuilder

        builder = StatementBuilder(None if self._options is None else self._options.has_graph)
        iterator = iter(statements)
        first = self.statements_written
        while True:
            try:
                added = builder.add(iterator, WRITE_BATCH_ROWS)
            except JellyError:
                # What came before the bad statement is good.
                self.write_batch(Batch.from_builder(builder.take()))
                raise
            if added == 0:
                return
            try:
                self.write_batch(Batch.from_builder(builder.take()))
            except EncodeError as error:
                if error.row is not None:
                    error.message = f"statement {self.statements_written - first} of those given: {error.message}"
                    error.row = None
                raise

    def write_batch(self, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Write the rows of a batch, or those from `start` to `stop`; the batch's own frames do not matter."""
        encoder, graph = self._encoder_for(batch)
        try:
            encoder.encode(batch.s, batch.p, batch.o, graph, batch.terms, start, len(batch) if stop is None else stop)
        finally:
            self._pass_on(OUTPUT_BYTES)

    def write_batch_in_frames(self, batch: Batch) -> None:
        """Write a batch in the frames that it has, without their namespaces and metadata."""
        if batch.frame_ends is None:
            self.write_batch(batch)
            return
        encoder, graph = self._encoder_for(batch)
        complete = len(batch.frame_ends) - batch.last_frame_open
        try:
            encoder.encode_frames(batch.s, batch.p, batch.o, graph, batch.terms, batch.frame_ends, complete)
        finally:
            self._pass_on(OUTPUT_BYTES)

    def _encoder_for(self, batch: Batch) -> tuple[Encoder, memoryview | None]:
        """The encoder, and the column of graphs as the stream needs it."""
        encoder = self._ready_encoder(batch.has_graph)
        graph = batch.g
        if batch.has_graph and self._options is not None and not self._options.has_graph:
            raise EncodeError("quads in a stream of triples; set physical_type to QUADS or GRAPHS")
        if not batch.has_graph and self._options is not None and self._options.has_graph:
            graph = batch.with_graph().g
        return encoder, graph

    def write_table(self, table: Any) -> None:
        """Write an Arrow table, record batch or record batch reader, in any of the layouts of `read_table`.

        With a column `frame`, each of its values becomes a frame.
        """
        from jellyframe.arrow.tables import table_to_batches

        for batch in table_to_batches(table):
            self.write_batch_in_frames(batch)

    def write_frame(self, frame: Frame | Iterable[Triple | Quad], metadata: Mapping[str, bytes] | None = None) -> None:
        """Write a frame of its own: a `Frame` of a reader with its namespaces and metadata, or statements."""
        if isinstance(frame, Frame):
            for name, iri in frame.namespaces:
                self.declare_namespace(name, iri)
            for part in frame.parts():
                self.write_batch(*part)
            metadata = {**frame.metadata, **(metadata or {})}
        else:
            self.write(frame)
        self.end_frame(metadata)

    def declare_namespace(self, name: str, iri: str) -> None:
        """Declare a short name for an IRI, at this place of the stream."""
        from jellyframe.kernel.objects_cy import utf8

        encoder = self._ready_encoder(has_graph=False)
        self._require_version_1_1(encoder)
        terms = TermTable()
        encoder.declare_namespace(terms, terms.add_string(utf8(name)), terms.add_string(utf8(iri)))
        self._pass_on(OUTPUT_BYTES)

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the frame, even an empty one, and give it metadata."""
        encoder = self._ready_encoder(has_graph=False)
        if metadata:
            self._require_version_1_1(encoder)
        encoder.end_frame(encode_metadata(metadata) if metadata else b"")
        self._pass_on(OUTPUT_BYTES)

    def flush(self) -> None:
        """End the frame if it has rows, and hand all bytes to the sink: for streams that someone reads meanwhile."""
        if self._encoder is not None and self._encoder.frame_rows:
            self._encoder.end_frame()
        self._pass_on(0)
        self._sink.flush()

    def close(self) -> None:
        """End the stream. What goes to a path appears there now."""
        if self._is_closed:
            return
        try:
            encoder = self._ready_encoder(has_graph=False)
            encoder.finish()
            self._pass_on(0)
            if self._has_index:
                self._sink.write(encode_index_frame(encoder.restarts, encoder.statements, encoder.offset()))
        except BaseException:
            self.discard()
            raise
        self._is_closed = True
        self._sink.close()

    def discard(self) -> None:
        """Give up: nothing appears at the path."""
        self._is_closed = True
        self._sink.discard()

    def __enter__(self) -> JellyWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    # ---- the mechanism ----

    def _ready_encoder(self, has_graph: bool) -> Encoder:
        if self._is_closed:
            raise EncodeError("the writer is closed")
        if self._encoder is None:
            if self._options is None:
                self._options = default_options(has_graph=has_graph).with_version(uses_1_1=self._has_index)
            self._encoder = self._new_encoder(self._options)
        return self._encoder

    def _new_encoder(self, options: StreamOptions) -> Encoder:
        is_grouped = options.logical_type.is_grouped
        restart_every = self._restart_every
        if restart_every == _BY_KIND_OF_STREAM:
            restart_every = DEFAULT_RESTART_EVERY if self._is_path and not is_grouped and self._is_delimited else None
        may_cut = self._is_delimited and not is_grouped
        return new_encoder(
            options,
            frame_rows=self._frame_rows if may_cut else None,
            frame_bytes=self._frame_bytes if may_cut else None,
            delimited=self._is_delimited,
            restart_every=restart_every,
        )

    def _require_version_1_1(self, encoder: Encoder) -> None:
        """Namespaces and metadata came with version 1.1: say so in the options, while that can still be done."""
        if self._options is not None and self._options.version < VERSION_1_1:
            raised = self._options.replace(version=VERSION_1_1)
            if not encoder.change_options(raised.to_bytes()):
                raise EncodeError(
                    "namespaces and frame metadata need version tag 2, but the stream has begun with 1; "
                    "set version=2 in the options"
                )
            self._options = raised

    def _pass_on(self, at_least: int) -> None:
        """Hand finished bytes to the sink, if there are enough of them."""
        if self._encoder is not None and self._encoder.output_size() > at_least:
            self._sink.write(self._encoder.take_output())


def new_encoder(
    options: StreamOptions,
    *,
    frame_rows: int | None,
    frame_bytes: int | None,
    delimited: bool,
    restart_every: int | None,
) -> Encoder:
    """A kernel encoder for options that are known to be good."""
    return Encoder(
        options.to_bytes(),
        options.physical_type,
        options.generalized_statements,
        options.rdf_star,
        options.max_name_table_size,
        options.max_prefix_table_size,
        options.max_datatype_table_size,
        frame_rows or 0,
        frame_bytes or 0,
        delimited,
        restart_every or 0,
    )
