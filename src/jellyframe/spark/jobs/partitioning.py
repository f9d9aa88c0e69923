"""The job `partition`: one folder for each predicate, each graph, or each bucket of subjects."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa

from jellyframe.defaults import SUBJECT_BUCKETS
from jellyframe.errors import OptionsError
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.partitioning import GRAPH, KEYS, PREDICATE, stage_manifest, write_folders
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import TaskResult, good_rows
from jellyframe.options import check_number, check_word
from jellyframe.spark.jobs.inputs import JobInputs, statement_columns, statements
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import RESULT_SCHEMA, cores, result_row, run_job, task_place
from jellyframe.storage.commit import APPEND, ERROR, SaveMode

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from jellyframe.spark.types import OutputOptions, Session, SourceOptions

_KEY_COLUMN = "key"
_TASKS_PER_CORE = 2


def partition(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    by: str = PREDICATE,
    buckets: int = SUBJECT_BUCKETS,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[OutputOptions],
) -> Summary:
    """Write the statements of each predicate or graph to a separate folder, in one pass, and return a summary.

    `by="subject"` writes `buckets` folders; the bucket of a subject is the CRC-32 of its N-Triples text modulo their
    number. `manifest.json` in the output maps folders to values. The name of a folder has a readable part and a hash,
    which makes it unique.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        by: `predicate`, `graph` or `subject`
        buckets: the number of folders with `by="subject"`
        out_format: `jelly`, `nq`, `nt` or `parquet`
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        in_format: the format of the input; by default it is recognised by the file names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` leaves labels unchanged, `per-file` makes them distinct for each file
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source, by name, and the `layout` of Parquet files
    """
    check_word("by", by, KEYS)
    check_number("buckets", buckets, 1)
    if save == APPEND:
        raise OptionsError("a partition cannot be appended to: the manifest would no longer be correct; use overwrite")
    inputs = JobInputs.find(
        paths,
        in_format=in_format,
        mode=mode,
        blank_nodes=blank_nodes,
        layout="ntriples",
        partition_bytes=partition_bytes,
        **(read_options or {}),
    )
    has_graph = inputs.files.has_graphs()
    target = job_output(output, has_graph=has_graph, out_format=out_format, save=save, **options)
    if target.plan.options.sort:
        raise OptionsError("partition sorts by the key and the subject; leave out sort")
    frame = statements(spark, inputs, statement_columns(has_graph))
    keyed = _keyed(frame, by, buckets).repartition(cores(spark) * _TASKS_PER_CORE, _KEY_COLUMN)
    ordered = keyed.sortWithinPartitions(_KEY_COLUMN, "s")
    columns = statement_columns(has_graph)
    corrupt = inputs.options.corrupt_column if inputs.options.corrupt_column in frame.columns else None

    def task(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        folder, name = task_place(target)
        rows = good_rows(record_batches, corrupt, result := TaskResult())
        write_folders(rows, _KEY_COLUMN, columns, by, target, (folder, name), result)
        return result_row(result)

    def finish(results: list[TaskResult]) -> list[str]:
        return [stage_manifest(results, by, buckets, target)]

    return run_job("partition", [inputs.files], target, lambda: ordered.mapInArrow(task, RESULT_SCHEMA), finish)


def _keyed(frame: DataFrame, by: str, buckets: int) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    key: Column
    if by == PREDICATE:
        key = F.col("p")
    elif by == GRAPH:
        key = F.col("g") if "g" in frame.columns else F.lit(None).cast("string")
    else:
        key = F.pmod(F.crc32(F.encode("s", "UTF-8")), F.lit(buckets)).cast("string")
    return frame.withColumn(_KEY_COLUMN, key)
