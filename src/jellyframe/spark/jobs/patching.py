"""The jobs `diff`, `apply` and `compact`: compute and apply changes of data sets of any size.

Statements and changes are shuffled by bucket as blobs of Jelly, see `jellyframe.spark.jobs.bucketing`. Changes are
processed in the order of the paths, within folders in the order of the file names, within files in the order of rows.
Aborted and unfinished transactions are removed before the shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from jellyframe.batch import Batch
from jellyframe.errors import OptionsError
from jellyframe.kernel.patch_fields import (
    PATCH_ADD,
    PATCH_DELETE,
    PATCH_HEADER,
    PATCH_NAMESPACE_ADD,
    PATCH_NAMESPACE_DELETE,
)
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import Paths
from jellyframe.ops.patches.buckets import OLD, apply_bucket, compact_bucket, diff_bucket
from jellyframe.ops.patches.diffing import BlankNodeCheck, BlankNodes, check_blank_nodes
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.bucketing import write_by_bucket
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output, patch_output
from jellyframe.storage.commit import ERROR, SaveMode

if TYPE_CHECKING:
    from jellyframe.spark.types import FileOptions, PatchFileOptions, Session, SourceOptions

# Operations on statements and on namespaces.
_CHANGED = (PATCH_ADD, PATCH_DELETE)
_NAMESPACES = (PATCH_NAMESPACE_ADD, PATCH_NAMESPACE_DELETE)


def diff(
    spark: Session,
    old: Paths,
    new: Paths,
    output: str | PathLike[str],
    *,
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    files: int | None = None,
    partition_bytes: int | None = None,
    blank_nodes: BlankNodes = "label",
    namespaces: bool = True,
    read_options: SourceOptions | None = None,
    **options: Unpack[PatchFileOptions],
) -> Summary:
    """Write the changes that turn one data set into another, as splittable Jelly-Patch files; return a summary.

    A statement is deleted or added at most once, so the files can be applied in any order. Changes of namespaces are in
    the first file.

    Args:
        spark: the session
        old: the old data set: files, folders and patterns, of any format that `scan` reads
        new: the new data set
        output: the folder to write to, here or in an object store
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        in_format: the format of the input; by default it is recognised by the file names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        blank_nodes: `label`: two nodes are the same if their labels are; `refuse`: a blank node is an error. `match`
            of `jellyframe.ops.patches.diff` is not available: it needs all of the data in one process
        namespaces: whether to compare namespaces, if the formats of both data sets have them
        read_options: reading options of the data source, by name
        options: writing options of the data source `jelly-patch`, by name

    Raises:
        OptionsError: if there are blank nodes and they are refused, or the old data is in a format whose blank nodes
            have no stable labels, such as RDF/XML
    """
    check_blank_nodes(blank_nodes)
    if blank_nodes == "match":
        raise OptionsError(
            "blank_nodes is 'match', which needs all statements with blank nodes in one process, and a task has only a "
            "part of them: use `jellyframe patch diff`, or give the nodes the same labels in both data sets"
        )
    read = reading(mode, partition_bytes, read_options)
    sides = [find_data(paths, in_format=in_format, **read) for paths in (old, new)]
    has_graph = any(side.files.has_graphs() for side in sides)
    target = patch_output(output, has_graph=has_graph, save=save, **options)
    namespaces = namespaces and all(found.has_namespaces for side in sides for found in side.files.formats.values())
    checks = [BlankNodeCheck(blank_nodes, sides[OLD].files.formats.values()), BlankNodeCheck(blank_nodes, ())]
    check = partial(_check_side, checks) if any(checks) else None
    difference = partial(diff_bucket, target.has_graph)
    return write_by_bucket("diff", spark, sides, target, difference, files, namespaces=namespaces, check=check)


def apply(
    spark: Session,
    data: Paths,
    patches: Paths,
    output: str | PathLike[str],
    *,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    patch_format: str | None = None,
    strict: bool = True,
    mode: Mode = FAILFAST,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[FileOptions],
) -> Summary:
    """Apply patches to a data set and write the result; return a summary.

    Of all operations on a statement, the last one counts. Patches are applied in the order of their paths, within
    folders in the order of the file names. Aborted and unfinished transactions are ignored. If the output is Jelly, the
    first file has the namespaces.

    Args:
        spark: the session
        data: files, folders and patterns, of any format that `scan` reads
        patches: files, folders and patterns of Jelly-Patch and RDF Patch
        output: the folder to write to, here or in an object store
        out_format: `jelly`, `nq`, `nt` or `parquet`
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        in_format: the format of the data; by default it is recognised by the file names
        patch_format: the format of the patches; by default it is recognised by the file names
        strict: whether transactions that start or end out of turn, or are open at the end of a file, are errors
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source, by name, and the `layout` of Parquet files
    """
    read = reading(mode, partition_bytes, read_options)
    statements = find_data(data, in_format=in_format, **read)
    changes = find_changes(patches, patch_format=patch_format, strict=strict, **for_patches(read))
    has_graph = statements.files.has_graphs() or changes.files.has_graphs()
    target = job_output(output, has_graph=has_graph, out_format=out_format, save=save, **options)
    return write_by_bucket("apply", spark, [statements, changes], target, apply_bucket, files, namespaces=True)


def compact(
    spark: Session,
    patches: Paths,
    output: str | PathLike[str],
    *,
    save: SaveMode = ERROR,
    patch_format: str | None = None,
    strict: bool = True,
    mode: Mode = FAILFAST,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[PatchFileOptions],
) -> Summary:
    """Write many patches as one with the same effect, and return a summary.

    The result has the last operation on each statement and each namespace. Of headers, the last value of each key is
    kept, but the first value of `prev`; they are in the first file. Patches are read in the order of their paths,
    within folders in the order of the file names. Aborted and unfinished transactions are ignored.

    Args:
        spark: the session
        patches: files, folders and patterns of Jelly-Patch and RDF Patch
        output: the folder to write to, here or in an object store
        save: what to do if the folder is not empty: `error`, `overwrite` or `append`
        patch_format: the format of the patches; by default it is recognised by the file names
        strict: whether transactions that start or end out of turn, or are open at the end of a file, are errors
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source `jelly-patch`, by name
    """
    read = reading(mode, partition_bytes, read_options)
    changes = find_changes(
        patches, patch_format=patch_format, strict=strict, operations=(*_CHANGED, *_NAMESPACES, PATCH_HEADER), **read
    )
    target = patch_output(output, has_graph=changes.files.has_graphs(), save=save, **options)
    return write_by_bucket("compact", spark, [changes], target, partial(compact_bucket, target.has_graph), files)


def find_data(paths: Paths, *, in_format: str | None, **read: Any) -> JobInputs:
    """Return the files of data that patches refer to. Blank nodes get the same labels as in `jellyframe patch`."""
    return JobInputs.find(paths, in_format=in_format, labels_by_place=True, **read)


def find_changes(
    patches: Paths,
    *,
    patch_format: str | None,
    strict: bool,
    operations: tuple[int, ...] = (*_CHANGED, *_NAMESPACES),
    **read: Any,
) -> JobInputs:
    """Return the files of patches, of which the committed rows with the given operations are read."""
    return JobInputs.find(
        patches,
        in_format=patch_format,
        patches=True,
        strict=strict,
        operations=operations,
        **read,
    )


def reading(mode: Mode, partition_bytes: int | None, options: SourceOptions | None) -> dict[str, Any]:
    """Return the reading options as arguments of `JobInputs.find`."""
    return {"mode": mode, "layout": "ntriples", "partition_bytes": partition_bytes, **(options or {})}


def for_patches(read: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `reading` for patches that are read together with data: without the dialect of the data."""
    return {**read, "dialect": None}


def _check_side(checks: Sequence[BlankNodeCheck], side: int, batch: Batch, source: str) -> None:
    checks[side](batch, source)
