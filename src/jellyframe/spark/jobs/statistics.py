"""Counting what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from jellyframe.ops.inputs import Paths
from jellyframe.spark.jobs.errors import plain_errors
from jellyframe.spark.jobs.inputs import JobInputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from jellyframe.ops.statistics.result import Statistics
    from jellyframe.spark.types import Session


def stats(
    spark: Session,
    data: Paths | DataFrame,
    *,
    approximate: bool = False,
    in_format: str | None = None,
    mode: str = "FAILFAST",
    read_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Statistics:
    """Statistics of files, folders and patterns, or of a DataFrame of statements in any layout.

    The data is read once. Distinct terms are counted exactly, unless `approximate` asks for sketches, which need next
    to no memory and err by one or two per cent. The other arguments are those of `read_statements`, for files only.
    """
    from jellyframe.spark.jobs.gathering import counts_of_files, counts_of_frame, gather

    with plain_errors():
        if isinstance(data, str | PathLike | Sequence):
            counts = counts_of_files(
                spark, JobInputs.find(data, in_format=in_format, mode=mode, **(read_options or {}), **options)
            )
        else:
            counts = counts_of_frame(data)
        return gather(counts, approximate=approximate)
