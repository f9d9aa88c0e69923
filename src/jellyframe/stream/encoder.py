"""Encode Jelly streams without I/O: batches, namespaces and frame ends in, bytes or whole frames out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.errors import Advice, EncodeError, JellyError, NamedGraphError, OptionsError
from jellyframe.kernel.encode_cy import Encoder
from jellyframe.kernel.table_cy import TermTable
from jellyframe.options import VERSION_1_1, DialectName, StreamOptions
from jellyframe.stream.encoding import OUTPUT_BYTES, AnyStreamEncoder, stop_row
from jellyframe.terms import IRI
from jellyframe.wire import encode_metadata, encode_string

_T = TypeVar("_T")


class FramePosition(NamedTuple):
    """A place in a batch: a frame, counted in the batch, and a row."""

    frame: int = 0
    row: int = 0


class Rewrite(NamedTuple):
    """Bytes that replace the same number of bytes taken from an encoder before."""

    offset: int
    data: bytes


class StreamEncoder(AnyStreamEncoder[Encoder]):
    """Encodes a Jelly stream. It does no I/O: finished output is held until it is taken, as bytes or as frames.

        encoder = StreamEncoder()
        row = 0
        while row < len(batch):
            row = encoder.encode(batch, row)
            send(encoder.take())
        encoder.finish()
        send(encoder.take())

    A statement, a namespace or metadata that is refused with a `JellyError` leaves no trace: what was accepted before
    is in the stream, and the encoder remains usable. Another error inside the encoder, such as a `MemoryError`,
    ends the stream.

    Args:
        options: the options of the stream; the first statement decides what they leave open
        frame_rows: rows after which a frame ends, None for no limit; not in grouped and bare streams
        frame_bytes: bytes after which a frame ends, None for no limit; not in grouped and bare streams
        delimited: whether frames have their lengths in front; else the stream is one bare frame
        restart_every: distance of restart points in bytes, None for none
        index: whether an index of the restart points ends the stream
        output_bytes: finished bytes at which `encode` stops for them to be taken
        dialect: `released`, or `draft` for the draft of the format, which has no namespaces, metadata and index

    Attributes:
        can_rewrite: whether the caller can change bytes that it has taken, see `take_rewrites`; false unless set
    """

    def __init__(
        self,
        options: StreamOptions | None = None,
        *,
        frame_rows: int | None = DEFAULT_FRAME_ROWS,
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        delimited: bool = True,
        restart_every: int | None = None,
        index: bool = False,
        output_bytes: int = OUTPUT_BYTES,
        dialect: DialectName = "released",
    ) -> None:
        super().__init__(
            frame_rows=frame_rows,
            frame_bytes=frame_bytes,
            delimited=delimited,
            restart_every=restart_every,
            index=index,
            output_bytes=output_bytes,
        )
        self._dialect = dialect_named(dialect)
        self._given = StreamOptions() if options is None else options
        self._dialect.check_writable(self._given)
        if index and not self._dialect.has_version_1_1:
            raise OptionsError(f"an index is metadata of a frame, which the {dialect} dialect does not have")
        if index and self._given.logical_type.is_grouped:
            raise OptionsError("an index is a frame without statements: in a grouped stream, an empty graph")
        self.can_rewrite = False
        self._uses_1_1 = index
        self._rewrites: list[Rewrite] = []
        self._options: StreamOptions | None = None
        # What to write before the first statement, as long as that has to decide the options.
        self._early: list[Callable[[Encoder], None]] = []
        if not self._given.is_open:
            self._begin(has_graph=False)

    @property
    def options(self) -> StreamOptions | None:
        """The options of the stream; None until the first statement has decided."""
        return self._options

    # ---- in ----

    def encode(self, batch: Batch, start: int = 0, stop: int | None = None) -> int:
        """Encode rows `start` to `stop` of a batch and return the row to continue from.

        The result is below `stop` when `output_bytes` are ready: take them, and call again with it as `start`. The
        frames of the batch are ignored. Triples go into a stream of quads, as quads of the default graph.

        Args:
            batch: statements
            start: the first row to encode
            stop: the row after the last one, by default all that follow

        Raises:
            EncodeError: if a statement cannot be written with the options of the stream; `row` is its row in the batch,
                and the rows before it are encoded
        """
        stop = stop_row(batch, start, stop)
        if start == stop:
            return stop
        return self._encode(
            batch,
            lambda kernel, graph: kernel.encode(batch.s, batch.p, batch.o, graph, batch.terms, start, stop),
        )

    def encode_in_frames(self, batch: Batch, position: FramePosition = FramePosition()) -> FramePosition | None:  # noqa: B008
        """Encode a batch in the frames that it has, without their namespaces and metadata, from a position on.

        Returns the position to continue from when `output_bytes` are ready, and None when all of the batch is encoded.
        The last frame stays open if it continues in the next batch. Raises as `encode` does.

        Args:
            batch: statements
            position: where to continue, by default the beginning
        """
        if batch.frame_ends is None:
            row = self.encode(batch, position.row)
            return FramePosition(0, row) if row < len(batch) else None
        if len(batch.frame_ends) == 0:
            return None
        ends, complete = batch.frame_ends, len(batch.frame_ends) - batch.last_frame_open
        position = FramePosition(
            *self._encode(
                batch,
                lambda kernel, graph: kernel.encode_frames(
                    batch.s, batch.p, batch.o, graph, batch.terms, ends, complete, position.frame, position.row
                ),
            )
        )
        return position if position.frame < len(ends) else None

    def declare_namespace(self, name: str, iri: str | IRI) -> None:
        """Declare a short name for an IRI, at this place of the stream.

        Args:
            name: the short name, as before the colon in Turtle
            iri: what it stands for

        Raises:
            EncodeError: if one of them is not valid Unicode, or the stream can no longer be raised to version 1.1
        """
        terms = TermTable()
        name_term = terms.add_string(encode_string(name, "a namespace's name"))
        iri_term = terms.add_string(encode_string(iri.value if isinstance(iri, IRI) else iri, "a namespace's IRI"))
        self._require_version_1_1()
        self._apply(lambda kernel: kernel.declare_namespace(terms, name_term, iri_term))

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> None:
        """End the frame, even an empty one, with its metadata.

        Args:
            metadata: bytes under names of your choice, none by default

        Raises:
            EncodeError: if a name is not valid Unicode or a value is not bytes, the stream can no longer be raised to
                version 1.1, or it is a bare stream that already has its frame
        """
        encoded = encode_metadata(metadata) if metadata else b""
        if self._kernel is None and not self._is_delimited:
            # It is the only frame, and no statement follows it.
            self._begin(has_graph=False)
        if encoded:
            self._require_version_1_1()
        self._apply(lambda kernel: kernel.end_frame(encoded))

    def flush(self) -> None:
        """End the frame if it has rows, so that all that was encoded can be taken."""
        if self._kernel is None and self._early:
            self._begin(has_graph=False)
        if self._kernel is not None and self._kernel.has_content:
            self._kernel.end_frame()

    def finish(self) -> None:
        """End the stream. One without statements still has a frame with the options."""
        self._finish(self._kernel or self._begin(has_graph=False))

    # ---- out ----

    def take_rewrites(self) -> list[Rewrite]:
        """Return the changes to make in bytes that were taken before; always empty unless `can_rewrite` is set."""
        rewrites, self._rewrites = self._rewrites, []
        return rewrites

    # ---- the mechanism ----

    def _encode(self, batch: Batch, encode: Callable[[Encoder, memoryview | None], _T]) -> _T:
        is_new = self._kernel is None
        kernel = self._kernel or self._begin(has_graph=batch.has_graph)
        assert self._options is not None
        frames = kernel.frames
        if batch.has_graph and not self._options.has_graph:
            raise NamedGraphError(
                "quads in a stream of triples", advice=Advice("stream option", "physical_type", "QUADS")
            )
        try:
            return encode(kernel, self._graph_column(batch) if self._options.has_graph else None)
        except JellyError:
            if is_new and kernel.statements == 0 and kernel.frames == frames:
                # A statement that was refused decides nothing.
                self._kernel = self._options = None
            raise
        finally:
            if self._kernel is not None:
                self._early.clear()

    def _apply(self, action: Callable[[Encoder], None]) -> None:
        if self._kernel is None:
            self._early.append(action)
        else:
            action(self._kernel)

    def _begin(self, *, has_graph: bool) -> Encoder:
        """Fix the options, and encode what has been waiting for them."""
        options = self._dialect.written_options(self._given, has_graph=has_graph, uses_1_1=self._uses_1_1)
        frames = self._frame_settings(may_cut=not self._given.logical_type.is_grouped)
        kernel = self._dialect.encoder(options, frames)
        for action in self._early:
            action(kernel)
        self._options, self._kernel = options, kernel
        return kernel

    def _require_version_1_1(self) -> None:
        """Raise the version for namespaces and metadata, which came with 1.1, in all options rows of the stream."""
        kernel = self._kernel
        if not self._dialect.has_version_1_1:
            raise EncodeError(f"the {self._dialect.name} dialect has neither namespaces nor metadata of frames")
        if kernel is not None:
            kernel.check_open()
        if kernel is not None and self._options is not None and self._options.version < VERSION_1_1:
            if not self.can_rewrite and kernel.option_offsets and kernel.option_offsets[0] < kernel.bytes_taken:
                raise EncodeError(
                    "namespaces and frame metadata need version 1.1 of the format, but the stream has begun with 1.0 "
                    "and has been handed on in part; write to a file, or begin with StreamOptions(version=2)"
                )
            self._options = self._options.replace(version=VERSION_1_1)
            message = self._dialect.options_message(self._options)
            self._rewrites += [Rewrite(offset, message) for offset in kernel.change_options(message)]
        self._uses_1_1 = True
