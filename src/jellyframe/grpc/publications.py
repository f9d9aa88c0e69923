"""Check publications: the kernel decodes each frame before it is passed on."""

from __future__ import annotations

from typing import NamedTuple

from jellyframe.batch import Batch
from jellyframe.errors import LimitError, OptionsError, ParseError
from jellyframe.options import MIN_NAME_TABLE_SIZE, DialectName, Limits, StreamOptions
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.stream.index import INDEX_KEY
from jellyframe.wire import encode_bytes_field

# Frames are decoded into batches of about this size, most of which are never read.
_BATCH_ROWS = 4096
_BATCH_BYTES = 1 << 20
# A small frame may repeat a long prefix or datatype any number of times.
_TEXT_PER_BYTE = 16
_INDEX_KEY = INDEX_KEY.encode()


class _Decoder(StreamDecoder):
    """A decoder that notes whether an options row was repeated with other bytes."""

    options_rows_differ = False

    def _parse_options(self, message: bytes) -> StreamOptions:
        # The kernel calls this for the first options row, and for those with other bytes.
        self.options_rows_differ = self.options is not None
        return super()._parse_options(message)

    def _check_options(self, options: StreamOptions) -> None:
        try:
            super()._check_options(options)
        except LimitError as error:
            # The protocol requires the same status for all options that a server cannot handle.
            raise OptionsError(error.message, advice=error.advice) from None


class FrameContent(NamedTuple):
    """The content of a frame.

    Attributes:
        batches: its statements
        namespaces: the short names that it declares, each with its IRI
        metadata: its metadata
    """

    batches: list[Batch]
    namespaces: list[tuple[str, str]]
    metadata: dict[str, bytes]

    @classmethod
    def of_batches(cls, batches: list[Batch]) -> FrameContent:
        """Return the content of the frame that consists of these batches."""
        return cls.of_last_frame(batches, batches[0].first_frame if batches else 0, 0)

    @classmethod
    def of_last_frame(cls, batches: list[Batch], number: int, rows_before: int) -> FrameContent:
        """Return the content of the last frame of batches. Only the first batch has rows of earlier frames."""
        namespaces = [
            (declared.name, declared.iri)
            for batch in batches
            for declared in batch.namespaces
            if declared.frame == number
        ]
        metadata: dict[str, bytes] = {}
        for batch in batches:
            metadata.update(batch.metadata.get(number, {}))
        own = [batches[0].slice(rows_before), *batches[1:]] if batches else []
        return cls([batch for batch in own if len(batch)], namespaces, metadata)


class CheckedFrame:
    """A frame that has passed all checks: its content, and its bytes if they can be forwarded unchanged.

    Attributes:
        options: the options of the stream that it belongs to
        data: its bytes, as the publisher sent them; empty if they cannot be forwarded
        publication: the stream that it belongs to, None if that has ended
        number: its number in that stream
        size: the number of bytes that the publisher sent
        statements: the number of its statements
    """

    __slots__ = ("_content", "data", "number", "options", "publication", "size", "statements")

    def __init__(self, options: StreamOptions, content: FrameContent) -> None:
        self.options = options
        self.statements = sum(map(len, content.batches))
        self.data = b""
        self.publication: Publication | None = None
        self.number = 0
        self.size = 0
        self._content: FrameContent | None = content

    @classmethod
    def of_publication(cls, publication: Publication, number: int, data: bytes, statements: int) -> CheckedFrame:
        """Return a frame whose content stays in the decoder of its publication until it is read."""
        frame = cls.__new__(cls)
        frame.options = publication.options
        frame.statements = statements
        frame.data = data
        frame.publication = publication
        frame.number = number
        frame.size = len(data)
        frame._content = None
        return frame

    @property
    def content(self) -> FrameContent:
        """The content of the frame. It must be read before the next frame of the publication is checked."""
        if self._content is None:
            assert self.publication is not None
            self._content = self.publication.take_content(self.number)
        return self._content


class Publication:
    """A stream that a client publishes, checked frame by frame.

    Attributes:
        dialect: the dialect of its frames
        failure: why accepted frames could not be kept, or None; set by the topic's store
    """

    def __init__(self, limits: Limits, dialect: DialectName = "released") -> None:
        self._limits = limits
        self.dialect: DialectName = dialect
        self._decoder = _Decoder(limits=limits, dialect=dialect, batch_rows=_BATCH_ROWS, batch_bytes=_BATCH_BYTES)
        self._max_text = _TEXT_PER_BYTE * limits.max_frame_bytes
        self._options: StreamOptions | None = None
        self._frames = 0
        # Of the latest frame: the batches that it filled, and the number of rows of earlier frames before its own.
        self._filled: list[Batch] = []
        self._rows_before = 0
        self._options_row: bytes | None = None
        self.failure: Exception | None = None

    @property
    def options(self) -> StreamOptions:
        """The options of the stream. They are not available before the first frame has been checked."""
        if self._options is None:
            options = self._decoder.options
            if options is None:
                raise ParseError("the first frame does not begin with an options row", frame=0)
            if self.dialect == "draft":
                # As options of the released format, in which frames are kept.
                names = max(options.max_name_table_size, MIN_NAME_TABLE_SIZE)
                options = options.replace(max_name_table_size=names, use_repeat=True)
            self._options = options
        return self._options

    @property
    def options_row(self) -> bytes:
        """The options row, as it is in a frame."""
        if self._options_row is None:
            message = self._decoder.options_message() or b""
            self._options_row = encode_bytes_field(1, encode_bytes_field(1, message))
        return self._options_row

    @property
    def looked_back(self) -> bool:
        """Whether any frame so far would change its meaning after frames of another stream."""
        return self._decoder.looked_back

    @property
    def options_rows_differ(self) -> bool:
        """Whether the options were repeated with other bytes."""
        return self._decoder.options_rows_differ

    def check(self, data: bytes) -> CheckedFrame:
        """Return the next frame. Raises a JellyError if it breaks a rule of the format, or a limit."""
        if len(data) > self._limits.max_frame_bytes:
            raise LimitError(
                f"a frame of {len(data)} bytes, above the limit of {self._limits.max_frame_bytes}", frame=self._frames
            )
        decoder = self._decoder
        self._rows_before = decoder.waiting_rows
        self._filled = []
        decoder.push_frame(data)
        rows, text = -self._rows_before, 0
        while (batch := decoder.next_batch()) is not None:
            self._filled.append(batch)
            rows += len(batch)
            text += batch.terms.text_bytes()
            if text > self._max_text:
                raise LimitError(
                    f"the terms of a frame take more than {self._max_text} bytes as text, {_TEXT_PER_BYTE} times the "
                    f"limit of a frame",
                    frame=self._frames,
                )
        frame = CheckedFrame.of_publication(self, self._frames, data, rows + decoder.waiting_rows)
        # An index holds positions in its own file, so it is removed, and the bytes change.
        if _INDEX_KEY in data and frame.content.metadata.pop(INDEX_KEY, None) is not None:
            frame.data = b""
        self._frames += 1
        return frame

    def take_content(self, number: int) -> FrameContent:
        """Return the content of the latest frame."""
        assert number >= self._frames - 1, "the content of a frame is gone once the next one has been checked"
        last = self._decoder.next_batch(partial=True)
        batches = self._filled if last is None else [*self._filled, last]
        return FrameContent.of_last_frame(batches, number, self._rows_before)

    def finish(self) -> None:
        """Raise a JellyError if the stream may not end here."""
        if self._frames == 0:
            raise ParseError("the publication has no frames, and must have at least one")
        self._decoder.finish()
        self._decoder.next_batch()
