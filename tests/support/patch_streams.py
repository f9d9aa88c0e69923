"""Build patch streams from protobuf messages, and read them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, ParseError
from jellyframe.proto import patch_pb2 as patch
from jellyframe.proto import rdf_pb2 as rdf
from support.wire import filled, varint

TRIPLES, QUADS = 1, 2
FRAME, FLAT, PUNCTUATED = 1, 2, 3
STREAM_TYPES = {"FRAME": FRAME, "FLAT": FLAT, "PUNCTUATED": PUNCTUATED}
EX = "http://example.org/"


def row(**content: Any) -> Any:
    """One row: `row(header=…)`. An empty message is given as True."""
    return filled(patch.RdfPatchRow(), content)


def options(
    statement_type: int = QUADS, stream_type: int = PUNCTUATED, *, prefixes: int = 16, datatypes: int = 16, **more: Any
) -> Any:
    fields = {
        "statement_type": statement_type,
        "stream_type": stream_type,
        "max_name_table_size": 16,
        "max_prefix_table_size": prefixes,
        "max_datatype_table_size": datatypes,
        "version": 1,
        **more,
    }
    return row(options=patch.RdfPatchOptions(**fields))


def name(value: str, entry_id: int = 0) -> Any:
    return row(name=rdf.RdfNameEntry(id=entry_id, value=value))


def prefix(value: str, entry_id: int = 0) -> Any:
    return row(prefix=rdf.RdfPrefixEntry(id=entry_id, value=value))


def datatype(value: str, entry_id: int = 0) -> Any:
    return row(datatype=rdf.RdfDatatypeEntry(id=entry_id, value=value))


def iri(name_id: int = 0, prefix_id: int = 0) -> Any:
    return rdf.RdfIri(prefix_id=prefix_id, name_id=name_id)


def literal(lex: str, **kind: Any) -> Any:
    return rdf.RdfLiteral(lex=lex, **kind)


def quoted(**terms: Any) -> Any:
    return rdf.RdfTriple(**terms)


def add(**terms: Any) -> Any:
    return row(statement_add=quad(**terms))


def delete(**terms: Any) -> Any:
    return row(statement_delete=quad(**terms))


def quad(**terms: Any) -> Any:
    if terms.pop("g_default_graph", False):
        terms["g_default_graph"] = rdf.RdfDefaultGraph()
    return rdf.RdfQuad(**terms)


def namespace(**fields: Any) -> Any:
    if fields.pop("g_default_graph", False):
        fields["g_default_graph"] = rdf.RdfDefaultGraph()
    return patch.RdfPatchNamespace(**fields)


def header(**fields: Any) -> Any:
    return row(header=patch.RdfPatchHeader(**fields))


START, COMMIT, ABORT = row(transaction_start=True), row(transaction_commit=True), row(transaction_abort=True)
MARK = row(punctuation=True)
# Names 1 to 4 with the prefix 1.
ENTRIES = (prefix(EX), name("a"), name("b"), name("c"), name("g"))
# A statement of IRIs a, b, c (graph g), whatever came before.
SPO = {"s_iri": iri(1, 1), "p_iri": iri(2), "o_iri": iri(3)}
SPOG = {**SPO, "g_iri": iri(4)}


def frame(*rows: Any) -> bytes:
    """A frame without its length."""
    data: bytes = patch.RdfPatchFrame(rows=rows).SerializeToString()
    return data


def delimited(*frames: bytes) -> bytes:
    return b"".join(varint(len(data)) + data for data in frames)


def stream(*rows: Any) -> bytes:
    """A stream of one frame, with its length."""
    return delimited(frame(*rows))


def lines(package: ModuleType, data: bytes, **settings: Any) -> list[str]:
    """The rows of a stream as text."""
    with package.open_patch_reader(data, **settings) as reader:
        return [str(line) for line in reader.rows()]


def refusal(package: ModuleType, data: bytes, kind: type[JellyError] = ParseError, **settings: Any) -> str:
    """Return the message of the error with which a stream is refused."""
    with pytest.raises(kind) as caught:
        lines(package, data, **settings)
    return caught.value.message
