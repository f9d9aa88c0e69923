"""Jelly in rdflib, data frames, pyoxigraph, NetworkX and Neo4j's importer: `python -m examples.integrations`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyoxigraph
import rdflib

import jellyframe
import jellyframe.pyoxigraph
from jellyframe.rdflib import read_statements

FOAF = rdflib.Namespace("http://xmlns.com/foaf/0.1/")
EX = rdflib.Namespace("http://example.org/")


def with_rdflib(path: str) -> None:
    """Write a graph of rdflib, and read it again."""
    graph = rdflib.Graph()
    graph.bind("ex", EX)
    for number, name in enumerate(("Ada", "Charles", "Mary")):
        person = EX[name.lower()]
        graph.add((person, rdflib.RDF.type, FOAF.Person))
        graph.add((person, FOAF.name, rdflib.Literal(name)))
        graph.add((person, FOAF.age, rdflib.Literal(30 + number)))
        graph.add((person, FOAF.knows, EX["ada"]))
    graph.serialize(path, format="jelly")
    print("rdflib:", len(rdflib.Graph().parse(path)), "triples,", sum(1 for _ in read_statements(path)), "statements")


def with_frames(path: str) -> None:
    """Read data frames, query with DuckDB, and write a frame back."""
    frame = jellyframe.read_pandas(path, predicates=str(FOAF.name))
    print("pandas:", sorted(frame["o"]))
    counts = jellyframe.scan_polars(path).group_by("p").agg(pl.len()).collect()
    print("Polars:", counts.height, "predicates")
    statements = jellyframe.open_table(path)
    with duckdb.connect() as connection:
        print("DuckDB:", connection.sql("SELECT count(*) FROM statements").fetchall())
    jellyframe.write_table(jellyframe.read_polars(path), f"{path}.copy.jelly")
    print("the same again:", jellyframe.compare(path, f"{path}.copy.jelly").is_equal, statements.schema.names)


def with_stores_and_graphs(path: str, folder: Path) -> None:
    """Load a store, make a network, a property table and files for Neo4j."""
    store = pyoxigraph.Store()
    print("pyoxigraph:", jellyframe.pyoxigraph.load(store, path), "loaded")
    jellyframe.pyoxigraph.dump(store, folder / "dump.jelly")
    graph = jellyframe.to_networkx(path)
    print("NetworkX:", graph.number_of_nodes(), "nodes,", graph.number_of_edges(), "edges")
    people = jellyframe.pivot(path, str(FOAF.Person))
    print("property table:", sorted(people.column_names), sorted(people["age"].to_pylist()))  # rdflib has no order
    print("Neo4j:", jellyframe.write_neo4j(path, folder / "neo4j").command())


def main() -> None:
    """Run all of them in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "people.jelly"))
        with_rdflib(path)
        with_frames(path)
        with_stores_and_graphs(path, Path(folder))


if __name__ == "__main__":
    main()
