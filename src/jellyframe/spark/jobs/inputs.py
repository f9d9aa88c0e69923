"""What jobs read: files of any format that we know, cut into pieces for tasks, as a DataFrame of statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe import formats
from jellyframe.errors import JellyError, OptionsError, StorageError
from jellyframe.formats import Format
from jellyframe.spark.options import ReadOptions
from jellyframe.storage.finding import find_files
from jellyframe.storage.stores import DataFile
from jellyframe.stream.reader import open_reader
from jellyframe.stream.splits import PLANNING_THREADS, Piece, cut_files, default_target, pack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOB_FORMATS = (*formats.TEXT_FORMATS, formats.JELLY, formats.PARQUET)
# Formats of lines, and of groups of rows: they are cut wherever a cut is due.
_CUT_ANYWHERE = (formats.NTRIPLES, formats.NQUADS, formats.PARQUET)
LINE_FORMATS = (formats.NTRIPLES, formats.NQUADS)
# As many bytes of text hold so many times fewer statements than Jelly does.
TEXT_FACTOR = 4
KEEP, PER_FILE = "keep", "per-file"

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True)
class Inputs:
    """The files of a job, each with its format, and how they are read. It can be sent to workers."""

    files: tuple[DataFile, ...]
    formats: dict[DataFile, Format]
    options: ReadOptions
    blank_nodes: str = KEEP

    @classmethod
    def find(
        cls,
        paths: Paths,
        *,
        in_format: str | None = None,
        mode: str = "FAILFAST",
        blank_nodes: str = KEEP,
        **options: Any,
    ) -> Inputs:
        """The files that some paths stand for. The options are those of the data source."""
        names = [fspath(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
        if blank_nodes not in (KEEP, PER_FILE):
            raise OptionsError(f"blank_nodes is {blank_nodes!r}, and must be {KEEP} or {PER_FILE}")
        given = {**options, "mode": mode, "paths": json.dumps(names)}
        read = ReadOptions.read(option_texts(given))
        said = None if in_format is None else formats.format_by_name(in_format, JOB_FORMATS)

        def is_data(name: str) -> bool:
            return said is not None or formats.format_by_path(name, JOB_FORMATS) is not None

        files = find_files(read.paths, is_data)
        if not files:
            raise StorageError(f"{', '.join(names)}: there is no file of a format that we know")
        return cls(tuple(files), {file: said or _format_of(file) for file in files}, read, blank_nodes)

    def only(self, columns: Sequence[str]) -> Inputs:
        """The same inputs, of which only some columns are wanted."""
        return replace(self, options=replace(self.options, columns=tuple(columns)))

    def among(self, files: Sequence[DataFile]) -> Inputs:
        """Some of the inputs."""
        return replace(self, files=tuple(files))

    @property
    def total_bytes(self) -> int:
        return sum(file.size for file in self.files)

    def pieces(self, target_bytes: int | None = None, *, number_frames: bool = False) -> list[tuple[Piece, ...]]:
        """What each task is to read: pieces of about a size. If none is said, those of text are larger."""
        said = target_bytes or self.options.partition_bytes
        target = said or default_target(self.files)
        partitions: list[tuple[Piece, ...]] = []
        for found in JOB_FORMATS:
            files = [file for file in self.files if self.formats[file] == found]
            size = target if found == formats.JELLY or said else target * TEXT_FACTOR
            if found == formats.JELLY:
                partitions += pack(cut_files(files, size, number_frames=number_frames), size)
            elif found in _CUT_ANYWHERE:
                partitions += pack([piece for file in files for piece in _cut_anywhere(file, size)], size)
            else:
                partitions += pack([Piece(file) for file in files], size)
        return partitions


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as the data source gets them from Spark: all text, and those that are None left out."""
    return {name: _option_text(name, value) for name, value in options.items() if value is not None}


def _option_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(value) if name in ("columns", "sort") else json.dumps(list(value))
    return str(getattr(value, "name", value))


def _format_of(file: DataFile) -> Format:
    found = formats.format_by_path(file.path, JOB_FORMATS)
    if found is None:
        raise OptionsError(
            f"{file.name}: the name does not tell the format: say it with in_format ({formats.names(JOB_FORMATS)})"
        )
    return found


def _cut_anywhere(file: DataFile, target: int) -> list[Piece]:
    if file.looks_compressed or file.size <= target:
        return [Piece(file)]
    count = -(-file.size // target)
    cuts = [file.size * i // count for i in range(count + 1)]
    return [Piece(file, start, stop) for start, stop in pairwise(cuts)]


def read_statements(
    spark: SparkSession,
    paths: Paths,
    *,
    layout: str = "ntriples",
    in_format: str | None = None,
    mode: str = "FAILFAST",
    **options: Any,
) -> DataFrame:
    """The statements of files, folders and patterns of them, as a DataFrame: s, p, o and g, in a layout.

    Formats are told by the names of files, or by `in_format`, and may be mixed. N-Triples, N-Quads, Jelly and Parquet
    are read in parallel also within a file. The other options are those of the data source: `columns`, `predicates`
    and the like, `partition_bytes`, `batch_rows`, `columnNameOfCorruptRecord`, limits. `blank_nodes="per-file"` gives
    blank nodes of different files different labels, which by default stay as they are. With `mode="PERMISSIVE"`, bad
    lines and frames are reported in one more column, `_corrupt_record`.
    """
    return statements(spark, Inputs.find(paths, in_format=in_format, mode=mode, layout=layout, **options))


def statements(spark: SparkSession, inputs: Inputs) -> DataFrame:
    """The statements of files that have been found."""
    from jellyframe.arrow.layouts import FRAME_COLUMN
    from jellyframe.spark.jobs.batches import statement_rows
    from jellyframe.spark.schema import Columns, default_schema

    schema = default_schema(inputs.options)
    columns = Columns.of(schema, inputs.options)
    partitions = inputs.pieces(number_frames=FRAME_COLUMN in columns)
    return map_pieces(spark, partitions, lambda pieces: statement_rows(pieces, inputs, columns), schema)


def map_pieces(
    spark: SparkSession,
    partitions: Sequence[tuple[Piece, ...]],
    work: Callable[[tuple[Piece, ...]], Iterable[pa.RecordBatch]],
    schema: Any,
) -> DataFrame:
    """A DataFrame of what a function makes of pieces, one task for each tuple of them.

    The tasks read the files by themselves, so of the data only the result ever passes through the JVM.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from work(partitions[number])

    if not partitions:
        return spark.createDataFrame([], schema)
    count = len(partitions)
    return spark.range(0, count, 1, count).mapInArrow(task, schema)


def statement_columns(has_graph: bool) -> list[str]:
    """The columns of the layout `ntriples`."""
    return ["s", "p", "o", "g"] if has_graph else ["s", "p", "o"]


def has_graphs(inputs: Inputs) -> bool:
    """Whether some statement of the inputs may be in a named graph, as far as their formats and headers tell."""
    peeked = [file for file in inputs.files if inputs.formats[file] in (formats.JELLY, formats.PARQUET)]
    if any(inputs.formats[file].has_graphs for file in inputs.files if file not in set(peeked)):
        return True
    with ThreadPoolExecutor(PLANNING_THREADS) as pool:
        return any(pool.map(lambda file: _has_graph(file, inputs), peeked))


def _has_graph(file: DataFile, inputs: Inputs) -> bool:
    if inputs.formats[file] == formats.PARQUET:
        import pyarrow.parquet

        try:
            return "g" in pyarrow.parquet.read_schema(file.path, filesystem=file.storage.fs).names
        except pa.ArrowException:
            # Whoever reads the file will tell what is wrong with it.
            return True
    try:
        with file.open() as source, open_reader(source, limits=inputs.options.limits) as reader:
            return reader.options.has_graph
    except JellyError:
        return True
