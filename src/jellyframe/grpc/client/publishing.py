"""A publication without I/O: data is encoded as frames, which are kept until they are acknowledged.

The protocol acknowledges whole calls. So that a lost connection costs little, a publication is made in several calls,
one after the other, each a self-contained stream: when enough bytes are unacknowledged, a call ends before the next
frame that is a restart point.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame
from jellyframe.defaults import DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ROWS, PUBLISHED_FRAME_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.errors import RemoteError
from jellyframe.grpc import protocol
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection
from jellyframe.options import MIN_NAME_TABLE_SIZE, DialectName, StreamOptions, check_number
from jellyframe.stream.encoder import FramePosition, StreamEncoder
from jellyframe.stream.framing import HEAD_BYTES
from jellyframe.stream.index import looks_like_restart
from jellyframe.stream.reader import StatementReader
from jellyframe.stream.statements import encode_statements

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.arrow.types import SupportsArrowStream
    from jellyframe.terms import Quad, Triple

    # What can be published.
    Publishable: TypeAlias = (
        Iterable[Triple | Quad]
        | Iterable[Batch]
        | Iterable[Frame]
        | Iterable[bytes]
        | Batch
        | Frame
        | bytes
        | StatementReader
        | pa.Table
        | pa.RecordBatch
        | pa.RecordBatchReader
        | SupportsArrowStream
    )
    AsyncPublishable: TypeAlias = (
        Publishable | AsyncIterable[Triple | Quad] | AsyncIterable[Batch] | AsyncIterable[Frame] | AsyncIterable[bytes]
    )

# Rows of a frame made of batches or of a table: a message costs as much as hundreds of rows. Frames are smaller at the
# end of a batch and where statements come one by one, but not below the usual number.
# How frames are cut: after a number of rows, None for no limit, or `auto` as above.
FrameRows: TypeAlias = int | Literal["auto"] | None
# Bytes after which a call ends, so that they are acknowledged.
ACKNOWLEDGE_EVERY = 4 << 20
# Frames of other writers may have no restart point at which a call can end. No more than this is kept for resending.
_MOST_KEPT = 64 << 20


class PublisherSettings(TypedDict, total=False):
    """The keyword arguments of `publisher` and `publish`, other than the options."""

    frame_rows: FrameRows
    frame_bytes: int | None
    acknowledge_every: int
    resend: bool
    timeout: float | None
    dialect: DialectName


def options_for(
    data: object, options: StreamOptions | None, settings: PublisherSettings | None = None
) -> StreamOptions | None:
    """Return the options of a publication: those passed, or otherwise those of the stream that is published."""
    if options is not None or not isinstance(data, StatementReader):
        return options
    found = data.options.replace(stream_name="")
    if (settings or {}).get("dialect", "released") == "released":
        # A stream in the draft dialect may have a smaller table.
        found = found.replace(max_name_table_size=max(found.max_name_table_size, MIN_NAME_TABLE_SIZE))
    return found


class PublicationEncoder:
    """Encodes published data as frames. Each method yields frames as they become complete."""

    def __init__(
        self,
        topic: str,
        options: StreamOptions | None,
        *,
        frame_rows: FrameRows = "auto",
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        acknowledge_every: int = ACKNOWLEDGE_EVERY,
        dialect: DialectName = "released",
    ) -> None:
        check_number("acknowledge_every", acknowledge_every, 1)
        options = options or StreamOptions()
        # Servers that do not support our call metadata use the stream's name as the topic.
        self._options = options.replace(stream_name=options.stream_name or topic)
        self._frame_rows = PUBLISHED_FRAME_ROWS if frame_rows == "auto" else frame_rows
        self._cuts_early = frame_rows == "auto" and not options.logical_type.is_grouped
        # Statements of an iterable that are encoded together.
        self.group_size = DEFAULT_FRAME_ROWS if frame_rows == "auto" else frame_rows or DEFAULT_FRAME_ROWS
        self._uncut = 0
        self._frame_bytes = frame_bytes
        self._restart_every = acknowledge_every
        self._dialect = dialect_named(dialect)
        self._encoder = self._new_encoder()
        # Whether this encoder has made a frame.
        self._has_begun = False
        self.statements = 0

    def encode(self, data: Publishable) -> Iterator[bytes]:
        """Yield the frames of anything that can be published."""
        if isinstance(data, StatementReader):
            yield from self._frames(frame for frame in data.frames() if self._is_kept(frame))
        elif isinstance(data, Batch):
            yield from self._batches([data])
        elif isinstance(data, Frame):
            yield from self._frames([data])
        elif isinstance(data, bytes | bytearray | memoryview):
            yield from self._raw([bytes(data)])
        elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            yield from self._table(data)
        elif isinstance(data, Iterable):
            yield from self._items(data)
        else:
            raise TypeError(
                f"statements, batches, frames, raw frames or a table can be published, not {type(data).__name__}"
            )

    def _is_kept(self, frame: Frame) -> bool:
        """Return whether to publish a frame of a reader: in flat streams, empty frames and indexes are left out."""
        return bool(len(frame) or frame.namespaces or self._options.logical_type.is_grouped)

    def _items(self, items: Iterable[Any]) -> Iterator[bytes]:
        iterator = iter(items)
        for first in iterator:
            rest = chain([first], iterator)
            if isinstance(first, Batch):
                yield from self._batches(rest)
            elif isinstance(first, Frame):
                yield from self._frames(rest)
            elif isinstance(first, bytes | bytearray | memoryview):
                yield from self._raw(rest)
            else:
                yield from self._statements(rest)

    def _statements(self, statements: Iterable[Triple | Quad]) -> Iterator[bytes]:
        encoded = before = self.statements
        try:
            for count in encode_statements(self._encoder, statements, batch_rows=self.group_size):
                self._cut(before + count - encoded)
                encoded = before + count
                yield from self._take()
        finally:
            self.statements = max(encoded, self.statements)

    def _batches(self, batches: Iterable[Batch]) -> Iterator[bytes]:
        for batch in batches:
            position: FramePosition | None = FramePosition()
            while position is not None:
                position = self._encode_batch(batch, position)
                yield from self._take()
            self.statements += len(batch)
            self._cut(len(batch))
            yield from self._take()

    def _cut(self, statements: int) -> None:
        """End the frame after a batch, so that its statements are sent, unless they are few."""
        self._uncut += statements
        if self._cuts_early and self._uncut >= DEFAULT_FRAME_ROWS:
            self._encoder.flush()
            self._uncut = 0

    def _encode_batch(self, batch: Batch, position: FramePosition) -> FramePosition | None:
        """Encode a batch: in its own frames if each is a graph or a dataset, otherwise in frames of our size."""
        if self._options.logical_type.is_grouped:
            return self._encoder.encode_in_frames(batch, position)
        row = self._encoder.encode(batch, position.row)
        return FramePosition(0, row) if row < len(batch) else None

    def _frames(self, frames: Iterable[Frame]) -> Iterator[bytes]:
        for frame in frames:
            # A dialect without namespaces leaves them out, as nothing depends on them; it refuses metadata.
            for name, iri in frame.namespaces if self._dialect.has_version_1_1 else ():
                self._encoder.declare_namespace(name, iri)
            for batch, start, stop in frame.parts():
                row = start
                while row < stop:
                    row = self._encoder.encode(batch, row, stop)
                    yield from self._take()
            self._encoder.end_frame(frame.metadata)
            self.statements += len(frame)
            yield from self._take()

    def _table(self, table: Any) -> Iterator[bytes]:
        from jellyframe.arrow.tables import table_to_batches

        yield from self._batches(table_to_batches(table))

    def _raw(self, frames: Iterable[bytes]) -> Iterator[bytes]:
        """Yield frames of another encoder unchanged."""
        yield from self.flush()
        for frame in frames:
            yield bytes(frame)

    def declare_namespace(self, name: str, iri: str) -> None:
        """Declare a short name for an IRI, at this position of the stream."""
        self._encoder.declare_namespace(name, iri)
        self._has_begun = True

    def end_frame(self, metadata: Mapping[str, bytes] | None = None) -> Iterator[bytes]:
        """End the current frame, even if it is empty, and add metadata to it."""
        self._encoder.end_frame(metadata)
        yield from self._take()

    def flush(self) -> Iterator[bytes]:
        """End the frame if it has rows. The frames after it are a self-contained stream."""
        if self._has_begun or self._encoder.statements:
            self._encoder.finish()
            yield from self._take()
            self._options = cast(StreamOptions, self._encoder.options)
            self._encoder = self._new_encoder()
            self._has_begun = False

    def finish_empty(self) -> Iterator[bytes]:
        """Yield the only frame of a publication without statements, which has the options."""
        self._encoder.finish()
        yield from self._take()

    def _take(self) -> list[bytes]:
        frames = self._encoder.take_frames()
        self._has_begun = self._has_begun or bool(frames)
        return frames

    def _new_encoder(self) -> StreamEncoder:
        return StreamEncoder(
            self._options,
            frame_rows=self._frame_rows,
            frame_bytes=self._frame_bytes,
            restart_every=self._restart_every,
            dialect=self._dialect.name,
        )


class Unacknowledged:
    """The frames of the current call, kept until the server has acknowledged them."""

    def __init__(self, acknowledge_every: int, *, resend: bool) -> None:
        self._acknowledge_every = acknowledge_every
        self._resend = resend
        self._bytes = 0
        self._is_whole = True
        self.frames: list[bytes] = []
        self.acknowledged = 0
        self.count = 0

    def ends_before(self, frame: bytes) -> bool:
        """Return whether the call must end before a frame: enough bytes wait, and the frame can start another call."""
        return self._bytes >= self._acknowledge_every and looks_like_restart(frame[:HEAD_BYTES])

    def add(self, frame: bytes) -> None:
        """Note that a frame belongs to the call."""
        self.count += 1
        self._bytes += len(frame)
        if self._bytes > _MOST_KEPT:
            self._is_whole = False
            self.frames.clear()
        if self._is_whole and self._resend:
            self.frames.append(frame)

    def clear(self) -> None:
        """Note that the call has been acknowledged."""
        self.acknowledged += self.count
        self.count = self._bytes = 0
        self._is_whole = True
        self.frames.clear()

    @property
    def can_be_sent_again(self) -> bool:
        """Whether the call can be repeated: all of its frames are kept."""
        return self._resend and self._is_whole


class PublicationState:
    """A publication of any number of calls: its encoder, the unacknowledged frames, and the back-off."""

    def __init__(
        self,
        connection: Connection,
        topic: str,
        options: StreamOptions | None = None,
        *,
        frame_rows: FrameRows = "auto",
        frame_bytes: int | None = DEFAULT_FRAME_BYTES,
        acknowledge_every: int = ACKNOWLEDGE_EVERY,
        resend: bool = True,
        timeout: float | None = None,
        dialect: DialectName = "released",
    ) -> None:
        """Start a publication; the arguments are those of `Client.publish`."""
        self.encoder = PublicationEncoder(
            topic,
            options,
            frame_rows=frame_rows,
            frame_bytes=frame_bytes,
            acknowledge_every=acknowledge_every,
            dialect=dialect,
        )
        self.waiting = Unacknowledged(acknowledge_every, resend=resend)
        self.metadata = [
            *connection.call_metadata(),
            *protocol.publication_metadata(topic),
            *protocol.dialect_metadata(dialect),
        ]
        self.timeout = timeout
        self._connection = connection
        self._backoff = Backoff(connection.connect_timeout)

    def acknowledged(self) -> None:
        """Note that the server has acknowledged the call."""
        self._backoff.succeeded()
        self._backoff.patience = self._connection.reconnect_timeout
        self.waiting.clear()

    def pause_after(self, error: RemoteError, now: float) -> float:
        """Return how long to wait before the call is repeated, or raise the error if it cannot be."""
        if not self.waiting.can_be_sent_again:
            raise error
        return self._backoff.pause_after(error, now)


class AnyPublisher:
    """The counters of a publisher, blocking or not."""

    def __init__(self, state: PublicationState) -> None:
        """Start a publication."""
        self._state = state
        self._encoder = state.encoder
        self._waiting = state.waiting

    @property
    def acknowledged_frames(self) -> int:
        """The number of frames that the server has acknowledged."""
        return self._waiting.acknowledged

    @property
    def statements_written(self) -> int:
        """The number of statements written so far, without those of raw frames."""
        return self._encoder.statements
