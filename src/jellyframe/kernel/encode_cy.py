"""Encode the rows of an RDF stream: statements, graphs and namespaces."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import JellyError
from jellyframe.kernel.encode_frames_cy import FrameEncoder
from jellyframe.kernel.table_cy import TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.compare_cy import same_term
    from cython.cimports.jellyframe.kernel.encode_frames_cy import FrameEncoder
    from cython.cimports.jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from cython.cimports.jellyframe.kernel.framing import is_frame_full
    from cython.cimports.jellyframe.kernel.kinds import KIND_BLANK_NODE
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.compare_cy import same_term
    from jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_DATATYPE,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAME,
        ROW_NAMESPACE,
        ROW_PREFIX,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from jellyframe.kernel.framing import is_frame_full
    from jellyframe.kernel.kinds import KIND_BLANK_NODE
    from jellyframe.kernel.runs import move_bytes


@cython.cclass
class Encoder(FrameEncoder):
    """Writes a stream of triples, quads or graphs."""

    def __init__(
        self,
        options: bytes,
        physical_type: cython.int,
        generalized: cython.bint,
        rdf_star: cython.bint,
        names: cython.int,
        prefixes: cython.int,
        datatypes: cython.int,
        frame_row_limit: cython.Py_ssize_t,
        frame_byte_limit: cython.Py_ssize_t,
        delimited: cython.bint,
        restart_every: cython.longlong,
        output_limit: cython.Py_ssize_t,
    ):
        FrameEncoder.__init__(
            self,
            options,
            generalized,
            rdf_star,
            names,
            prefixes,
            datatypes,
            frame_row_limit,
            frame_byte_limit,
            delimited,
            restart_every,
            output_limit,
        )
        self.name_row = ROW_NAME
        self.prefix_row = ROW_PREFIX
        self.datatype_row = ROW_DATATYPE
        self.physical_type = physical_type
        self.graph = -1
        self.graph_terms = self.terms
        # The row that began the graph, which can be withdrawn while the graph is empty.
        self.graph_is_empty = False
        self.graph_frame = 0
        self.graph_row_end = 0
        self.graph_row_size = 0
        self.graph_undo_prefix = 0
        self.graph_undo_name = 0
        self.graph_undo_content = False

    def encode(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1] | None,
        terms: TermTable,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
    ) -> int:
        """Write rows `start` to `stop` of a batch. `g` may be None only in streams of triples.

        Returns the row after the last one written. It is below `stop` when the output has reached `output_limit`: take
        the output, and continue from there.

        A statement that cannot be written raises an error, whose `row` is its row in the batch, and has no effect;
        those before it are written.
        """
        self.encode_range(s, p, o, g, terms, start, stop)
        return self.row_at

    def encode_frames(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1] | None,
        terms: TermTable,
        frame_ends: cython.const[cython.int][::1],
        complete_frames: cython.Py_ssize_t,
        frame: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
    ) -> tuple[int, int]:
        """Write a batch in its own frames, from row `start` in frame `frame` on. `frame_ends` has the row after each.

        Only the last frame may be left open. Returns the frame and the row to continue from, as `encode` does; when
        all is written, the frame is the number of frames.
        """
        while frame < frame_ends.shape[0]:
            self.encode_range(s, p, o, g, terms, start, frame_ends[frame])
            start = self.row_at
            if start < frame_ends[frame]:
                break
            if frame < complete_frames:
                self.end_frame_with(b"")
            frame += 1
            if self.out_size >= self.output_limit:
                break
        return frame, start

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def encode_range(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: object,
        terms: TermTable,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
    ) -> cython.int:
        # Streams of triples do not use it, but it must be a column.
        graph: cython.const[cython.int][::1] = s if g is None else g
        is_full: cython.bint = False
        self.begin_rows(terms, start, stop)
        while self.row_at < stop and not is_full:
            try:
                is_full = self.encode_rows(s, p, o, graph, self.row_at + 1 if self.whole_iris else stop)
                self.whole_iris = False
            except JellyError:
                if not self.undo_row():
                    raise
            except BaseException:
                self.is_broken = True
                raise
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def encode_rows(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1],
        stop: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write the rows from `row_at` on and return whether the output is full. `row_at` stays at a row that fails."""
        row: cython.Py_ssize_t
        is_quads: cython.bint = self.physical_type == QUADS
        for row in range(self.row_at, stop):
            self.row_at = row
            if is_frame_full(self):
                if self.out_size >= self.output_limit:
                    return True
                self.begin_frame()
            if self.physical_type == GRAPHS:
                self.enter_graph(g[row])
            self.plan_statement(s[row], p[row], o[row], g[row], is_quads)
            self.write_row(ROW_QUAD if is_quads else ROW_TRIPLE)
            self.graph_is_empty = False
            self.statements += 1
        self.row_at = stop
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def enter_graph(self, term: cython.int) -> cython.int:
        """Open the graph of the next triple, unless it is open."""
        if self.graph >= 0:
            if (self.graph == term and self.graph_terms is self.terms) or same_term(
                self.graph_terms, self.graph, self.terms, term
            ):
                self.graph = term
                self.graph_terms = self.terms
                return 0
            self.leave_graph()
        self.begin_statement()
        self.graph_undo_prefix = self.undo_prefix
        self.graph_undo_name = self.undo_name
        self.graph_undo_content = self.has_content
        self.graph_row_size = self.write_graph_start(term)
        self.graph_row_end = self.frame_size
        self.graph_frame = self.frames
        self.graph_is_empty = True
        self.graph = term
        self.graph_terms = self.terms
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_graph_start(self, term: cython.int) -> cython.Py_ssize_t:
        """Write the row that begins a graph and return its size."""
        self.plan(term, 3)
        # The fields of RdfGraphStart begin with 1, and the same ones of RdfQuad with 13.
        self.step_field[0] -= 12
        return self.write_row(ROW_GRAPH_START)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def leave_graph(self) -> cython.int:
        if self.graph >= 0:
            self.write_row(ROW_GRAPH_END)
            self.graph = -1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def withdraw_graph(self) -> cython.int:
        """Remove the start of a graph whose first statement failed, unless it is in a finished frame.

        Lookup entries after it stay, as they do not depend on it.
        """
        n: cython.Py_ssize_t = self.frame_size - self.graph_row_end
        if self.graph < 0 or not self.graph_is_empty or self.graph_frame != self.frames:
            return 0
        following = bytes(memoryview(self.frame)[self.graph_row_end : self.frame_size])
        move_bytes(self.frame, self.graph_row_end - self.graph_row_size, memoryview(following), 0, n)
        self.frame_size -= self.graph_row_size
        self.frame_rows -= 1
        self.last_prefix = self.graph_undo_prefix
        self.last_name = self.graph_undo_name
        self.has_content = self.graph_undo_content
        self.graph = -1
        return 0

    def declare_namespace(self, terms: TermTable, name: cython.int, iri: cython.int) -> None:
        """Write a namespace declaration, whose name and IRI are both strings of `terms`."""
        self.require_open()
        if is_frame_full(self):
            self.begin_frame()
        self.use_terms(terms)
        self.row_at = -1
        try:
            self.begin_statement()
            self.row_bytes += terms.values.offsets[name + 1] - terms.values.offsets[name]
            self.step(KIND_BLANK_NODE, 1, name, 0)
            self.plan_iri(iri, 2, -1)
            self.write_row(ROW_NAMESPACE)
        except JellyError:
            self.undo_statement()
            raise
        except BaseException:
            self.is_broken = True
            raise
