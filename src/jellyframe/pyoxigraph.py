"""Jelly and the stores of pyoxigraph.

import pyoxigraph

import jellyframe.pyoxigraph

store = pyoxigraph.Store()
jellyframe.pyoxigraph.load(store, "people.jelly")
jellyframe.pyoxigraph.dump(store, "copy.jelly")
"""

from jellyframe.errors import needed_by

with needed_by("jellyframe.pyoxigraph"):
    from jellyframe.formats.pyoxigraph_terms import (
        from_pyoxigraph,
        graph_from_pyoxigraph,
        graph_to_pyoxigraph,
        to_pyoxigraph,
    )
    from jellyframe.integrations.pyoxigraph_stores import dump, load

__all__ = [
    "dump",
    "from_pyoxigraph",
    "graph_from_pyoxigraph",
    "graph_to_pyoxigraph",
    "load",
    "to_pyoxigraph",
]
