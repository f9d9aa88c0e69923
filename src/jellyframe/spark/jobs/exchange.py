"""Statements on their way from task to task as blobs of Jelly, so that none of them passes through the JVM as a row."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.outputs import Output
from jellyframe.ops.summary import MAX_PROBLEMS
from jellyframe.ops.tasks import TaskResult, write_batches
from jellyframe.options import StreamOptions
from jellyframe.spark.jobs.running import RESULT_SCHEMA, result_row, task_prefix
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import JellyWriter, open_writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

_BLOB_BYTES = 1 << 20
# Blobs are large, so few of them go to a worker at a time.
_BLOBS_PER_BATCH = 32
_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SCHEMA = pa.schema(
    [("key", pa.int64()), ("bucket", pa.int32()), ("task", pa.int32()), ("part", pa.int32()), ("blob", pa.binary())]
)
BLOB_SCHEMA = "key long, bucket int, task int, part int, blob binary"
# The bucket of notes on bad records, which hold no statements.
_NOTE = -1
_KEYS_TRIED = 64


def partition_keys(spark: Session, partitions: int) -> tuple[int, ...]:
    """Return a number for each partition that `repartition` sends there."""
    numbers = spark.range(0, partitions * _KEYS_TRIED, 1, 1)
    rows = numbers.selectExpr("id", f"pmod(hash(id), {partitions}) as place").collect()
    keys = {row["place"]: row["id"] for row in rows}
    return tuple(keys.get(place, place) for place in range(partitions))


class Blobs:
    """The blobs that a task makes: streams in memory, one at a time for each bucket.

    A bucket goes to the partition of its number modulo the number of `keys`.
    """

    def __init__(self, stream: StreamOptions, keys: tuple[int, ...]) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        self._task = context.partitionId()
        self._stream = stream
        self._keys = keys
        self._open: dict[int, _Blob] = {}
        self._part = 0

    def add(self, bucket: int, batch: Batch, start: int = 0, stop: int | None = None) -> Iterator[pa.RecordBatch]:
        """Add rows to a bucket. Yields its blob if that is large enough."""
        blob = self._open.setdefault(bucket, _Blob(self._stream))
        blob.writer.write_batch(batch, start, len(batch) if stop is None else stop)
        if blob.size >= _BLOB_BYTES:
            yield self._row(bucket, self._open.pop(bucket).close())

    def finish(self, bad: BadRecords) -> Iterator[pa.RecordBatch]:
        """Yield the rest of the blobs, and a note on bad records if there were any."""
        for bucket, blob in self._open.items():
            yield self._row(bucket, blob.close())
        if bad.count:
            yield self._row(_NOTE, json.dumps([bad.count, bad.quoted()]).encode())

    def _row(self, bucket: int, blob: bytes) -> pa.RecordBatch:
        key = self._keys[max(bucket, 0) % len(self._keys)]
        self._part += 1
        values: tuple[Any, ...] = (key, bucket, self._task, self._part, blob)
        arrays = [pa.array([value], field.type) for value, field in zip(values, _SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


class _Blob:
    """A stream of its own in memory."""

    def __init__(self, stream: StreamOptions) -> None:
        self._memory = io.BytesIO()
        self.writer: JellyWriter = open_writer(self._memory, stream, restart_every=None)

    @property
    def size(self) -> int:
        return self._memory.tell()

    def close(self) -> bytes:
        self.writer.close()
        return self._memory.getvalue()


def read_blob(blob: bytes) -> Iterator[Batch]:
    with open_reader(blob) as reader:
        yield from reader.batches()


def read_blobs(blobs: Iterable[bytes]) -> Iterator[Batch]:
    """Yield what blobs hold, as it is."""
    return (batch for blob in blobs for batch in read_blob(blob))


def write_exchanged(
    blobs: DataFrame, files: int, output: Output, read: Callable[[Iterable[bytes]], Iterator[Batch]] = read_blobs
) -> DataFrame:
    """Bring the blobs of each bucket together, in order, and write what `read` makes of them to so many files."""
    together = blobs.repartition(files, "key").sortWithinPartitions("bucket", "task", "part")
    return together.mapInArrow(lambda batches: _write(batches, output, read), RESULT_SCHEMA)


def _write(
    record_batches: Iterable[pa.RecordBatch], output: Output, read: Callable[[Iterable[bytes]], Iterator[Batch]]
) -> Iterator[pa.RecordBatch]:
    """A task to which all of some buckets come, one after the other."""
    result = TaskResult()
    rows = (
        (bucket.as_py(), blob.as_py())
        for record_batch in record_batches
        for bucket, blob in zip(record_batch["bucket"], record_batch["blob"], strict=True)
    )

    def batches() -> Iterator[Batch]:
        for bucket, group in groupby(rows, key=lambda row: row[0]):
            contents = (blob for _bucket, blob in group)
            if bucket == _NOTE:
                for count, quoted in map(json.loads, contents):
                    result.bad += count
                    result.problems += quoted[: MAX_PROBLEMS - len(result.problems)]
            else:
                yield from read(contents)

    write_batches(batches(), output, task_prefix(output), result)
    return result_row(result)


@contextmanager
def small_batches(spark: Session) -> Iterator[None]:
    """Have Spark hand over few blobs at a time meanwhile."""
    before = spark.conf.get(_BATCH_SETTING)
    spark.conf.set(_BATCH_SETTING, _BLOBS_PER_BATCH)
    try:
        yield
    finally:
        spark.conf.set(_BATCH_SETTING, str(before))
