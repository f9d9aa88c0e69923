"""The job `merge`: many files into few, optionally deduplicated or sorted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from jellyframe.batch import Batch
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.blobs import Blob
from jellyframe.ops.deduplication import distinct_batches
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.bucketing import MAX_BUCKETS, bucket_count, write_by_bucket
from jellyframe.spark.jobs.inputs import JobInputs, statement_columns, statements
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.running import FILE_BYTES, copy_statements, file_count, write_statements
from jellyframe.storage.commit import ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.spark.types import FileOptions, Session, SourceOptions

# A shuffle returns rows in no particular order; sorting them in runs makes the files much smaller.
_SHUFFLED_SORT = "g,s,p"


def merge(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    distinct: bool = False,
    sort: bool = False,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[FileOptions],
) -> Summary:
    """Write all statements of some files to fewer files, of about 128 MiB unless `files` is given; return a summary.

    `distinct` deduplicates statements, which are equal if their terms and graphs are. `sort` sorts all statements by
    graph, subject, predicate and object; the order continues from file to file.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        distinct: whether to deduplicate statements
        sort: whether to sort statements
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
        layout="ntriples",
        partition_bytes=partition_bytes,
        **(read_options or {}),
    )
    has_graph = inputs.files.has_graphs()
    if not distinct and not sort:
        target = job_output(output, has_graph=has_graph, out_format=out_format, save=save, **options)
        return copy_statements("merge", spark, inputs, target, files, FILE_BYTES)
    if not sort and bucket_count([inputs]) <= MAX_BUCKETS:
        target = job_output(output, has_graph=has_graph, out_format=out_format, save=save, **options)
        return write_by_bucket("merge", spark, [inputs], target, _distinct, files)
    count = files or file_count(spark, inputs.files.bytes_as_jelly)
    written: dict[str, Any] = dict(options)
    if not sort:
        written["sort"] = _SHUFFLED_SORT if has_graph else _SHUFFLED_SORT.removeprefix("g,")
    target = job_output(output, has_graph=has_graph, out_format=out_format, save=save, **written)
    columns = statement_columns(has_graph)
    frame = statements(spark, inputs, columns)
    if distinct:
        # By subject, so that the statements of a subject are in one file. dropDuplicates treats nulls as equal.
        frame = frame.repartition(count, "s").dropDuplicates()
    if sort:
        order = [name for name in ("g", "s", "p", "o") if name in columns]
        frame = frame.repartitionByRange(count, *order).sortWithinPartitions(*order)
    return write_statements("merge", inputs, target, frame)


def _distinct(blobs: Iterable[Blob]) -> Iterator[Batch]:
    return distinct_batches([blob.batches for blob in blobs])
