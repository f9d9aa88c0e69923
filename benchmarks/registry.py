"""Rows of the table, and the subjects (one module each) that measure them.

A new subject is a module in `benchmarks.subjects` with a function that yields measurements, under
`@for_each_dataset(…)` or `@once(…)`, and a line in `benchmarks/subjects/__init__.py`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .workload import Workload


@dataclass(frozen=True)
class Row:
    """One line of the table. `bar` bounds the ratio ours/peer, as the geometric mean over the data sets."""

    name: str
    work: str
    against: str
    unit: str
    bar: float | None
    at_most: bool = False

    def passes(self, ratio: float) -> bool:
        if self.bar is None:
            return True
        # A ratio that is printed as the bar passes.
        return round(ratio, 3) <= self.bar if self.at_most else round(ratio, 2) >= self.bar


@dataclass(frozen=True)
class Measurement:
    """The result of one row on one data set. A side that could not run is None, and `error` says why."""

    row: Row
    dataset: str
    ours: float | None
    peer: float | None
    error: str | None = None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.peer if self.ours is not None and self.peer else None


@dataclass(frozen=True)
class Settings:
    """The sizes and repetitions of measurements."""

    statements: int = 1_000_000
    # pyjelly takes some seven seconds for a million; the subject `scaling` shows why a part is enough.
    peer_statements: int = 200_000
    groups: int = 60_000
    messages: int = 100
    memory_statements: int = 200_000
    # Short reads would measure only the planning.
    spark_statements: int = 5_000_000
    repeats: int = 5
    collect_garbage: bool = True
    directory: Path = Path("build/bench-data")


DatasetMeasure = Callable[[Settings, frozenset[str], Workload], Iterator[Measurement]]
SingleMeasure = Callable[[Settings, frozenset[str]], Iterator[Measurement]]


@dataclass(frozen=True)
class Subject:
    """Rows that are measured together because they share inputs and a peer."""

    name: str
    rows: tuple[Row, ...]
    for_dataset: DatasetMeasure | None = None
    once: SingleMeasure | None = None

    def wanted(self, names: frozenset[str]) -> frozenset[str]:
        """Return the rows requested by their own name or the subject's; all if no names are given."""
        rows = frozenset(row.name for row in self.rows)
        return rows if not names or self.name in names else rows & names


SUBJECTS: list[Subject] = []


def for_each_dataset(name: str, *rows: Row) -> Callable[[DatasetMeasure], DatasetMeasure]:
    def register(measure: DatasetMeasure) -> DatasetMeasure:
        SUBJECTS.append(Subject(name, rows, for_dataset=measure))
        return measure

    return register


def once(name: str, *rows: Row) -> Callable[[SingleMeasure], SingleMeasure]:
    def register(measure: SingleMeasure) -> SingleMeasure:
        SUBJECTS.append(Subject(name, rows, once=measure))
        return measure

    return register
