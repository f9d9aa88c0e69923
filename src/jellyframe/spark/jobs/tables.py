"""The job `tables`: a Parquet data set per class, with a row per instance and a typed column per predicate."""

from __future__ import annotations

import time
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.integrations.class_tables import publish_class_tables, write_class_tables
from jellyframe.integrations.planned_files import PartFile, Plan, write_planned
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.bucket_files import buckets_for, read_bucket
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.grouping import bucket_summary, run_tasks, write_buckets
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import cores, task_place
from jellyframe.storage.commit import APPEND, ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.spark.types import Session, SourceOptions


def tables(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
) -> Summary:
    """Write a folder of Parquet files for each class, and return a summary.

    The tables have one row for each instance and one column for each predicate. Columns and their types are those of
    `jellyframe.pivot`, the same in all files of a class. An instance of several classes is in the table of each;
    subjects without a class are in the folder `untyped`. `manifest.json` maps folders to classes.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        save: what to do if the folder is not empty: `error` or `overwrite`
        in_format: the format of the input; by default it is recognised by the file names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` leaves labels unchanged, `per-file` makes them distinct for each file
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
    """
    if save == APPEND:
        raise OptionsError("tables cannot be appended to: the types of their columns depend on all of the data")
    given: dict[str, Any] = {
        "mode": mode,
        "blank_nodes": blank_nodes,
        "partition_bytes": partition_bytes,
        **(read_options or {}),
    }
    inputs = JobInputs.find(paths, in_format=in_format, **given)
    target = job_output(output, has_graph=False, out_format="parquet", save=save)
    start = time.monotonic()
    try:
        with plain_errors():
            buckets = buckets_for(inputs.files.bytes_as_jelly, 2 * cores(spark))
            results, together = write_buckets(spark, inputs, target, buckets)

            def write(bucket: int, plan: Plan | None) -> list[PartFile]:
                folder, _name = task_place(target)
                batches = read_bucket(target.target.storage, together, bucket)
                return write_class_tables(batches, target, folder, target.target.part_name(bucket), plan)

            files = write_planned(buckets, write, partial(run_tasks, spark))
        publish_class_tables(files, target)
    except BaseException:
        target.target.discard()
        raise
    return bucket_summary("tables", inputs, target, results, files, time.monotonic() - start)
