"""Running a job: tasks that write files and say which, and a driver that puts these in place when all are done."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.arrow.layouts import POSITIONS
from jellyframe.batch import Batch
from jellyframe.ops.bad_input import BadRecords
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.summary import MAX_PROBLEMS, Summary
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.spark.jobs.outputs import Output, ready_batches
from jellyframe.storage.rolling import RollingFiles
from jellyframe.stream.splits import OPEN_COST_BYTES, Piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

# What a task says when it is done: one string of JSON.
RESULT_SCHEMA = "result string"
# Tasks of a job that reads and writes in one go: enough of them to keep all cores busy to the end, none too small.
_TASKS_PER_CORE = 4
_MIN_TASK_BYTES = 8 << 20
_MAX_TASK_BYTES = 256 << 20
# How large a file is to become, and how small one may be so that all cores have something to do.
FILE_BYTES = 128 << 20
_SMALL_FILE_BYTES = 8 << 20
# A server does not tell how many cores it has.
_UNKNOWN_CORES = 8


@dataclass
class TaskResult:
    """What a task has written. `folders` tells what is in which, where there are some."""

    files: list[tuple[str, int]] = field(default_factory=list)
    statements: int = 0
    bad: int = 0
    problems: list[str] = field(default_factory=list)
    folders: list[dict[str, Any]] = field(default_factory=list)

    def add_files(self, written: RollingFiles, output: Output) -> None:
        infos = [output.target.storage.info(path) for path in written.paths]
        self.files += [(path, info.size) for path, info in zip(written.paths, infos, strict=True)]
        self.statements += written.statements

    def rows(self) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"result": pa.array([json.dumps(vars(self))], pa.string())})


def task_prefix(output: Output) -> tuple[str, str]:
    """The folder of this attempt of a task, and how the names of its files begin."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    folder = output.target.attempt_folder(context.taskAttemptId())
    return folder, f"part-{context.partitionId():05d}-{output.target.job}"


def write_batches(batches: Iterator[Batch], output: Output, result: TaskResult) -> None:
    """Write what a task has, into as many files as that takes, and note them in its result."""
    folder, name = task_prefix(output)
    with output.files(f"{folder}/{name}") as files:
        for batch in ready_batches(batches, output):
            files.write(batch)
    result.add_files(files, output)


# ---- tasks -------------------------------------------------------------------------------------------------


def write_pieces(pieces: tuple[Piece, ...], inputs: Inputs, output: Output) -> Iterator[pa.RecordBatch]:
    """A task that reads pieces of files and writes what is in them: nothing of it passes through the JVM."""
    result = TaskResult()
    bad = BadRecords(inputs.options.mode)

    def batches() -> Iterator[Batch]:
        for piece in pieces:
            yield from piece_batches(piece, inputs, bad.add)

    write_batches(batches(), output, result)
    result.bad = bad.count
    result.problems = bad.quoted()
    return result.rows()


def write_rows(
    record_batches: Iterator[pa.RecordBatch], columns: Sequence[str], corrupt: str | None, output: Output
) -> Iterator[pa.RecordBatch]:
    """A task that writes rows which Spark brings it."""
    from jellyframe.arrow.terms import BatchMaker

    result = TaskResult()

    def batches() -> Iterator[Batch]:
        maker: BatchMaker | None = None
        for record_batch in good_rows(record_batches, corrupt, result):
            statements = record_batch.select(list(columns))
            maker = maker or BatchMaker(statements.schema)
            yield maker.make(statements)

    write_batches(batches(), output, result)
    return result.rows()


def good_rows(
    record_batches: Iterable[pa.RecordBatch], corrupt: str | None, result: TaskResult
) -> Iterator[pa.RecordBatch]:
    """The rows that hold statements. The others tell of bad records, and go to the result."""
    for record_batch in record_batches:
        good = record_batch
        if corrupt is not None:
            messages = record_batch[corrupt].drop_null().to_pylist()
            if messages:
                result.bad += len(messages)
                result.problems += messages[: MAX_PROBLEMS - len(result.problems)]
                good = record_batch.filter(pc.is_null(record_batch[corrupt]))
        if len(good):
            yield good


# ---- the driver --------------------------------------------------------------------------------------------


def run_job(
    job: str,
    inputs: JobInputs,
    output: Output,
    results: Callable[[], DataFrame],
    finish: Callable[[list[TaskResult]], list[str]] | None = None,
) -> Summary:
    """Have tasks write, and put their files in place. `finish` may add files, which it has staged."""
    start = time.monotonic()
    try:
        with plain_errors():
            done = [TaskResult(**json.loads(row[0])) for row in collected(results())]
        staged = [path for result in done for path, _size in result.files]
        output.publish([*staged, *(finish(done) if finish is not None else ())])
    except BaseException:
        output.target.discard()
        raise
    problems = [problem for result in done for problem in result.problems]
    return Summary(
        job=job,
        output=output.target.storage.display(output.target.path),
        statements=sum(result.statements for result in done),
        files=len(staged),
        bytes=sum(size for result in done for _path, size in result.files),
        seconds=round(time.monotonic() - start, 3),
        input_files=len(inputs.files.files),
        input_bytes=inputs.files.total_bytes,
        bad_records=sum(result.bad for result in done),
        problems=problems[:MAX_PROBLEMS],
    )


def collected(frame: DataFrame) -> list[Any]:
    """The rows of a DataFrame. An interrupt stops its tasks, so that what they have begun can be cleared away.

    Another thread waits for the rows: who is interrupted in a call to the JVM cannot speak to it any more.
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
    """Write what the inputs hold, as it is, in about as many files, or for about as many bytes of input a file."""
    said = inputs.options.partition_bytes or target_bytes
    found = inputs.files
    if files is not None:
        partitions = regroup(found.pieces(-(-found.total_bytes // files) or 1), files)
    else:
        partitions = found.pieces(said or _task_bytes(spark, found))
    return run_job(
        job,
        inputs,
        output,
        lambda: map_pieces(spark, partitions, lambda pieces: write_pieces(pieces, found, output), RESULT_SCHEMA),
    )


def write_statements(job: str, inputs: JobInputs, output: Output, frame: DataFrame) -> Summary:
    """Write a DataFrame of statements in the layout `ntriples`."""
    columns = [name for name in frame.columns if name in POSITIONS]
    corrupt = inputs.options.corrupt_column if inputs.options.corrupt_column in frame.columns else None
    return run_job(
        job,
        inputs,
        output,
        lambda: frame.mapInArrow(lambda batches: write_rows(batches, columns, corrupt, output), RESULT_SCHEMA),
    )


def cores(spark: Session) -> int:
    """How many tasks run at a time, as far as we know."""
    return spark.sparkContext.defaultParallelism if hasattr(spark, "_jvm") else _UNKNOWN_CORES


def file_count(spark: Session, size: int) -> int:
    """Return in how many files data of about this size, as Jelly, is written."""
    return max(-(-size // FILE_BYTES), min(cores(spark), size // _SMALL_FILE_BYTES), 1)


def _task_bytes(spark: Session, inputs: Inputs) -> int:
    fair = inputs.total_bytes // (_TASKS_PER_CORE * cores(spark))
    return min(max(fair, _MIN_TASK_BYTES), _MAX_TASK_BYTES)


def regroup(partitions: Sequence[tuple[Piece, ...]], count: int) -> list[tuple[Piece, ...]]:
    """The same pieces in no more than `count` partitions of about the same size."""
    pieces = [piece for partition in partitions for piece in partition]
    total = sum(piece.size + OPEN_COST_BYTES for piece in pieces)
    groups: list[list[Piece]] = [[] for _ in range(count)]
    before = 0
    for piece in pieces:
        cost = piece.size + OPEN_COST_BYTES
        groups[min(count - 1, (before + cost // 2) * count // max(total, 1))].append(piece)
        before += cost
    return [tuple(group) for group in groups if group]
