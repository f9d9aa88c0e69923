"""The stream source: the query's offsets are those of the topic, so each frame is read exactly once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.errors import OptionsError
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.client.holding import LiveFrames
from jellyframe.grpc.protocol import TopicInfo
from jellyframe.spark.grpc.options import TopicReadOptions
from jellyframe.spark.grpc.reading import (
    known_topic,
    ranges,
    read_partition,
    require_kept,
    start_of,
    topic_columns,
)

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:  # Spark 4.0 and 4.1
    limits = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit

_OFFSET = "offset"
_Offset = dict[str, Any]


class LivePartition(InputPartition):
    """Rows that the driver has received from a topic that keeps nothing, so that no task could read them."""

    def __init__(self, rows: bytes) -> None:
        super().__init__(rows)
        self.rows = rows


class _TopicStreamReader(DataSourceStreamReader):
    """The part that is the same for all versions of Spark."""

    def __init__(self, options: TopicReadOptions, schema: StructType) -> None:
        self.options = options
        self.columns = topic_columns(schema, options)
        self._client: Client | None = None
        self._live: LiveFrames | None = None
        self._end: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Tasks get the options and open their own connections.
        return {**self.__dict__, "_client": None, "_live": None}

    # ---- called by Spark ----

    def initialOffset(self) -> _Offset:  # noqa: N802
        topic = self._topic()
        return {_OFFSET: 0 if self._live is not None else start_of(topic, self.options)}

    def partitions(self, start: _Offset, end: _Offset) -> Sequence[InputPartition]:
        topic = self._topic()
        if self._live is not None:
            rows = self._live.between(start[_OFFSET], end[_OFFSET])
            return [LivePartition(_serialized(rows, self.columns.arrow))]
        first = start[_OFFSET]
        if self.options.accept_loss:
            first = min(max(first, topic.first_offset), end[_OFFSET])
        return ranges(first, end[_OFFSET], self.options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, LivePartition):
            with pa.ipc.open_stream(partition.rows) as stream:
                yield from stream
            return
        yield from read_partition(partition, self.options, self.columns)

    def commit(self, end: _Offset) -> None:
        if self._live is not None:
            self._live.forget(end[_OFFSET])

    def stop(self) -> None:
        if self._live is not None:
            self._live.close()
        if self._client is not None:
            self._client.close()

    # ---- the topic ----

    def _topic(self) -> TopicInfo:
        """Return the topic's current description. The first call opens the connection."""
        if self._client is None:
            self._client = self.options.server.connect()
        topic = known_topic(self._client, self.options)
        if not topic.is_retained:
            if not self.options.accept_loss:
                require_kept(topic)
            if self._live is None:
                self._live = LiveFrames(self.options.server.connect(), self.options.server.topic, self.columns)
        return topic

    def _latest(self, start: int) -> int:
        """Return the offset up to which the next batch reads."""
        topic = self._topic()
        if self._live is not None:
            return self._live.latest(start)
        stop = topic.next_offset if self._end is None else max(self._end, start)
        if self.options.max_frames is not None:
            stop = min(stop, start + self.options.max_frames)
        return stop


def _serialized(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


if limits is not None:

    class TopicStreamReader(_TopicStreamReader, limits.SupportsTriggerAvailableNow):
        """Reads frames as they arrive, in batches whose size the user may limit."""

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
            return limits.ReadAllAvailable()

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            topic = self._topic()
            self._end = None if self._live is not None else topic.next_offset

        def latestOffset(self, start: _Offset, limit: ReadLimit) -> _Offset:  # noqa: N802
            return {_OFFSET: self._latest(start[_OFFSET])}

else:

    class TopicStreamReader(_TopicStreamReader):  # type: ignore[no-redef]
        """Reads all frames that have arrived: this Spark does not pass the last offset."""

        def __init__(self, options: TopicReadOptions, schema: StructType) -> None:
            super().__init__(options, schema)
            if options.max_frames is not None:
                raise OptionsError("maxFramesPerTrigger needs Spark 4.2 or newer")
            # Offsets of frames that are not kept are times, so that they grow from one run of the query to the next.
            self._reached = time.time_ns()

        def latestOffset(self) -> _Offset:  # noqa: N802
            latest = self._latest(0)
            if self._live is not None:
                latest = self._reached = max(latest, self._reached)
            return {_OFFSET: latest}
