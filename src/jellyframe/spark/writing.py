"""Write a DataFrame: tasks stage files, which are published when all tasks are done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from jellyframe.ops.stream_files import write_files
from jellyframe.spark.options import AnyWriteOptions
from jellyframe.spark.schema import exact_arrow_schema
from jellyframe.storage.commit import APPEND, OVERWRITE, Target


@dataclass
class JellyCommitMessage(WriterCommitMessage):
    """The files that a task wrote to its staging folder."""

    files: tuple[str, ...]


class JellyBatchWriter(DataSourceArrowWriter):
    """Writes a DataFrame to a folder."""

    def __init__(self, options: AnyWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self.plan = options.plan(exact_arrow_schema(schema))
        self.is_data = options.is_data
        self.overwrite = overwrite
        self.target = Target.of(options.path, uuid4().hex)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> JellyCommitMessage:
        context = TaskContext.get()
        assert context is not None
        prefix = self.target.file_prefix(context.partitionId(), context.taskAttemptId())
        return JellyCommitMessage(write_files(iterator, self.plan, self.target, prefix))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        files = [file for message in messages if isinstance(message, JellyCommitMessage) for file in message.files]
        self.target.publish(files, OVERWRITE if self.overwrite else APPEND, is_data=self.is_data)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self.target.discard()
