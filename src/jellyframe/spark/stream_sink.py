"""The stream sink: a folder to which each batch of a query adds its files, once.

Spark runs a batch again when it does not know that it was done. So the first thing that a commit does is to note, in a
small file named after query and batch, which files make up the batch: from then on that is decided. Only then the files
are moved to their places. Whoever comes later, with the same batch, finds the note, finishes what it says if it is not
finished, and drops what the tasks have written this time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import datasource
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from jellyframe.errors import OptionsError, StorageError
from jellyframe.spark.options import WriteOptions
from jellyframe.spark.schema import exact_arrow_schema
from jellyframe.spark.writing import JellyCommitMessage, WritePlan, write_files
from jellyframe.storage.commit import Target

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter as _Base
else:
    # Spark 4.0 hands over rows, later versions record batches.
    _Base = getattr(datasource, "DataSourceStreamArrowWriter", datasource.DataSourceStreamWriter)

NOTES_FOLDER = "_jelly-commits"
# As many batches as Spark itself remembers by default.
NOTES_KEPT = 100
_ROWS_AT_A_TIME = 8192


@dataclass
class StreamCommitMessage(JellyCommitMessage):
    """The files that a task has made, and for which query: who commits them is told the batch only."""

    query: str


class JellyStreamWriter(_Base):
    """Writes the batches of a query into a folder."""

    def __init__(self, options: WriteOptions, schema: StructType, *, overwrite: bool) -> None:
        if overwrite:
            raise OptionsError('files are added to a folder, never replaced: use outputMode("append"), or foreachBatch')
        self.schema = exact_arrow_schema(schema)
        self.plan = WritePlan.of(options, self.schema)

    def write(self, iterator: Iterator[Any]) -> StreamCommitMessage:
        context = TaskContext.get()
        assert context is not None
        query = _property(context, "sql.streaming.queryId")
        number = int(_property(context, "streaming.sql.batchId"))
        batch = StreamBatch(self.plan.options.path, query, number)
        if batch.is_decided():
            # What comes before this in the task may have state to keep, for which it has to run to its end.
            for _rows in iterator:
                pass
            return StreamCommitMessage((), query)
        # Another run of this query counts its attempts from the start again.
        folder = batch.target.attempt_folder(f"{context.taskAttemptId()}-{uuid4().hex}")
        prefix = f"{folder}/part-{context.partitionId():05d}-{query}-{number:06d}"
        files = write_files(_record_batches(iterator, self.schema), self.plan, batch.target, prefix)
        return StreamCommitMessage(files, query)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        done = [message for message in messages if isinstance(message, StreamCommitMessage)]
        if done:
            files = [file for message in done for file in message.files]
            StreamBatch(self.plan.options.path, done[0].query, batchId).commit(files)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        # If no task has come to its end, we are not told the query. The batch, run again, clears up then.
        for query in {message.query for message in messages if isinstance(message, StreamCommitMessage)}:
            StreamBatch(self.plan.options.path, query, batchId).abort()


class StreamBatch:
    """One batch of one query, on its way into a folder."""

    def __init__(self, path: str, query: str, number: int) -> None:
        self._query = query
        self._number = number
        self.target = Target.of(path, f"{query}-{number}")

    def is_decided(self) -> bool:
        """Whether it is noted which files the batch has."""
        return self.target.storage.exists(self._note(self._number))

    def commit(self, staged: Sequence[str]) -> None:
        """Put the files of the batch in place, unless others were noted before."""
        if not self.is_decided():
            self.target.require(staged)
            note = [path[len(self.target.path) + 1 :] for path in staged]
            self.target.storage.write_new(self._note(self._number), json.dumps(note).encode())
        self._finish()

    def abort(self) -> None:
        """Drop what was written for the batch; if it is decided, only what does not belong to it."""
        if self.is_decided():
            self._finish()
        else:
            self.target.discard()

    def _note(self, number: int) -> str:
        return f"{self.target.path}/{NOTES_FOLDER}/{self._query}-{number}.json"

    def _finish(self) -> None:
        storage, folder = self.target.storage, self.target.path
        try:
            with storage.fs.open_input_stream(self._note(self._number)) as stream:
                note = json.loads(stream.read())
            for staged in note:
                # What is no longer there is in its place, or was: somebody may have taken it away since.
                if storage.exists(f"{folder}/{staged}"):
                    storage.fs.move(f"{folder}/{staged}", f"{folder}/{staged.rpartition('/')[2]}")
        except OSError as error:
            raise StorageError(
                f"batch {self._number} is not all in place: {error}; start the query again to finish it"
            ) from error
        self.target.remove_staging()
        old = self._note(self._number - NOTES_KEPT)
        if storage.exists(old):
            storage.fs.delete_file(old)


def _property(context: TaskContext, name: str) -> str:
    value = context.getLocalProperty(name)
    if value is None:
        raise OptionsError(f"Spark does not say {name} here: the sink works in streaming queries only")
    return value


def _record_batches(iterator: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Record batches as they come, or made of rows."""
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
