"""Write Jelly streams from statements, frames, batches and Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame
from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS
from jellyframe.options import StreamOptions
from jellyframe.storage.sinks import ByteSink
from jellyframe.stream.encoder import FramePosition, StreamEncoder
from jellyframe.stream.encoding import OUTPUT_BYTES
from jellyframe.stream.statements import encode_statements
from jellyframe.stream.writing import AnyWriter, check_index, restart_distance

if TYPE_CHECKING:
    from jellyframe.arrow.types import ArrowTable
    from jellyframe.options import DialectName, LayoutName
    from jellyframe.storage.types import Compression, FileSystem, Sink
    from jellyframe.terms import IRI, Quad, Triple


class WriterSettings(TypedDict, total=False):
    """The keyword arguments of `open_writer`."""

    frame_rows: int | None
    frame_bytes: int | None
    delimited: bool
    compression: Compression | None
    restart_every: int | Literal["auto"] | None
    index: bool
    filesystem: FileSystem | None
    dialect: DialectName


def open_writer(sink: Sink, options: StreamOptions | None = None, **settings: Unpack[WriterSettings]) -> JellyWriter:
    """Open a Jelly stream for writing.

    Args:
        sink: a path or a URI, where the file appears when the writer is closed, or a binary file object
        options: the options of the stream, the same as `StreamOptions()` by default: any statement is allowed, and the
            first one decides between triples and quads
        frame_rows: rows after which a frame ends (256), None for no limit; in grouped streams only `end_frame` ends
            frames
        frame_bytes: bytes after which a frame ends (1,000,000), None for no limit
        delimited: whether frames have their lengths in front (true); else the stream is one bare frame
        compression: `gzip`, `zstd` or None
        restart_every: distance of restart points in bytes, None for none; by default, `auto`, flat streams to a path
            have one every 8 MiB
        index: whether an index of the restart points is appended (false)
        filesystem: the file system of the path, of pyarrow or fsspec; by default the path tells
        dialect: `released`, or `draft` for the draft of the format, which has no namespaces, metadata and index
        settings: `frame_rows` to `dialect`, by name

    Raises:
        OptionsError: if the options are invalid or exclude each other
    """
    return JellyWriter(sink, options, **settings)


class JellyWriter(AnyWriter[StreamEncoder]):
    """A Jelly stream that is being written.

    A statement, a namespace or metadata that is refused with a `JellyError` leaves no trace: what was accepted before
    is in the stream, and the writer remains usable. A writer is for one thread at a time.
    """

    def __init__(
        self,
        sink: Sink,
        options: StreamOptions | None = None,
        *,
        frame_rows: int | None = DEFAULT_FRAME_ROWS,
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        delimited: bool = True,
        compression: Compression | None = None,
        restart_every: int | Literal["auto"] | None = "auto",
        index: bool = False,
        filesystem: FileSystem | None = None,
        dialect: DialectName = "released",
    ) -> None:
        """Open a stream; the arguments are those of `open_writer`."""
        check_index(index, compression)
        is_grouped = options is not None and options.logical_type.is_grouped
        encoder = StreamEncoder(
            options,
            frame_rows=frame_rows,
            frame_bytes=frame_bytes,
            delimited=delimited,
            restart_every=restart_distance(restart_every, sink, may_restart=delimited and not is_grouped),
            index=index,
            dialect=dialect,
        )
        super().__init__(encoder, ByteSink(sink, compression, filesystem=filesystem))
        encoder.can_rewrite = self._sink.can_rewrite

    @property
    def options(self) -> StreamOptions | None:
        """The options of the stream; None until the first statement has decided."""
        return self._encoder.options

    @property
    def statements_written(self) -> int:
        """The number of statements written so far."""
        return self._encoder.statements

    # ---- what can be written ----

    def write(self, statements: Iterable[Triple | Quad]) -> None:
        """Write statements, from any iterable, as they come.

        If a statement is refused, or the iterable raises, those before it are written. Those after a statement that is
        refused are not, though an iterator may have been drawn further.

        Args:
            statements: triples or quads, as the stream has them

        Raises:
            EncodeError: if a statement cannot be written; the message says which of those given it is
        """
        with self._exclusive:
            self._write(statements)

    def write_batch_in_frames(self, batch: Batch) -> None:
        """Write a `batch` in the frames that it has, without their namespaces and metadata.

        Raises:
            EncodeError: if a statement cannot be written; `row` is its row, and those before it are written
        """
        with self._exclusive:
            self._write_batch_in_frames(batch)

    def write_table(
        self,
        table: ArrowTable,
        layout: LayoutName | None = None,
    ) -> None:
        """Write an Arrow table, record batch or record batch reader, in any of the layouts of `read_table`.

        Args:
            table: the statements; with a column `frame`, each of its values becomes a frame
            layout: the layout of the columns; by default it is inferred from them

        Raises:
            TableError: if the columns do not hold statements
            EncodeError: if a statement cannot be written
        """
        from jellyframe.arrow.tables import table_to_batches

        for batch in table_to_batches(table, layout=layout):
            with self._exclusive:
                self._write_batch_in_frames(batch)

    def write_frame(self, frame: Frame | Iterable[Triple | Quad], metadata: Mapping[str, bytes] | None = None) -> None:
        """Write a separate frame: a `Frame` of a reader with its namespaces and metadata, or statements.

        If something is refused, what came before it is written and the frame stays open until `end_frame`.

        Args:
            frame: the content of the frame
            metadata: metadata of the frame, which is added to that of a `Frame` and replaces entries with the same key
        """
        with self._exclusive:
            if isinstance(frame, Frame):
                for name, iri in frame.namespaces:
                    self._open_encoder().declare_namespace(name, iri)
                for part in frame.parts():
                    self._write_batch(*part)
                metadata = {**frame.metadata, **(metadata or {})}
            else:
                self._write(frame)
            self._open_encoder().end_frame(metadata)
            self._pass_on(OUTPUT_BYTES)

    def declare_namespace(self, name: str, iri: str | IRI) -> None:
        """Declare a short name for an IRI, at this place of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for

        Raises:
            EncodeError: if one of them is not valid Unicode, or it is too late to raise the stream's version
        """
        with self._exclusive:
            self._open_encoder().declare_namespace(name, iri)
            self._pass_on(OUTPUT_BYTES)

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the frame, even an empty one, with its metadata.

        Args:
            metadata: bytes under names of your choice, none by default

        Raises:
            EncodeError: if a name is not valid Unicode or a value is not bytes, it is too late to raise the stream's
                version, or it is a bare stream that already has its frame
        """
        with self._exclusive:
            self._open_encoder().end_frame(metadata)
            self._pass_on(OUTPUT_BYTES)

    # ---- the mechanism ----

    def _write(self, statements: Iterable[Triple | Quad]) -> None:
        encoder = self._open_encoder()
        try:
            for _ in encode_statements(encoder, statements):
                self._pass_on(OUTPUT_BYTES)
        finally:
            self._pass_on(OUTPUT_BYTES)

    def _write_batch_in_frames(self, batch: Batch) -> None:
        encoder = self._open_encoder()
        position: FramePosition | None = FramePosition()
        try:
            while position is not None:
                position = encoder.encode_in_frames(batch, position)
                self._pass_on(OUTPUT_BYTES)
        finally:
            self._pass_on(OUTPUT_BYTES)

    def _pass_on(self, at_least: int) -> None:
        for offset, data in self._encoder.take_rewrites():
            self._sink.rewrite(offset, data)
        super()._pass_on(at_least)
