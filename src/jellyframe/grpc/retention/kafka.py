"""Frames that are kept in Kafka: a topic is a Kafka topic with one partition, and each record is one self-contained
frame. Any number of servers may share a cluster, and other consumers read the same records.

A frame is visible when it has been read back from the cluster, so that all servers have the same order of frames.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from jellyframe.errors import JellyError, LimitError, StorageError
from jellyframe.grpc.publications import CheckedFrame, Publication
from jellyframe.grpc.retention.kafka_cluster import (
    KafkaAddress,
    KafkaCluster,
    is_offset_gone,
    next_records,
    record_topic,
)
from jellyframe.grpc.retention.standalone import StandaloneEncoder, decode_standalone
from jellyframe.grpc.retention.store import Deliver, Message, OffsetError, Store, StoreReader, require_offset
from jellyframe.options import Limits

# Bytes of frames that may be in flight to the cluster.
_MAX_IN_FLIGHT = 32 << 20
# Seconds between checks of which frames the cluster has removed.
_LOOK_SECONDS = 30.0
_READ_SECONDS = 10.0
_log = logging.getLogger("jellyframe.grpc")


class _Writing:
    """The number of frames of a publication in flight, and the offset of the last one that has arrived."""

    def __init__(self) -> None:
        self.frames = 0
        self.last_offset = -1


class KafkaStore(Store):
    """Keeps frames in a Kafka topic, as long as Kafka keeps its records.

    Args:
        url: the cluster, as `kafka://HOST:PORT`
        topic: the topic
        limits: the limits for reading frames
    """

    retention = "kafka"

    def __init__(self, url: str, topic: str, limits: Limits | None = None) -> None:
        self._address = KafkaAddress.parse(url)
        self._name = record_topic(topic)
        self._limits = limits or Limits()
        self._encoder = StandaloneEncoder()
        self._cluster: KafkaCluster | None = None
        self._loop = asyncio.get_running_loop()
        self._first = 0
        self._next = 0
        self._under_way = 0
        self._writing: dict[Publication | None, _Writing] = {}
        self._progress = asyncio.Condition()
        self._looked = time.monotonic()
        self._looking: asyncio.Task[None] | None = None

    async def start(self, deliver: Deliver) -> None:
        await super().start(deliver)
        await asyncio.to_thread(self._open)

    def _open(self) -> None:
        cluster = KafkaCluster.use(self._address, self._loop)
        try:
            self._first, self._next = cluster.open_topic(self._name)
            cluster.watch(self._name, self._next, self._on_record)
        except BaseException:
            cluster.leave()
            raise
        self._cluster = cluster

    @property
    def first_offset(self) -> int:
        if time.monotonic() - self._looked > _LOOK_SECONDS and self._looking is None:
            self._looked = time.monotonic()
            self._looking = self._loop.create_task(self._look())
        return min(self._first, self._next)

    @property
    def next_offset(self) -> int:
        return self._next

    async def _look(self) -> None:
        """Check which frames the cluster has removed."""
        try:
            # The cluster was reachable before, and will be again. Until then the last known offsets are used.
            with suppress(StorageError):
                self._first = (await asyncio.to_thread(self._opened.watermarks, self._name)).low
        finally:
            self._looking = None

    @property
    def _opened(self) -> KafkaCluster:
        assert self._cluster is not None
        return self._cluster

    # ---- in ----

    async def append(self, frame: CheckedFrame) -> None:
        publication = frame.publication
        if publication is not None and publication.failure is not None:
            raise publication.failure
        data = self._encoder.encode(frame)
        writing = self._writing.setdefault(publication, _Writing())
        async with self._progress:
            await self._progress.wait_for(lambda: self._under_way < _MAX_IN_FLIGHT)

        def on_written(offset: int, error: str | None) -> None:
            self._loop.call_soon_threadsafe(self._on_written, writing, publication, len(data), offset, error)

        while not self._opened.write(self._name, data, on_written):
            # The queue of the library is full: wait until something has been written.
            async with self._progress:
                await self._progress.wait()
        writing.frames += 1
        self._under_way += len(data)

    def _on_written(
        self, writing: _Writing, publication: Publication | None, size: int, offset: int, error: str | None
    ) -> None:
        writing.frames -= 1
        self._under_way -= size
        writing.last_offset = max(writing.last_offset, offset)
        if error is not None and publication is not None and publication.failure is None:
            message = f"the Kafka topic {self._name} does not accept a frame of {size} bytes: {error}"
            is_too_large = "too large" in error.lower()
            publication.failure = LimitError(message) if is_too_large else StorageError(message)
        self._notify()

    async def commit(self, publication: Publication) -> None:
        writing = self._writing.pop(publication, None)
        if writing is not None:
            async with self._progress:
                await self._progress.wait_for(lambda: not writing.frames and self._next > writing.last_offset)
        if publication.failure is not None:
            raise publication.failure

    # ---- out ----

    def _on_record(self, offset: int, value: bytes) -> None:
        """Handle a record that the reading thread passes on."""
        frame = _decoded(value, self._name, offset, self._limits)
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._on_visible, offset, frame)

    def _on_visible(self, offset: int, frame: CheckedFrame | None) -> None:
        self._next = offset + 1
        if frame is not None:
            self._deliver(Message(offset, frame))
        self._notify()

    def _notify(self) -> None:
        async def notify() -> None:
            async with self._progress:
                self._progress.notify_all()

        self._notifying = self._loop.create_task(notify())

    def reader(self, offset: int) -> StoreReader:
        require_offset(self, offset)
        return _KafkaReader(self, self._opened, self._name, offset, self._limits)

    async def close(self) -> None:
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            await asyncio.to_thread(cluster.unwatch, self._name)
            await asyncio.to_thread(cluster.leave)


class _KafkaReader(StoreReader):
    """Reads records from an offset, with a separate consumer."""

    def __init__(self, store: KafkaStore, cluster: KafkaCluster, name: str, offset: int, limits: Limits) -> None:
        self._store = store
        self._cluster = cluster
        self._name = name
        self._offset = offset
        self._limits = limits
        self._consumer: object | None = None
        self._left: list[tuple[int, bytes]] = []

    def read(self, max_bytes: int) -> list[Message]:
        messages: list[Message] = []
        size = 0
        patience = time.monotonic() + _READ_SECONDS
        while size < max_bytes and self._offset < self._store.next_offset:
            if not self._left and not self._fetch():
                if messages:
                    break
                if time.monotonic() > patience:
                    raise StorageError(f"the Kafka topic {self._name} does not return the record at {self._offset}")
                continue
            offset, value = self._left.pop(0)
            if offset >= self._store.next_offset:
                # It is not visible yet.
                self._left.insert(0, (offset, value))
                break
            self._offset = offset + 1
            size += len(value)
            frame = _decoded(value, self._name, offset, self._limits)
            if frame is not None:
                messages.append(Message(offset, frame))
        return messages

    def _fetch(self) -> bool:
        """Fetch records, and return whether there were any."""
        if self._consumer is None:
            consumer = self._cluster.new_consumer()
            consumer.assign([self._cluster.partition(self._name, self._offset)])
            self._consumer = consumer
        for record in next_records(self._consumer, 0.2):
            error = record.error()
            if error is None:
                self._left.append((record.offset(), record.value() or b""))
            elif is_offset_gone(error):
                raise OffsetError(f"the frame at offset {self._offset} is no longer kept")
        return bool(self._left)

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()  # type: ignore[attr-defined]
            self._consumer = None


def _decoded(value: bytes, name: str, offset: int, limits: Limits) -> CheckedFrame | None:
    """Return the frame of a record; None for a record of another producer that is not a Jelly frame."""
    try:
        return decode_standalone(value, limits)
    except JellyError as error:
        _log.warning("the record at offset %d of the Kafka topic %s is not a Jelly frame: %s", offset, name, error)
        return None
