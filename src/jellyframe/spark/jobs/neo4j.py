"""The job `neo4j`: nodes and relationships as CSV files for the import into Neo4j."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.integrations.neo4j_parts import publish_graph, write_graph_part
from jellyframe.integrations.neo4j_rows import add_graph
from jellyframe.integrations.planned_files import PartFile, Plan
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.grouping import write_by_subject
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output
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

    def write(paths: list[str], bucket: int, folder: str, plan: Plan | None) -> list[PartFile]:
        return write_graph_part(target, paths, bucket, folder, plan)

    return write_by_subject("neo4j", spark, inputs, target, write, publish_graph, add_graph)
