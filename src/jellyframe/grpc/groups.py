"""Subscribers with equal options: each frame is encoded once for all of them, or forwarded as the publisher sent it.

The bytes of a publisher can be forwarded from the start of its stream, as long as no frame of another publisher comes
in between. A subscriber that joins later gets re-encoded frames, from a restart point, until another stream begins.
"""

from __future__ import annotations

import grpc

from jellyframe.errors import JellyError
from jellyframe.grpc.encoding import FrameEncoder
from jellyframe.grpc.negotiation import can_forward, misfit
from jellyframe.grpc.protocol import offset_metadata
from jellyframe.grpc.publications import CheckedFrame, Publication
from jellyframe.grpc.subscribers import Subscriber
from jellyframe.grpc.wording import words_for_clients
from jellyframe.options import DialectName, StreamOptions
from jellyframe.wire import encode_bytes_field, encode_metadata


class Group:
    """Subscribers of a topic that have equal options.

    Args:
        options: their options
        with_offsets: whether their frames have offsets
        dialect: the dialect of their frames
    """

    def __init__(self, options: StreamOptions, *, with_offsets: bool, dialect: DialectName = "released") -> None:
        self.options = options
        self._dialect: DialectName = dialect
        self._with_offsets = with_offsets
        self._options_row = encode_bytes_field(1, encode_bytes_field(1, options.to_bytes()))
        # The options of the last publisher whose frames fit.
        self._fitting: StreamOptions | None = None
        # Ordered sets of subscribers.
        self._forwarded: dict[Subscriber, None] = {}
        self._encoded: dict[Subscriber, None] = {}
        self._encoder: FrameEncoder | None = None
        # The publication whose bytes are forwarded, and the number of its next frame.
        self._followed: Publication | None = None
        self._next_number = 0
        self._began_with_it = False

    @property
    def subscribers(self) -> list[Subscriber]:
        return [*self._forwarded, *self._encoded]

    def __len__(self) -> int:
        return len(self._forwarded) + len(self._encoded)

    def add(self, subscriber: Subscriber) -> None:
        """Add a subscriber, whose first frame will be a restart point."""
        self._encode_for([subscriber])

    def discard(self, subscriber: Subscriber) -> None:
        self._forwarded.pop(subscriber, None)
        self._encoded.pop(subscriber, None)

    def send(self, frame: CheckedFrame, offset: int) -> None:
        """Queue a frame for all subscribers. Subscriptions that cannot hold it end with the reason."""
        if frame.options is not self._fitting:
            reason = misfit(self.options, frame.options)
            if reason is not None:
                self._end_all(self.subscribers, reason)
                return
            self._fitting = frame.options
        forwarded = self._forwarded_bytes(frame)
        if forwarded is None:
            self._followed = None
            self._encode_for(list(self._forwarded))
            self._forwarded.clear()
        else:
            self._next_number += 1
            if self._with_offsets:
                forwarded += encode_metadata(offset_metadata(offset))
            for subscriber in self._forwarded:
                subscriber.put(forwarded, offset)
        if self._encoded:
            self._send_encoded(frame, offset)

    # ---- forwarded bytes ----

    def _forwarded_bytes(self, frame: CheckedFrame) -> bytes | None:
        """Return the bytes of a frame for subscribers that follow its publication; None if there are none."""
        publication = frame.publication
        if publication is None or not frame.data or not self._dialect == publication.dialect == "released":
            return None
        data = self._with_own_options(frame, publication)
        if data is None:
            return None
        if frame.number == 0:
            if not can_forward(self.options, frame.options):
                return None
            self._follow(publication)
            return data
        is_next = self._followed is publication and frame.number == self._next_number
        return data if is_next and (self._began_with_it or not publication.looked_back) else None

    def _follow(self, publication: Publication) -> None:
        """Start to forward the bytes of a new stream to subscribers that can read it after the previous ones."""
        able = [one for one in self.subscribers if one.is_fresh or not publication.looked_back]
        unable = [one for one in self._forwarded if not one.is_fresh and publication.looked_back]
        self._encode_for(unable)
        for subscriber in able:
            self._encoded.pop(subscriber, None)
        self._began_with_it = all(subscriber.is_fresh for subscriber in able)
        self._forwarded = dict.fromkeys(able)
        self._followed = publication
        self._next_number = 0

    def _with_own_options(self, frame: CheckedFrame, publication: Publication) -> bytes | None:
        """Return the bytes of a frame with the options of the subscribers; None if the options cannot be replaced."""
        row = publication.options_row
        if row == self._options_row:
            return frame.data
        if publication.options_rows_differ:
            return None
        at = frame.data.find(row)
        if at < 0:
            return frame.data if frame.number else None
        if at > 0 or frame.data.find(row, len(row)) >= 0:
            return None
        return self._options_row + frame.data[len(row) :]

    # ---- re-encoded ----

    def _encode_for(self, subscribers: list[Subscriber]) -> None:
        """Encode frames for some subscribers from now on, from a restart point."""
        if subscribers:
            self._encoded.update(dict.fromkeys(subscribers))
            self._encoder = None

    def _send_encoded(self, frame: CheckedFrame, offset: int) -> None:
        try:
            if self._encoder is None:
                self._encoder = FrameEncoder(self.options, dialect=self._dialect)
            data = self._encoder.encode(frame, offset if self._with_offsets else None)
        except JellyError as error:
            self._encoder = None
            self._end_all(list(self._encoded), error.reason(words_for_clients))
            return
        for subscriber in self._encoded:
            subscriber.put(data, offset)

    def _end_all(self, subscribers: list[Subscriber], reason: str) -> None:
        for subscriber in subscribers:
            self.discard(subscriber)
            subscriber.end(grpc.StatusCode.INVALID_ARGUMENT, reason)
