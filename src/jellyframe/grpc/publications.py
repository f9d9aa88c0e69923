"""Checks of publications: each frame is decoded by the kernel before anyone else sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

from jellyframe.batch import Batch
from jellyframe.errors import LimitError, ParseError
from jellyframe.options import MIN_NAME_TABLE_SIZE, DialectName, Limits, StreamOptions
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.stream.index import INDEX_KEY
from jellyframe.wire import encode_bytes_field


class _Decoder(StreamDecoder):
    """A decoder that remembers whether an options row was repeated in other bytes."""

    options_rows_differ = False

    def _parse_options(self, message: bytes) -> StreamOptions:
        # The kernel asks for the first options row, and for those that are not the same bytes.
        self.options_rows_differ = self.options is not None
        return super()._parse_options(message)


@dataclass(eq=False, slots=True)
class CheckedFrame:
    """A frame that has passed all checks: its content, and its bytes if they can be forwarded unchanged.

    Attributes:
        options: the options of the stream that it belongs to
        batches: its statements
        namespaces: the short names that it declares, each with its IRI
        metadata: its metadata
        data: its bytes, as the publisher sent them; empty where they are not what is to be passed on
        publication: the stream that it belongs to, None if that is gone
        number: its number in that stream
        size: how many bytes the publisher sent
    """

    options: StreamOptions
    batches: list[Batch]
    namespaces: list[tuple[str, str]] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)
    data: bytes = b""
    publication: Publication | None = None
    number: int = 0
    size: int = 0

    @property
    def statements(self) -> int:
        return sum(map(len, self.batches))

    @classmethod
    def of_batches(cls, options: StreamOptions, batches: list[Batch]) -> CheckedFrame:
        """Return the one frame that batches make up."""
        namespaces = [(declared.name, declared.iri) for batch in batches for declared in batch.namespaces]
        metadata: dict[str, bytes] = {}
        for batch in batches:
            for entries in batch.metadata.values():
                metadata.update(entries)
        return cls(options, [batch for batch in batches if len(batch)], namespaces, metadata)


class Publication:
    """A stream that a client publishes, checked frame by frame.

    Attributes:
        dialect: the dialect of its frames
        failure: why frames that were accepted could not be kept, None as long as all is well; set by the topic's store
    """

    def __init__(self, limits: Limits, dialect: DialectName = "released") -> None:
        self._limits = limits
        self.dialect: DialectName = dialect
        self._decoder = _Decoder(limits=limits, dialect=dialect)
        self._frames = 0
        self._options_row: bytes | None = None
        self.failure: Exception | None = None

    @property
    def options(self) -> StreamOptions:
        """The options of the stream. There are none before the first frame has been checked."""
        options = self._decoder.options
        if options is None:
            raise ParseError("the first frame does not begin with an options row", frame=0)
        if self.dialect == "draft":
            # As the released format has them, in which frames are kept.
            names = max(options.max_name_table_size, MIN_NAME_TABLE_SIZE)
            return options.replace(max_name_table_size=names, use_repeat=True)
        return options

    @property
    def options_row(self) -> bytes:
        """The options row, as it stands in a frame."""
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
        """Whether the options were repeated in other bytes."""
        return self._decoder.options_rows_differ

    def check(self, data: bytes) -> CheckedFrame:
        """Return the next frame. Raises a JellyError if it breaks a rule of the format, or a limit."""
        if len(data) > self._limits.max_frame_bytes:
            raise LimitError(
                f"a frame of {len(data)} bytes, above the limit of {self._limits.max_frame_bytes}", frame=self._frames
            )
        self._decoder.push_frame(data)
        batches = []
        while (batch := self._decoder.next_batch(partial=True)) is not None:
            batches.append(batch)
            if not batch.last_frame_open:
                break
        frame = CheckedFrame.of_batches(self.options, batches)
        frame.publication, frame.number = self, self._frames
        # An index holds positions in its own file, so it is removed, and the bytes change.
        if frame.metadata.pop(INDEX_KEY, None) is None:
            frame.data = data
        frame.size = len(data)
        self._frames += 1
        return frame

    def finish(self) -> None:
        """Raise a JellyError if the stream may not end here."""
        if self._frames == 0:
            raise ParseError("the publication has no frames, and must have at least one")
        self._decoder.finish()
        self._decoder.next_batch()
