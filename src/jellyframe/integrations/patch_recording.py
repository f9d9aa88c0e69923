"""Record changes of a graph or a store as a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from jellyframe.integrations.patch_targets import libraries_of
from jellyframe.integrations.recorder import Recorder, Recording

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

    from jellyframe.formats.patches import PatchOutput

_GraphT = TypeVar("_GraphT", bound="rdflib.Graph | pyoxigraph.Store")


def record(graph: _GraphT, writer: PatchOutput) -> Recording[_GraphT]:
    """Return a recording of a graph or dataset of rdflib, or a store of pyoxigraph: its changes are written as a patch.

        with record(graph, writer) as recorded:
            recorded.add((subject, predicate, value))

    Use the object that the block returns instead of the graph: its methods, including parsing and SPARQL updates,
    change the graph and are recorded. The block is a transaction; an error undoes it. Updates of a store of pyoxigraph
    are recorded by comparing its content before and after.

    Args:
        graph: a Graph or Dataset of rdflib, or a Store of pyoxigraph
        writer: an open writer of patches, from `open_patch_writer`; it stays open. If its statement type is TRIPLES, a
            statement in a named graph is an error

    Raises:
        TypeError: if the graph is none of these
    """
    recorder = Recorder(writer)
    libraries = libraries_of(graph)
    given: Any = graph
    recording: Any
    if "rdflib" in libraries:
        from jellyframe.integrations.rdflib_recording import recorded_graph

        recording = recorded_graph(given, recorder)
    elif "pyoxigraph" in libraries:
        from jellyframe.integrations.pyoxigraph_recording import recorded_store

        recording = recorded_store(given, recorder)
    else:
        raise TypeError(
            f"a {type(graph).__name__} cannot be recorded; give a Graph or Dataset of rdflib, or a Store of pyoxigraph"
        )
    typed: Recording[_GraphT] = recording
    return typed
