"""Files for the importer of Neo4j: `python -m examples.integrations.with_neo4j`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import jellyframe
from examples.integrations.people import write_people


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_people(folder)
        files = jellyframe.write_neo4j(path, f"{folder}/graph")
        print(files.node_count, "nodes,", files.relationship_count, "relationships")
        print(Path(files.nodes[0]).read_text().strip())
        print(Path(files.nodes[1]).read_text().splitlines()[0].replace("\x1f", "|"))
        print(files.command("people"))


if __name__ == "__main__":
    main()
