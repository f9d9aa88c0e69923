"""Jobs that group statements by subject: tasks write them to files of buckets, and other tasks read bucket by bucket.

The files are in the staging folder of the output. No statement passes through the JVM, and a bucket can be read more
than once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.integrations.planned_files import PartFile, Plan, write_planned
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.bucket_files import BucketFile, buckets_for
from jellyframe.ops.outputs import Output
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import TaskResult, summarize
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces, map_tasks
from jellyframe.spark.jobs.running import RESULT_SCHEMA, collected, cores, result_row, task_place, task_prefix
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.spark.types import Session


def write_by_subject(
    job: str,
    spark: Session,
    inputs: JobInputs,
    output: Output,
    write: Callable[[list[str], int, str, Plan | None], list[PartFile]],
    publish: Callable[[list[PartFile], Output], object],
    add: Callable[[BucketFile, Batch], None] = BucketFile.add,
) -> Summary:
    """Group the statements of the inputs by subject, write files for each bucket, and return a summary.

    `add` adds a batch to a file of buckets. `write` gets the paths of all such files, the number of a bucket, the
    folder to write to and the plan of `write_planned`, and returns the files that it wrote; `publish` publishes all of
    them.
    """
    start = time.monotonic()
    try:
        with plain_errors():
            buckets = buckets_for(inputs.files.bytes_as_jelly, 2 * cores(spark))
            results, paths = _write_buckets(spark, inputs, output, buckets, add)

            def write_bucket(bucket: int, plan: Plan | None) -> list[PartFile]:
                folder, _name = task_place(output)
                return write(paths, bucket, folder, plan)

            files = write_planned(buckets, write_bucket, partial(_run_tasks, spark))
        publish(files, output)
    except BaseException:
        output.target.discard()
        raise
    written = TaskResult(files=[(file.path, file.bytes) for file in files])
    return summarize(job, [inputs.files], output, [*results, written], time.monotonic() - start)


def _write_buckets(
    spark: Session,
    inputs: JobInputs,
    output: Output,
    buckets: int,
    add: Callable[[BucketFile, Batch], None],
) -> tuple[list[TaskResult], list[str]]:
    """Write the statements of the inputs to files with the given number of buckets, by subject.

    Returns the results of the tasks, which do not list the files, and the paths of the files.
    """
    found = inputs.files
    storage = output.target.storage

    def task(pieces: tuple[Piece, ...]) -> Iterator[pa.RecordBatch]:
        path = f"{task_prefix(output)}.buckets"
        bad = BadRecords(found.options.mode)
        result = TaskResult(details=[{"path": path}])
        with BucketFile(storage, path, buckets) as file:
            for piece in pieces:
                for batch in piece_batches(piece, found, bad.add):
                    result.statements += len(batch)
                    add(file, batch)
        result.bad, result.problems = bad.count, bad.quoted()
        return result_row(result)

    rows = collected(map_pieces(spark, inputs.pieces(), task, RESULT_SCHEMA))
    results = [TaskResult.from_json(row[0]) for row in rows]
    return results, [detail["path"] for result in results for detail in result.details]


def _run_tasks(spark: Session, count: int, work: Callable[[int], list[PartFile]]) -> list[list[PartFile]]:
    """Run `work` in a task for each number below `count`, and return the files that each task wrote."""
    if not count:
        return []

    def task(number: int) -> Iterator[pa.RecordBatch]:
        return result_row(TaskResult(details=[file.as_json() for file in work(number)]))

    rows = collected(map_tasks(spark, count, task, RESULT_SCHEMA))
    return [[PartFile.from_json(file) for file in TaskResult.from_json(row[0]).details] for row in rows]
