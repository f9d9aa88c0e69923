"""Options and namespaces of a stream as JSON in the metadata of Arrow schemas."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

from jellyframe.arrow.layouts import FRAME_COLUMN
from jellyframe.errors import TableError
from jellyframe.options import LogicalType, PhysicalType, StreamOptions, TableOptions

if TYPE_CHECKING:
    import pyarrow as pa

OPTIONS_KEY = b"jelly.options"
NAMESPACES_KEY = b"jelly.namespaces"


def encoded_options(options: TableOptions) -> bytes:
    """Return options of a stream as JSON, with the names of types."""
    values = dataclasses.asdict(options).items()
    return json.dumps({name: value.name if isinstance(value, Enum) else value for name, value in values}).encode()


def with_stream_metadata(schema: pa.Schema, options: StreamOptions, namespaces: Mapping[str, str]) -> pa.Schema:
    """Return a schema whose metadata has the options and the namespaces of a stream."""
    entries = dict(schema.metadata or {})
    entries[OPTIONS_KEY] = encoded_options(options)
    if namespaces:
        entries[NAMESPACES_KEY] = json.dumps(dict(namespaces)).encode()
    return schema.with_metadata(entries)


def stream_options(schema: pa.Schema) -> StreamOptions | None:
    """Return the options in the metadata of a schema that fit its columns; None if there are none.

    A grouped stream needs a column `frame`, and graphs a column `g`: if the table has lost one, the options are those
    of a flat stream of the remaining columns. Raises TableError if the metadata cannot be read.
    """
    entry = (schema.metadata or {}).get(OPTIONS_KEY)
    if entry is None:
        return None
    try:
        values = json.loads(entry)
        values["physical_type"] = PhysicalType[values["physical_type"]]
        values["logical_type"] = LogicalType[values["logical_type"]]
        options = StreamOptions(**values)
    except (ValueError, TypeError, KeyError) as error:
        raise TableError(
            f"the metadata {OPTIONS_KEY.decode()} of the schema holds no stream options: {error}"
        ) from error
    has_graph = "g" in schema.names
    if has_graph == options.has_graph and (FRAME_COLUMN in schema.names or not options.logical_type.is_grouped):
        return options
    return options.replace(
        physical_type=options.physical_type
        if has_graph == options.has_graph
        else (PhysicalType.QUADS if has_graph else PhysicalType.TRIPLES),
        logical_type=LogicalType.FLAT_QUADS if has_graph else LogicalType.FLAT_TRIPLES,
    )


def stream_namespaces(schema: pa.Schema) -> dict[str, str]:
    """Return the namespaces that the metadata of a schema has. Raises TableError if it cannot be read."""
    entry = (schema.metadata or {}).get(NAMESPACES_KEY)
    if entry is None:
        return {}
    try:
        namespaces = json.loads(entry)
    except ValueError as error:
        raise TableError(f"the metadata {NAMESPACES_KEY.decode()} of the schema is not valid JSON: {error}") from error
    if not isinstance(namespaces, dict) or not all(isinstance(iri, str) for iri in namespaces.values()):
        raise TableError(f"the metadata {NAMESPACES_KEY.decode()} of the schema holds no names with their IRIs")
    return namespaces
