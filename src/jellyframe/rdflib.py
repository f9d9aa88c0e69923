"""Jelly in rdflib: `rdflib.Graph().parse("x.jelly")` works without this module, which has the rest.

    from jellyframe.rdflib import read_graphs, read_statements, write_graphs, write_statements

    for graph in read_graphs("grouped.jelly"):
        print(len(graph))

Importing it registers the plugins, where rdflib does not know them already.
"""

import jellyframe_rdflib  # noqa: F401
from jellyframe.errors import needed_by

with needed_by("jellyframe.rdflib"):
    from jellyframe.integrations.rdflib_streams import read_graphs, read_statements, write_graphs, write_statements
    from jellyframe.integrations.rdflib_terms import from_rdflib, graph_from_rdflib, graph_to_rdflib, to_rdflib

__all__ = [
    "from_rdflib",
    "graph_from_rdflib",
    "graph_to_rdflib",
    "read_graphs",
    "read_statements",
    "to_rdflib",
    "write_graphs",
    "write_statements",
]
