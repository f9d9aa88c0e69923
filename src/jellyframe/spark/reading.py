"""Plan partitions and read them as record batches, which have exactly the schema that Spark expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.arrow.layouts import FRAME_COLUMN
from jellyframe.errors import Advice, JellyError, OptionsError
from jellyframe.ops.filters import RowFilter
from jellyframe.ops.inputs import Inputs
from jellyframe.ops.rows import Columns, read_rows
from jellyframe.spark.options import ReadOptions, StreamReadOptions
from jellyframe.spark.schema import columns_of
from jellyframe.storage.finding import find_files
from jellyframe.storage.stores import DataFile
from jellyframe.stream.splits import Piece

# The data sources that read what a function of Python reads.
_SOURCES = {"open_reader": "jelly", "open_patch_reader": "jelly-patch"}


class JellyPartition(InputPartition):
    """The pieces of files that one task reads."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


class JellyBatchReader(DataSourceReader):
    """Reads a set of files that is fixed when the query is planned."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        if options.stream != StreamReadOptions():
            raise OptionsError(
                "maxFilesPerTrigger, maxBytesPerTrigger, stateLocation and ignoreMissingFiles are for streams only: "
                "use spark.readStream, or leave them out"
            )
        self.options = options
        self.columns = columns_of(schema, options)
        # Refuse invalid terms here instead of in every task.
        RowFilter(options.filters)

    def partitions(self) -> list[InputPartition]:
        return plan_partitions(find_files(self.options.paths, self.options.is_data), self.options, self.columns)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(partition, self.options, self.columns)


def plan_partitions(files: Sequence[DataFile], options: ReadOptions, columns: Columns) -> list[InputPartition]:
    """Return one partition for each task, with the pieces of files that it reads."""
    with _in_option_words():
        inputs = _inputs(files, options)
        planned = inputs.pieces(options.partition_bytes, number_frames=FRAME_COLUMN in columns)
    return [JellyPartition(pieces) for pieces in planned]


def read_partition(partition: InputPartition, options: ReadOptions, columns: Columns) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition. Closing the iterator early closes the files."""
    # If there are no partitions, Spark creates one itself.
    pieces = partition.pieces if isinstance(partition, JellyPartition) else ()
    with _in_option_words():
        yield from read_rows(pieces, _inputs([piece.file for piece in pieces], options), columns)


def _inputs(files: Sequence[DataFile], options: ReadOptions) -> Inputs:
    return Inputs(tuple(files), dict.fromkeys(files, options.format), options.inputs)


# ---- errors ----


@contextmanager
def _in_option_words() -> Iterator[None]:
    """Put the advice of errors into the words of the options of a data source."""
    try:
        yield
    except JellyError as error:
        if error.advice is None:
            raise
        message = f"{error.message}; {_option_words(error.advice)}"
        raise error.replace(message=message, advice=None) from error.__cause__


def _option_words(advice: Advice) -> str:
    if advice.kind == "limit":
        return f"raise the option {advice.name} if you trust the input"
    if advice.kind == "function" and advice.name in _SOURCES:
        return f'read it with format("{_SOURCES[advice.name]}")'
    if advice.kind == "argument" and advice.value in ("True", "False"):
        return f"set the option {advice.name} to {advice.value.lower()}"
    return str(advice)
