"""Batches as JSON-LD, expanded: one array of node objects, one for each run of statements with the same subject."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from jellyframe.formats.documents import PIECE_BYTES, DocumentOutput, term_texts
from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_TYPED_LITERAL,
)
from jellyframe.terms import RDF_TYPE

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats.registry import Format
    from jellyframe.storage.sinks import ByteSink

_RDF_TYPE = f'"{RDF_TYPE}"'
# A node object with more statements is continued in another one.
_LONGEST_RUN = 10_000


def open_output(sink: ByteSink, found: Format, settings: WriteSettings) -> BatchOutput:
    """Open a sink for JSON-LD: an entry of the registry."""
    return _Output(sink, found, settings)


class _Output(DocumentOutput):
    def __init__(self, sink: ByteSink, found: Format, settings: WriteSettings) -> None:
        super().__init__(sink, found, settings)
        self._graph: str | None = None
        self._subject = ""
        self._properties: dict[str, list[str]] = {}
        self._run = 0
        self._run_bytes = 0
        self._is_first = True
        self._put(b"[")

    def _write_rows(self, batch: Batch) -> None:
        terms = _Terms(batch)
        for row, (s, p, o) in enumerate(zip(batch.s, batch.p, batch.o, strict=True)):
            graph = None if batch.g is None else terms.graph(batch.g[row])
            if graph != self._graph:
                self._begin_graph(graph)
            subject = terms.id(s)
            if subject != self._subject or self._run >= _LONGEST_RUN or self._run_bytes >= PIECE_BYTES:
                self._end_node()
                self._subject = subject
            name = terms.id(p)
            value = terms.value(o)
            if name == _RDF_TYPE and terms.is_node(o):
                name, value = '"@type"', terms.id(o)
            self._properties.setdefault(name, []).append(value)
            self._run += 1
            self._run_bytes += len(value)

    def _begin_graph(self, graph: str | None) -> None:
        """End the open graph, if any, and start another, unless it is the default graph."""
        self._end_node()
        if self._graph is not None:
            self._put(b"]}")
            self._is_first = False
        if graph is not None:
            self._put(b"" if self._is_first else b",\n", f'{{"@id":{graph},"@graph":['.encode())
            self._is_first = True
        self._graph = graph

    def _end_node(self) -> None:
        if self._properties:
            self._put(b"" if self._is_first else b",\n", f'{{"@id":{self._subject}'.encode())
            for name, values in self._properties.items():
                self._put(f",{name}:[".encode(), ",".join(values).encode(), b"]")
            self._put(b"}")
            self._is_first = False
        self._properties = {}
        self._subject = ""
        self._run = self._run_bytes = 0

    def close(self) -> None:
        self._begin_graph(None)
        self._put(b"]\n")
        super().close()


class _Terms:
    """The terms of a batch as JSON, each made once."""

    def __init__(self, batch: Batch) -> None:
        self._terms = batch.terms
        self._kinds, self._details, _ = batch.terms.buffers()
        self._ids: dict[int, str] = {}
        self._values: dict[int, str] = {}
        # Labels of blank nodes are those of N-Triples.
        self._texts = term_texts(batch) if KIND_BLANK_NODE in bytes(self._kinds) else None

    def is_node(self, term: int) -> bool:
        return self._kinds[term] in (KIND_IRI, KIND_BLANK_NODE)

    def graph(self, term: int) -> str | None:
        return None if self._kinds[term] == KIND_DEFAULT_GRAPH else self.id(term)

    def id(self, term: int) -> str:
        """Return an IRI or a blank node as a string of JSON."""
        known = self._ids.get(term)
        if known is None:
            is_blank = self._kinds[term] == KIND_BLANK_NODE
            strings = self._texts if is_blank and self._texts is not None else self._terms.values
            known = self._ids[term] = json.dumps(strings.string(term), ensure_ascii=False)
        return known

    def value(self, term: int) -> str:
        """Return a term as a value object, or as a reference to a node."""
        known = self._values.get(term)
        if known is None:
            known = self._values[term] = self._new_value(term)
        return known

    def _new_value(self, term: int) -> str:
        kind = self._kinds[term]
        if self.is_node(term):
            return f'{{"@id":{self.id(term)}}}'
        detail = ""
        if kind == KIND_LANG_LITERAL:
            detail = f'"@language":{json.dumps(self._terms.languages.string(self._details[term]))},'
        elif kind == KIND_TYPED_LITERAL:
            datatype = json.dumps(self._terms.datatypes.string(self._details[term]), ensure_ascii=False)
            detail = f'"@type":{datatype},'
        return f'{{{detail}"@value":{json.dumps(self._terms.values.string(term), ensure_ascii=False)}}}'
