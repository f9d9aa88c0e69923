"""The job `sample`: a random sample of statements, or of subjects with all of their statements."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.errors import OptionsError
from jellyframe.ops.bad_input import DROPMALFORMED, FAILFAST, BadRecords, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Inputs, Paths
from jellyframe.ops.outputs import Output
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.sampling import Sampler
from jellyframe.ops.summary import Summary
from jellyframe.options import check_number
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.exchange import BLOB_SCHEMA, Blobs, partition_keys, small_batches, write_exchanged
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces, map_tasks
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import collected, file_count, run_job
from jellyframe.storage.commit import ERROR, SaveMode
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import OutputOptions, Session, SourceOptions

# Estimates of the size of a statement as Jelly and of the statements per subject, for the size of a sample.
_STATEMENT_BYTES = 40
_STATEMENTS_PER_SUBJECT = 10
_HASHES_SCHEMA = "task int, hash long"
# Spark has no unsigned integers. Flipping this bit maps unsigned to signed integers and keeps their order.
_SIGN = 1 << 63


def sample(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    fraction: float | None = None,
    number: int | None = None,
    seed: int = 0,
    whole_subjects: bool = False,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[OutputOptions],
) -> Summary:
    """Write a random sample and return a summary: about a `fraction` of the statements, or exactly a `number` of them.

    With `whole_subjects`, subjects are sampled, each with all of its statements. A hash of the statement, or subject,
    and the `seed` decides: the same seed selects the same sample of the same data, whatever its format and files. Equal
    statements are therefore selected together. A `number` above that of all statements selects all.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        fraction: the fraction of statements to select, from 0 to 1
        number: the number of statements to select
        seed: the seed of the hash
        whole_subjects: whether to sample subjects with all of their statements
        out_format: `jelly`, `nq`, `nt` or `parquet`
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        in_format: the format of the input; by default it is recognised by the file names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` leaves labels unchanged, `per-file` makes them distinct for each file
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source, by name, and the `layout` of Parquet files
    """
    if (fraction is None) is (number is None):
        raise OptionsError("give either fraction or number, the size of the sample")
    if number is not None:
        check_number("number", number, 0)
    sampler = Sampler(seed, whole_subjects).of_fraction(1.0 if fraction is None else fraction)
    inputs = JobInputs.find(
        paths,
        in_format=in_format,
        mode=mode,
        blank_nodes=blank_nodes,
        partition_bytes=partition_bytes,
        **(read_options or {}),
    )
    target = job_output(output, has_graph=inputs.files.has_graphs(), out_format=out_format, save=save, **options)
    partitions = inputs.pieces()
    samplers = [sampler] * len(partitions)
    if number is not None:
        with plain_errors():
            samplers = _of_number(spark, inputs.files, partitions, sampler, number)
    size = _sample_bytes(inputs.files, fraction, number, whole_subjects)
    return _write_sample(spark, inputs, target, partitions, samplers, files or file_count(spark, size))


def _sample_bytes(inputs: Inputs, fraction: float | None, number: int | None, whole_subjects: bool) -> int:
    """Return the estimated size of a sample as Jelly."""
    size = inputs.bytes_as_jelly
    if fraction is not None:
        return int(size * fraction)
    return min(size, (number or 0) * _STATEMENT_BYTES * (_STATEMENTS_PER_SUBJECT if whole_subjects else 1))


def _of_number(
    spark: Session, inputs: Inputs, partitions: list[tuple[Piece, ...]], sampler: Sampler, number: int
) -> list[Sampler]:
    """Return a sampler for each task, which together select exactly the given number of statements, or subjects.

    The inputs are read once for their hashes, of which each task returns only the smallest.
    """
    from pyspark.sql import functions as sql

    # Bad input is reported when the inputs are read again for their statements.
    hashed = inputs.with_mode(FAILFAST if inputs.options.mode == FAILFAST else DROPMALFORMED)
    hashes = map_pieces(spark, partitions, lambda pieces: _smallest(pieces, hashed, sampler, number), _HASHES_SCHEMA)
    if sampler.whole_subjects:
        smallest = hashes.select("hash").distinct().orderBy("hash").limit(number)
        (row,) = collected(smallest.agg(sql.max("hash")))
        # The limit is exclusive, and all statements of a subject have the same hash.
        limit = 0 if row[0] is None else row[0] + _SIGN + 1
        return [sampler.up_to(limit, 0)] * len(partitions)
    chosen = hashes.orderBy("hash", "task").limit(number).groupBy("task", "hash").count()
    last = chosen.groupBy("task").agg(sql.max("hash"), sql.max_by("count", "hash"))
    limits = {task: (limit + _SIGN, ties) for task, limit, ties in collected(last)}
    return [sampler.up_to(*limits.get(task, (0, 0))) for task in range(len(partitions))]


def _smallest(pieces: tuple[Piece, ...], inputs: Inputs, sampler: Sampler, number: int) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    bad = BadRecords(inputs.options.mode)
    found = sampler.smallest((batch for piece in pieces for batch in piece_batches(piece, inputs, bad.add)), number)
    task = pa.repeat(pa.scalar(context.partitionId(), pa.int32()), len(found))
    hashes = pc.bit_wise_xor(found, pa.scalar(_SIGN, pa.uint64())).view(pa.int64())
    yield pa.RecordBatch.from_arrays([task, hashes], names=["task", "hash"])


def _write_sample(
    spark: Session,
    inputs: JobInputs,
    output: Output,
    partitions: list[tuple[Piece, ...]],
    samplers: list[Sampler],
    files: int,
) -> Summary:
    """Write the sampled statements of the partitions, in the order of the inputs, to the given number of files."""
    keys = partition_keys(spark, files)
    found = inputs.files
    tasks = len(partitions)

    def blobs(number: int) -> Iterator[pa.RecordBatch]:
        bad = BadRecords(found.options.mode)
        made = Blobs(keys, has_graph=output.plan.has_graph)
        batches = (batch for piece in partitions[number] for batch in piece_batches(piece, found, bad.add))
        for batch in samplers[number].sample(batches):
            yield from made.add(number * files // tasks, output.fitting(batch))
        yield from made.finish(bad)

    def results() -> DataFrame:
        return write_exchanged(map_tasks(spark, tasks, blobs, BLOB_SCHEMA), files, output)

    with small_batches(spark):
        return run_job("sample", [inputs.files], output, results)
