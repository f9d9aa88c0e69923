"""Statistics of files, counted in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import InputOptions, Inputs, Paths
from jellyframe.ops.stats.counting import COUNTS_SCHEMA, counted_pieces
from jellyframe.ops.stats.result import Statistics
from jellyframe.options import Limits
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.ops.progress import ProgressCallback
    from jellyframe.options import DialectName
    from jellyframe.storage.types import FileSystem

_GROUPS = ["position", "key"]
_TERMS = [*_GROUPS, "high", "low"]
# Counts are summed up when there are as many new rows as summed ones, and at least this many.
_MIN_ROWS_TO_SUM = 1 << 20


def statistics(
    paths: Paths,
    *,
    in_format: str | None = None,
    filesystem: FileSystem | None = None,
    mode: Mode = FAILFAST,
    concatenated: bool = False,
    lenient: bool = False,
    limits: Limits | None = None,
    dialect: DialectName = "released",
    progress: ProgressCallback | None = None,
) -> Statistics:
    """Count the statements, distinct terms, predicates, classes, datatypes and languages of files.

    Files are read once. The result is that of `jellyframe.spark.jobs.stats`, which counts in parallel; memory grows
    with the number of distinct terms, about 100 bytes for each.

    Args:
        paths, in_format, filesystem, mode, concatenated, lenient, limits, dialect, progress: as in `scan`
    """
    options = InputOptions(
        mode=mode, concatenated=concatenated, lenient=lenient, limits=limits or Limits(), dialect=dialect
    )
    inputs = Inputs.find(paths, in_format=in_format, options=options, filesystem=filesystem).metered(progress)
    counts = _Sums()
    for rows in counted_pieces(map(Piece, inputs.files), inputs):
        counts.add(rows)
    return counts.result()


class _Sums:
    """Adds up the counts of batches, one row for each term at each position."""

    def __init__(self) -> None:
        self._summed = COUNTS_SCHEMA.empty_table()
        self._new: list[pa.RecordBatch] = []
        self._new_rows = 0

    def add(self, rows: pa.RecordBatch) -> None:
        self._new.append(rows)
        self._new_rows += len(rows)
        if self._new_rows >= max(_MIN_ROWS_TO_SUM, len(self._summed)):
            self._sum()

    def _sum(self) -> None:
        together = pa.concat_tables([self._summed, pa.Table.from_batches(self._new, COUNTS_SCHEMA)])
        self._summed = _grouped(together, _TERMS, [("uses", "sum")]).rename_columns(COUNTS_SCHEMA.names)
        self._new, self._new_rows = [], 0

    def result(self) -> Statistics:
        self._sum()
        groups = _grouped(self._summed, _GROUPS, [("uses", "sum"), ("uses", "count")])
        columns = [groups[name].to_pylist() for name in (*_GROUPS, "uses_sum", "uses_count")]
        return Statistics.of(zip(*columns, strict=True))


def _grouped(table: pa.Table, keys: list[str], sums: list[Any]) -> pa.Table:
    """Return the sums of each group, with the keys first."""
    grouped = table.group_by(keys).aggregate(sums)
    return grouped.select([*keys, *(f"{column}_{function}" for column, function in sums)])
