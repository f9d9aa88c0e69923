"""A lazy frame of Polars, and back: `python -m examples.integrations.with_polars`."""

from __future__ import annotations

import tempfile

import polars as pl

import jellyframe
from examples.integrations.people import FOAF, write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        statements = jellyframe.scan_polars(path)
        print(statements.group_by("p").agg(pl.len()).collect().height, "predicates")
        ages = jellyframe.scan_polars(path, predicates=FOAF + "age").select(pl.col("o").cast(pl.Int64))
        print("mean age", ages.collect()["o"].mean())
        jellyframe.write_table(jellyframe.read_polars(path), f"{folder}/copy.jelly")
        print("the same again:", jellyframe.compare(path, f"{folder}/copy.jelly").is_equal)


if __name__ == "__main__":
    main()
