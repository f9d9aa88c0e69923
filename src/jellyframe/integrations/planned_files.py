"""Files of tables that tasks write bucket by bucket, and that have the same columns in the end.

A task writes the tables of a bucket with the columns that its statements make. Where these are not the columns that all
files of a table make together, it writes the file again, with those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jellyframe.integrations.property_columns import (
    Properties,
    columns_as_json,
    columns_from_json,
    merge_properties,
)


@dataclass
class PartFile:
    """A file of a table, such as that of a class: its size, how many rows it has, and its columns."""

    table: str
    path: str
    bytes: int
    rows: int
    columns: Properties

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` takes."""
        return {**vars(self), "columns": columns_as_json(self.columns)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> PartFile:
        """Return what `as_json` has returned."""
        return cls(**{**found, "columns": columns_from_json(found["columns"])})


# The columns of tables by their names.
Plan: TypeAlias = Mapping[str, Properties]
# Writes the tables of a bucket: all with their own columns, or those of a plan with the columns that it says.
WriteBucket: TypeAlias = Callable[[int, Plan | None], list[PartFile]]
# Runs a function for the numbers below a count, here or in tasks elsewhere.
RunAll: TypeAlias = Callable[[int, Callable[[int], list[PartFile]]], list[list[PartFile]]]


def write_planned(buckets: int, write: WriteBucket, run: RunAll) -> list[PartFile]:
    """Write the tables of all buckets, and return their files. Those of a table have the same columns."""
    found = run(buckets, lambda bucket: write(bucket, None))
    plan = plan_of(file for files in found for file in files)
    stale = [{file.table for file in files if not fits(file.columns, plan[file.table])} for files in found]
    again = [bucket for bucket, tables in enumerate(stale) if tables]

    def rewrite(number: int) -> list[PartFile]:
        bucket = again[number]
        return write(bucket, {table: plan[table] for table in stale[bucket]})

    fitting = [file for files, tables in zip(found, stale, strict=True) for file in files if file.table not in tables]
    return fitting + [file for files in run(len(again), rewrite) for file in files]


def plan_of(files: Iterable[PartFile]) -> dict[str, Properties]:
    """Return for each table the columns that hold what all of its files do, in the order of their IRIs."""
    plan: dict[str, Properties] = {}
    for file in files:
        merge_properties(plan.setdefault(file.table, {}), file.columns)
    return {table: dict(sorted(columns.items())) for table, columns in plan.items()}


def fits(columns: Properties, plan: Properties) -> bool:
    """Return whether a file with these columns is as the plan has it."""
    types = ({predicate: column.arrow() for predicate, column in each.items()} for each in (columns, plan))
    return next(types) == next(types)
