"""Distributed deduplication that keeps statements out of the JVM.

Tasks read the inputs and put each statement into one of some buckets, by its subject. A bucket travels as a few blobs
of Jelly. The task that gets all of a bucket keeps the first of each statement, in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.deduplication import by_bucket, distinct_batches
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.outputs import Output
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.exchange import (
    BLOB_SCHEMA,
    Blob,
    Blobs,
    partition_keys,
    small_batches,
    write_exchanged,
)
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.spark.jobs.running import run_job
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

# Of each bucket, hashes and blobs are in memory; of each blob that is being made, a writer with its lookups.
BUCKET_BYTES = 32 << 20
MAX_BUCKETS = 128


def write_distinct(job: str, spark: Session, inputs: JobInputs, output: Output, files: int, buckets: int) -> Summary:
    """Write the statements of the inputs once each, to about so many files."""
    number = -(-buckets // files) * files
    keys = partition_keys(spark, files)
    found = inputs.files
    partitions = inputs.pieces()

    def results() -> DataFrame:
        blobs = map_pieces(spark, partitions, lambda pieces: _blobs(pieces, found, output, number, keys), BLOB_SCHEMA)
        return write_exchanged(blobs, files, output, _distinct)

    with small_batches(spark):
        return run_job(job, inputs, output, results)


def _blobs(
    pieces: tuple[Piece, ...], inputs: Inputs, output: Output, buckets: int, keys: tuple[int, ...]
) -> Iterator[pa.RecordBatch]:
    """Yield the statements of pieces as blobs, each of one bucket."""
    bad = BadRecords(inputs.options.mode)
    blobs = Blobs(keys, has_graph=output.plan.has_graph)
    for piece in pieces:
        for batch in piece_batches(piece, inputs, bad.add):
            yield from blobs.add_all(*by_bucket(output.fitting(batch), buckets))
    yield from blobs.finish(bad)


def _distinct(blobs: Iterable[Blob]) -> Iterator[Batch]:
    return distinct_batches([blob.batches for blob in blobs])
