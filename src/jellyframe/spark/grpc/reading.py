"""Reading topics: ranges of offsets to record batches of exactly the schema that Spark has declared."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.errors import OptionsError, StorageError
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.client.ranges import read_range
from jellyframe.grpc.protocol import EARLIEST, LATEST, TopicInfo
from jellyframe.ops.rows import Columns, join_small, rows_of_batches
from jellyframe.spark.grpc.options import TopicReadOptions
from jellyframe.spark.schema import columns_of


class RangePartition(InputPartition):
    """The frames that one task reads."""

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
    """Return the columns to make. Those that say which file a statement is from are not among them."""
    columns = columns_of(schema, options.rows)
    others = [name for name in columns.arrow.names if name not in columns.statement]
    if others:
        raise OptionsError(f"schema: topics have no column {', '.join(others)}")
    return columns


def known_topic(client: Client, options: TopicReadOptions) -> TopicInfo:
    """Return what the server tells of the topic."""
    return client.topic(options.server.topic, timeout=options.server.connection.connect_timeout or None)


def require_kept(topic: TopicInfo) -> None:
    """Raise unless the frames of a topic can be read again."""
    if not topic.is_retained:
        raise OptionsError(
            f"the topic {topic.name!r} is {topic.retention}: nothing of it is kept, so that what is lost with a task "
            "or the query is lost for good; keep it in a log, or, in a stream, set the option acceptLoss"
        )


def start_of(topic: TopicInfo, options: TopicReadOptions) -> int:
    """Return the offset at which a query begins."""
    if options.start == EARLIEST:
        return topic.first_offset
    return topic.next_offset if options.start == LATEST else options.start


def ranges(start: int, stop: int, options: TopicReadOptions) -> list[InputPartition]:
    """Return the ranges that tasks read. An empty list would be a task of its own to Spark, which reads nothing."""
    if start > stop:
        raise StorageError(
            f"the query has read the topic up to offset {start}, and the server has it up to {stop} only: it is "
            "another topic, or has lost frames; start the query with a new checkpoint"
        )
    step = options.frames_per_partition
    return [RangePartition(first, min(first + step, stop)) for first in range(start, stop, step)]


def read_partition(partition: InputPartition, options: TopicReadOptions, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Yield the statements of a range. The connection is made here, in the process that reads."""
    if not isinstance(partition, RangePartition):
        return
    with options.server.connect() as client:
        batches = read_range(client, options.server.topic, partition.start, partition.stop)
        yield from join_small(rows_of_batches(batches, columns))
