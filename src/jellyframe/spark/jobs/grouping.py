"""Group statements by subject: tasks write them to files of buckets, and other tasks read bucket by bucket.

The files are in the staging folder of the output. No statement passes through the JVM, and a bucket can be read more
than once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.integrations.planned_files import PartFile
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.bucket_files import BucketFile
from jellyframe.ops.outputs import Output
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import TaskResult, summarize
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces, map_tasks
from jellyframe.spark.jobs.running import RESULT_SCHEMA, collected, result_row, task_prefix
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.spark.types import Session


def write_buckets(
    spark: Session,
    inputs: JobInputs,
    output: Output,
    buckets: int,
    add: Callable[[BucketFile, Batch], None] = BucketFile.add,
) -> tuple[list[TaskResult], list[str]]:
    """Write the statements of the inputs to files with the given number of buckets, by subject.

    Returns the results of the tasks, which do not list the files, and the paths of the files. `add` adds a batch to a
    file.
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


def run_tasks(spark: Session, count: int, work: Callable[[int], list[PartFile]]) -> list[list[PartFile]]:
    """Run `work` in a task for each number below `count`, and return the files that each task wrote."""
    if not count:
        return []

    def task(number: int) -> Iterator[pa.RecordBatch]:
        return result_row(TaskResult(details=[file.as_json() for file in work(number)]))

    rows = collected(map_tasks(spark, count, task, RESULT_SCHEMA))
    return [[PartFile.from_json(file) for file in TaskResult.from_json(row[0]).details] for row in rows]


def bucket_summary(
    job: str, inputs: JobInputs, output: Output, results: list[TaskResult], files: list[PartFile], seconds: float
) -> Summary:
    """Return the summary of a job."""
    written = TaskResult(files=[(file.path, file.bytes) for file in files])
    return summarize(job, [inputs.files], output, [*results, written], seconds)
