"""Checks for statements that Jelly can hold and Turtle, TriG, RDF/XML or JSON-LD cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jellyframe.batch.lines import row_line
from jellyframe.errors import EncodeError
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)
from jellyframe.terms import RDF

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format

_NODES = (KIND_IRI, KIND_BLANK_NODE)
_GOOD_IRI = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]*")
_GOOD_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_XML_START = (
    r"A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    r"\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_XML_NAME = re.compile(rf"[{_XML_START}][{_XML_START}\-.0-9\u00b7\u0300-\u036f\u203f\u2040]*")
_XML_NAME_AT_END = re.compile(rf"{_XML_NAME.pattern}\Z")
_XML_NAMESPACES = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")
_NEVER_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
# Names with another meaning as predicate elements of RDF/XML.
_RDF_XML_SYNTAX = {
    RDF + name
    for name in "RDF ID about parseType resource nodeID datatype Description li aboutEach aboutEachPrefix bagID".split()
}

# A row, and the problem with its statement.
_Trouble = tuple[int, str]


def check_target(batch: Batch, target: Format, before: int, source: str | None) -> None:
    """Raise if a statement of the batch cannot be written in a format. `before` is the number of earlier statements."""
    for row, reason in _troubles(batch, target):
        raise EncodeError(
            f"statement {before + row + 1}: {target.title} cannot hold {reason}: {row_line(batch, row)}",
            source=source,
        )


def _troubles(batch: Batch, target: Format) -> Iterator[_Trouble]:
    kinds, details, quoted = batch.terms.buffers()
    is_quoted = [False] * batch.terms.quoted_count
    for number in range(batch.terms.quoted_count):
        # The terms of a quoted triple come before it in the table.
        s, p, o = quoted[3 * number : 3 * number + 3]
        is_quoted[number] = (
            target.has_quoted_triples
            and kinds[p] == KIND_IRI
            and (kinds[s] in _NODES or (kinds[s] == KIND_QUOTED_TRIPLE and is_quoted[details[s]]))
            and (kinds[o] != KIND_QUOTED_TRIPLE or is_quoted[details[o]])
        )

    def is_good_object(term: int) -> bool:
        return kinds[term] != KIND_QUOTED_TRIPLE or is_quoted[details[term]]

    def is_good_subject(term: int) -> bool:
        return kinds[term] in _NODES or (kinds[term] == KIND_QUOTED_TRIPLE and is_quoted[details[term]])

    what = "IRI, blank node nor quoted triple" if target.has_quoted_triples else "IRI nor blank node"
    yield from _rows(batch.p, lambda term: kinds[term] == KIND_IRI, "a predicate that is no IRI")
    yield from _rows(batch.s, is_good_subject, f"a subject that is neither {what}")
    if batch.g is not None and target.has_graphs:
        graph_kinds = (*_NODES, KIND_DEFAULT_GRAPH)
        yield from _rows(batch.g, lambda term: kinds[term] in graph_kinds, "a graph name that is a literal")
    if len(quoted):
        yield from _rows(batch.o, is_good_object, "a quoted triple like this one")
    yield from _bad_strings(batch, kinds, target)


def _rows(column: memoryview, is_good: Callable[[int], bool], what: str) -> Iterator[_Trouble]:
    """Yield the first row whose term is not good. Each distinct term is checked once."""
    bad = {term for term in set(column) if not is_good(term)}
    if bad:
        yield next(row for row, term in enumerate(column) if term in bad), what


def _bad_strings(batch: Batch, kinds: memoryview, target: Format) -> Iterator[_Trouble]:
    """Yield IRIs, language tags and literals that the format cannot hold."""
    offsets, data = batch.terms.values.buffers()
    text = bytes(data)
    is_xml = target.name == "rdfxml"
    start = 0
    for term, kind in enumerate(kinds):
        stop = offsets[term + 1]
        if kind == KIND_IRI:
            if not _GOOD_IRI.fullmatch(text, start, stop):
                yield _place(batch, term), _why_bad(text[start:stop])
        elif is_xml and _NEVER_IN_XML.search(text, start, stop):
            yield _place(batch, term), "a control character"
        start = stop
    for row, datatype in enumerate(batch.terms.datatypes.strings()):
        if not _GOOD_IRI.fullmatch(datatype.encode()):
            yield from _users(batch, KIND_TYPED_LITERAL, row, _why_bad(datatype.encode()))
    for row, tag in enumerate(batch.terms.languages.strings()):
        if not is_language_tag(tag):
            yield from _users(batch, KIND_LANG_LITERAL, row, "a language tag that is not valid")
    if is_xml:
        yield from _rows(batch.p, lambda term: _is_xml_predicate(batch.terms.values.string(term)), "such a predicate")


def _why_bad(iri: bytes) -> str:
    return "an IRI with such a character" if _SCHEME.match(iri) else "an IRI that is not absolute"


def _users(batch: Batch, kind: int, row: int, what: str) -> Iterator[_Trouble]:
    """Yield the first row with a literal that has this language or datatype."""
    kinds, details, _ = batch.terms.buffers()
    for term in range(batch.terms.count):
        if kinds[term] == kind and details[term] == row:
            yield _place(batch, term), what
            return


def is_language_tag(tag: str) -> bool:
    """Return whether text formats have a way to write a language tag."""
    return _GOOD_LANGUAGE.fullmatch(tag) is not None


def is_xml_name(name: str) -> bool:
    """Return whether a name without a colon is valid for an element or attribute of XML."""
    return _XML_NAME.fullmatch(name) is not None


def split_for_xml(iri: str) -> tuple[str, str]:
    """Return an IRI in two parts: a namespace, and the longest valid XML name at its end."""
    name = _XML_NAME_AT_END.search(iri)
    start = len(iri) if name is None else name.start()
    return iri[:start], iri[start:]


def _is_xml_predicate(iri: str) -> bool:
    """Return whether an IRI can be the name of an XML element: a namespace and an XML name."""
    namespace, name = split_for_xml(iri)
    return bool(namespace and name) and iri not in _RDF_XML_SYNTAX and namespace not in _XML_NAMESPACES


def _place(batch: Batch, term: int) -> int:
    from jellyframe.batch.validation import first_row_with

    return first_row_with(batch, term) or 0
