"""Decode the rows of an RDF stream: statements, graphs and namespaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.decode_frames_cy import FrameDecoder
from jellyframe.kernel.table_cy import TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_frames_cy import FrameDecoder
    from cython.cimports.jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_OPTIONS,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
        TRIPLES,
    )
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_OPTIONS,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
        TRIPLES,
    )
    from jellyframe.kernel.varints import read_length, read_varint

ROW_NAMES = {
    ROW_TRIPLE: "triple",
    ROW_QUAD: "quad",
    ROW_GRAPH_START: "graph start",
    ROW_GRAPH_END: "graph end",
}
ROW_FIELDS = (ROW_OPTIONS, *ROW_NAMES, ROW_NAMESPACE, ROW_NAME, ROW_PREFIX, ROW_DATATYPE)
PHYSICAL_NAMES = {TRIPLES: "TRIPLES", QUADS: "QUADS", GRAPHS: "GRAPHS"}


@cython.cclass
class Decoder(FrameDecoder):
    """Reads a stream of triples, quads or graphs. Its one setting from the options is the physical type."""

    def __init__(
        self,
        read_options: Callable[[bytes, bool], tuple[tuple[int, ...], bool, bool, int, int, int]],
        max_nesting_depth: cython.int,
        max_frame_bytes: cython.longlong,
        batch_rows: cython.Py_ssize_t,
        batch_bytes: cython.Py_ssize_t,
        concatenated: cython.bint,
    ):
        FrameDecoder.__init__(
            self, read_options, max_nesting_depth, max_frame_bytes, batch_rows, batch_bytes, concatenated
        )
        self.row_fields = sum([1 << field for field in ROW_FIELDS])
        self.name_field = ROW_NAME
        self.prefix_field = ROW_PREFIX
        self.datatype_field = ROW_DATATYPE
        self.stream_name = "Jelly"
        self.physical_type = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_stream(self, settings: Sequence[int]) -> cython.bint:
        self.physical_type = settings[0]
        self.statement_width = 4 if self.physical_type == QUADS else 3
        self.statement_fields = 0
        if self.physical_type != GRAPHS:
            self.statement_fields = 1 << ROW_QUAD if self.physical_type == QUADS else 1 << ROW_TRIPLE
        return self.physical_type != TRIPLES

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_stream_end(self, pos: cython.Py_ssize_t) -> cython.int:
        if self.graph >= 0:
            self.fail_reference("a new stream begins inside a graph", pos)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def adopt_terms(self, terms: TermTable) -> cython.int:
        if self.graph >= 0:
            self.graph = self.terms.adopt(terms, self.graph)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        physical: cython.int = self.physical_type
        if field == ROW_GRAPH_START and physical == GRAPHS:
            if self.graph >= 0:
                self.fail_reference("a graph starts inside another graph", pos)
            self.graph = self.graph_name(pos, stop)
            self.statement_fields = 1 << ROW_TRIPLE
        elif field == ROW_GRAPH_END and physical == GRAPHS:
            if self.graph < 0:
                self.fail_reference("a graph ends that never started", pos)
            self.graph = -1
            self.statement_fields = 0
        elif field == ROW_TRIPLE and physical == GRAPHS:
            self.fail_reference("a triple outside of a graph", pos)
        elif field == ROW_NAMESPACE:
            self.namespace_row(pos, stop)
        else:
            self.fail(f"a {ROW_NAMES[field]} row in a stream of physical type {PHYSICAL_NAMES[physical]}", pos)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def namespace_row(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        start: cython.Py_ssize_t = pos
        name: cython.Py_ssize_t = pos
        name_length: cython.Py_ssize_t = 0
        iri: cython.Py_ssize_t = -1
        iri_stop: cython.Py_ssize_t = 0
        tag: cython.longlong
        n: cython.Py_ssize_t
        term: cython.int
        while pos < stop:
            tag = read_varint(self, pos, stop)
            if tag == 0x0A:
                name_length = read_length(self, self.pos, stop)
                name = self.pos
                pos = name + name_length
            elif tag == 0x12:
                n = read_length(self, self.pos, stop)
                iri = self.pos
                pos = iri_stop = iri + n
            else:
                if tag >> 3 < 3:
                    self.fail(f"field {tag >> 3} of a namespace has the wrong wire type {tag & 7}", pos)
                pos = self.skip(tag, self.pos, stop)
        if iri < 0:
            self.fail("a namespace declaration without an IRI", start)
        self.require_utf8(name, name + name_length, "the name of a namespace")
        term = self.iri(iri, iri_stop)
        self.namespaces.append(
            (
                self.frame_number,
                str(memoryview(self.buf)[name : name + name_length], "utf-8"),
                self.terms.values.string(term),
            )
        )
        return 0

    def end_of_input(self) -> None:
        """Raise if the stream may not end here."""
        FrameDecoder.end_of_input(self)
        if self.graph >= 0:
            self.fail("the input ends inside a graph", 0)
