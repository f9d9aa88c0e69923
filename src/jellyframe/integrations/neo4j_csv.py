"""Statements as CSV files for `neo4j-admin database import full`: headers and parts of nodes and of relationships."""

from __future__ import annotations

import os
from typing import Unpack

from jellyframe.errors import OptionsError, needed_by
from jellyframe.integrations.neo4j_files import Neo4jFiles
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.ops.outputs import Output
from jellyframe.ops.progress import ProgressCallback
from jellyframe.storage.commit import APPEND, ERROR, SaveMode

# The size of a file object is unknown.
_UNKNOWN_BUCKETS = 16


def write_neo4j(
    source: Statements,
    folder: str | os.PathLike[str],
    *,
    save: SaveMode = ERROR,
    progress: ProgressCallback | None = None,
    **reading: Unpack[ReadingOptions],
) -> Neo4jFiles:
    """Write nodes and relationships as CSV files for `neo4j-admin database import full`, into a folder.

    `nodes-header.csv` has the names and types of the columns of the files `nodes-00000.csv` and so on; relationships
    likewise. Nodes have the IRI, or `_:label`, as `uri:ID`. Integers, doubles, booleans, dates and date-times have
    Neo4j's types; all others, including decimals, are strings. Elements of arrays are separated by
    U+001F. Graphs and language tags are ignored. Memory is bounded: statements are first written to disk, in buckets.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly
        folder: the folder for the files, which is created if it does not exist
        save: what to do if the folder is not empty: `error` or `overwrite`
        progress: a function that is called with a `Progress`, as the source is read
        reading: as in `read_pandas`

    Raises:
        EncodeError: if there are quoted triples, which Neo4j does not support
    """
    with needed_by("write_neo4j"):
        from jellyframe.integrations.neo4j_parts import publish_graph, write_graph_part
        from jellyframe.integrations.neo4j_rows import add_graph
        from jellyframe.integrations.planned_files import PartFile, Plan, write_planned
        from jellyframe.ops.bucket_files import BucketFile, buckets_for
    if save == APPEND:
        raise OptionsError("files for Neo4j cannot be appended to: the types of properties follow from all of the data")
    statements = StatementSource(source, reading)
    size = statements.jelly_bytes
    buckets = _UNKNOWN_BUCKETS if size is None else buckets_for(size)
    output = Output.of(folder, has_graph=False, save=save)
    try:
        place = output.target.attempt_folder(0)
        together = f"{place}/statements.buckets"
        with BucketFile(output.target.storage, together, buckets) as file:
            for batch in statements.batches(progress):
                add_graph(file, batch)

        def write(bucket: int, plan: Plan | None) -> list[PartFile]:
            return write_graph_part(output, [together], bucket, place, plan)

        files = write_planned(buckets, write, lambda count, work: [work(number) for number in range(count)])
        return publish_graph(files, output)
    except BaseException:
        output.target.discard()
        raise
