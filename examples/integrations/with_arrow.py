"""Arrow tables of statements, a property table, and back: `python -m examples.integrations.with_arrow`."""

from __future__ import annotations

import tempfile

import pyarrow.compute as pc

import jellyframe
from examples.integrations.people import FOAF, write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        table = jellyframe.read_table(path, "flat")
        print(table.num_rows, "rows of", table.column_names)
        names = table.filter(pc.equal(table["p"], FOAF + "name"))
        jellyframe.write_table(names, f"{folder}/names.jelly")
        people = jellyframe.pivot(path, FOAF + "Person")
        print({field.name: str(field.type) for field in people.schema})
        print("oldest", pc.max(people["age"]).as_py())


if __name__ == "__main__":
    main()
