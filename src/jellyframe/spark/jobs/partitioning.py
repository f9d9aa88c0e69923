"""`partition`: one folder for each predicate, each graph, or each share of the subjects."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from jellyframe.arrow.grouping import Groups
from jellyframe.arrow.terms import BatchMaker
from jellyframe.errors import OptionsError
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.inputs import JobInputs, statement_columns, statements
from jellyframe.spark.jobs.outputs import MANIFEST, Output
from jellyframe.spark.jobs.running import RESULT_SCHEMA, TaskResult, cores, good_rows, run_job, task_prefix
from jellyframe.storage.commit import APPEND, ERROR, SaveMode

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from jellyframe.spark.types import OutputOptions, Session, SourceOptions

PREDICATE, GRAPH, SUBJECT = "predicate", "graph", "subject"
KEYS = (PREDICATE, GRAPH, SUBJECT)
DEFAULT_BUCKETS = 16
_KEY_COLUMN = "key"
_TASKS_PER_CORE = 2
_NAME_LETTERS = 40
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def partition(
    spark: Session,
    paths: Paths,
    output: str | PathLike[str],
    *,
    by: str = PREDICATE,
    buckets: int = DEFAULT_BUCKETS,
    out_format: str = "jelly",
    save: SaveMode = ERROR,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    blank_nodes: BlankNodes = KEEP,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[OutputOptions],
) -> Summary:
    """Write the statements of each predicate or graph into a folder of its own, in one pass however many there are.

    `by="subject"` makes `buckets` folders, and a subject's is the CRC-32 of its N-Triples text modulo their number.
    `manifest.json` in the output tells which folder holds what. Folders are named so that people can tell them, and
    a hash keeps them apart.

    Args:
        spark: the session
        paths: files, folders and patterns, of any format that `scan` reads
        output: the folder to write to, here or in an object store
        by: `predicate`, `graph` or `subject`
        buckets: how many folders there are for subjects
        out_format: `jelly`, `nq`, `nt` or `parquet`
        save: what to do if the folder has something in it: `error`, `overwrite` or `append`
        in_format: the format of the input; by default the names of files tell
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        blank_nodes: `keep` labels as they are, or keep nodes apart `per-file`
        partition_bytes: how much of the input each task reads
        read_options: options of the data source for reading, by name
        options: options of the data source for writing, by name, and the `layout` of Parquet files
    """
    if by not in KEYS:
        raise OptionsError(f"by is {by!r}, and must be one of {', '.join(KEYS)}")
    if buckets < 1:
        raise OptionsError(f"buckets is {buckets}, and must be at least 1")
    if save == APPEND:
        raise OptionsError("folders of a partition cannot be appended to: the manifest would not be true any more")
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
    target = Output.of(output, has_graph=has_graph, out_format=out_format, save=save, **options)
    if target.plan.options.sort:
        raise OptionsError("partition sorts by the key and the subject already; leave sort out")
    frame = statements(spark, inputs, statement_columns(has_graph))
    keyed = _keyed(frame, by, buckets).repartition(cores(spark) * _TASKS_PER_CORE, _KEY_COLUMN)
    ordered = keyed.sortWithinPartitions(_KEY_COLUMN, "s")
    columns = statement_columns(has_graph)
    corrupt = inputs.options.corrupt_column if inputs.options.corrupt_column in frame.columns else None

    def task(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _write_folders(record_batches, columns, corrupt, by, target)

    def finish(results: list[TaskResult]) -> list[str]:
        return [_stage_manifest(results, by, buckets, target)]

    return run_job("partition", inputs, target, lambda: ordered.mapInArrow(task, RESULT_SCHEMA), finish)


def _keyed(frame: DataFrame, by: str, buckets: int) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    key: Column
    if by == PREDICATE:
        key = F.col("p")
    elif by == GRAPH:
        key = F.col("g") if "g" in frame.columns else F.lit(None).cast("string")
    else:
        key = F.pmod(F.crc32(F.encode("s", "UTF-8")), F.lit(buckets)).cast("string")
    return frame.withColumn(_KEY_COLUMN, key)


def _write_folders(
    record_batches: Iterator[pa.RecordBatch], columns: list[str], corrupt: str | None, by: str, output: Output
) -> Iterator[pa.RecordBatch]:
    """A task to which all rows of a key come, one key after the other."""
    result = TaskResult()
    folder, name = task_prefix(output)
    groups = Groups(_KEY_COLUMN)
    maker: BatchMaker | None = None
    files = None
    value: str | None = None

    def end() -> None:
        if files is not None:
            files.__exit__(None)
            before = len(result.files)
            result.add_files(files, output)
            size = sum(size for _path, size in result.files[before:])
            known = {"value": value, "folder": folder_name(value, by), "statements": files.statements}
            result.folders.append({**known, "files": len(files.paths), "bytes": size})

    for record_batch in good_rows(record_batches, corrupt, result):
        rows = record_batch.select(columns)
        maker = maker or BatchMaker(rows.schema)
        for start, stop, is_new, _metadata in groups.of(record_batch):
            if is_new:
                end()
                value = record_batch[_KEY_COLUMN][start].as_py()
                place = f"{folder}/{folder_name(value, by)}"
                output.target.storage.fs.create_dir(place, recursive=True)
                files = output.files(f"{place}/{name}")
            assert files is not None
            files.write(output.fitting(maker.make(rows.slice(start, stop - start))))
    end()
    return result.rows()


def folder_name(value: str | None, by: str) -> str:
    """A name that people can tell, that every file system takes, and that no other value has."""
    if value is None:
        return f"{by}=default"
    if by == SUBJECT:
        return f"{by}={int(value):05d}"
    name = re.split(r"[/#]", value.strip("<>").rstrip("/#"))[-1]
    readable = _UNSAFE.sub("-", name).strip("-.")[:_NAME_LETTERS]
    digest = hashlib.blake2b(value.encode(), digest_size=5).hexdigest()
    return f"{by}={readable}-{digest}" if readable else f"{by}={digest}"


def _stage_manifest(results: list[TaskResult], by: str, buckets: int, output: Output) -> str:
    folders = sorted((one for result in results for one in result.folders), key=lambda one: str(one["folder"]))
    document: dict[str, Any] = {"by": by, "format": output.format.name, "folders": folders}
    if by == SUBJECT:
        document |= {"buckets": buckets, "hash": "CRC-32 of the subject in N-Triples, modulo the buckets"}
    path = f"{output.target.staging}/driver/{MANIFEST}"
    storage = output.target.storage
    storage.fs.create_dir(path.rpartition("/")[0], recursive=True)
    with storage.fs.open_output_stream(path) as stream:
        stream.write((json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
    return path
