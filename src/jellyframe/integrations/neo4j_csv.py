"""Statements as the CSV files that `neo4j-admin database import full` takes.

IRIs and blank nodes are nodes with the label `Resource` and one for each of their classes. Their literals are
properties, with the names and types of `pivot` as far as Neo4j has them, and arrays where a predicate repeats. The
other statements are relationships, whose type is the last part of the predicate's IRI; `uri` has all of it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import NamedTuple, Unpack

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from jellyframe.errors import EncodeError
from jellyframe.integrations.column_types import ColumnType
from jellyframe.integrations.property_tables import (
    RDF_TYPE,
    column_names,
    make_table,
    properties_of,
    statement_rows,
)
from jellyframe.integrations.sources import ReadingOptions, Statements, StatementSource
from jellyframe.storage.sinks import ByteSink

# No text is likely to have it, unlike the semicolon that Neo4j takes by default.
ARRAY_DELIMITER = "\x1f"
_TYPES = {
    "integer": "long",
    "float": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "localdatetime",
    "timestamp_utc": "datetime",
}


class Neo4jFiles(NamedTuple):
    """The files that were written, how much is in them, and the command that imports them."""

    nodes: Path
    relationships: Path
    node_count: int
    relationship_count: int

    def command(self, database: str = "neo4j") -> str:
        """Return the command that makes a database of the files.

        Args:
            database: the name of the database
        """
        return (
            f"neo4j-admin database import full {database} --array-delimiter=U+001F --multiline-fields=true "
            f"--nodes={self.nodes} --relationships={self.relationships}"
        )


def write_neo4j(source: Statements, folder: str | os.PathLike[str], **reading: Unpack[ReadingOptions]) -> Neo4jFiles:
    """Write `nodes.csv` and `relationships.csv` for `neo4j-admin database import full`, into a folder.

    Nodes have the IRI, or `_:label`, as `uri:ID`. Integers, doubles, booleans, dates and date-times have Neo4j's types;
    decimals, which it does not have, and all else are strings. Elements of arrays are separated by U+001F. Graphs and
    language tags are left aside. All statements are held in memory.

    Args:
        source: a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly
        folder: where the files go; it is created if it does not exist
        reading: as in `read_pandas`

    Raises:
        EncodeError: if there are quoted triples, which Neo4j has no place for
    """
    rows = statement_rows(StatementSource(source, reading).batches())
    _refuse_quoted(rows)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    is_literal = pc.equal(rows["o_kind"], "literal")
    is_class = pc.and_(pc.equal(rows["p"], RDF_TYPE), pc.equal(rows["o_kind"], "iri"))
    links = rows.filter(pc.invert(pc.or_(is_literal, is_class)))
    ends = _labelled(links)
    nodes = _nodes(rows, rows.filter(is_literal), rows.filter(is_class), ends)
    relationships = pa.table(
        {
            ":START_ID": links["s"],
            ":END_ID": ends,
            ":TYPE": _last_part(links["p"]),
            "uri": links["p"],
        }
    )
    files = Neo4jFiles(target / "nodes.csv", target / "relationships.csv", len(nodes), len(relationships))
    _write(nodes, files.nodes)
    _write(relationships, files.relationships)
    return files


def _refuse_quoted(rows: pa.Table) -> None:
    quoted = pc.or_(pc.equal(rows["o_kind"], "triple"), pc.starts_with(rows["s"], "<<"))
    if pc.any(quoted).as_py():
        raise EncodeError("there are quoted triples, which Neo4j has no place for")


def _labelled(rows: pa.Table) -> pa.ChunkedArray:
    """Return objects as they are called as nodes: IRIs as they are, blank nodes as `_:label`."""
    return pc.if_else(pc.equal(rows["o_kind"], "bnode"), pc.binary_join_element_wise("_:", rows["o"], ""), rows["o"])


def _last_part(iris: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(iris, r"^.*[/#:]([^/#:]+)[/#:]*$", r"\1")


def _nodes(rows: pa.Table, literals: pa.Table, classes: pa.Table, ends: pa.ChunkedArray) -> pa.Table:
    names = pa.chunked_array([*rows["s"].chunks, *ends.chunks], pa.string()).unique()
    properties = properties_of(literals)
    values = make_table(literals, properties)
    place = pc.index_in(names, value_set=values["subject"].combine_chunks())
    columns: dict[str, pa.Array | pa.ChunkedArray] = {"uri:ID": names, ":LABEL": _labels(names, classes)}
    for predicate, name in column_names(properties).items():
        found = properties[predicate]
        suffix = "[]" if found.repeats else ""
        column = values[name].combine_chunks().take(place)
        columns[f"{name}:{_TYPES.get(found.type.kind, 'string')}{suffix}"] = _texts(column, found.type, found.repeats)
    return pa.table(columns)


def _labels(names: pa.Array, classes: pa.Table) -> pa.Array:
    """Return the labels of each node: `Resource`, and the last parts of its classes."""
    label = pa.table({"s": classes["s"], "label": _last_part(classes["o"])})
    grouped = label.group_by("s", use_threads=False).aggregate([("label", "list")])
    joined = pc.binary_join(grouped["label_list"].combine_chunks(), ARRAY_DELIMITER)
    found = joined.take(pc.index_in(names, value_set=grouped["s"].combine_chunks()))
    return pc.if_else(
        pc.is_null(found),
        pa.scalar("Resource"),
        pc.binary_join_element_wise(pa.scalar("Resource"), found, ARRAY_DELIMITER, null_handling="replace"),
    )


def _texts(column: pa.Array, kind: ColumnType, repeats: bool) -> pa.Array:
    """Return values as Neo4j reads them: lists with U+001F between the elements."""
    if not repeats:
        return _plain_texts(column, kind)
    lists = pa.ListArray.from_arrays(
        column.offsets, _plain_texts(column.values, kind), mask=column.is_null() if column.null_count else None
    )
    return pc.binary_join(lists, ARRAY_DELIMITER)


def _plain_texts(values: pa.Array, kind: ColumnType) -> pa.Array:
    if kind.kind == "timestamp_utc":
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ")
    if kind.kind == "timestamp":
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%S")
    return values.cast(pa.string())


def _write(table: pa.Table, path: Path) -> None:
    text = io.BytesIO()
    csv.write_csv(table, text)
    with ByteSink(path) as sink:
        sink.write(text.getbuffer())
