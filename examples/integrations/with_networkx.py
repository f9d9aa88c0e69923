"""A graph of NetworkX, and back: `python -m examples.integrations.with_networkx`."""

from __future__ import annotations

import tempfile

import networkx as nx

import jellyframe
from examples.integrations.people import EX, write_people
from jellyframe import IRI


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        graph = jellyframe.to_networkx(path)
        print(graph.number_of_nodes(), "nodes,", graph.number_of_edges(), "edges")
        print("who knows Ada:", sorted(node.value.removeprefix(EX) for node in graph.predecessors(IRI(EX + "ada"))))
        print(nx.number_weakly_connected_components(graph), "component")
        with jellyframe.open_writer(f"{folder}/copy.jelly") as writer:
            writer.write(jellyframe.from_networkx(graph))
        print("the same again:", jellyframe.compare(path, f"{folder}/copy.jelly").is_equal)


if __name__ == "__main__":
    main()
