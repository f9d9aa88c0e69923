"""The input of jobs: files of any known format, which the tasks open themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from jellyframe import formats
from jellyframe.arrow.layouts import FRAME_COLUMN
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import KEEP, BlankNodes, Inputs, Paths, path_names
from jellyframe.ops.rows import read_rows
from jellyframe.spark.options import ReadOptions
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.options import LayoutName
    from jellyframe.spark.types import Session, StatementOptions


@dataclass(frozen=True)
class JobInputs:
    """The input files of a job, and the reading options."""

    files: Inputs
    options: ReadOptions

    @classmethod
    def find(
        cls,
        paths: Paths,
        *,
        in_format: str | None = None,
        mode: str = "FAILFAST",
        blank_nodes: BlankNodes = KEEP,
        patches: bool = False,
        operations: tuple[int, ...] = (),
        labels_by_place: bool = False,
        **options: Any,
    ) -> JobInputs:
        """Return the files of data, or of patches, that the paths match. The options are those of the data source.

        With `operations`, only rows with these operations are read, and none of aborted or unfinished transactions.
        `labels_by_place` is that of `InputOptions`.
        """
        given = {**options, "mode": mode, "paths": json.dumps(path_names(paths))}
        read = ReadOptions.read(option_texts(given), formats.JELLY_PATCH if patches else formats.JELLY)
        wanted = replace(read.inputs, blank_nodes=blank_nodes, labels_by_place=labels_by_place)
        if operations:
            wanted = replace(wanted, committed=True, operations=operations)
        known = formats.PATCH_FORMATS if patches else formats.FOLDER_FORMATS
        # A folder of patches may be empty: nothing has changed.
        found = Inputs.find(read.paths, in_format=in_format, options=wanted, known=known, may_be_empty=patches)
        return cls(found, read)

    def pieces(self, *, number_frames: bool = False) -> list[tuple[Piece, ...]]:
        """Return the pieces that each task reads."""
        return self.files.pieces(self.options.partition_bytes, number_frames=number_frames)


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as Spark passes them to the data source: values are strings, and options with None are omitted."""
    return {name: _option_text(name, value) for name, value in options.items() if value is not None}


def _option_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(value) if name in ("columns", "sort") else json.dumps(list(value))
    return str(getattr(value, "name", value))


def read_statements(
    spark: Session,
    paths: Paths,
    *,
    layout: LayoutName = "ntriples",
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    **options: Unpack[StatementOptions],
) -> DataFrame:
    """Return the statements of files, folders and patterns as a DataFrame with the columns of a layout.

    Formats are recognised by the file names, unless `in_format` is given, and may be mixed. N-Triples, N-Quads, Jelly
    and Parquet files are split and read in parallel. `blank_nodes="per-file"` gives blank nodes of different files
    different labels; by default labels stay unchanged. With `mode="PERMISSIVE"`, bad lines and frames are reported in
    an additional column, `_corrupt_record`.

    Args:
        spark: the session
        paths: files, folders and patterns
        layout: `struct`, `ntriples` or `flat`
        in_format: the format of the files; by default it is recognised by their names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        options: reading options of the data source, by name, and `blank_nodes`
    """
    return statements(spark, JobInputs.find(paths, in_format=in_format, mode=mode, layout=layout, **options))


def statements(spark: Session, inputs: JobInputs, columns: Sequence[str] | None = None) -> DataFrame:
    """Return the statements of job inputs as a DataFrame, with only the given `columns` if there are any."""
    from jellyframe.spark.schema import columns_of, default_schema

    options = inputs.options if columns is None else replace(inputs.options, columns=tuple(columns))
    schema = default_schema(options)
    made = columns_of(schema, options)
    partitions = inputs.pieces(number_frames=FRAME_COLUMN in made)
    files = inputs.files
    return map_pieces(spark, partitions, lambda pieces: read_rows(pieces, files, made), schema)


def map_pieces(
    spark: Session,
    partitions: Sequence[tuple[Piece, ...]],
    work: Callable[[tuple[Piece, ...]], Iterable[pa.RecordBatch]],
    schema: Any,
) -> DataFrame:
    """Return a DataFrame of the results of `work` for each tuple of pieces, with one task for each.

    The tasks read the files themselves, so only the results pass through the JVM.
    """
    return map_tasks(spark, len(partitions), lambda number: work(partitions[number]), schema)


def map_tasks(spark: Session, count: int, work: Callable[[int], Iterable[pa.RecordBatch]], schema: Any) -> DataFrame:
    """Return a DataFrame of the results of `work` for each number below `count`, with one task for each."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from work(number)

    return spark.range(0, count, 1, count).mapInArrow(task, schema) if count else spark.createDataFrame([], schema)


def statement_columns(has_graph: bool) -> list[str]:
    """Return the columns of statements in the layout `ntriples`."""
    return ["s", "p", "o", "g"] if has_graph else ["s", "p", "o"]
