"""The names of the files for Neo4j's importer, and the command that imports them."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

NODES, RELATIONSHIPS = "nodes", "relationships"
_FILE_NAME = re.compile(rf"({NODES}|{RELATIONSHIPS})-(header|[0-9]+)\.csv")


class Neo4jFiles(NamedTuple):
    """The files that were written, and the command that imports them.

    Attributes:
        folder: the folder
        nodes: the paths of the files of nodes, the header first
        relationships: the paths of the files of relationships, the header first
        node_count: the number of nodes
        relationship_count: the number of relationships
    """

    folder: str
    nodes: list[str]
    relationships: list[str]
    node_count: int
    relationship_count: int

    def command(self, database: str = "neo4j") -> str:
        """Return the command that creates a database from the files.

        Args:
            database: the name of the database
        """
        return import_command(self.folder, database)


def is_graph_file(name: str) -> bool:
    """Return whether an overwrite replaces a file with this name."""
    return _FILE_NAME.fullmatch(name) is not None


def import_command(folder: str, database: str = "neo4j") -> str:
    """Return the shell command that creates a database from the files in a folder."""
    nodes, relationships = (
        f"--{kind}={shlex.quote(f'{folder}/{kind}-header.csv,{folder}/{kind}-[0-9]+.csv')}"
        for kind in (NODES, RELATIONSHIPS)
    )
    return (
        f"neo4j-admin database import full {shlex.quote(database)} --array-delimiter=U+001F --multiline-fields=true "
        f"{nodes} {relationships}"
    )
