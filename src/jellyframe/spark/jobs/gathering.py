"""Count terms in tasks and sum up the counts with Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.batch import Batch
from jellyframe.ops.stats.counting import COUNTS_DDL, counted, counted_pieces
from jellyframe.ops.stats.result import Statistics
from jellyframe.spark.jobs.inputs import JobInputs, map_pieces

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.spark.types import Session

# The relative standard deviation of sketches.
_SKETCH_DEVIATION = 0.015


def counts_of_files(spark: Session, inputs: JobInputs) -> DataFrame:
    """Return the counts of files, which the tasks read themselves."""
    files = inputs.files
    return map_pieces(spark, inputs.pieces(), lambda pieces: counted_pieces(pieces, files), COUNTS_DDL)


def counts_of_frame(frame: DataFrame) -> DataFrame:
    """Return the counts of a DataFrame of statements, in any layout."""
    return frame.mapInArrow(_counted_rows, COUNTS_DDL)


def _counted_rows(record_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    def batches() -> Iterator[Batch]:
        from jellyframe.arrow.terms import BatchMaker

        maker: BatchMaker | None = None
        for record_batch in record_batches:
            maker = maker or BatchMaker(record_batch.schema)
            yield maker.make(record_batch)

    return counted(batches())


def gather(counts: DataFrame, *, approximate: bool) -> Statistics:
    """Return the summed counts: exact, with a shuffle of the distinct values, or from sketches (HyperLogLog++)."""
    from pyspark.sql import functions as sql

    groups = ["position", "key"]
    uses = sql.sum("uses").alias("uses")
    if approximate:
        distinct = sql.approx_count_distinct("high", _SKETCH_DEVIATION)
        summed = counts.groupBy(*groups).agg(uses, distinct.alias("distinct"))
    else:
        terms = counts.groupBy(*groups, "high", "low").agg(uses)
        summed = terms.groupBy(*groups).agg(uses, sql.count(sql.lit(1)).alias("distinct"))
    rows: list[Any] = summed.collect()
    return Statistics.of(((row[0], row[1], row[2], row[3]) for row in rows), approximate=approximate)
