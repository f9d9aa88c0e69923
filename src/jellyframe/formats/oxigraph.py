"""Turtle, TriG, RDF/XML and JSON-LD, by way of pyoxigraph and, between it and us, lines of N-Quads.

Statements pass in blocks, so memory does not grow with the input. Text is the quickest way from one library to the
other. Quoted triples take a slower way: pyoxigraph knows them as triple terms of RDF 1.2, which are objects only, and
spells them differently.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import pyoxigraph

from jellyframe.batch import Batch
from jellyframe.errors import EncodeError, JellyError, TextError
from jellyframe.formats import ntriples
from jellyframe.formats.target_rules import check_target
from jellyframe.kernel.ntriples_write_cy import MAX_QUOTED_BYTES
from jellyframe.storage.sources import ByteSource
from jellyframe.terms import DEFAULT_GRAPH, IRI, XSD_STRING, BlankNode, Literal, Quad, Triple

if TYPE_CHECKING:
    from jellyframe.formats import Format
    from jellyframe.storage.sinks import SinkFile

BLOCK_STATEMENTS = 16_384
_FORMATS = {
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "rdfxml": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}
_NQUADS = pyoxigraph.RdfFormat.N_QUADS


# ---- reading ----------------------------------------------------------------------------------------------


class OxigraphInput:
    """A text that pyoxigraph reads for us, from a file object that has a name."""

    def __init__(self, source: Any, input_format: Format, *, base_iri: str | None, strict: bool) -> None:
        self._format = input_format
        self._name = source.name
        self._parser = pyoxigraph.parse(
            ByteSource(source),  # type: ignore[arg-type]
            _FORMATS[input_format.name],
            base_iri=base_iri,
            lenient=not strict,
        )

    def namespaces(self) -> dict[str, str]:
        """The prefixes that have been declared as far as the text has been read."""
        return dict(self._parser.prefixes)

    def batches(self) -> Iterator[Batch]:
        while True:
            try:
                block = list(islice(self._parser, BLOCK_STATEMENTS))
            except SyntaxError as error:
                raise _text_error(error, self._name) from None
            if not block:
                return
            yield self._batch(block)

    def _batch(self, block: list[pyoxigraph.Quad]) -> Batch:
        text = pyoxigraph.serialize(block, format=_NQUADS) or b""
        try:
            (batch,) = ntriples.read(text, quads=True, batch_rows=BLOCK_STATEMENTS)
        except TextError:
            # Triple terms, relative IRIs and the like: there are objects for them, if no text.
            return Batch.from_statements(map(self._our_quad, block), quads=True)
        return batch

    def _our_quad(self, quad: pyoxigraph.Quad) -> Quad:
        try:
            return our_quad(quad)
        except JellyError as error:
            raise EncodeError(f"Jelly cannot hold the statement {quad} ({error.message})", source=self._name) from None


def iri_of_input(path: str | None) -> str:
    """The IRI against which relative ones are resolved: that of the file, or of the folder we are in."""
    return Path.cwd().as_uri() + "/" if path is None else Path(os.path.abspath(path)).as_uri()


def _text_error(error: SyntaxError, name: str) -> TextError:
    message = str(error.msg)
    if error.lineno is not None:
        # Oxigraph writes the place into its message, in words of its own.
        message = message.partition(": ")[2] or message
    return TextError(message, line=error.lineno, column=error.offset, source=name)


def our_quad(quad: pyoxigraph.Quad) -> Quad:
    graph: Any = quad.graph_name
    is_default = isinstance(graph, pyoxigraph.DefaultGraph)
    return Quad(
        our_term(quad.subject),
        our_term(quad.predicate),
        our_term(quad.object),
        DEFAULT_GRAPH if is_default else our_term(graph),
    )


def our_term(term: Any) -> Any:
    if isinstance(term, pyoxigraph.NamedNode):
        return IRI(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return BlankNode(term.value)
    if isinstance(term, pyoxigraph.Triple):
        return Triple(our_term(term.subject), our_term(term.predicate), our_term(term.object))
    if term.direction is not None:
        raise EncodeError("a literal with a base direction")
    if term.language is not None:
        return Literal(term.value, language=term.language)
    return Literal(term.value, datatype=term.datatype.value)


# ---- writing ----------------------------------------------------------------------------------------------


def write_text(
    batches: Iterable[Batch], sink: SinkFile, target: Format, namespaces: dict[str, str], source: str | None
) -> None:
    """Write batches as one document; with the namespaces, where the format can use them."""
    pyoxigraph.serialize(
        _statements(batches, target, source),
        cast("IO[bytes]", sink),
        _FORMATS[target.name],
        prefixes=usable_prefixes(namespaces),
    )


def usable_prefixes(namespaces: dict[str, str]) -> dict[str, str]:
    """The namespaces that pyoxigraph takes: with absolute IRIs."""
    usable = {}
    for name, iri in namespaces.items():
        try:
            pyoxigraph.serialize((), format=_FORMATS["ttl"], prefixes={name: iri})
        except ValueError:
            continue
        usable[name] = iri
    return usable


def _statements(batches: Iterable[Batch], target: Format, source: str | None) -> Iterator[pyoxigraph.Quad]:
    before = 0
    for batch in batches:
        check_target(batch, target, before, source)
        if batch.terms.quoted_count:
            for row, statement in enumerate(batch.statements()):
                if batch.terms.text_size(batch.o[row]) > MAX_QUOTED_BYTES:
                    raise EncodeError(
                        f"statement {before + row + 1}: a quoted triple of more than {MAX_QUOTED_BYTES} bytes, as "
                        "it repeats long terms; N-Triples and N-Quads can be written piece by piece",
                        source=source,
                    )
                try:
                    yield their_quad(statement)
                except ValueError as error:
                    line = ntriples.line_start(batch, row)
                    raise EncodeError(
                        f"statement {before + row + 1}: {target.title} cannot hold {line} ({error})", source=source
                    ) from None
        else:
            for lines in ntriples.line_blocks(batch):
                yield from pyoxigraph.parse(lines, _NQUADS, lenient=True)
        before += len(batch)


def their_quad(statement: Triple | Quad) -> pyoxigraph.Quad:
    graph = statement[3] if len(statement) == 4 else DEFAULT_GRAPH
    return pyoxigraph.Quad(
        their_term(statement[0]),
        their_term(statement[1]),
        their_term(statement[2]),
        pyoxigraph.DefaultGraph() if graph is DEFAULT_GRAPH else their_term(graph),
    )


def their_term(term: Any) -> Any:
    if isinstance(term, IRI):
        return pyoxigraph.NamedNode(term.value)
    if isinstance(term, BlankNode):
        return pyoxigraph.BlankNode(term.label)
    if isinstance(term, Triple):
        return pyoxigraph.Triple(their_term(term.s), their_term(term.p), their_term(term.o))
    if term.language is not None:
        return pyoxigraph.Literal(term.lex, language=term.language)
    if term.datatype == XSD_STRING:
        return pyoxigraph.Literal(term.lex)
    return pyoxigraph.Literal(term.lex, datatype=pyoxigraph.NamedNode(term.datatype))
