"""The peers, called as their documentation says."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pyoxigraph
from pyjelly import jelly
from pyjelly.integrations.generic.generic_sink import IRI, BlankNode, GenericStatementSink, Literal, Node, Quad, Triple
from pyjelly.integrations.generic.parse import parse_jelly_flat, parse_jelly_grouped
from pyjelly.integrations.generic.serialize import (
    flat_stream_to_file,
    flat_stream_to_frames,
    grouped_stream_to_file,
)
from pyjelly.options import StreamParameters
from pyjelly.serialize.streams import SerializerOptions

from .timing import count

# Where pyjelly cuts frames unless told otherwise; we cut at as many rows, so that sizes compare.
FRAME_ROWS = 250


def options(*, quads: bool, rdf_star: bool, grouped: bool = False, delimited: bool = True) -> SerializerOptions:
    if grouped:
        logical_type = jelly.LOGICAL_STREAM_TYPE_DATASETS
    elif quads:
        logical_type = jelly.LOGICAL_STREAM_TYPE_FLAT_QUADS
    else:
        logical_type = jelly.LOGICAL_STREAM_TYPE_FLAT_TRIPLES
    return SerializerOptions(
        frame_size=FRAME_ROWS,
        logical_type=logical_type,
        params=StreamParameters(rdf_star=rdf_star, delimited=delimited),
    )


def parse(data: bytes) -> Iterator[Triple | Quad]:
    return parse_jelly_flat(io.BytesIO(data))


def flat_value(term: Any) -> str | None:
    """Return a term as it stands in a column of the layout `flat`. pyjelly's terms have no public attributes."""
    if isinstance(term, IRI):
        return term._iri
    if isinstance(term, Triple):
        return _quoted(term)
    # The default graph has no text.
    return str(term) if isinstance(term, BlankNode) else None


def flat_object(term: Any) -> tuple[str | None, str, str | None, str | None]:
    """Return the value, the kind, the datatype and the language of an object."""
    if isinstance(term, Literal):
        return term._lex, "literal", term._datatype, term._langtag
    if isinstance(term, IRI):
        return term._iri, "iri", None, None
    if isinstance(term, BlankNode):
        return term._identifier, "bnode", None, None
    return _quoted(term), "triple", None, None


def _quoted(term: Any) -> str:
    """Return a term as N-Triples has it, inside a quoted triple."""
    return f"<< {' '.join(map(_quoted, term))} >>" if isinstance(term, Triple) else str(term)


def serialize(statements: Iterable[Triple | Quad], stream_options: SerializerOptions) -> bytes:
    sink = io.BytesIO()
    flat_stream_to_file(iter(statements), sink, stream_options)
    return sink.getvalue()


def frames(statements: Iterable[Triple | Quad], stream_options: SerializerOptions) -> Iterator[Any]:
    """Yield the frames of a stream, as protobuf messages."""
    return flat_stream_to_frames(iter(statements), stream_options)


def parse_frames(data: bytes) -> Iterator[GenericStatementSink]:
    return parse_jelly_grouped(io.BytesIO(data))


def serialize_frames(groups: Iterable[Iterable[Quad]], stream_options: SerializerOptions) -> bytes:
    sink = io.BytesIO()
    grouped_stream_to_file((_graph(group) for group in groups), sink, options=stream_options)
    return sink.getvalue()


def _graph(statements: Iterable[Quad]) -> GenericStatementSink:
    graph = GenericStatementSink()
    for statement in statements:
        graph.add(statement)
    return graph


def dump_message(statements: Iterable[Triple | Quad], stream_options: SerializerOptions) -> bytes:
    """One bare frame; `stream_options` say that it is not delimited."""
    (frame,) = flat_stream_to_frames(iter(statements), stream_options)
    return frame.SerializeToString()


def load_message(message: bytes) -> list[Triple | Quad]:
    return list(parse(message))


def triples_of(quads: Iterable[pyoxigraph.Quad]) -> Iterator[Triple]:
    """Yield the triples that pyoxigraph has parsed, as pyjelly takes them."""
    for quad in quads:
        yield Triple(_term_of(quad.subject), _term_of(quad.predicate), _term_of(quad.object))


def _term_of(term: Any) -> Node:
    if isinstance(term, pyoxigraph.NamedNode):
        return IRI(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return BlankNode(term.value)
    if term.language is not None:
        return Literal(term.value, term.language)
    return Literal(term.value, None, term.datatype.value)


def parse_text(text: bytes, *, quads: bool) -> int:
    formats = pyoxigraph.RdfFormat
    return count(pyoxigraph.parse(text, formats.N_QUADS if quads else formats.N_TRIPLES))
