"""The job `neo4j`: nodes and relationships as CSV files for the import into Neo4j."""

from __future__ import annotations

import time
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.integrations.neo4j_parts import publish_graph, write_graph_part
from jellyframe.integrations.neo4j_rows import add_graph
from jellyframe.integrations.planned_files import PartFile, Plan, write_planned
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.bucket_files import buckets_for
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


def neo4j(
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
    """Write nodes and relationships as CSV files for `neo4j-admin database import full`, and return a summary.

    The files have the format of those of `jellyframe.write_neo4j`.

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
        raise OptionsError("files for Neo4j cannot be appended: the types of properties depend on all of the data")
    given: dict[str, Any] = {"mode": mode, "blank_nodes": blank_nodes, "partition_bytes": partition_bytes}
    inputs = JobInputs.find(paths, in_format=in_format, **given, **(read_options or {}))
    target = job_output(output, has_graph=False, save=save)
    start = time.monotonic()
    try:
        with plain_errors():
            buckets = buckets_for(inputs.files.bytes_as_jelly, 2 * cores(spark))
            results, together = write_buckets(spark, inputs, target, buckets, add_graph)

            def write(bucket: int, plan: Plan | None) -> list[PartFile]:
                folder, _name = task_place(target)
                return write_graph_part(target, together, bucket, folder, plan)

            files = write_planned(buckets, write, partial(run_tasks, spark))
        publish_graph(files, target)
    except BaseException:
        target.target.discard()
        raise
    return bucket_summary("neo4j", inputs, target, results, files, time.monotonic() - start)
