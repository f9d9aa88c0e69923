"""Jobs that shuffle equal statements to one task and keep statements out of the JVM.

Tasks read the inputs and put each statement, or each row of a patch, into a bucket by the hash of its subject. A bucket
is shuffled as a few blobs of Jelly. The task that receives all blobs of a bucket passes them to a function, which for
instance deduplicates statements or applies patches, and writes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.blobs import OTHER_ROWS, Blob
from jellyframe.ops.deduplication import by_bucket
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.outputs import Output
from jellyframe.ops.patches.committed import HEADERS, NAMESPACES
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import Summary
from jellyframe.patch import NamespaceAdd, row_batches
from jellyframe.spark.jobs.exchange import (
    BLOB_SCHEMA,
    Blobs,
    partition_keys,
    small_batches,
    write_exchanged,
)
from jellyframe.spark.jobs.inputs import JobInputs, map_tasks
from jellyframe.spark.jobs.running import file_count, run_job
from jellyframe.stream.splits import Piece
from jellyframe.terms import DEFAULT_GRAPH, IRI

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

# Limits the memory of a task, which holds one writer with its lookup tables for each bucket, and the fingerprints of a
# bucket.
BUCKET_BYTES = 32 << 20
MAX_BUCKETS = 128


def bucket_count(inputs: Sequence[JobInputs]) -> int:
    """Return the number of buckets of `BUCKET_BYTES` that the inputs fill."""
    return -(-sum(side.files.bytes_as_jelly for side in inputs) // BUCKET_BYTES)


def write_by_bucket(
    job: str,
    spark: Session,
    inputs: Sequence[JobInputs],
    output: Output,
    read: Callable[[Iterable[Blob]], Iterator[Batch]],
    files: int | None = None,
    *,
    namespaces: bool = False,
    check: Callable[[int, Batch, str], None] | None = None,
) -> Summary:
    """Write the result of `read` for the blobs of each bucket, and return a summary.

    The `side` of a blob is the number of its input in `inputs`; blobs are sorted by side and position in the input.
    With `namespaces`, those of data are shuffled as rows that add them, and those of the result are written. `check` is
    called with the side, the statements and the file name of each batch that is read, and may raise. `files` is the
    number of files to write; by default it depends on the size of the inputs.
    """
    count = files or file_count(spark, sum(side.files.bytes_as_jelly for side in inputs))
    buckets = -(-min(max(bucket_count(inputs), 1), MAX_BUCKETS) // count) * count
    keys = partition_keys(spark, count)
    tasks = [(side, each.files, pieces) for side, each in enumerate(inputs) for pieces in each.pieces()]

    def blobs(number: int) -> Iterator[pa.RecordBatch]:
        return _blobs(*tasks[number], output, buckets, keys, namespaces, check)

    def results() -> DataFrame:
        made = map_tasks(spark, len(tasks), blobs, BLOB_SCHEMA)
        return write_exchanged(made, count, output, read, declare=namespaces)

    with small_batches(spark):
        return run_job(job, [side.files for side in inputs], output, results)


def _blobs(
    side: int,
    inputs: Inputs,
    pieces: tuple[Piece, ...],
    output: Output,
    buckets: int,
    keys: tuple[int, ...],
    namespaces: bool,
    check: Callable[[int, Batch, str], None] | None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of pieces as blobs, each of one bucket."""
    bad = BadRecords(inputs.options.mode)
    has_graph = output.plan.has_graph
    blobs = Blobs(keys, has_graph=has_graph)
    declared: dict[str, str] = {}
    for piece in pieces:
        for batch in piece_batches(piece, inputs, bad.add):
            declared |= {declaration.name: declaration.iri for declaration in batch.namespaces}
            if check is not None:
                check(side, batch, piece.file.name)
            fitting = output.fitting(batch)
            if fitting.op is not None:
                others = mask_of_operations(fitting.op, HEADERS | NAMESPACES)
                if others is not None:
                    yield from blobs.add(0, fitting.filter(others[: len(fitting)]), side=OTHER_ROWS + side)
                    fitting = fitting.filter([not other for other in others[: len(fitting)]])
            yield from blobs.add_all(*by_bucket(fitting, buckets), side=side)
    if namespaces and declared:
        rows = [NamespaceAdd(name, IRI(iri), DEFAULT_GRAPH) for name, iri in declared.items()]
        for batch in row_batches(rows, has_graph=has_graph):
            yield from blobs.add(0, batch, side=OTHER_ROWS + side)
    yield from blobs.finish(bad)
