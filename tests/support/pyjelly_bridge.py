"""Between pyjelly and this package: terms, and streams written and read by pyjelly."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyjelly.integrations.generic import generic_sink as generic
from pyjelly.integrations.generic.parse import parse_jelly_flat, parse_jelly_grouped
from pyjelly.integrations.generic.serialize import GenericSinkTermEncoder, stream_frames
from pyjelly.options import LookupPreset, StreamParameters
from pyjelly.parse.decode import Adapter, Decoder
from pyjelly.parse.ioutils import get_options_and_frames
from pyjelly.serialize.ioutils import write_delimited, write_single
from pyjelly.serialize.streams import SerializerOptions, stream_for_type

from jellyframe.options import StreamOptions
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Triple
from support.plain import RDF_LANG_STRING, XSD_STRING, PlainStatement, PlainTerm, plain_literal
from support.strategies import FrameCase, Statement, StreamCase, flat_terms


def to_pyjelly_term(term: Any) -> Any:
    if term is DEFAULT_GRAPH:
        return generic.DefaultGraph
    if isinstance(term, IRI):
        return generic.IRI(term.value)
    if isinstance(term, BlankNode):
        return generic.BlankNode(term.label)
    if isinstance(term, Literal):
        datatype = None if term.datatype in (XSD_STRING, RDF_LANG_STRING) else term.datatype
        return generic.Literal(term.lex, term.language, datatype)
    assert isinstance(term, Triple)
    return generic.Triple(*map(to_pyjelly_term, term))


def plain_pyjelly_term(term: Any) -> PlainTerm:
    """A term of pyjelly as a plain tuple."""
    if term is generic.DefaultGraph:
        return ("default",)
    if isinstance(term, generic.IRI):
        return "iri", term._iri
    if isinstance(term, generic.BlankNode):
        return "bnode", term._identifier
    if isinstance(term, generic.Literal):
        return plain_literal(term._lex, term._datatype, term._langtag)
    assert isinstance(term, generic.Triple)
    return "triple", *map(plain_pyjelly_term, term)


def plain_pyjelly(statements: Iterable[Any]) -> list[PlainStatement]:
    return [tuple(map(plain_pyjelly_term, statement)) for statement in statements]


def pyjelly_frames(data: bytes) -> list[list[PlainStatement]]:
    """The statements that pyjelly reads, frame by frame."""
    return [plain_pyjelly(sink) for sink in parse_jelly_grouped(io.BytesIO(data))]


class _IriText(str):
    """An IRI that is a string, see `_PlainAdapter`."""

    __slots__ = ()


class _PlainAdapter(Adapter):
    """Makes plain tuples of what pyjelly's decoder finds.

    pyjelly's own generic adapter fails on namespace declarations (its decoder hands it an IRI object where it
    is compiled to take a string), which is why IRIs are strings here.
    """

    graph: Any = None

    def iri(self, iri: str) -> Any:
        return _IriText(iri)

    def bnode(self, bnode: str) -> Any:
        return "bnode", bnode

    def default_graph(self) -> Any:
        return ("default",)

    def literal(self, lex: str, language: str | None = None, datatype: str | None = None) -> Any:
        return plain_literal(lex, datatype, language)

    def quoted_triple(self, terms: Iterable[Any]) -> Any:
        return "triple", *map(_finished, terms)

    def triple(self, terms: Iterable[Any]) -> Any:
        graph = () if self.graph is None else (self.graph,)
        return tuple(map(_finished, (*terms, *graph)))

    def quad(self, terms: Iterable[Any]) -> Any:
        return tuple(map(_finished, terms))

    def graph_start(self, graph_id: Any) -> Any:
        self.graph = graph_id

    def graph_end(self) -> Any:
        self.graph = None

    def namespace_declaration(self, name: str, iri: str) -> Any:
        return Declaration(name, str(iri))


class Declaration(NamedTuple):
    name: str
    iri: str


def _finished(term: Any) -> PlainTerm:
    return ("iri", str(term)) if isinstance(term, _IriText) else term


@dataclass
class PyjellyFrame:
    statements: list[PlainStatement]
    namespaces: list[tuple[str, str]]
    metadata: dict[str, bytes]


def pyjelly_full_frames(data: bytes) -> list[PyjellyFrame]:
    """Return what pyjelly reads frame by frame, with namespaces and metadata."""
    options, frames = get_options_and_frames(io.BytesIO(data))
    decoder = Decoder(adapter=_PlainAdapter(options))
    found = []
    for frame in frames:
        rows = list(decoder.iter_rows(frame))
        namespaces = [(name, iri) for name, iri in (row for row in rows if isinstance(row, Declaration))]
        statements = [row for row in rows if not isinstance(row, Declaration)]
        found.append(PyjellyFrame(statements, namespaces, dict(frame.metadata)))
    return found


def pyjelly_statements(data: bytes) -> list[PlainStatement]:
    """Return what pyjelly reads in flat mode, where no namespaces are declared."""
    return plain_pyjelly(parse_jelly_flat(io.BytesIO(data)))


def _split(iri: str) -> tuple[str, str]:
    """Prefix and name, as pyjelly splits them."""
    for separator in "#", "/":
        head, found, tail = iri.rpartition(separator)
        if found:
            return head + found, tail
    return "", iri


def with_room_in_pyjelly(options: StreamOptions, statements: Iterable[Statement]) -> StreamOptions:
    """The options with a prefix table that holds the prefixes of any one statement, if it holds any at all.

    pyjelly writes all lookup entries of a statement before the statement. When there are more than the table
    holds, the later ones overwrite the earlier, and the statement comes out wrong.
    """
    if options.max_prefix_table_size == 0:
        return options
    needs = [
        len({_split(term.value)[0] for term in flat_terms(statement) if isinstance(term, IRI)})
        for statement in statements
    ]
    return options.replace(max_prefix_table_size=max([options.max_prefix_table_size, *needs]))


def _pyjelly_stream(options: StreamOptions, *, frame_size: int, delimited: bool, namespaces: bool) -> Any:
    preset = LookupPreset(
        max_names=options.max_name_table_size,
        max_prefixes=options.max_prefix_table_size,
        max_datatypes=options.max_datatype_table_size,
    )
    parameters = StreamParameters(
        generalized_statements=options.generalized_statements,
        rdf_star=options.rdf_star,
        delimited=delimited,
        namespace_declarations=namespaces,
        stream_name=options.stream_name,
    )
    serializer_options = SerializerOptions(
        frame_size=frame_size,
        logical_type=int(options.logical_type),
        params=parameters,
        lookup_preset=preset,
    )
    return stream_for_type(int(options.physical_type))(
        encoder=GenericSinkTermEncoder(lookup_preset=preset), options=serializer_options
    )


def _sink(frame: FrameCase) -> Any:
    sink = generic.GenericStatementSink()
    for label, iri in frame.namespaces:
        sink.bind(label, iri)  # a plain string: of an IRI pyjelly would write the angle brackets, too
    for statement in frame.statements:
        build = generic.Triple if len(statement) == 3 else generic.Quad
        sink.add(build(*map(to_pyjelly_term, statement)))
    return sink


def written_by_pyjelly(case: StreamCase, *, frame_size: int = 250, delimited: bool = True) -> bytes:
    """The stream as pyjelly writes it. It leaves out frames that would have no rows.

    A bare stream has all its statements in one frame.
    """
    frames = case.frames
    if not delimited:
        frames = [FrameCase(case.statements, [pair for frame in frames for pair in frame.namespaces])]
    namespaces = any(frame.namespaces for frame in frames)
    stream = _pyjelly_stream(case.options, frame_size=frame_size, delimited=delimited, namespaces=namespaces)
    written = [message for frame in frames for message in stream_frames(stream, _sink(frame))]
    rest = stream.flow.to_stream_frame()
    if rest is not None:
        written.append(rest)
    out = io.BytesIO()
    for message in written:
        (write_delimited if delimited else write_single)(message, out)
    return out.getvalue()
