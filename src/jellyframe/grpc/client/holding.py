"""Live topics, whose frames the server does not keep: they are held in memory until they are processed."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

import pyarrow as pa

from jellyframe.errors import JellyError
from jellyframe.grpc.client.blocking import Client
from jellyframe.ops.rows import Columns, rows_of_batches

# Bytes that are held. Above that the subscription waits, and the server treats it like any slow subscriber.
_MOST_HELD = 64 << 20


class Arrived(NamedTuple):
    """Rows, and the time at which they arrived, in nanoseconds."""

    time: int
    rows: pa.RecordBatch


class LiveFrames:
    """A subscription in the background. Offsets are times, so that those of an earlier run come before all others."""

    def __init__(self, client: Client, topic: str, columns: Columns) -> None:
        self._client = client
        self._columns = columns
        self._changed = threading.Condition()
        self._arrived: list[Arrived] = []
        self._bytes = 0
        self._error: JellyError | None = None
        subscription = client.subscribe(topic, reconnect="always")
        self._subscription = subscription
        threading.Thread(target=self._receive, name="jelly-grpc-live", daemon=True).start()

    def _receive(self) -> None:
        try:
            for rows in rows_of_batches(self._subscription.batches(), self._columns):
                with self._changed:
                    self._changed.wait_for(lambda: self._bytes < _MOST_HELD)
                    self._arrived.append(Arrived(time.time_ns(), rows))
                    self._bytes += rows.nbytes
        except JellyError as error:
            self._error = error

    def latest(self, at_least: int) -> int:
        """Return the time of the last frame, or `at_least` if that is later. Raises if the subscription has ended."""
        with self._changed:
            if self._error is not None and not self._arrived:
                raise self._error
            return max(at_least, self._arrived[-1].time if self._arrived else 0)

    def between(self, start: int, stop: int) -> list[pa.RecordBatch]:
        """Return the rows that arrived after `start`, up to `stop`."""
        with self._changed:
            return [one.rows for one in self._arrived if start < one.time <= stop]

    def forget(self, stop: int) -> None:
        """Drop the rows that arrived up to a time: they have been processed."""
        with self._changed:
            self._arrived = [one for one in self._arrived if one.time > stop]
            self._bytes = sum(one.rows.nbytes for one in self._arrived)
            self._changed.notify_all()

    def close(self) -> None:
        """End the subscription."""
        self._subscription.close()
        self._client.close()
