"""The job `convert`: files of any format to Jelly, N-Quads, N-Triples or Parquet."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Unpack

from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import copy_statements
from jellyframe.storage.commit import ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.spark.types import OutputOptions, Session, SourceOptions


def convert(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[OutputOptions],
) -> Summary:
    """Convert files, folders and patterns of them to files in one folder, and return a summary.

    Each task writes one file. `partition_bytes` or `files` determines the number of tasks.

    Labels of blank nodes stay unchanged by default: the files of a dump are usually parts of one document and share
    blank nodes. If each file is a document of its own, use `blank_nodes="per-file"`.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        out_format: `jelly`, `nq`, `nt` or `parquet`
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        in_format: the format of the input; by default it is recognised by the file names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` leaves labels unchanged, `per-file` makes them distinct for each file
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source, by name, and the `layout` of Parquet files
    """
    inputs = JobInputs.find(
        paths,
        in_format=in_format,
        mode=mode,
        blank_nodes=blank_nodes,
        partition_bytes=partition_bytes,
        **(read_options or {}),
    )
    target = job_output(output, has_graph=inputs.files.has_graphs(), out_format=out_format, save=save, **options)
    return copy_statements("convert", spark, inputs, target, files, None)
