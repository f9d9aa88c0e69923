"""Statements once each, with no statement in the JVM.

Tasks read the inputs and put each statement into one of some buckets, by its subject. A bucket travels as a few blobs
of Jelly, so that Spark has next to nothing to do to bring its parts together. Whoever gets all of a bucket looks which
statements came before, by hashes of 128 bits, and writes the others in the order in which they came.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from jellyframe.arrow.layouts import string_array
from jellyframe.batch import Batch
from jellyframe.kernel.ntriples_write_cy import term_strings
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import MAX_PROBLEMS, Summary
from jellyframe.options import StreamOptions
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.spark.jobs.outputs import Output
from jellyframe.spark.jobs.running import RESULT_SCHEMA, TaskResult, run_job, write_batches
from jellyframe.stream.reader import open_reader
from jellyframe.stream.splits import Piece
from jellyframe.stream.writer import JellyWriter, open_writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Of each bucket, hashes and blobs are in memory; of each blob that is being made, a writer with its lookups.
BUCKET_BYTES = 32 << 20
MAX_BUCKETS = 128
_BLOB_BYTES = 1 << 20
# Blobs are large, so few of them go to a worker at a time.
_BLOBS_PER_BATCH = 32
_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BLOB_SCHEMA = pa.schema(
    [("key", pa.int64()), ("bucket", pa.int32()), ("task", pa.int32()), ("part", pa.int32()), ("blob", pa.binary())]
)
_SPARK_BLOB_SCHEMA = "key long, bucket int, task int, part int, blob binary"
# The bucket of what is no data: a note on bad records.
_NOTE = -1
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5)
_KEYS_TRIED = 64


@dataclass(frozen=True)
class Buckets:
    """How many buckets there are, and for each partition a key that Spark will send there."""

    number: int
    keys: tuple[int, ...]

    def key(self, bucket: int) -> int:
        return self.keys[bucket % len(self.keys)]


def write_distinct(
    job: str, spark: SparkSession, inputs: JobInputs, output: Output, files: int, buckets: int
) -> Summary:
    """Write the statements of the inputs once each, to about so many files."""
    plan = Buckets(-(-buckets // files) * files, _partition_keys(spark, files))
    stream = StreamOptions().resolved(has_graph=output.plan.stream.has_graph)
    partitions = inputs.pieces()
    found = inputs.files

    def results() -> DataFrame:
        blobs = map_pieces(
            spark, partitions, lambda pieces: _blobs(pieces, found, output, stream, plan), _SPARK_BLOB_SCHEMA
        )
        together = blobs.repartition(files, "key").sortWithinPartitions("bucket", "task", "part")
        return together.mapInArrow(lambda batches: _write(batches, output), RESULT_SCHEMA)

    with _small_batches(spark):
        return run_job(job, inputs, output, results)


def _partition_keys(spark: SparkSession, partitions: int) -> tuple[int, ...]:
    """A number for each partition that `repartition` sends there."""
    numbers = spark.range(0, partitions * _KEYS_TRIED, 1, 1)
    rows = numbers.selectExpr("id", f"pmod(hash(id), {partitions}) as place").collect()
    keys = {row["place"]: row["id"] for row in rows}
    return tuple(keys.get(place, place) for place in range(partitions))


@contextmanager
def _small_batches(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(_BATCH_SETTING)
    spark.conf.set(_BATCH_SETTING, _BLOBS_PER_BATCH)
    try:
        yield
    finally:
        spark.conf.set(_BATCH_SETTING, str(before))


# ---- into buckets ----


def _blobs(
    pieces: tuple[Piece, ...], inputs: Inputs, output: Output, stream: StreamOptions, plan: Buckets
) -> Iterator[pa.RecordBatch]:
    """The statements of some pieces, as blobs of Jelly, each of one bucket."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    task = context.partitionId()
    bad = BadRecords(inputs.options.mode)
    open_blobs: dict[int, _Blob] = {}
    part = 0
    for piece in pieces:
        for batch in piece_batches(piece, inputs, bad.add):
            ordered, ends = _by_bucket(output.fitting(batch), plan.number)
            start = 0
            for bucket, stop in enumerate(ends):
                if stop > start:
                    blob = open_blobs.setdefault(bucket, _Blob(stream))
                    blob.writer.write_batch(ordered, start, stop)
                    if blob.size >= _BLOB_BYTES:
                        yield _blob_row(plan.key(bucket), bucket, task, part, open_blobs.pop(bucket).close())
                        part += 1
                start = stop
    for bucket, blob in open_blobs.items():
        yield _blob_row(plan.key(bucket), bucket, task, part, blob.close())
    if bad.count:
        yield _blob_row(plan.keys[0], _NOTE, task, part, json.dumps([bad.count, bad.quoted()]).encode())


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


def _blob_row(*values: Any) -> pa.RecordBatch:
    arrays = [pa.array([value], field.type) for value, field in zip(values, _BLOB_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_BLOB_SCHEMA)


def _by_bucket(batch: Batch, count: int) -> tuple[Batch, list[int]]:
    """The statements of a batch, bucket after bucket, each in the order it had; and where each bucket ends."""
    subjects, rows = np.unique(np.asarray(batch.s), return_inverse=True)
    texts = (
        string_array(term_strings(batch.terms, columns=batch.columns))
        .take(pa.array(subjects))
        .cast(pa.binary())
        .to_pylist()
    )
    buckets = np.fromiter((zlib.crc32(text) % count for text in texts), np.int32, len(texts))[rows]
    order = np.argsort(buckets, kind="stable")
    ends = np.searchsorted(buckets[order], np.arange(count), side="right")
    return _some_rows(batch, order), ends.tolist()


# ---- out of buckets ----


def _write(record_batches: Iterable[pa.RecordBatch], output: Output) -> Iterator[pa.RecordBatch]:
    """A task to which all of some buckets come, one after the other."""
    result = TaskResult()
    rows = (
        (bucket.as_py(), blob.as_py())
        for record_batch in record_batches
        for bucket, blob in zip(record_batch["bucket"], record_batch["blob"], strict=True)
    )

    def batches() -> Iterator[Batch]:
        for bucket, blobs in groupby(rows, key=lambda row: row[0]):
            contents = [blob for _bucket, blob in blobs]
            if bucket == _NOTE:
                for count, quoted in map(json.loads, contents):
                    result.bad += count
                    result.problems += quoted[: MAX_PROBLEMS - len(result.problems)]
            else:
                yield from _distinct(contents)

    write_batches(batches(), output, result)
    return result.rows()


def _distinct(blobs: list[bytes]) -> Iterator[Batch]:
    """The statements of a bucket that did not come before. Reading blobs twice takes less than keeping all."""
    hashes = [statement_hashes(batch) for blob in blobs for batch in _read(blob)]
    is_first = first_of_each(np.concatenate(hashes))
    start = 0
    for blob in blobs:
        for batch in _read(blob):
            wanted = is_first[start : start + len(batch)]
            start += len(batch)
            yield batch if wanted.all() else _some_rows(batch, wanted)


def first_of_each(hashes: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each pair of numbers, whether it comes for the first time."""
    high, low = hashes[:, 0], hashes[:, 1]
    order = np.argsort(high, kind="stable")
    same_high = high[order[1:]] == high[order[:-1]]
    same = same_high & (low[order[1:]] == low[order[:-1]])
    if (same != same_high).any():
        # Next to impossible; equal ones need not be neighbours then.
        order = np.lexsort((low, high))
        same = (high[order[1:]] == high[order[:-1]]) & (low[order[1:]] == low[order[:-1]])
    is_first = np.ones(len(hashes), bool)
    is_first[order[1:]] = ~same
    return is_first


def _read(blob: bytes) -> Iterator[Batch]:
    with open_reader(blob) as reader:
        yield from reader.batches()


def statement_hashes(batch: Batch) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A hash of 128 bits for each statement, as two numbers: the same wherever the same terms come up."""
    texts = string_array(term_strings(batch.terms, columns=batch.columns)).cast(pa.binary()).to_pylist()
    digests = b"".join([blake2b(text, digest_size=16).digest() for text in texts])
    terms = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    hashes = np.zeros((len(batch), 2), np.uint64)
    for column, factor in zip((batch.s, batch.p, batch.o, batch.g), _FACTORS, strict=True):
        if column is not None:
            # The hashes of terms are as good as random, so an odd factor for each position is enough.
            hashes += terms[np.asarray(column)] * np.uint64(factor)
    return hashes


def _some_rows(batch: Batch, rows: Any) -> Batch:
    """A batch of some rows: those where a mask is true, or those with given numbers."""

    def column(old: memoryview) -> memoryview:
        new: Any = np.asarray(old)[rows]
        return memoryview(new)

    g = None if batch.g is None else column(batch.g)
    return Batch((column(batch.s), column(batch.p), column(batch.o), g), batch.terms)
