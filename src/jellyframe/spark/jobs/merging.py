"""`merge`: many files into few, on request without duplicates, on request sorted."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.distinct import BUCKET_BYTES, MAX_BUCKETS, write_distinct
from jellyframe.spark.jobs.inputs import JobInputs, statement_columns, statements
from jellyframe.spark.jobs.outputs import Output
from jellyframe.spark.jobs.running import FILE_BYTES, copy_statements, file_count, write_statements
from jellyframe.storage.commit import ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.spark.types import Session

# Rows that a shuffle has brought together are in no order; sorting them in runs makes the files much smaller.
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
    mode: str = "FAILFAST",
    blank_nodes: BlankNodes = KEEP,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Summary:
    """Write all statements of some files into few files, of about 128 MiB unless `files` says how many.

    `distinct` leaves out statements that were there before: the same terms in the same graph. `sort` brings all
    statements in order, by graph, subject, predicate and object, over all files. The other arguments are those of
    `convert`.
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
        target = Output.of(output, has_graph=has_graph, out_format=out_format, save=save, **options)
        return copy_statements("merge", spark, inputs, target, files, FILE_BYTES)
    size = inputs.files.bytes_as_jelly
    count = files or file_count(spark, size)
    buckets = -(-size // BUCKET_BYTES)
    if not sort and buckets <= MAX_BUCKETS:
        target = Output.of(output, has_graph=has_graph, out_format=out_format, save=save, **options)
        return write_distinct("merge", spark, inputs, target, count, buckets)
    if not sort:
        options.setdefault("sort", _SHUFFLED_SORT if has_graph else _SHUFFLED_SORT.removeprefix("g,"))
    target = Output.of(output, has_graph=has_graph, out_format=out_format, save=save, **options)
    columns = statement_columns(has_graph)
    frame = statements(spark, inputs, columns)
    if distinct:
        # By subject, so that what belongs together gets into one file. Nulls count as equal here.
        frame = frame.repartition(count, "s").dropDuplicates()
    if sort:
        order = [name for name in ("g", "s", "p", "o") if name in columns]
        frame = frame.repartitionByRange(count, *order).sortWithinPartitions(*order)
    return write_statements("merge", inputs, target, frame)
