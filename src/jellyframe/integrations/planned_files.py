"""Files of tables that tasks write bucket by bucket, with the same columns in all files of a table.

A task writes the tables of a bucket with the columns of its statements. If these are not the merged columns of all
files of the table, it writes the file again with the merged ones.
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
    """A file of a table, such as that of a class: its size, the number of its rows, and its columns."""

    table: str
    path: str
    bytes: int
    rows: int
    columns: Properties

    def as_json(self) -> dict[str, Any]:
        """Return the file as JSON values for `from_json`."""
        return {**vars(self), "columns": columns_as_json(self.columns)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> PartFile:
        """Return the file of JSON values made by `as_json`."""
        return cls(**{**found, "columns": columns_from_json(found["columns"])})


# The columns of tables, by the names of the tables.
Plan: TypeAlias = Mapping[str, Properties]
# Writes the tables of a bucket: all with their own columns, or those of a plan with its columns.
WriteBucket: TypeAlias = Callable[[int, Plan | None], list[PartFile]]
# Runs a function for the numbers below a count, here or in tasks.
RunAll: TypeAlias = Callable[[int, Callable[[int], list[PartFile]]], list[list[PartFile]]]


def write_planned(buckets: int, write: WriteBucket, run: RunAll) -> list[PartFile]:
    """Write the tables of all buckets, and return their files. All files of a table have the same columns."""
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
    """Return for each table the merged columns of all of its files, in the order of their IRIs."""
    plan: dict[str, Properties] = {}
    for file in files:
        merge_properties(plan.setdefault(file.table, {}), file.columns)
    return {table: dict(sorted(columns.items())) for table, columns in plan.items()}


def fits(columns: Properties, plan: Properties) -> bool:
    """Return whether the columns of a file are those of the plan."""
    types = ({predicate: column.arrow() for predicate, column in each.items()} for each in (columns, plan))
    return next(types) == next(types)
