"""A subscription without I/O: what to request, how to handle messages, and when to reconnect."""

from __future__ import annotations

from typing import Literal, TypeAlias

from jellyframe.batch import Batch
from jellyframe.dialects import dialect_named
from jellyframe.errors import Advice, OptionsError, RemoteError, shortened
from jellyframe.grpc import protocol
from jellyframe.grpc.client.retrying import Backoff
from jellyframe.grpc.client.settings import Connection
from jellyframe.grpc.protocol import Start
from jellyframe.options import DialectName, StreamOptions, check_word
from jellyframe.stream.decoder import StreamDecoder

# What happens when the connection is lost: continue if that leaves no gap, continue in any case, or raise the error.
Reconnect: TypeAlias = Literal["resume", "always", "never"]
_RECONNECTS: tuple[Reconnect, ...] = ("resume", "always", "never")
# The longest time for which a publication waits until the server has accepted the subscriptions of the same client.
SUBSCRIPTION_SECONDS = 1.0
# The answers of servers to an offset that they no longer keep, or of a topic that they do not keep.
_NO_LONGER_THERE = ("OUT_OF_RANGE", "INVALID_ARGUMENT")


class SubscriptionState:
    """The frames of a topic, over any number of connections, as one series of batches."""

    def __init__(
        self,
        connection: Connection,
        topic: str,
        options: StreamOptions | None,
        *,
        from_: Start | None,
        reconnect: Reconnect,
        batch_rows: int,
        dialect: DialectName,
    ) -> None:
        check_word("reconnect", reconnect, _RECONNECTS)
        _check_start(from_)
        self.topic = topic
        self.backoff = Backoff(connection.connect_timeout)
        self._connection = connection
        self._dialect = dialect_named(dialect)
        self.request = protocol.encode_subscription(protocol.Subscription(topic, options), dialect)
        self._from = from_
        self._reconnect = reconnect
        self._batch_rows = batch_rows
        self._next_frame = 0
        self._has_graph: bool | None = None
        self._is_over = False
        # The offset of the last frame received.
        self._received: int | None = None
        self.options: StreamOptions | None = None
        self._messages = 0
        # The offset from which another subscription continues, and its value once the next batch is requested.
        self.offset: int | None = None
        self._offset_behind: int | None = None
        self.decoder = self._new_decoder()

    def call_metadata(self) -> list[tuple[str, str | bytes]]:
        """Return the metadata of the next call, which continues where the last one ended."""
        start = self._from if self._received is None else self._received + 1
        if self._next_frame and not self._dialect.has_version_1_1:
            # Without offsets that position is unknown, and frames must not be read twice.
            start = protocol.LATEST
        return [
            *self._connection.call_metadata(),
            # Frames have their offsets in their metadata, if the dialect has metadata.
            *protocol.subscription_metadata(start, offsets=self._dialect.has_version_1_1),
            *protocol.dialect_metadata(self._dialect.name),
        ]

    # ---- messages in ----

    def push(self, message: bytes) -> None:
        """Process a message of the server."""
        if self._messages == 0:
            self.backoff.succeeded()
            self.backoff.patience = self._connection.reconnect_timeout
        self._messages += 1
        self.decoder.push_frame(message)

    def finish(self) -> None:
        """Note that the server has ended the stream without an error."""
        self.decoder.finish()
        self._is_over = True

    def pause_after(self, error: RemoteError, now: float) -> float:
        """Return how long to wait before the next call, or raise the error if there is none.

        All batches must have been taken before.
        """
        if self._reconnect == "always" and error.status in _NO_LONGER_THERE and self._may_skip:
            # The next frames are no longer kept, and gaps are accepted: continue with the oldest frame that is left.
            self._received, self._from = None, protocol.EARLIEST
            self.decoder = self._new_decoder()
            return 0.0
        if self._messages or self._next_frame:
            if self._reconnect == "never":
                raise error
            if self._reconnect == "resume" and self._received is None:
                raise RemoteError(
                    f"{error.message}; the frames of this topic have no offsets to continue from, so that a new "
                    "connection would leave a gap",
                    status=error.status,
                    source=error.source,
                    advice=Advice("argument", "reconnect", "always"),
                )
        pause = self.backoff.pause_after(error, now)
        self._messages = 0
        self.decoder = self._new_decoder()
        return pause

    @property
    def _may_skip(self) -> bool:
        """Whether the server has refused to continue at an offset: the call has brought no message."""
        return self._received is not None and self._messages == 0

    # ---- batches out ----

    def begin_step(self) -> None:
        """Note that the next batch is requested, so that the last one counts as read."""
        self.offset = self._offset_behind

    def end_step(self, batch: Batch | None) -> None:
        """Note that a batch is returned."""
        if batch is not None and (offset := offset_of(batch)) is not None:
            self._offset_behind = offset + 1

    def next_batch(self, *, partial: bool = False) -> Batch | None:
        """Return the next complete batch, or with `partial` all rows received so far; None if there are none."""
        batch = self.decoder.next_batch(partial=partial)
        if batch is None:
            if self.decoder.options is not None and self.options is None:
                self.options = self.decoder.options
            return None
        self.options = self.options or batch.options
        if self._has_graph is None:
            self._has_graph = batch.has_graph
        elif batch.has_graph != self._has_graph:
            raise OptionsError(
                f"the topic {shortened(self.topic)} has changed between triples and quads since the connection was "
                "lost; subscribe again",
                source=self._connection.address,
            )
        self._next_frame = _frame_behind(batch)
        offset = offset_of(batch)
        if offset is not None:
            self._received = offset
        return batch

    @property
    def is_over(self) -> bool:
        """Whether the server has ended the stream and all batches have been taken."""
        return self._is_over and self.decoder.is_finished

    def _new_decoder(self) -> StreamDecoder:
        return StreamDecoder(
            limits=self._connection.accepted,
            delimited=True,
            batch_rows=self._batch_rows,
            first_frame=self._next_frame,
            dialect=self._dialect.name,
            source_name=f"{self._connection.address} {self.topic}",
        )


def offset_of(batch: Batch) -> int | None:
    """Return the offset of the last complete frame of a batch; None if the server did not send it."""
    last = _frame_behind(batch) - 1 - batch.last_frame_open
    told = batch.metadata.get(last)
    return None if told is None else protocol.frame_offset(told)


def _frame_behind(batch: Batch) -> int:
    """Return the number of the frame after the last one in a batch, complete or not."""
    return batch.first_frame + (1 if batch.frame_ends is None else len(batch.frame_ends))


def _check_start(start: Start | None) -> None:
    if start is None or start in (protocol.EARLIEST, protocol.LATEST):
        return
    if isinstance(start, bool) or not isinstance(start, int) or start < 0:
        raise OptionsError(f"from_ is {shortened(str(start))}, and must be earliest, latest or an offset, at least 0")
