"""Publish a DataFrame: each task publishes its rows, and ends when the server has acknowledged them.

Delivery is at least once. A task that Spark retries publishes its rows again, and so does a batch of a stream that was
not recorded as done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from jellyframe.arrow.terms import BatchMaker
from jellyframe.errors import OptionsError
from jellyframe.grpc.client.publishing import PublisherSettings
from jellyframe.options import StreamOptions
from jellyframe.spark.grpc.options import TopicWriteOptions
from jellyframe.spark.schema import exact_arrow_schema
from jellyframe.spark.stream_sink import StreamWriterBase, record_batches

if TYPE_CHECKING:
    from jellyframe.batch import Batch


@dataclass
class PublishedMessage(WriterCommitMessage):
    """The number of frames that a task published."""

    frames: int


class _Publishing:
    """The part that both writers share."""

    def __init__(self, options: TopicWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        if overwrite:
            raise OptionsError('topics cannot be overwritten: use mode("append"), or outputMode("append")')
        self.options = options
        self.schema = exact_arrow_schema(schema)
        # Refuse columns that do not hold statements here, instead of in every task.
        BatchMaker(self.schema)

    def publish(self, rows: Iterator[pa.RecordBatch]) -> PublishedMessage:
        """Publish rows. Opens its own connection, in the process of the task."""
        maker = BatchMaker(self.schema)
        batches: Iterator[Batch] = (maker.make(batch) for batch in rows if batch.num_rows)
        first = next(batches, None)
        if first is None:
            return PublishedMessage(0)

        def all_batches() -> Iterator[Batch]:
            yield first
            yield from batches

        settings = PublisherSettings()
        if self.options.frame_rows is not None:
            settings["frame_rows"] = self.options.frame_rows
        options = StreamOptions().replace(**self.options.stream)
        with self.options.server.connect() as client:
            return PublishedMessage(client.publish(self.options.server.topic, all_batches(), options, **settings))


class TopicWriter(DataSourceArrowWriter):
    """Publishes a DataFrame."""

    def __init__(self, options: TopicWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self._publishing = _Publishing(options, schema, overwrite=overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PublishedMessage:
        return self._publishing.publish(iterator)


class TopicStreamWriter(StreamWriterBase):
    """Publishes the batches of a query."""

    def __init__(self, options: TopicWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self._publishing = _Publishing(options, schema, overwrite=overwrite)

    def write(self, iterator: Iterator[Any]) -> PublishedMessage:
        return self._publishing.publish(record_batches(iterator, self._publishing.schema))

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Do nothing: subscribers have already received the rows."""

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Do nothing: published rows cannot be withdrawn."""
