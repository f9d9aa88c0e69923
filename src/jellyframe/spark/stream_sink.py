"""The stream sink: a folder to which each batch of a query adds its files exactly once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import datasource
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from jellyframe.errors import OptionsError
from jellyframe.ops.stream_files import write_files
from jellyframe.spark.options import AnyWriteOptions
from jellyframe.spark.schema import exact_arrow_schema
from jellyframe.spark.writing import JellyCommitMessage
from jellyframe.storage.stream_commit import StreamBatch

if TYPE_CHECKING:
    StreamWriterBase = datasource.DataSourceStreamArrowWriter
else:
    # Spark 4.0 passes rows, later versions record batches.
    StreamWriterBase = getattr(datasource, "DataSourceStreamArrowWriter", datasource.DataSourceStreamWriter)

_ROWS_AT_A_TIME = 8192


@dataclass
class StreamCommitMessage(JellyCommitMessage):
    """The files that a task wrote, and the id of the query, which Spark does not pass to `commit`."""

    query: str


class JellyStreamWriter(StreamWriterBase):
    """Writes the batches of a query to a folder."""

    def __init__(self, options: AnyWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        if overwrite:
            raise OptionsError('the sink only adds files to a folder: use outputMode("append"), or foreachBatch')
        self.schema = exact_arrow_schema(schema)
        self.path = options.path
        self.plan = options.plan(self.schema)

    def write(self, iterator: Iterator[Any]) -> StreamCommitMessage:
        context = TaskContext.get()
        assert context is not None
        query = _property(context, "sql.streaming.queryId")
        number = int(_property(context, "streaming.sql.batchId"))
        batch = StreamBatch(self.path, query, number)
        if batch.is_decided():
            # Operators before this one may keep state, which they save only if their rows are read to the end.
            for _rows in iterator:
                pass
            return StreamCommitMessage((), query)
        # Another run of this query numbers its attempts from 0 again, so the number alone is not unique.
        folder = batch.target.attempt_folder(f"{context.taskAttemptId()}-{uuid4().hex}")
        prefix = f"{folder}/part-{context.partitionId():05d}-{query}-{number:06d}"
        files = write_files(record_batches(iterator, self.schema), self.plan, batch.target, prefix)
        return StreamCommitMessage(files, query)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        done = [message for message in messages if isinstance(message, StreamCommitMessage)]
        if done:
            files = [file for message in done for file in message.files]
            StreamBatch(self.path, done[0].query, batchId).commit(files)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        # If no task has finished, the id of the query is unknown here; the next run of the batch removes the files.
        for query in {message.query for message in messages if isinstance(message, StreamCommitMessage)}:
            StreamBatch(self.path, query, batchId).abort()


def _property(context: TaskContext, name: str) -> str:
    value = context.getLocalProperty(name)
    if value is None:
        raise OptionsError(f"Spark does not set {name} here: the sink works in streaming queries only")
    return value


def record_batches(iterator: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield record batches unchanged, and rows as record batches."""
    rows: list[Any] = []
    for item in iterator:
        if isinstance(item, pa.RecordBatch):
            yield item
            continue
        rows.append(item)
        if len(rows) == _ROWS_AT_A_TIME:
            yield _of_rows(rows, schema)
            rows = []
    if rows:
        yield _of_rows(rows, schema)


def _of_rows(rows: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
