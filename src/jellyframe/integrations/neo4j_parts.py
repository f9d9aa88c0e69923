"""The CSV files of nodes and relationships, written bucket by bucket and published together. Needs numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow import csv

from jellyframe.integrations.neo4j_files import NODES, RELATIONSHIPS, Neo4jFiles, is_graph_file
from jellyframe.integrations.neo4j_rows import (
    MENTIONS,
    RELATIONSHIP_HEADER,
    node_header,
    node_properties,
    node_tables,
    relationship_table,
)
from jellyframe.integrations.planned_files import PartFile, Plan, plan_of
from jellyframe.integrations.property_columns import Properties
from jellyframe.integrations.subject_rows import SubjectRows
from jellyframe.ops.bucket_files import read_bucket
from jellyframe.ops.outputs import Output


def write_graph_part(
    output: Output, together: Sequence[str], bucket: int, folder: str, plan: Plan | None
) -> list[PartFile]:
    """Write the nodes and relationships of a bucket of files, and return the files.

    With a `plan`, only the nodes, with the properties that it names.
    """
    storage = output.target.storage
    rows = SubjectRows.of(read_bucket(storage, together, bucket))
    properties = node_properties(rows) if plan is None else plan[NODES]
    tables = {NODES: node_tables(rows, read_bucket(storage, together, bucket, MENTIONS), properties)}
    if plan is None:
        tables[RELATIONSHIPS] = iter([relationship_table(rows)])
    columns = {NODES: properties, RELATIONSHIPS: {}}
    # Each kind has a file, even if it is empty: the importer refuses a pattern that matches no file.
    written = [_write(found, kind, output, bucket, folder, columns[kind]) for kind, found in tables.items()]
    return [file for file in written if file.rows or not bucket]


def _write(
    tables: Iterator[pa.Table], kind: str, output: Output, bucket: int, folder: str, columns: Properties
) -> PartFile:
    path = f"{folder}/{kind}-{bucket:05d}.csv"
    rows = 0
    with output.target.storage.fs.open_output_stream(path) as file:
        for table in tables:
            csv.write_csv(table, file, csv.WriteOptions(include_header=False))
            rows += len(table)
    return PartFile(kind, path, output.target.storage.info(path).size, rows, columns)


def publish_graph(files: Sequence[PartFile], output: Output) -> Neo4jFiles:
    """Publish the files, each kind with its header."""
    headers = {NODES: node_header(plan_of(files).get(NODES, {})), RELATIONSHIPS: RELATIONSHIP_HEADER}
    storage, target = output.target.storage, output.target
    staged = [file.path for file in files]
    for kind, names in headers.items():
        path = f"{target.attempt_folder('driver')}/{kind}-header.csv"
        with storage.fs.open_output_stream(path) as file:
            csv.write_csv(pa.table({name: pa.array([], pa.string()) for name in names}), file)
        staged.append(path)
    target.publish(staged, output.save, is_data=is_graph_file)
    folder = storage.display(target.path)
    paths = {
        kind: [
            f"{folder}/{kind}-header.csv",
            *sorted(f"{folder}/{_name(file)}" for file in files if file.table == kind),
        ]
        for kind in headers
    }
    counts = (sum(file.rows for file in files if file.table == kind) for kind in headers)
    return Neo4jFiles(folder, paths[NODES], paths[RELATIONSHIPS], *counts)


def _name(file: PartFile) -> str:
    return file.path.rpartition("/")[2]
