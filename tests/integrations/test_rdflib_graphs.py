"""The graphs of a rdflib dataset as batches."""

from __future__ import annotations

import pytest
import rdflib

from jellyframe.integrations.rdflib_graphs import batches_of_graph

PREDICATE = rdflib.URIRef("http://a/p")


@pytest.fixture
def dataset() -> rdflib.Dataset:
    made = rdflib.Dataset()
    for number in range(50):
        graph = made.graph(rdflib.URIRef(f"http://g/{number}"))
        graph.add((rdflib.URIRef(f"http://a/{number}"), PREDICATE, rdflib.Literal(number)))
    return made


def test_small_graphs_share_batches(dataset: rdflib.Dataset) -> None:
    """A batch for each graph would take longer than all else that serializing does."""
    (batches,) = batches_of_graph(dataset)
    (batch,) = batches
    assert batch.g is not None
    assert len(set(batch.g)) == len(batch) == 50


def test_graphs_can_be_kept_apart(dataset: rdflib.Dataset) -> None:
    sizes = [sum(len(batch) for batch in batches) for batches in batches_of_graph(dataset, each_apart=True)]
    # The default graph is empty.
    assert sorted(sizes) == [0, *[1] * 50]
