"""What Jelly can hold and Turtle, TriG, RDF/XML or JSON-LD cannot: found before anything wrong is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jellyframe.errors import EncodeError
from jellyframe.formats.ntriples import line_start
from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_DEFAULT_GRAPH, KIND_IRI, KIND_QUOTED_TRIPLE

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format

_NODES = (KIND_IRI, KIND_BLANK_NODE)
_NEVER_IN_IRI = re.compile(rb"[\x00-\x20<>\"{}|\\^`]")
_XML_NAME = re.compile(
    r"[A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    r"\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
    r"[A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    r"\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*$"
)
_NEVER_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# Names that mean something else where RDF/XML has the predicate.
_RDF_XML_SYNTAX = {
    _RDF + name
    for name in "RDF ID about parseType resource nodeID datatype Description li aboutEach aboutEachPrefix bagID".split()
}

# A row, and what is wrong with its statement.
_Trouble = tuple[int, str]


def check_target(batch: Batch, target: Format, before: int, source: str | None) -> None:
    """Raise if a statement of the batch cannot be written in a format, naming both; `before` came before it."""
    for row, reason in _troubles(batch, target):
        raise EncodeError(
            f"statement {before + row + 1}: {target.title} cannot hold {reason}: {line_start(batch, row)}",
            source=source,
        )


def _troubles(batch: Batch, target: Format) -> Iterator[_Trouble]:
    kinds, details, quoted = batch.terms.buffers()

    def is_good_object(term: int) -> bool:
        while kinds[term] == KIND_QUOTED_TRIPLE:
            if target.name == "jsonld":
                return False
            at = 3 * details[term]
            if kinds[quoted[at]] not in _NODES or kinds[quoted[at + 1]] != KIND_IRI:
                return False
            term = quoted[at + 2]
        return True

    yield from _rows(batch.p, lambda term: kinds[term] == KIND_IRI, "a predicate that is no IRI")
    yield from _rows(batch.s, lambda term: kinds[term] in _NODES, "a subject that is neither IRI nor blank node")
    if batch.g is not None:
        graph_kinds = (*_NODES, KIND_DEFAULT_GRAPH)
        yield from _rows(batch.g, lambda term: kinds[term] in graph_kinds, "a graph name that is a literal")
    if len(quoted):
        yield from _rows(batch.o, is_good_object, "a quoted triple like this one")
    yield from _bad_strings(batch, kinds, target)


def _rows(column: memoryview, is_good: Callable[[int], bool], what: str) -> Iterator[_Trouble]:
    """The first row whose term is not good. Each distinct term is asked for once."""
    bad = {term for term in set(column) if not is_good(term)}
    if bad:
        yield next(row for row, term in enumerate(column) if term in bad), what


def _bad_strings(batch: Batch, kinds: memoryview, target: Format) -> Iterator[_Trouble]:
    """IRIs and literals with characters that the format has no way to write."""
    offsets, data = batch.terms.values.buffers()
    text = bytes(data)
    is_xml = target.name == "rdfxml"
    start = 0
    for term, kind in enumerate(kinds):
        stop = offsets[term + 1]
        if kind == KIND_IRI:
            if _NEVER_IN_IRI.search(text, start, stop):
                yield _place(batch, term), "an IRI with such a character"
        elif is_xml and _NEVER_IN_XML.search(text, start, stop):
            yield _place(batch, term), "a control character"
        start = stop
    if is_xml:
        yield from _rows(batch.p, lambda term: _is_xml_predicate(batch.terms.values.string(term)), "such a predicate")


def _is_xml_predicate(iri: str) -> bool:
    """Whether an IRI can be the name of an XML element: something, and an XML name at its end."""
    name = _XML_NAME.search(iri)
    return name is not None and name.start() > 0 and iri not in _RDF_XML_SYNTAX


def _place(batch: Batch, term: int) -> int:
    from jellyframe.batch.validation import first_row_with

    return first_row_with(batch, term) or 0
