"""Write patch streams from rows and batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS
from jellyframe.patch.batches import write_given
from jellyframe.patch.encoder import PatchStreamEncoder
from jellyframe.patch.options import PatchOptions
from jellyframe.storage.sinks import ByteSink
from jellyframe.stream.encoding import OUTPUT_BYTES
from jellyframe.stream.writing import AnyWriter, check_index, restart_distance

if TYPE_CHECKING:
    from jellyframe.options import LayoutName
    from jellyframe.patch.rows import PatchRow
    from jellyframe.patch.tables import PatchTable
    from jellyframe.storage.types import Compression, FileSystem, Sink


class PatchWriterSettings(TypedDict, total=False):
    """The keyword arguments of `open_patch_writer`."""

    frame_rows: int | None
    frame_bytes: int | None
    delimited: bool
    compression: Compression | None
    restart_every: int | Literal["auto"] | None
    index: bool
    filesystem: FileSystem | None


def open_patch_writer(
    sink: Sink, options: PatchOptions | None = None, **settings: Unpack[PatchWriterSettings]
) -> PatchWriter:
    """Open a Jelly-Patch stream for writing.

    Args:
        sink: a path or a URI, at which the file appears when the writer is closed, or a binary file object
        options: the options of the stream, by default `PatchOptions()`: quads, with punctuation marks
        frame_rows: rows after which a frame is cut (256), None for no limit; in FRAME streams only `end_patch`
            ends frames
        frame_bytes: bytes after which a frame is cut (1,000,000), None for no limit
        delimited: whether frames are delimited (true); otherwise the stream is one bare frame
        compression: `gzip`, `zstd` or None
        restart_every: distance of restart points in bytes, None for none; by default, `auto`, streams to a path have
            one every 8 MiB, outside of transactions and, unless the stream is FLAT, between patches
        index: whether an index of the restart points is appended (false); not in FRAME streams
        filesystem: the file system of the path, of pyarrow or fsspec; by default it follows from the path
        settings: `frame_rows` to `filesystem`, as keyword arguments

    Raises:
        OptionsError: if the options are invalid or exclude each other
    """
    return PatchWriter(sink, options, **settings)


class PatchWriter(AnyWriter[PatchStreamEncoder]):
    """A writer of a patch stream.

    A row that is refused with a `JellyError` leaves no trace: the rows before it are in the stream, and the writer
    can still be used. Closing ends the current patch if it has rows, and raises if a transaction is open. A writer is
    for one thread at a time.
    """

    def __init__(
        self,
        sink: Sink,
        options: PatchOptions | None = None,
        *,
        frame_rows: int | None = DEFAULT_FRAME_ROWS,
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        delimited: bool = True,
        compression: Compression | None = None,
        restart_every: int | Literal["auto"] | None = "auto",
        index: bool = False,
        filesystem: FileSystem | None = None,
    ) -> None:
        """Open a stream; the arguments are those of `open_patch_writer`."""
        check_index(index, compression)
        encoder = PatchStreamEncoder(
            options,
            frame_rows=frame_rows,
            frame_bytes=frame_bytes,
            delimited=delimited,
            restart_every=restart_distance(restart_every, sink, may_restart=delimited),
            index=index,
        )
        super().__init__(encoder, ByteSink(sink, compression, filesystem=filesystem))

    @property
    def options(self) -> PatchOptions:
        """The options of the stream."""
        return self._encoder.options

    @property
    def rows_written(self) -> int:
        """The number of rows written so far, punctuation marks included."""
        return self._encoder.statements

    def write(self, rows: Iterable[PatchRow]) -> None:
        """Write the rows of any iterable.

        If a row is refused, or the iterable raises, the rows before it are written. The rows after a refused row are
        not written, though an iterator may have been drawn further.

        Args:
            rows: rows of a patch; in a stream of quads, None as graph is the default graph

        Raises:
            EncodeError: if a row cannot be written; the message has its number
        """
        with self._exclusive:
            has_graph = self._open_encoder().options.has_graph
            write_given(rows, lambda batch: self._write_batch(batch, 0, None), has_graph=has_graph)

    def write_table(self, table: PatchTable, layout: LayoutName | None = None) -> None:
        """Write an Arrow table, record batch or record batch reader of patches, in any of the layouts.

        Args:
            table: the rows; a row with the operation `P` ends a patch, but not in a FLAT stream, which is one patch
            layout: the layout of the columns; by default it is inferred from them

        Raises:
            TableError: if the columns do not hold rows of patches
            EncodeError: if a row cannot be written
        """
        from jellyframe.patch.tables import write_rows

        write_rows(table, layout, self)

    def end_patch(self) -> None:
        """End the patch, even if it is empty: with a punctuation mark, or in FRAME streams with the frame.

        Raises:
            EncodeError: if the stream is FLAT, which is one patch only, or a transaction is open
        """
        with self._exclusive:
            self._open_encoder().end_patch()
            self._pass_on(OUTPUT_BYTES)
