"""Shuffle statements between tasks as blobs of Jelly, so that no statement passes through the JVM as a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.blobs import Blob, OpenBlob, all_batches
from jellyframe.ops.outputs import Output
from jellyframe.ops.summary import MAX_PROBLEMS
from jellyframe.ops.tasks import TaskResult, write_batches
from jellyframe.spark.jobs.running import RESULT_SCHEMA, result_row, task_prefix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

_BLOB_BYTES = 1 << 20
# Rows of an Arrow batch that Spark passes to a worker: few, because each row has a blob.
_BLOBS_PER_BATCH = 32
_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SCHEMA = pa.schema(
    [
        ("key", pa.int64()),
        ("bucket", pa.int32()),
        ("side", pa.int32()),
        ("task", pa.int32()),
        ("part", pa.int32()),
        ("blob", pa.binary()),
    ]
)
BLOB_SCHEMA = "key long, bucket int, side int, task int, part int, blob binary"
# The bucket number of blobs that report bad records instead of holding statements.
_BAD_RECORDS = -1
_KEYS_TRIED = 64


def partition_keys(spark: Session, partitions: int) -> tuple[int, ...]:
    """Return a key for each partition, which `repartition` assigns to it."""
    numbers = spark.range(0, partitions * _KEYS_TRIED, 1, 1)
    rows = numbers.selectExpr("id", f"pmod(hash(id), {partitions}) as place").collect()
    keys = {row["place"]: row["id"] for row in rows}
    return tuple(keys.get(place, place) for place in range(partitions))


class Blobs:
    """Writes the blobs of a task: streams in memory, one at a time for each bucket and side.

    A bucket goes to the partition of its number modulo the number of `keys`.
    """

    def __init__(self, keys: tuple[int, ...], *, has_graph: bool) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        self._task = context.partitionId()
        self._keys = keys
        self._has_graph = has_graph
        self._open: dict[tuple[int, int], OpenBlob] = {}
        self._part = 0

    def add(
        self, bucket: int, batch: Batch, start: int = 0, stop: int | None = None, *, side: int = 0
    ) -> Iterator[pa.RecordBatch]:
        """Add rows to a bucket. Yield its blob when that has reached its size."""
        place = (bucket, side)
        blob = self._open.get(place)
        if blob is None:
            blob = self._open[place] = OpenBlob(is_patch=batch.op is not None, has_graph=self._has_graph)
        blob.writer.write_batch(batch, start, len(batch) if stop is None else stop)
        if blob.size >= _BLOB_BYTES:
            yield self._row(bucket, side, self._open.pop(place).close())

    def add_all(self, ordered: Batch, ends: Iterable[int], *, side: int = 0) -> Iterator[pa.RecordBatch]:
        """Add rows that are sorted by bucket; `ends` has the end of each bucket's rows."""
        start = 0
        for bucket, stop in enumerate(ends):
            if stop > start:
                yield from self.add(bucket, ordered, start, stop, side=side)
            start = stop

    def finish(self, bad: BadRecords) -> Iterator[pa.RecordBatch]:
        """Yield the remaining blobs, and a report of bad records if there were any."""
        for (bucket, side), blob in self._open.items():
            yield self._row(bucket, side, blob.close())
        if bad.count:
            yield self._row(_BAD_RECORDS, 0, json.dumps([bad.count, bad.quoted()]).encode())

    def _row(self, bucket: int, side: int, blob: bytes) -> pa.RecordBatch:
        key = self._keys[max(bucket, 0) % len(self._keys)]
        self._part += 1
        values: tuple[Any, ...] = (key, bucket, side, self._task, self._part, blob)
        arrays = [pa.array([value], field.type) for value, field in zip(values, _SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def write_exchanged(
    blobs: DataFrame,
    files: int,
    output: Output,
    read: Callable[[Iterable[Blob]], Iterator[Batch]] = all_batches,
    *,
    declare: bool = False,
) -> DataFrame:
    """Shuffle the blobs by bucket and write the result of `read` for each bucket to the given number of files.

    Blobs of a bucket are passed to `read` in the order of the input. With `declare`, the namespaces of the result are
    written too. Returns a DataFrame with the results of the tasks.
    """
    together = blobs.repartition(files, "key").sortWithinPartitions("bucket", "side", "task", "part")
    return together.mapInArrow(lambda batches: _write(batches, output, read, declare), RESULT_SCHEMA)


def _write(
    record_batches: Iterable[pa.RecordBatch],
    output: Output,
    read: Callable[[Iterable[Blob]], Iterator[Batch]],
    declare: bool,
) -> Iterator[pa.RecordBatch]:
    """Run a task that receives the blobs of some buckets, sorted by bucket."""
    result = TaskResult()
    rows = (
        (bucket.as_py(), Blob(side.as_py(), blob.as_py()))
        for record_batch in record_batches
        for bucket, side, blob in zip(*(record_batch[name] for name in ("bucket", "side", "blob")), strict=True)
    )

    def batches() -> Iterator[Batch]:
        for bucket, group in groupby(rows, key=lambda row: row[0]):
            contents = (blob for _bucket, blob in group)
            if bucket == _BAD_RECORDS:
                for count, quoted in (json.loads(blob.content) for blob in contents):
                    result.bad += count
                    result.problems += quoted[: MAX_PROBLEMS - len(result.problems)]
            else:
                yield from read(contents)

    write_batches(batches(), output, task_prefix(output), result, declare=declare)
    return result_row(result)


@contextmanager
def small_batches(spark: Session) -> Iterator[None]:
    """Limit the number of blobs that Spark passes to a worker at a time inside the block."""
    before = spark.conf.get(_BATCH_SETTING)
    spark.conf.set(_BATCH_SETTING, _BLOBS_PER_BATCH)
    try:
        yield
    finally:
        spark.conf.set(_BATCH_SETTING, str(before))
