"""A store of pyoxigraph, filled, queried and dumped: `python -m examples.integrations.with_pyoxigraph`."""

from __future__ import annotations

import tempfile

import pyoxigraph

import jellyframe
import jellyframe.pyoxigraph
from examples.integrations.people import FOAF, write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        store = pyoxigraph.Store()
        print(jellyframe.pyoxigraph.load(store, path), "statements loaded")
        found = store.query(f"SELECT ?name WHERE {{ ?person <{FOAF}name> ?name }} ORDER BY ?name")
        assert isinstance(found, pyoxigraph.QuerySolutions)
        print([row["name"].value for row in found])
        jellyframe.pyoxigraph.dump(store, f"{folder}/dump.jelly")
        print("the same again:", jellyframe.compare(path, f"{folder}/dump.jelly").is_equal)


if __name__ == "__main__":
    main()
