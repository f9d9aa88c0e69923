"""SQL on a Jelly file with DuckDB: `python -m examples.integrations.with_duckdb`."""

from __future__ import annotations

import tempfile

import duckdb

import jellyframe
from examples.integrations.people import FOAF, write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        people = jellyframe.open_table(path)
        with duckdb.connect() as connection:
            print(connection.sql("SELECT count(*) FROM people").fetchall(), people.schema.names)
            relation = jellyframe.read_duckdb(path, connection=connection, predicates=FOAF + "name")
            print(sorted(relation.project("o").fetchall()))
            jellyframe.write_table(relation, f"{folder}/names.jelly")
        print(len(jellyframe.read_table(f"{folder}/names.jelly")), "names written")


if __name__ == "__main__":
    main()
