"""Batches as RDF/XML: an element for each run of statements with the same subject."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from jellyframe.formats.documents import DocumentOutput
from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.formats.target_rules import is_xml_name, split_for_xml
from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_IRI, KIND_LANG_LITERAL, KIND_TYPED_LITERAL
from jellyframe.kernel.labels import HEX_LABEL, hex_label
from jellyframe.terms import RDF

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink

# A carriage return that is not escaped would be read as a line feed.
_ESCAPES = {"\r": "&#13;"}
_RESERVED_PREFIXES = ("rdf", "xml", "xmlns")
_RESERVED_NAMESPACES = (RDF, "http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")


def open_output(sink: ByteSink, found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for RDF/XML: an entry of the registry."""
    return _Output(sink, found, settings)


class _Output(DocumentOutput):
    def __init__(self, sink: ByteSink, found: Format, settings: WriteSettings) -> None:
        super().__init__(sink, found, settings)
        self._prefixes = {RDF: "rdf"}
        self._subject = ""
        declared = ""
        for name, iri in settings.namespaces.items():
            if (
                is_xml_name(name)
                and name not in _RESERVED_PREFIXES
                and iri
                and iri not in _RESERVED_NAMESPACES
                and iri not in self._prefixes
            ):
                self._prefixes[iri] = name
                declared += f" xmlns:{name}={_attribute(iri)}"
        self._put(f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="{RDF}"{declared}>\n'.encode())

    def _write_rows(self, batch: Batch) -> None:
        terms = _Terms(batch, self._prefixes)
        for s, p, o in zip(batch.s, batch.p, batch.o, strict=True):
            subject = terms.subject(s)
            if subject != self._subject:
                self._end_subject()
                self._subject = subject
                self._put(f"\t<rdf:Description {subject}>\n".encode())
            name, declaration = terms.element(p)
            attributes, content = terms.object(o)
            if content is None:
                self._put(f"\t\t<{name}{declaration}{attributes}/>\n".encode())
            else:
                self._put(f"\t\t<{name}{declaration}{attributes}>".encode(), content, f"</{name}>\n".encode())

    def _end_subject(self) -> None:
        if self._subject:
            self._put(b"\t</rdf:Description>\n")

    def close(self) -> None:
        self._end_subject()
        self._put(b"</rdf:RDF>\n")
        super().close()


class _Terms:
    """The terms of a batch as parts of XML, each made once."""

    def __init__(self, batch: Batch, prefixes: dict[str, str]) -> None:
        self._terms = batch.terms
        self._kinds, self._details, _ = batch.terms.buffers()
        self._prefixes = prefixes
        self._subjects: dict[int, str] = {}
        self._elements: dict[int, tuple[str, str]] = {}
        self._objects: dict[int, tuple[str, bytes | None]] = {}

    def subject(self, term: int) -> str:
        """Return the attribute that identifies the node of an element."""
        known = self._subjects.get(term)
        if known is None:
            known = self._subjects[term] = f"rdf:{self._node(term, 'about')}"
        return known

    def element(self, term: int) -> tuple[str, str]:
        """Return the name of a predicate's element, and the declaration of its namespace, if it is needed there."""
        known = self._elements.get(term)
        if known is None:
            namespace, local = split_for_xml(self._terms.values.string(term))
            prefix = self._prefixes.get(namespace)
            known = (local, f" xmlns={_attribute(namespace)}") if prefix is None else (f"{prefix}:{local}", "")
            self._elements[term] = known
        return known

    def object(self, term: int) -> tuple[str, bytes | None]:
        """Return the attributes of a predicate's element, and its text, which only literals have."""
        known = self._objects.get(term)
        if known is None:
            known = self._objects[term] = self._new_object(term)
        return known

    def _new_object(self, term: int) -> tuple[str, bytes | None]:
        kind = self._kinds[term]
        if kind in (KIND_IRI, KIND_BLANK_NODE):
            return f" rdf:{self._node(term, 'resource')}", None
        attributes = ""
        if kind == KIND_LANG_LITERAL:
            attributes = f" xml:lang={_attribute(self._terms.languages.string(self._details[term]))}"
        elif kind == KIND_TYPED_LITERAL:
            attributes = f" rdf:datatype={_attribute(self._terms.datatypes.string(self._details[term]))}"
        return attributes, escape(self._terms.values.string(term), _ESCAPES).encode()

    def _node(self, term: int, attribute: str) -> str:
        value = self._terms.values.string(term)
        if self._kinds[term] == KIND_IRI:
            return f"{attribute}={_attribute(value)}"
        return f'nodeID="{xml_label(value)}"'


def xml_label(label: str) -> str:
    """Return the label of a blank node for RDF/XML: unchanged, or in hexadecimal. Different labels stay different."""
    if is_xml_name(label) and not label.startswith(HEX_LABEL.decode()):
        return label
    return hex_label(label.encode()).decode()


def _attribute(value: str) -> str:
    return quoteattr(value)
