"""Statements as the rows of nodes and relationships that Neo4j imports. Needs numpy.

IRIs and blank nodes are nodes with the label `Resource` and one for each of their classes. Their literals are
properties, with the names and types of `pivot` if Neo4j has them, and arrays if a predicate repeats. The
other statements are relationships, whose type is the last part of the predicate's IRI; `uri` is the whole IRI.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jellyframe.batch import Batch
from jellyframe.errors import EncodeError
from jellyframe.integrations.column_types import ColumnType
from jellyframe.integrations.property_columns import Properties, column_names, make_tables, properties_of, rows_of_cells
from jellyframe.integrations.subject_rows import Ints, Mask, SubjectRows, Terms
from jellyframe.ops.bucket_files import BucketFile
from jellyframe.terms import RDF_TYPE

# Unlikely in text, unlike the semicolon that is Neo4j's default.
ARRAY_DELIMITER = "\x1f"
_ID = "uri"
RELATIONSHIP_HEADER = [":START_ID", ":END_ID", ":TYPE", "uri"]
# The side of a bucket that has nodes as the objects of statements.
MENTIONS = 1
_TYPES = {
    "integer": "long",
    "float": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "localdatetime",
    "timestamp_utc": "datetime",
}


def add_graph(file: BucketFile, batch: Batch) -> None:
    """Add statements to the buckets of their subjects, and nodes that are objects to their own buckets."""
    terms = Terms(batch)
    if terms.has_quoted:
        raise EncodeError("there are quoted triples, which Neo4j does not support")
    file.add(batch)
    p, o = np.asarray(batch.p, np.int32), np.asarray(batch.o, np.int32)
    linked = np.unique(o[_is_link(terms, p, o)])
    if len(linked):
        # Any object will do; the subject again stays within the bucket.
        predicates = np.full(len(linked), p[0], np.int32)
        columns = (linked.data, predicates.data, linked.data, None)
        file.add(batch.replace(columns=columns, frame_ends=None), MENTIONS)


def _is_link(terms: Terms, p: Ints, o: Ints) -> Mask:
    """Return for each statement whether it is a relationship: not a property, and not a class."""
    types = [number for number in np.unique(p).tolist() if terms.string(number) == RDF_TYPE]
    link: Mask = ~terms.is_literal[o] & ~(np.isin(p, types) & terms.is_iri[o])
    return link


def node_properties(rows: SubjectRows) -> Properties:
    """Return the properties of nodes, by the IRIs of their predicates in ascending order."""
    return dict(sorted(properties_of(rows.terms, rows.select(rows.terms.is_literal[rows.o]).parts()).items()))


def node_header(properties: Properties) -> list[str]:
    """Return the names of the columns of nodes, with Neo4j's types."""
    names = column_names(properties, _ID)
    return [
        f"{_ID}:ID",
        ":LABEL",
        *(
            f"{_escaped(names[predicate])}:{_TYPES.get(column.type.kind, 'string')}{'[]' if column.repeats else ''}"
            for predicate, column in properties.items()
        ),
    ]


def _escaped(name: str) -> str:
    """Return a name without the brace that begins the options of a column. Colons need no escape."""
    return name.replace("{", "%7B")


def node_tables(rows: SubjectRows, mentions: Iterable[Batch], properties: Properties) -> Iterator[pa.Table]:
    """Yield the nodes of a bucket with these properties: subjects, and nodes that are only objects."""
    header = node_header(properties)
    literals = rows.select(rows.terms.is_literal[rows.o])
    labels = _labels(rows)
    start = 0
    for values in make_tables(literals, literals.parts(), properties):
        texts = [
            _texts(values.column(at + 1), column.type, column.repeats) for at, column in enumerate(properties.values())
        ]
        yield pa.Table.from_arrays([values.column(0), labels.slice(start, len(values)), *texts], names=header)
        start += len(values)
    mentioned = SubjectRows.of(mentions).names
    others = mentioned.filter(pc.invert(pc.is_in(mentioned, value_set=rows.names)))
    for start in range(0, len(others), size := rows_of_cells(len(header))):
        names = others.slice(start, size)
        label, missing = pa.repeat(pa.scalar("Resource"), len(names)), pa.nulls(len(names), pa.string())
        yield pa.Table.from_arrays([names, label, *[missing] * len(properties)], names=header)


def relationship_table(rows: SubjectRows) -> pa.Table:
    """Return the relationships whose start nodes are in a bucket."""
    predicates = rows.terms.values.take(pa.array(rows.predicates))
    links = rows.select(_is_link(rows.terms, rows.predicates[rows.p], rows.o))
    columns = [
        links.names.take(pa.array(links.s)),
        rows.terms.texts.take(pa.array(links.o)),
        _last_part(predicates).take(pa.array(links.p)),
        predicates.take(pa.array(links.p)),
    ]
    return pa.Table.from_arrays(columns, names=RELATIONSHIP_HEADER)


def _last_part(iris: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(iris, r"^.*[/#:]([^/#:]+)[/#:]*$", r"\1")


def _labels(rows: SubjectRows) -> pa.Array:
    """Return the labels of each subject: `Resource`, and the last parts of its classes."""
    classes = rows.select(rows.is_class)
    counts = np.bincount(classes.s, minlength=len(rows.subjects))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    names = _last_part(rows.terms.values.take(pa.array(classes.o)))
    joined = _joined(pa.ListArray.from_arrays(pa.array(offsets), names))
    more = pc.binary_join_element_wise("Resource", joined, ARRAY_DELIMITER)
    return pc.if_else(pa.array(counts == 0), "Resource", more)


def _texts(column: pa.ChunkedArray, kind: ColumnType, repeats: bool) -> pa.Array:
    """Return values as Neo4j reads them: the elements of lists separated by U+001F."""
    values = column.combine_chunks()
    if not repeats:
        return _plain_texts(values, kind)
    mask = values.is_null() if values.null_count else None
    return _joined(pa.ListArray.from_arrays(values.offsets, _plain_texts(values.values, kind), mask=mask))


def _joined(lists: pa.ListArray) -> pa.Array:
    """Return lists as arrays of Neo4j. Raises EncodeError if an element contains the delimiter."""
    if pc.any(pc.match_substring(lists.values, ARRAY_DELIMITER)).as_py():
        raise EncodeError("a value of an array has the character U+001F, which separates the values of arrays")
    return pc.binary_join(lists, ARRAY_DELIMITER)


def _plain_texts(values: pa.Array, kind: ColumnType) -> pa.Array:
    if kind.kind == "timestamp_utc":
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ")
    if kind.kind == "timestamp":
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%S")
    texts = values.cast(pa.string())
    if kind.kind == "float":
        # The names in Java.
        for ours, theirs in (("inf", "Infinity"), ("-inf", "-Infinity"), ("nan", "NaN")):
            texts = pc.if_else(pc.equal(texts, ours), theirs, texts)
    return texts
