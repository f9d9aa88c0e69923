"""Reading Jelly: one mechanism, and batches, Arrow, frames and statements as views of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from jellyframe.batch import Batch, NamespaceDeclaration
from jellyframe.batch.frames import Frame, frames_of
from jellyframe.errors import Advice, JellyError, OptionsError, ParseError
from jellyframe.kernel.decode_cy import Decoder
from jellyframe.options import Limits, StreamOptions
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.terms import Quad, Triple

DEFAULT_BATCH_ROWS = 16_384
BATCH_BYTES = 32 << 20
STATEMENTS_AT_A_TIME = 4096
# A source that keeps us waiting this long is live: what has been read is handed on before waiting again.
LIVE_SOURCE_SECONDS = 0.02


def open_reader(
    source: Any,
    *,
    limits: Limits | None = None,
    concatenated: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    delimited: bool | None = None,
    byte_range: tuple[int, int | None] | None = None,
    self_contained: bool = False,
) -> JellyReader:
    """Open a Jelly stream for reading.

    `source` is a path, bytes, or a binary file object, which need not seek. gzip and Zstandard are recognised, and so
    is whether the frames are delimited, unless `delimited` says it. With `concatenated` every options row begins a new
    stream; otherwise a repeated one has to be identical. `byte_range` reads from one restart point to another (see
    `jellyframe.stream.index`). With `self_contained`, a stream that begins by leaving out an id is refused: those
    that name all that they use mean the same wherever they stand, as ours do. `limits` bound what untrusted input
    may ask for.
    """
    return JellyReader(
        source,
        limits=limits or Limits(),
        concatenated=concatenated,
        batch_rows=batch_rows,
        delimited=delimited,
        byte_range=byte_range,
        self_contained=self_contained,
    )


class JellyReader:
    """A Jelly stream that is being read. Its views share one position: what one has consumed, another does not see."""

    def __init__(
        self,
        source: Any,
        *,
        limits: Limits,
        concatenated: bool,
        batch_rows: int,
        delimited: bool | None,
        byte_range: tuple[int, int | None] | None,
        self_contained: bool,
    ) -> None:
        if batch_rows < 1:
            raise OptionsError(f"batch_rows is {batch_rows}, and must be at least 1")
        start, stop = byte_range or (0, None)
        self._limits = limits
        self._options: StreamOptions | None = None
        self._first_options: StreamOptions | None = None
        self._is_delimited = delimited
        self._waiting_batch: Batch | None = None
        self._error: JellyError | None = None
        self._is_finished = False
        self._is_source_live = False
        self._decoder = Decoder(
            self._read_options,
            limits.max_nesting_depth,
            limits.max_frame_bytes,
            batch_rows,
            BATCH_BYTES,
            concatenated,
        )
        self._decoder.base_offset = start
        self._decoder.no_look_back = self_contained or start > 0
        if byte_range is not None:
            self._is_delimited = True
        self.namespaces: dict[str, str] = {}
        self._source = ByteSource(source, limits, start=start, stop=stop)
        self._data: bytes | memoryview = self._source.take_memory()
        self._pos = 0
        self._at_end = len(self._data) > 0

    # ---- the views ----

    @property
    def options(self) -> StreamOptions:
        """The options of the (first) stream. Reads as far as is needed to see them."""
        if self._first_options is None:
            self._waiting_batch = self._next_batch()
        if self._first_options is None:
            raise self._error or ParseError("the input holds no options row, so it is no Jelly stream")
        return self._first_options

    @property
    def is_delimited(self) -> bool | None:
        """Whether the frames have their lengths in front; None until the first bytes have been read."""
        return self._is_delimited

    @property
    def source_name(self) -> str | None:
        """What errors call the input: its path, if it has one."""
        return self._source.name

    def batches(self) -> Iterator[Batch]:
        """The stream in batches of at most `batch_rows` statements.

        Where the input is bad, all whole frames before that place are given before the error is raised.
        """
        while True:
            batch, self._waiting_batch = self._waiting_batch, None
            if batch is None:
                batch = self._next_batch()
            if batch is None:
                return
            yield batch

    def frames(self) -> Iterator[Frame]:
        """The stream frame by frame: in a grouped stream, each is a graph or a dataset."""
        return frames_of(self.batches())

    def statements(self) -> Iterator[Triple | Quad]:
        """The stream statement by statement."""
        for batch in self.batches():
            for start in range(0, len(batch), STATEMENTS_AT_A_TIME):
                yield from batch.statements(start, min(start + STATEMENTS_AT_A_TIME, len(batch)))

    def record_batches(
        self, layout: str = "struct", *, frame_column: bool = False, columns: Sequence[str] | None = None
    ) -> pa.RecordBatchReader:
        """Return what is left of the stream as Arrow record batches, decoded as they are drawn."""
        import pyarrow as pa

        from jellyframe.arrow.layouts import ArrowView

        view = ArrowView(layout, self.options.has_graph, frame_column=frame_column, columns=columns)
        return pa.RecordBatchReader.from_batches(view.schema, map(view.convert, self.batches()))

    def __iter__(self) -> Iterator[Triple | Quad]:
        return self.statements()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._source.close()
        self._is_finished = True

    def __enter__(self) -> JellyReader:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    # ---- the mechanism ----

    def _next_batch(self) -> Batch | None:
        """The next batch, or None at the end. After an error: first what came before it, then the error."""
        if self._error is None and not self._is_finished:
            try:
                self._read_until_full()
            except JellyError as error:
                self._fail(error)
        if self._error is not None and not self._decoder.has_content():
            failure, self._error = self._error, None
            self._is_finished = True
            raise failure
        return self._take_batch() if self._decoder.has_content() else None

    def _fail(self, error: JellyError) -> None:
        error.source = error.source or self._source.name
        self._error = error
        self._decoder.drop_unfinished_frame()

    def _read_until_full(self) -> None:
        decoder = self._decoder
        if self._is_delimited is None:
            self._is_delimited = self._looks_delimited()
        if not self._is_delimited:
            self._read_bare_frame()
            return
        while True:
            self._pos = decoder.feed(self._data, self._pos, len(self._data))
            if decoder.is_batch_full():
                return
            if self._is_source_live and decoder.has_content():
                self._is_source_live = False
                return
            if not self._fill(decoder.needed):
                break
        left = len(self._data) - self._pos
        if left:
            raise ParseError(
                f"the input ends inside a frame: {left} bytes of it are there, at least {decoder.needed} are needed",
                frame=decoder.frame_number,
                offset=decoder.base_offset + self._pos,
            )
        self._is_finished = True
        decoder.end_of_input()

    def _read_bare_frame(self) -> None:
        """A frame with no length in front of it is all that the input holds."""
        while len(self._data) <= self._limits.max_frame_bytes and self._fill(len(self._data) + 1):
            pass
        if not self._data:
            raise ParseError("the input is empty", frame=0, offset=0)
        self._pos = self._decoder.feed_bare(self._data, self._pos, len(self._data))
        if self._pos == len(self._data) and not self._decoder.is_inside_frame():
            self._is_finished = True
            self._decoder.end_of_input()

    def _fill(self, needed: int) -> bool:
        """Get bytes until `needed` of them lie ahead; false when the input ends before."""
        have = len(self._data) - self._pos
        wanted = max(needed, have + 1)
        if self._at_end:
            return have >= wanted
        pieces = [self._data[self._pos :]]
        while have < wanted and not self._at_end:
            asked = time.monotonic()
            piece = self._source.read(max(CHUNK_BYTES, wanted - have))
            self._is_source_live = time.monotonic() - asked > LIVE_SOURCE_SECONDS
            if not piece:
                self._at_end = True
            pieces.append(piece)
            have += len(piece)
        self._decoder.base_offset += self._pos
        self._data = pieces[1] if len(pieces) == 2 and not pieces[0] else b"".join(pieces)
        self._pos = 0
        return have >= wanted

    def _looks_delimited(self) -> bool:
        self._fill(3)
        return looks_delimited(bytes(self._data[:3]))

    def _read_options(self, message: bytes, is_first: bool) -> tuple[int, bool, bool, int, int, int]:
        """Called by the kernel for each options row."""
        options = StreamOptions.from_bytes(message)
        if is_first:
            options.check_readable(self._limits)
            self._options = options
            self._first_options = self._first_options or options
        elif options != self._options:
            changes = ", ".join(
                f"{field.name} {getattr(self._options, field.name)!r} to {getattr(options, field.name)!r}"
                for field in fields(options)
                if getattr(self._options, field.name) != getattr(options, field.name)
            )
            raise OptionsError(
                f"the options change inside the stream: {changes}; it may be several streams, one after the other",
                advice=Advice("argument", "concatenated", "True"),
            )
        return kernel_options(options)

    def _take_batch(self) -> Batch:
        columns, terms, first_frame, ends, is_open, metadata, namespaces = self._decoder.take_batch()
        declarations = [NamespaceDeclaration(*declaration) for declaration in namespaces]
        self.namespaces.update((declaration.name, declaration.iri) for declaration in declarations)
        return Batch(
            columns,
            terms,
            options=self._options,
            first_frame=first_frame,
            frame_ends=ends,
            last_frame_open=is_open,
            metadata=metadata,
            namespaces=declarations,
        )


def kernel_options(options: StreamOptions) -> tuple[int, bool, bool, int, int, int]:
    """What the kernel's decoder needs to know of a stream's options."""
    return (
        options.physical_type,
        options.generalized_statements,
        options.rdf_star,
        options.max_name_table_size,
        options.max_prefix_table_size,
        options.max_datatype_table_size,
    )


def looks_delimited(head: bytes) -> bool:
    """Whether a file with these first three bytes holds frames with their lengths in front, or one bare frame.

    A bare frame starts with a row (0x0A), its length, and an options row in it (0x0A). A delimited one starts with its
    length and then a row, or metadata (0x7A), unless it is empty.
    """
    if len(head) < 3:
        return len(head) > 0 and not any(head)
    if head[0] != 0x0A:
        return True
    return head[2] != 0x0A and head[1] in (0x0A, 0x7A)
