"""The job `tables`: a Parquet data set per class, with a row per instance and a typed column per predicate."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.integrations.class_tables import publish_class_tables, write_class_tables
from jellyframe.integrations.planned_files import PartFile, Plan
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.bucket_files import read_bucket
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.grouping import write_by_subject
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output
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
    given: dict[str, Any] = {"mode": mode, "blank_nodes": blank_nodes, "partition_bytes": partition_bytes}
    inputs = JobInputs.find(paths, in_format=in_format, **given, **(read_options or {}))
    target = job_output(output, has_graph=False, out_format="parquet", save=save)

    def write(files: list[str], bucket: int, folder: str, plan: Plan | None) -> list[PartFile]:
        batches = read_bucket(target.target.storage, files, bucket)
        return write_class_tables(batches, target, folder, target.target.part_name(bucket), plan)

    return write_by_subject("tables", spark, inputs, target, write, publish_class_tables)
