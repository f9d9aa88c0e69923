"""`sample`: some of the statements, or of the subjects with all of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.errors import OptionsError
from jellyframe.ops.inputs import KEEP, BlankNodes, Paths
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.inputs import JobInputs, statement_columns, statements
from jellyframe.spark.jobs.outputs import ERROR, Output
from jellyframe.spark.jobs.running import write_statements

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_HASH_RANGE = 1 << 31


def sample(
    spark: SparkSession,
    paths: Paths,
    output: str | PathLike[str],
    *,
    fraction: float | None = None,
    number: int | None = None,
    seed: int = 0,
    whole_subjects: bool = False,
    out_format: str = "jelly",
    save: str = ERROR,
    in_format: str | None = None,
    mode: str = "FAILFAST",
    blank_nodes: BlankNodes = KEEP,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Summary:
    """Write a random sample: about a `fraction` of the statements, or exactly a `number` of them (as far as there are).

    With `whole_subjects` it is of subjects, each with all of its statements. The same `seed` gives the same sample of
    the same inputs. The other arguments are those of `convert`.
    """
    if (fraction is None) is (number is None):
        raise OptionsError("a sample is a fraction or a number: say one of them")
    if fraction is not None and not 0 <= fraction <= 1:
        raise OptionsError(f"the fraction is {fraction}, and must be between 0 and 1")
    if number is not None and number < 0:
        raise OptionsError(f"the number is {number}, and must not be negative")
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
    frame = statements(spark, inputs, statement_columns(has_graph))
    chosen = _chosen(frame, fraction, number, seed, whole_subjects)
    if files is not None:
        chosen = chosen.repartition(files)
    return write_statements("sample", inputs, target, chosen)


def _chosen(frame: DataFrame, fraction: float | None, number: int | None, seed: int, whole_subjects: bool) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    good = frame.where(F.col("s").isNotNull())
    bad = frame.where(F.col("s").isNull())
    if fraction is not None:
        luck = _luck(F.col("s"), seed) if whole_subjects else F.rand(seed)
        return frame.where(F.col("s").isNull() | (luck < fraction))
    assert number is not None
    if whole_subjects:
        subjects = good.select("s").distinct().orderBy(_luck(F.col("s"), seed), "s").limit(number)
        chosen = good.join(F.broadcast(subjects), "s", "left_semi")
    else:
        chosen = good.withColumn("luck", F.rand(seed)).orderBy("luck").limit(number).drop("luck")
    # Rows that tell of bad records are there in one mode only, and are no statements to choose from.
    return chosen.unionByName(bad) if len(frame.columns) > len(statement_columns("g" in frame.columns)) else chosen


def _luck(subject: Column, seed: int) -> Column:
    """A number from 0 to 1 that a subject has wherever it comes up."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.pmod(F.xxhash64(subject, F.lit(seed)), F.lit(_HASH_RANGE)) / _HASH_RANGE
