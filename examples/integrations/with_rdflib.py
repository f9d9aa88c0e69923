"""A graph of rdflib from a Jelly file, changed and written back: `python -m examples.integrations.with_rdflib`."""

from __future__ import annotations

import tempfile

import rdflib

from examples.integrations.people import EX, FOAF, write_people
from jellyframe.rdflib import read_statements


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        graph = rdflib.Graph().parse(path)
        print(len(graph), "triples")
        graph.bind("ex", EX)
        graph.add((rdflib.URIRef(EX + "mary"), rdflib.URIRef(FOAF + "knows"), rdflib.URIRef(EX + "charles")))
        graph.serialize(f"{folder}/more.jelly", format="jelly")
        print(sum(1 for _ in read_statements(f"{folder}/more.jelly")), "statements as a stream")
        again = rdflib.Graph().parse(f"{folder}/more.jelly")
        print("ex:", dict(again.namespaces())["ex"])


if __name__ == "__main__":
    main()
