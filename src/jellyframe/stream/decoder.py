"""Decode Jelly bytes into batches, without I/O: bytes are pushed as they come, and batches are taken.

    decoder = StreamDecoder()
    decoder.push(data)                      # any number of bytes, or whole frames with push_frame
    decoder.finish()                        # there are no more
    for batch in decoder.batches(): ...

Files, messages and connections are shells around this, which differ only in where the bytes come from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Generic, NamedTuple, TypeAlias, TypeVar
from weakref import WeakMethod

from jellyframe.batch import BATCH_BYTES, Batch, NamespaceDeclaration
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.dialects.recognition import recognised_dialect
from jellyframe.errors import Advice, JellyError, OptionsError, ParseError, StreamKindError
from jellyframe.kernel.decode_frames_cy import FrameDecoder
from jellyframe.options import (
    DEFAULT_LIMITS,
    DialectName,
    Limits,
    StreamOptions,
    TableOptions,
    check_batch_rows,
    term_settings,
)
from jellyframe.storage.types import Buffer
from jellyframe.stream.framing import SNIFFED_BYTES, looks_delimited
from jellyframe.wire import decode_varint, encode_varint

# Bytes of a frame that tell whether it is one.
_HEAD_BYTES = 64
# Settings of the kind of stream; generalized statements, RDF-star; sizes of the tables of names, prefixes, datatypes.
KernelOptions: TypeAlias = tuple[tuple[int, ...], bool, bool, int, int, int]


class LookupEntries(NamedTuple):
    """Entries of the lookup tables of a stream: how many there are, and how many replaced another one.

    Attributes:
        names: entries of the table of names
        prefixes: entries of the table of prefixes
        datatypes: entries of the table of datatypes
        replaced_names: those among the names that replaced one
        replaced_prefixes: those among the prefixes that replaced one
        replaced_datatypes: those among the datatypes that replaced one
    """

    names: int
    prefixes: int
    datatypes: int
    replaced_names: int
    replaced_prefixes: int
    replaced_datatypes: int


_OptionsT = TypeVar("_OptionsT", bound=TableOptions)


class AnyStreamDecoder(ABC, Generic[_OptionsT]):
    """The base of the decoders of all kinds of streams: bytes in, batches out.

    A kind of stream says which kernel decodes it and how its options are read.
    """

    def __init__(
        self,
        kernel: FrameDecoder,
        limits: Limits,
        *,
        delimited: bool | None,
        self_contained: bool,
        start: int,
        first_frame: int,
        source_name: str | None,
    ) -> None:
        self._limits = limits
        self._is_delimited = delimited
        self._options: _OptionsT | None = None
        self._first_options: _OptionsT | None = None
        self._error: JellyError | None = None
        self._at_end = False
        self._is_finished = False
        self._data: Buffer = b""
        self._pos = 0
        self._pieces: list[Buffer] = []
        self._waiting = 0
        self._needed = 3
        self._kernel = kernel
        self._kernel.begin_at(start, first_frame)
        self._kernel.source_name = source_name
        self._kernel.no_look_back = self_contained

    @property
    def options(self) -> _OptionsT | None:
        """The options of the (first) stream, once they have been decoded."""
        return self._first_options

    @property
    def is_delimited(self) -> bool | None:
        """Whether the frames have their lengths in front; None until the first bytes have been decoded."""
        return self._is_delimited

    @property
    def is_finished(self) -> bool:
        """Whether the last batch has been taken and the stream has ended without an error."""
        return self._is_finished and not self._kernel.has_content()

    @property
    def looked_back(self) -> bool:
        """Whether the stream has left out a first id, so that its frames would mean something else after others."""
        return bool(self._kernel.looked_back)

    @property
    def waiting_rows(self) -> int:
        """The number of statements that have been decoded but not taken in a batch."""
        return self._kernel.waiting_rows()

    @property
    def needed(self) -> int:
        """The minimum number of bytes to push before another frame can be decoded."""
        return max(1, self._needed - self._available())

    # ---- bytes in ----

    def push(self, data: Buffer) -> None:
        """Add the next bytes of the stream.

        Args:
            data: the bytes, which must not change until the batches are taken
        """
        if self._at_end:
            raise OptionsError("bytes are pushed after the end of the stream: finish() has been called")
        if len(data):
            self._pieces.append(data)
            self._waiting += len(data)

    def push_frame(self, frame: Buffer) -> None:
        """Add one whole `frame` that something else delimits, such as a gRPC message.

        Frames of one stream may be pushed one by one. Offsets in errors count as if each had its length in front.
        """
        if self._is_delimited is None and self._available() == 0:
            self._is_delimited = True
        if not self._is_delimited:
            raise OptionsError("whole frames cannot be mixed with the bytes of a bare frame")
        self.push(encode_varint(len(frame)))
        self.push(frame)

    def finish(self) -> None:
        """Mark the end of the input."""
        self._at_end = True

    def abort(self, error: JellyError) -> None:
        """Mark the input as failed: whole frames before this are returned, then the `error` is raised."""
        if self._error is None:
            self._error = error
            self._kernel.drop_unfinished_frame()

    # ---- batches out ----

    def batches(self) -> Iterator[Batch]:
        """Yield the batches that the bytes pushed so far fill; after `finish`, all of them."""
        while (batch := self.next_batch()) is not None:
            yield batch

    def next_batch(self, *, partial: bool = False) -> Batch | None:
        """Return the next batch, or None if more bytes are needed, or if the stream has ended (`is_finished`).

        With `partial` a batch need not be full: all that has been decoded is returned. If the input is bad, all whole
        frames before that place are returned before the error is raised.
        """
        if self._error is None and not self._is_finished:
            try:
                self._decode()
            except JellyError as error:
                self.abort(self._explained(error))
        has_content = self._kernel.has_content()
        if self._error is not None:
            if not has_content:
                raise self._error
        elif not (self._kernel.is_batch_full() or self._is_finished or partial):
            return None
        return self._take_batch() if has_content else None

    def unfinished_frame(self) -> tuple[int, int, bytes]:
        """Return the frame that is being decoded, or is next: its number, its offset, and its first bytes if known."""
        self._join()
        at = self._kernel.frame_offset - self._kernel.base_offset
        head = bytes(self._data[at : at + _HEAD_BYTES]) if at >= 0 else b""
        return self._kernel.frame_number, self._kernel.frame_offset, head

    def last_frame_with_rows(self) -> tuple[int, int] | None:
        """Return the number and the offset of the last whole frame that has rows."""
        if self._kernel.rows_frame < 0:
            return None
        return self._kernel.rows_frame, self._kernel.rows_frame_offset

    def lookup_entries(self) -> LookupEntries:
        """Return how many lookup entries have been decoded."""
        return LookupEntries(*self._kernel.lookup_entries())

    def options_message(self) -> bytes | None:
        """Return the bytes of the options message; None if it has not been decoded."""
        message: bytes | None = self._kernel.options_message
        return message

    # ---- the mechanism ----

    def _available(self) -> int:
        return len(self._data) - self._pos + self._waiting

    def _decode(self) -> None:
        """Decode until the batch is full or bytes are missing."""
        if self._kernel.is_batch_full():
            return
        if self._available() < self._needed and not self._at_end:
            return
        self._join()
        if self._is_delimited is None:
            self._is_delimited = looks_delimited(bytes(self._data[:SNIFFED_BYTES]))
        if self._is_delimited:
            self._decode_frames()
        else:
            self._decode_bare_frame()

    def _decode_frames(self) -> None:
        kernel = self._kernel
        self._pos = kernel.feed(self._data, self._pos, len(self._data))
        self._needed = max(kernel.needed, 1)
        if kernel.is_batch_full() or not self._at_end:
            return
        left = self._available()
        if left:
            raise ParseError(
                f"the input ends inside a frame: {left} bytes of it are there, at least {kernel.needed} are needed",
                source=kernel.source_name,
                frame=kernel.frame_number,
                offset=kernel.base_offset + self._pos,
            )
        self._is_finished = True
        kernel.end_of_input()

    def _decode_bare_frame(self) -> None:
        """Decode the whole input as one bare frame."""
        kernel = self._kernel
        if not self._at_end and len(self._data) <= self._limits.max_frame_bytes:
            # The requested size doubles each time, so that the bytes received so far are not joined over and over.
            self._needed = min(2 * len(self._data), self._limits.max_frame_bytes + 1)
            return
        if not self._data:
            raise ParseError("the input is empty", source=kernel.source_name, frame=0, offset=0)
        self._pos = kernel.feed_bare(self._data, self._pos, len(self._data))
        if self._pos == len(self._data) and not kernel.is_inside_frame():
            self._is_finished = True
            kernel.end_of_input()

    def _join(self) -> None:
        """Join the bytes that are left and those pushed since into one buffer."""
        if not self._pieces:
            return
        left = self._data[self._pos :]
        self._kernel.base_offset += self._pos
        self._data = self._pieces[0] if len(self._pieces) == 1 and not left else b"".join([left, *self._pieces])
        self._pos = 0
        self._pieces = []
        self._waiting = 0

    def _read_options(self, message: bytes, is_first: bool) -> KernelOptions:
        """Called by the kernel for each options row."""
        options = self._parse_options(message)
        if is_first:
            self._check_options(options)
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
        return self._kernel_options(options)

    def _explained(self, error: JellyError) -> JellyError:
        """Return an error of the kernel, with its cause if the bytes show it."""
        return error

    def _frame_bytes(self) -> memoryview:
        """Return the bytes of the frame that is being decoded; none if they are no longer held."""
        at = self._kernel.frame_offset - self._kernel.base_offset
        data = memoryview(self._data)
        if at < 0:
            return data[:0]
        if not self._is_delimited:
            return data[at:]
        length, body = decode_varint(data, at)
        return data[body : body + length]

    @abstractmethod
    def _parse_options(self, message: bytes) -> _OptionsT:
        """Return the options of an options row."""

    @abstractmethod
    def _check_options(self, options: _OptionsT) -> None:
        """Raise unless a stream with these options may be read under the limits."""

    @abstractmethod
    def _kernel_options(self, options: _OptionsT) -> KernelOptions:
        """Return the options as the kernel takes them."""

    @abstractmethod
    def _take_batch(self) -> Batch:
        """Return the batch that the kernel has decoded."""


class StreamDecoder(AnyStreamDecoder[StreamOptions]):
    """Decodes one Jelly stream, or several end to end.

    Args:
        limits: the limits for untrusted input.
        concatenated: every options row begins a new stream; otherwise a repeated one has to be identical, and changes
            nothing.
        delimited: whether the frames have their lengths in front; by default detected from the first three bytes.
        batch_rows: statements in a batch, at most.
        batch_bytes: bytes of terms after which a batch ends, as text.
        self_contained: refuse a stream that begins by leaving out an id, as no stream at a restart point does.
        start: the offset of the first byte that will be pushed, for errors.
        first_frame: the number of the first frame.
        source_name: the name of the input in errors.
        dialect: `released`, or `draft` for the draft of the format. It is not detected.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        concatenated: bool = False,
        delimited: bool | None = None,
        batch_rows: int = DEFAULT_BATCH_ROWS,
        batch_bytes: int = BATCH_BYTES,
        self_contained: bool = False,
        start: int = 0,
        first_frame: int = 0,
        source_name: str | None = None,
        dialect: DialectName = "released",
    ) -> None:
        limits = limits or DEFAULT_LIMITS
        check_batch_rows(batch_rows)
        self._dialect = dialect_named(dialect)
        kernel = self._dialect.decoder(
            options_callback(self._read_options),
            limits.max_nesting_depth,
            limits.max_frame_bytes,
            batch_rows,
            batch_bytes,
            concatenated,
        )
        super().__init__(
            kernel,
            limits,
            delimited=delimited,
            self_contained=self_contained,
            start=start,
            first_frame=first_frame,
            source_name=source_name,
        )

    def _parse_options(self, message: bytes) -> StreamOptions:
        return self._dialect.parse_options(message)

    def _check_options(self, options: StreamOptions) -> None:
        self._dialect.check_readable(options, self._limits)

    def _kernel_options(self, options: StreamOptions) -> KernelOptions:
        return kernel_options(options, *self._dialect.kernel_settings(options))

    def _explained(self, error: JellyError) -> JellyError:
        if not isinstance(error, ParseError | OptionsError) or isinstance(error, StreamKindError):
            return error
        try:
            found = recognised_dialect(self._frame_bytes())
        except ParseError:
            return error
        if found in (None, self._dialect.name):
            return error
        return type(error)(
            f"{error.message}; the rows look like those of the {found} dialect of Jelly, and are read as those of the "
            f"{self._dialect.name} one",
            source=error.source,
            frame=error.frame,
            row=error.row,
            offset=error.offset,
            advice=Advice("argument", "dialect", repr(found)),
        )

    def _take_batch(self) -> Batch:
        columns, terms, first_frame, ends, is_open, metadata, namespaces = self._kernel.take_batch()
        declarations = [NamespaceDeclaration(*declaration) for declaration in namespaces]
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


def options_callback(read: Callable[[bytes, bool], KernelOptions]) -> Callable[[bytes, bool], KernelOptions]:
    """Return a function for the kernel that calls a method of the decoder which holds that kernel.

    It does not keep the decoder alive, so that a decoder without references is freed at once, not when the garbage
    collector finds the cycle.
    """
    method = WeakMethod(read)

    def call(message: bytes, is_first: bool) -> KernelOptions:
        found = method()
        assert found is not None
        return found(message, is_first)

    return call


def kernel_options(options: TableOptions, *settings: int) -> KernelOptions:
    """Return a stream's options as the kernel's decoder takes them."""
    return (settings, *term_settings(options))
