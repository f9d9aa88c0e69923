"""`tables`: a Parquet data set for each class, with a row for each instance and a typed column for each predicate."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.errors import OptionsError
from jellyframe.integrations.class_tables import ClassProperties, ClassTables, find_properties, write_class_tables
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import TaskResult, summarize
from jellyframe.spark.jobs.bucketing import bucket_count, write_by_bucket
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.exchange import all_batches
from jellyframe.spark.jobs.inputs import JobInputs, map_tasks
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import RESULT_SCHEMA, collected, cores, task_place
from jellyframe.storage.commit import APPEND, ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.ops.outputs import Output
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
    """Write a folder of Parquet files for each class: one row for each instance, one column for each predicate.

    Columns and their types are those of `jellyframe.pivot`, the same in all files of a class. An instance of several
    classes is in the table of each; subjects without a class are in the folder `untyped`. `manifest.json` tells the
    class of each folder.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        save: what to do if the folder has something in it: `error` or `overwrite`
        in_format: the format of the input; by default the names of files tell
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` labels as they are, or keep nodes apart `per-file`
        partition_bytes: how much of the input each task reads
        read_options: options of the data source for reading, by name
    """
    if save == APPEND:
        raise OptionsError("tables cannot be appended to: the types of their columns follow from all of the data")
    given: dict[str, Any] = {
        "mode": mode,
        "blank_nodes": blank_nodes,
        "partition_bytes": partition_bytes,
        **(read_options or {}),
    }
    inputs = JobInputs.find(paths, in_format=in_format, **given)
    has_graph = inputs.files.has_graphs()
    target = job_output(output, has_graph=has_graph, out_format="parquet", save=save)
    start = time.monotonic()
    try:
        with plain_errors():
            read, results = _make(spark, inputs, target, has_graph)
            made = ClassTables.of(results)
            target.publish([*made.files, made.stage_manifest(target)])
    except BaseException:
        target.target.discard()
        raise
    done = TaskResult(files=made.sizes, statements=read.statements, bad=read.bad_records, problems=list(read.problems))
    return summarize("tables", [inputs.files], target, [done], time.monotonic() - start)


def _make(spark: Session, inputs: JobInputs, target: Output, has_graph: bool) -> tuple[Summary, list[dict[str, Any]]]:
    """Bring the statements of each subject together, find the columns of all classes, and write the tables."""
    place = target.target.storage.display(f"{target.target.staging}/by-subject")
    together = job_output(place, has_graph=has_graph)
    count = max(bucket_count([inputs]), 2 * cores(spark))
    read = write_by_bucket("tables", spark, [inputs], together, all_batches, count)
    subjects = JobInputs.find([place]).files
    files = list(subjects.files)

    def columns(number: int) -> Iterator[pa.RecordBatch]:
        yield _result_batch(json.dumps(find_properties(subjects, files[number]).as_json()))

    def written(number: int) -> Iterator[pa.RecordBatch]:
        folder, name = task_place(target)
        found = write_class_tables(subjects, files[number], plan, target, folder, f"{name}-{number}")
        yield _result_batch(json.dumps(found))

    found = collected(map_tasks(spark, len(files), columns, RESULT_SCHEMA))
    plan = ClassProperties.merged(ClassProperties.from_json(json.loads(row[0])) for row in found)
    rows = collected(map_tasks(spark, len(files), written, RESULT_SCHEMA))
    return read, [entry for row in rows for entry in json.loads(row[0])]


def _result_batch(text: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"result": pa.array([text], pa.string())})
