"""The peers of the Spark rows: a source with ready-made batches, a sink that drops them, pipelines without jellyframe.

Workers import this module.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

# The simplest pattern that splits a line of N-Triples; it keeps escapes and checks nothing.
_LINE = r"^(<[^>]*>|_:\S+) (<[^>]*>) (.*) \.$"


class ReadyBatches(DataSource):
    """`format("ready_batches")`: record batches from Arrow files mapped into memory, one file per partition."""

    @classmethod
    def name(cls) -> str:
        return "ready_batches"

    def schema(self) -> StructType:
        from pyspark.sql.pandas.types import from_arrow_schema

        with pa.memory_map(str(_arrow_files(self.options["path"])[0])) as source:
            return from_arrow_schema(pa.ipc.open_file(source).schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _ReadyBatchesReader(self.options["path"])


class _ReadyBatchesReader(DataSourceReader):
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(str(path)) for path in _arrow_files(self.folder)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(partition.value) as source:
            batches = pa.ipc.open_file(source)
            for number in range(batches.num_record_batches):
                yield batches.get_batch(number)


def _arrow_files(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.arrow"))


class DroppedBatches(DataSource):
    """`format("dropped_batches")`: takes record batches and drops them."""

    @classmethod
    def name(cls) -> str:
        return "dropped_batches"

    def writer(self, schema: StructType, overwrite: bool) -> "_DroppingWriter":
        return _DroppingWriter()


@dataclass
class _Dropped(WriterCommitMessage):
    rows: int


class _DroppingWriter(DataSourceArrowWriter):
    def write(self, iterator: Iterator[pa.RecordBatch]) -> _Dropped:
        return _Dropped(sum(len(batch) for batch in iterator))


def convert_by_hand(spark: SparkSession, path: str, folder: str, tasks: int) -> int:
    """Convert N-Triples to Jelly with pyoxigraph and pyjelly, one file per task, and count the statements."""

    def convert(number: int, lines: Iterable[str]) -> Iterator[int]:
        from pyjelly.integrations.generic.serialize import flat_stream_to_file
        from pyoxigraph import RdfFormat, parse

        from . import peers

        count = 0

        def counted() -> Iterator[Any]:
            nonlocal count
            for triple in peers.triples_of(parse("\n".join(lines), RdfFormat.N_TRIPLES)):
                count += 1
                yield triple

        with open(f"{folder}/{number}.jelly", "wb") as sink:
            flat_stream_to_file(counted(), sink, peers.options(quads=False, rdf_star=False))
        yield count

    Path(folder).mkdir(exist_ok=True)
    return spark.sparkContext.textFile(path, tasks).mapPartitionsWithIndex(convert).sum()


def split_lines(spark: SparkSession, path: str) -> DataFrame:
    """Split N-Triples into columns with Spark's own functions."""
    lines = spark.read.text(path)
    return lines.select(*(F.regexp_extract("value", _LINE, group).alias("spo"[group - 1]) for group in (1, 2, 3)))


def pivoted_by_hand(spark: SparkSession, text: str, output: str, statements: int) -> int:
    """Write a row per subject with a column per predicate, as text without types, with Spark's own functions."""
    triples = split_lines(spark, text)
    wide = triples.groupBy("s").pivot("p").agg(F.collect_list("o"))
    names = [f"c{number}" for number in range(len(wide.columns))]
    wide.toDF(*names).write.mode("overwrite").parquet(output)
    return statements
