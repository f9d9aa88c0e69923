"""Encode Jelly-Patch without I/O: batches and ends of patches in, bytes or whole frames out."""

from __future__ import annotations

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS
from jellyframe.errors import NamedGraphError, OptionsError
from jellyframe.kernel.encode_patch_cy import PatchEncoder
from jellyframe.options import term_settings
from jellyframe.patch.options import PatchOptions, PatchStreamType
from jellyframe.stream.encoding import OUTPUT_BYTES, AnyStreamEncoder, stop_row


class PatchStreamEncoder(AnyStreamEncoder[PatchEncoder]):
    """Encodes a patch stream. It does no I/O: the output is buffered until it is taken, as bytes or as frames.

    A row that is refused with a `JellyError` leaves no trace: the rows before it are in the stream, and the
    encoder can still be used. Another error inside the encoder, such as a `MemoryError`, ends the stream.

    Args:
        options: the options of the stream
        frame_rows: rows after which a frame is cut, None for no limit; not in FRAME streams and bare ones
        frame_bytes: bytes after which a frame is cut, None for no limit; not in FRAME streams and bare ones
        delimited: whether frames are delimited; otherwise the stream is one bare frame
        restart_every: distance of restart points in bytes, None for none; they are outside of transactions and, in
            PUNCTUATED streams, between patches
        index: whether an index of the restart points ends the stream; not in FRAME streams
        output_bytes: number of finished bytes at which `encode` stops, so that they can be taken
    """

    _kernel: PatchEncoder

    def __init__(
        self,
        options: PatchOptions | None = None,
        *,
        frame_rows: int | None = DEFAULT_FRAME_ROWS,
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        delimited: bool = True,
        restart_every: int | None = None,
        index: bool = False,
        output_bytes: int = OUTPUT_BYTES,
    ) -> None:
        super().__init__(
            frame_rows=frame_rows,
            frame_bytes=frame_bytes,
            delimited=delimited,
            restart_every=restart_every,
            index=index,
            output_bytes=output_bytes,
        )
        self._options = options = PatchOptions() if options is None else options
        options.check_writable()
        is_by_frame = options.stream_type is PatchStreamType.FRAME
        if index and is_by_frame:
            raise OptionsError("an index is a frame without rows: in a stream of type FRAME, an empty patch")
        self._kernel = PatchEncoder(
            options.to_bytes(),
            options.statement_type,
            options.stream_type,
            *term_settings(options),
            *self._frame_settings(may_cut=not is_by_frame),
        )

    @property
    def options(self) -> PatchOptions:
        """The options of the stream."""
        return self._options

    def encode(self, batch: Batch, start: int = 0, stop: int | None = None) -> int:
        """Encode rows `start` to `stop` of the batch of a patch and return the row to continue from.

        The result is below `stop` when `output_bytes` are ready: take them, and call again with it as `start`. The
        frames of the batch do not matter: `end_patch`, or a punctuation row, ends a patch. In a stream of quads, rows
        without a graph are in the default graph.

        Args:
            batch: rows, with the column `op`
            start: the first row to encode
            stop: the row after the last one; by default all rows are encoded

        Raises:
            EncodeError: if a row cannot be written with the options of the stream, or at this position; `row` is its
                row in the batch, and the rows before it are encoded
        """
        stop = stop_row(batch, start, stop)
        ops = batch.operations
        if batch.has_graph and not self._options.has_graph:
            raise NamedGraphError("rows with graphs in a stream of triples; set statement_type to QUADS")
        graph = self._graph_column(batch) if self._options.has_graph else None
        return self._kernel.encode(ops, batch.s, batch.p, batch.o, graph, batch.terms, start, stop)

    def end_patch(self) -> None:
        """End the patch, even if it is empty: with a punctuation mark, or in FRAME streams with the frame.

        Raises:
            EncodeError: if the stream is FLAT, which is one patch only, or a transaction is open
        """
        self._kernel.end_patch()

    def flush(self) -> None:
        """End the frame if it has rows, so that all encoded rows can be taken. Does nothing in a FRAME stream."""
        if self._options.stream_type is not PatchStreamType.FRAME and self._kernel.has_content:
            self._kernel.end_frame()

    def finish(self) -> None:
        """End the stream, and the current patch if it has rows. A stream without rows still has the options.

        Raises:
            EncodeError: if a transaction is open
        """
        self._finish(self._kernel)
