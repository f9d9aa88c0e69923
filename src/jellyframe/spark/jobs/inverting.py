"""The job `invert`: patches that undo other patches, in files of the reverse order."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa

from jellyframe.errors import OptionsError
from jellyframe.ops.inputs import Paths
from jellyframe.ops.summary import Summary
from jellyframe.ops.tasks import write_inverted
from jellyframe.patch import PatchStreamType
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces
from jellyframe.spark.jobs.outputs import patch_output
from jellyframe.spark.jobs.running import RESULT_SCHEMA, result_row, run_job, task_prefix
from jellyframe.storage.commit import APPEND, ERROR, SaveMode
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.spark.types import PatchFileOptions, Session, SourceOptions


def invert(
    spark: Session,
    patches: Paths,
    output: str | PathLike[str],
    *,
    save: SaveMode = ERROR,
    patch_format: str | None = None,
    strict: bool = True,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[PatchFileOptions],
) -> Summary:
    """Write patches that undo others, and return a summary.

    The last patch comes first, each is written from its end to its start, and adds and deletes are exchanged. The
    result restores the original data if every row of the patches changed the data, as rows written by `diff` do. The
    files are to be applied in the order of their names. Aborted and unfinished transactions are left out; headers stay,
    but `id` becomes `prev`.

    Args:
        spark: the session
        patches: files, folders and patterns of Jelly-Patch and RDF Patch
        output: the folder to write to, here or in an object store
        save: what to do if the folder is not empty: `error` or `overwrite`
        patch_format: the format of the patches; by default it is recognised by the file names
        strict: whether transactions that start or end out of turn, or are open at the end of a file, are errors
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source `jelly-patch`, by name
    """
    if save == APPEND:
        raise OptionsError("inverted patches cannot be appended: the order of their files matters; use overwrite")
    inputs = JobInputs.find(
        patches,
        in_format=patch_format,
        patches=True,
        strict=strict,
        partition_bytes=partition_bytes,
        **(read_options or {}),
    )
    found = inputs.files
    target = patch_output(
        output, has_graph=found.has_graphs(), save=save, **{"stream_type": PatchStreamType.PUNCTUATED, **options}
    )
    pieces = found.pieces(inputs.options.partition_bytes, whole_patches=True)
    # File names contain the number of the task, so tasks in reverse order write files in reverse order.
    partitions = [tuple(reversed(some)) for some in reversed(pieces)]

    def task(some: tuple[Piece, ...]) -> Iterator[pa.RecordBatch]:
        return result_row(write_inverted(some, found, target, task_prefix(target)))

    return run_job("invert", [found], target, lambda: map_pieces(spark, partitions, task, RESULT_SCHEMA))
