"""The job `stats`: statistics of data."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import Paths
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.ops.stats.result import Statistics
    from jellyframe.spark.types import Session, SourceOptions, StatementOptions


def stats(
    spark: Session,
    data: Paths | DataFrame,
    *,
    approximate: bool = False,
    in_format: str | None = None,
    mode: Mode = FAILFAST,
    read_options: SourceOptions | None = None,
    **options: Unpack[StatementOptions],
) -> Statistics:
    """Return statistics of files, folders and patterns, or of a DataFrame of statements in any layout.

    The data is read once. Distinct terms are counted exactly, or with `approximate` estimated from sketches, which
    take very little memory and have an error of one or two per cent.

    Args:
        spark: the session
        data: files, folders and patterns, or a DataFrame
        approximate: whether to estimate the numbers of distinct terms
        in_format: the format of the files; by default it is recognised by their names
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        read_options: reading options of the data source, by name
        options: further reading options, and `blank_nodes`, as in `read_statements`
    """
    from jellyframe.spark.jobs.gathering import counts_of_files, counts_of_frame, gather

    with plain_errors():
        if isinstance(data, str | PathLike | Sequence):
            given: dict[str, Any] = {**(read_options or {}), **options}
            counts = counts_of_files(spark, JobInputs.find(data, in_format=in_format, mode=mode, **given))
        else:
            counts = counts_of_frame(data)
        return gather(counts, approximate=approximate)
