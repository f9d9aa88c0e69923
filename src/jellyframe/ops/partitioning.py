"""Partition statements into a folder for each predicate, graph, or bucket of subjects, with a manifest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from jellyframe.arrow.grouping import Groups
from jellyframe.arrow.terms import BatchMaker
from jellyframe.ops.outputs import Output
from jellyframe.ops.tasks import FolderEntry, TaskResult
from jellyframe.storage.names import name_digest, safe_name
from jellyframe.storage.rolling import RollingFiles

PREDICATE, GRAPH, SUBJECT = "predicate", "graph", "subject"
KEYS = (PREDICATE, GRAPH, SUBJECT)


def write_folders(
    record_batches: Iterable[pa.RecordBatch],
    key: str,
    columns: Sequence[str],
    by: str,
    output: Output,
    place: tuple[str, str],
    result: TaskResult,
) -> None:
    """Write rows into a folder for each value of the column `key`; rows with equal values must be consecutive.

    The statements are in `columns`. `place` is the folder of the task, and the prefix of the names of its files.
    """
    folder, name = place
    groups = Groups(key)
    maker: BatchMaker | None = None
    with ExitStack() as stack:
        files: RollingFiles | None = None
        value: str | None = None
        for record_batch in record_batches:
            rows = record_batch.select(list(columns))
            maker = maker or BatchMaker(rows.schema)
            for start, stop, is_new, _metadata in groups.of(record_batch):
                if is_new:
                    stack.close()
                    _add_folder(files, value, by, output, result)
                    value = record_batch[key][start].as_py()
                    own_folder = f"{folder}/{folder_name(value, by)}"
                    output.target.storage.fs.create_dir(own_folder, recursive=True)
                    files = stack.enter_context(output.files(f"{own_folder}/{name}"))
                assert files is not None
                files.write(output.fitting(maker.make(rows.slice(start, stop - start))))
        stack.close()
        _add_folder(files, value, by, output, result)


def _add_folder(files: RollingFiles | None, value: str | None, by: str, output: Output, result: TaskResult) -> None:
    if files is not None:
        before = len(result.files)
        result.add_files(files, output)
        result.folders.append(
            FolderEntry(
                value=value,
                folder=folder_name(value, by),
                statements=files.statements,
                files=len(files.paths),
                bytes=sum(size for _path, size in result.files[before:]),
            )
        )


def folder_name(value: str | None, by: str) -> str:
    """Return a name that is readable, valid in every file system, and different for every value."""
    if value is None:
        return f"{by}=default"
    if by == SUBJECT:
        return f"{by}={int(value):05d}"
    readable, digest = safe_name(value), name_digest(value)
    return f"{by}={readable}-{digest}" if readable else f"{by}={digest}"


def stage_manifest(results: Sequence[TaskResult], by: str, buckets: int, output: Output) -> str:
    """Write the manifest of all tasks to the staging folder, and return its path."""
    folders = sorted((one for result in results for one in result.folders), key=lambda one: one["folder"])
    document: dict[str, Any] = {"by": by, "format": output.format.name, "folders": folders}
    if by == SUBJECT:
        document |= {"buckets": buckets, "hash": "CRC-32 of the subject in N-Triples, modulo the buckets"}
    return output.stage_manifest(document)
