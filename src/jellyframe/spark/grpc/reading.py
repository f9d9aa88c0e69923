"""Read ranges of offsets as record batches, which have exactly the schema that Spark expects."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.arrow.tables import joined_batches
from jellyframe.errors import OptionsError, StorageError
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.client.ranges import read_range
from jellyframe.grpc.protocol import EARLIEST, LATEST, TopicInfo
from jellyframe.ops.rows import Columns, rows_of_batches
from jellyframe.spark.grpc.options import TopicReadOptions
from jellyframe.spark.schema import columns_of


class RangePartition(InputPartition):
    """The range of offsets that one task reads."""

    def __init__(self, start: int, stop: int) -> None:
        super().__init__((start, stop))
        self.start = start
        self.stop = stop


class TopicReader(DataSourceReader):
    """Reads the frames that a topic has when the query is planned."""

    def __init__(self, options: TopicReadOptions, schema: StructType) -> None:
        if options.max_frames is not None:
            raise OptionsError("the option maxFramesPerTrigger is for streams only: use spark.readStream")
        self.options = options
        self.columns = topic_columns(schema, options)

    def partitions(self) -> list[InputPartition]:
        with self.options.server.connect() as client:
            topic = known_topic(client, self.options)
        require_kept(topic)
        return ranges(start_of(topic, self.options), topic.next_offset, self.options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(partition, self.options, self.columns)


def topic_columns(schema: StructType, options: TopicReadOptions) -> Columns:
    """Return the columns to read for a schema. Columns about files, such as `file` and `frame`, are refused."""
    columns = columns_of(schema, options.rows)
    others = [name for name in columns.arrow.names if name not in columns.statement]
    if others:
        raise OptionsError(f"schema: topics have no column {', '.join(others)}")
    return columns


def known_topic(client: Client, options: TopicReadOptions) -> TopicInfo:
    """Return the server's description of the topic."""
    return client.topic(options.server.topic, timeout=options.server.connection.connect_timeout or None)


def require_kept(topic: TopicInfo) -> None:
    """Raise unless the frames of a topic can be read again."""
    if not topic.is_retained:
        raise OptionsError(
            f"the topic {topic.name!r} is {topic.retention}: its frames are not kept, so they cannot be read again if "
            "a task or the query fails; keep the topic in a log, or, in a stream, set the option acceptLoss"
        )


def start_of(topic: TopicInfo, options: TopicReadOptions) -> int:
    """Return the offset at which a query begins."""
    if options.start == EARLIEST:
        return topic.first_offset
    return topic.next_offset if options.start == LATEST else options.start


def ranges(start: int, stop: int, options: TopicReadOptions) -> list[InputPartition]:
    """Return a partition for each task. For an empty list, Spark starts one task, which reads nothing."""
    if start > stop:
        raise StorageError(
            f"the query has read the topic up to offset {start}, but on the server it ends at {stop}: it is "
            "another topic, or has lost frames; start the query with a new checkpoint"
        )
    step = options.frames_per_partition
    return [RangePartition(first, min(first + step, stop)) for first in range(start, stop, step)]


def read_partition(partition: InputPartition, options: TopicReadOptions, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Yield the statements of a range. Opens its own connection."""
    if not isinstance(partition, RangePartition):
        return
    with options.server.connect() as client:
        batches = read_range(client, options.server.topic, partition.start, partition.stop)
        yield from joined_batches(rows_of_batches(batches, columns))
