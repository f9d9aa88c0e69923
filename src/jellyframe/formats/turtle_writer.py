"""Batches as Turtle and TriG: statements grouped by subject, IRIs with prefixes if namespaces are known.

A term is written as in N-Triples, of which Turtle is a superset, so language tags keep their case and literals may be
of any length. Quoted triples are those of RDF-star, `<< s p o >>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jellyframe.formats.documents import DocumentOutput, listed_texts
from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.kernel.kinds import KIND_IRI, KIND_TYPED_LITERAL
from jellyframe.terms import RDF_TYPE

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink

_RDF_TYPE = f"<{RDF_TYPE}>".encode()
_PREFIX = re.compile(r"(?:[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?")
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]*")
# Local names that need no escapes: a subset of those of Turtle.
_LOCAL = rb"((?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?)"


def open_output(sink: ByteSink, found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for Turtle or TriG: an entry of the registry."""
    return _Output(sink, found, settings)


class _Output(DocumentOutput):
    def __init__(self, sink: ByteSink, found: Format, settings: WriteSettings) -> None:
        super().__init__(sink, found, settings)
        self._names = ShortNames(settings.namespaces)
        # The texts of the last statement, which may be continued: graph, subject and predicate.
        self._graph = b""
        self._s = b""
        self._p = b""
        for name, iri in self._names.namespaces.items():
            self._put(f"@prefix {name}: <{iri}> .\n".encode())

    def _write_rows(self, batch: Batch) -> None:
        texts = self._names.texts(batch)
        graphs = batch.g if self._format.has_graphs else None
        indent = b"\t" if self._graph else b""
        for row, (s, p, o) in enumerate(zip(batch.s, batch.p, batch.o, strict=True)):
            if graphs is not None and texts[graphs[row]] != self._graph:
                self._begin_graph(texts[graphs[row]])
                indent = b"\t" if self._graph else b""
            subject, predicate = texts[s], texts[p]
            if subject == self._s:
                if predicate == self._p:
                    self._put(b" , ", texts[o])
                    continue
                self._put(b" ;\n\t", indent)
            else:
                self._put(b" .\n" if self._s else b"", indent, subject, b" ")
                self._s = subject
            self._p = predicate
            self._put(b"a" if predicate == _RDF_TYPE else predicate, b" ", texts[o])

    def _begin_graph(self, graph: bytes) -> None:
        """End the open graph, if any, and start another, unless it is the default graph."""
        self._end_statement()
        self._put(b"}\n" if self._graph else b"", graph + b" {\n" if graph else b"")
        self._graph = graph

    def _end_statement(self) -> None:
        if self._s:
            self._put(b" .\n")
        self._s = self._p = b""

    def close(self) -> None:
        self._begin_graph(b"")
        super().close()


class ShortNames:
    """Writes IRIs with the prefixes of the namespaces that Turtle can declare."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self.namespaces = {
            name: iri for name, iri in namespaces.items() if _PREFIX.fullmatch(name) and _NAMESPACE.fullmatch(iri)
        }
        self._prefixes = {iri.encode(): name.encode() + b":" for name, iri in self.namespaces.items()}
        longest_first = sorted(self._prefixes, key=len, reverse=True)
        alternatives = b"|".join(map(re.escape, longest_first))
        self._pattern = re.compile(b"<(" + alternatives + b")" + _LOCAL + b">") if longest_first else None

    def texts(self, batch: Batch) -> list[bytes]:
        """Return the text of each term of a batch; the default graph has none."""
        texts = listed_texts(batch)
        if self._pattern is not None:
            for term, kind in enumerate(batch.terms.buffers()[0]):
                if kind == KIND_IRI:
                    texts[term] = self._short(texts[term])
                elif kind == KIND_TYPED_LITERAL:
                    start = texts[term].rindex(b'"^^<') + 3
                    texts[term] = texts[term][:start] + self._short(texts[term][start:])
        return texts

    def _short(self, iri: bytes) -> bytes:
        assert self._pattern is not None
        found = self._pattern.fullmatch(iri)
        return iri if found is None else self._prefixes[found[1]] + found[2]
