"""Run a job: tasks write files and return their names, and the driver publishes them when all tasks are done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow.layouts import POSITIONS
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.outputs import Output
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import TaskResult, summarize, write_pieces, write_rows
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

# The result of a task: a string of JSON.
RESULT_SCHEMA = "result string"
# Size of tasks that read and write: enough tasks to keep all cores busy to the end, but none too small.
_TASKS_PER_CORE = 4
_MIN_TASK_BYTES = 8 << 20
_MAX_TASK_BYTES = 256 << 20
# The wanted size of output files, and the smallest size when there would be fewer files than cores.
FILE_BYTES = 128 << 20
_SMALL_FILE_BYTES = 8 << 20
# Assumed with Spark Connect: a client cannot ask for the number of cores.
_UNKNOWN_CORES = 8


def result_row(result: TaskResult) -> Iterator[pa.RecordBatch]:
    """Yield a record batch with the result of a task as its only row."""
    yield pa.RecordBatch.from_pydict({"result": pa.array([result.as_json()], pa.string())})


def task_place(output: Output) -> tuple[str, str]:
    """Return the folder of this task attempt, and the prefix of its file names."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    folder = output.target.attempt_folder(context.taskAttemptId())
    return folder, output.target.part_name(context.partitionId())


def task_prefix(output: Output) -> str:
    """Return the prefix of the file paths of this task attempt."""
    return "/".join(task_place(output))


# ---- the driver --------------------------------------------------------------------------------------------


def run_job(
    job: str,
    inputs: Sequence[Inputs],
    output: Output,
    results: Callable[[], DataFrame],
    finish: Callable[[list[TaskResult]], list[str]] | None = None,
) -> Summary:
    """Run the tasks, publish their files, and return a summary. `finish` may return further staged files."""
    start = time.monotonic()
    try:
        with plain_errors():
            done = [TaskResult.from_json(row[0]) for row in collected(results())]
        staged = [path for result in done for path, _size in result.files]
        output.publish([*staged, *(finish(done) if finish is not None else ())])
    except BaseException:
        output.target.discard()
        raise
    return summarize(job, inputs, output, done, time.monotonic() - start)


def collected(frame: DataFrame) -> list[Any]:
    """Return the rows of a DataFrame. An interrupt stops its tasks, so that their files can be removed.

    Another thread collects the rows: a thread that is interrupted in a call to the JVM cannot make further calls.
    """
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(frame.collect)
        try:
            return rows.result()
        except KeyboardInterrupt:
            spark: Any = frame.sparkSession
            with suppress(Exception):
                if hasattr(spark, "_jvm"):
                    spark.sparkContext.cancelAllJobs()
                else:
                    spark.interruptAll()
            with suppress(Exception):
                rows.result()
            raise


def copy_statements(
    job: str, spark: Session, inputs: JobInputs, output: Output, files: int | None, target_bytes: int | None
) -> Summary:
    """Write the statements of the inputs unchanged, and return a summary.

    `files` is about the number of files to write, `target_bytes` about the bytes of input for each file.
    """
    wanted = inputs.options.partition_bytes or target_bytes
    found = inputs.files
    partitions = found.pieces(wanted or _task_bytes(spark, found)) if files is None else found.pieces_for(files)

    def task(pieces: tuple[Piece, ...]) -> Iterator[pa.RecordBatch]:
        return result_row(write_pieces(pieces, found, output, task_prefix(output)))

    return run_job(job, [found], output, lambda: map_pieces(spark, partitions, task, RESULT_SCHEMA))


def write_statements(job: str, inputs: JobInputs, output: Output, frame: DataFrame) -> Summary:
    """Write a DataFrame of statements in the layout `ntriples`, and return a summary."""
    columns = [name for name in frame.columns if name in POSITIONS]
    corrupt = inputs.options.corrupt_column if inputs.options.corrupt_column in frame.columns else None

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return result_row(write_rows(batches, columns, corrupt, output, task_prefix(output)))

    return run_job(job, [inputs.files], output, lambda: frame.mapInArrow(task, RESULT_SCHEMA))


def cores(spark: Session) -> int:
    """Return the number of tasks that run at a time, or a guess with Spark Connect."""
    return spark.sparkContext.defaultParallelism if hasattr(spark, "_jvm") else _UNKNOWN_CORES


def file_count(spark: Session, size: int) -> int:
    """Return the number of files for data of about this size as Jelly."""
    return max(-(-size // FILE_BYTES), min(cores(spark), size // _SMALL_FILE_BYTES), 1)


def _task_bytes(spark: Session, inputs: Inputs) -> int:
    fair = inputs.total_bytes // (_TASKS_PER_CORE * cores(spark))
    return min(max(fair, _MIN_TASK_BYTES), _MAX_TASK_BYTES)
