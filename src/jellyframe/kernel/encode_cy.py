"""Batches to Jelly bytes: rows, frames and restart points."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError
from jellyframe.kernel.encode_terms_cy import TermEncoder
from jellyframe.kernel.memory_cy import byte_column, grown_bytes, int_column
from jellyframe.kernel.table_cy import TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.compare_cy import same_term
    from cython.cimports.jellyframe.kernel.encode_rows_cy import varint_size
    from cython.cimports.jellyframe.kernel.encode_terms_cy import TermEncoder
    from cython.cimports.jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAMESPACE,
        ROW_OPTIONS,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from cython.cimports.jellyframe.kernel.kinds import KIND_BLANK_NODE
    from cython.cimports.jellyframe.kernel.runs import move_bytes
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.compare_cy import same_term
    from jellyframe.kernel.encode_rows_cy import varint_size
    from jellyframe.kernel.fields import (
        GRAPHS,
        QUADS,
        ROW_GRAPH_END,
        ROW_GRAPH_START,
        ROW_NAMESPACE,
        ROW_OPTIONS,
        ROW_QUAD,
        ROW_TRIPLE,
    )
    from jellyframe.kernel.kinds import KIND_BLANK_NODE
    from jellyframe.kernel.runs import move_bytes


# More than a graph end and the length of a frame take.
FRAME_OVERHEAD = cython.declare(cython.int, 16)


@cython.final
@cython.cclass
class Encoder(TermEncoder):
    """Writes a stream. `options` is the options message; `frame_row_limit` and `restart_every` are 0 for none.

    Bytes that are ready are taken with `take_output`. `restarts` lists the points at which a reader may start: the
    offset in the stream and the number of statements before it.
    """

    options: bytes
    physical_type: cython.int
    frame_row_limit: cython.Py_ssize_t
    frame_byte_soft_limit: cython.Py_ssize_t
    delimited: cython.bint
    restart_every: cython.longlong
    graph: cython.int
    graph_terms: TermTable
    out: cython.uchar[::1]
    out_size: cython.Py_ssize_t
    restart_due: cython.bint
    restart_offset: cython.longlong
    row_at: cython.Py_ssize_t
    restarts = cython.declare(list, visibility="readonly")
    bytes_taken = cython.declare(cython.longlong, visibility="readonly")
    frames = cython.declare(cython.longlong, visibility="readonly")
    statements = cython.declare(cython.longlong, visibility="readonly")

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
    ):
        TermEncoder.__init__(self, names, prefixes, datatypes, generalized, rdf_star, frame_byte_limit)
        self.options = options
        self.physical_type = physical_type
        self.frame_row_limit = frame_row_limit
        # Between statements a frame is cut before it is full, so that it need not be cut inside one.
        self.frame_byte_soft_limit = frame_byte_limit // 4 * 3
        self.delimited = delimited
        self.restart_every = restart_every
        self.graph = -1
        self.graph_terms = self.terms
        self.out = byte_column(4096)
        self.out_size = 0
        self.bytes_taken = 0
        self.frames = 0
        self.statements = 0
        self.restarts = []
        self.restart_offset = 0
        self.restart_due = True

    # ---- rows ----

    def encode(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1] | None,
        terms: TermTable,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
    ) -> None:
        """Write rows `start` to `stop` of a batch. `g` may be None only in streams of triples.

        A statement that cannot be written raises, with `row` as its place in the batch, and leaves no trace; the ones
        before it are written.
        """
        self.encode_range(s, p, o, g, terms, start, stop)

    def encode_frames(
        self,
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1] | None,
        terms: TermTable,
        frame_ends: cython.const[cython.int][::1],
        complete_frames: cython.Py_ssize_t,
    ) -> None:
        """Write a batch in frames of its own, given by the row behind each. Only the last one may be left open."""
        start: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        for i in range(frame_ends.shape[0]):
            self.encode_range(s, p, o, g, terms, start, frame_ends[i])
            start = frame_ends[i]
            if i < complete_frames:
                self.end_frame_with(b"")

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
        # Streams of triples never look at it, but it has to be a column.
        graph: cython.const[cython.int][::1] = s if g is None else g
        if self.terms is not terms:
            self.use_terms(terms)
        self.row_at = start
        while self.row_at < stop:
            try:
                self.encode_rows(s, p, o, graph, self.row_at + 1 if self.whole_iris else stop)
                self.whole_iris = False
            except EncodeError as error:
                can_try_again = self.is_prefix_table_too_small and not self.whole_iris
                self.undo_statement()
                if not can_try_again:
                    error.row = self.row_at
                    raise
                self.whole_iris = True
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
    ) -> cython.int:
        """Write the rows from `row_at` on, which stays at one that fails."""
        row: cython.Py_ssize_t
        is_quads: cython.bint = self.physical_type == QUADS
        for row in range(self.row_at, stop):
            self.row_at = row
            if self.is_frame_full():
                self.begin_frame()
            if self.physical_type == GRAPHS:
                self.enter_graph(g[row])
            self.plan_statement(s[row], p[row], o[row], g[row], is_quads)
            self.write_row(ROW_QUAD if is_quads else ROW_TRIPLE)
            self.statements += 1
        self.row_at = stop
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def enter_graph(self, term: cython.int) -> cython.int:
        """Make sure that the graph that is open is the one of the next triple."""
        if self.graph >= 0:
            if (self.graph == term and self.graph_terms is self.terms) or same_term(
                self.graph_terms, self.graph, self.terms, term
            ):
                self.graph = term
                self.graph_terms = self.terms
                return 0
            self.leave_graph()
        self.stamp += 1
        self.plan(term, 3)
        # RdfGraphStart counts its fields from 1 where RdfQuad counts the same ones from 13.
        self.step_field[0] -= 12
        self.write_row(ROW_GRAPH_START)
        self.graph = term
        self.graph_terms = self.terms
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def leave_graph(self) -> cython.int:
        if self.graph >= 0:
            self.write_row(ROW_GRAPH_END)
            self.graph = -1
        return 0

    def declare_namespace(self, terms: TermTable, name: cython.int, iri: cython.int) -> None:
        """Write a namespace declaration, whose name and IRI are both strings of `terms`."""
        if self.is_frame_full():
            self.begin_frame()
        self.use_terms(terms)
        self.stamp += 1
        self.row_bytes += terms.values.offsets[name + 1] - terms.values.offsets[name]
        self.step(KIND_BLANK_NODE, 1, name, 0)
        self.plan_iri(iri, 2, -1)
        self.write_row(ROW_NAMESPACE)

    # ---- frames ----

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_frame_full(self) -> cython.bint:
        """Whether the next statement begins another frame: also true at the very start."""
        return (
            self.restart_due
            or (self.frame_row_limit > 0 and self.frame_rows >= self.frame_row_limit)
            or (self.frame_byte_limit > 0 and self.frame_size >= self.frame_byte_soft_limit)
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_frame(self) -> cython.int:
        if self.frame_rows > 0:
            if self.is_restart_near():
                self.leave_graph()
            self.flush_frame(b"")
        if self.restart_due:
            self.restart()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def is_restart_near(self) -> cython.bint:
        """Whether the frame in hand may be the last one before a restart point."""
        # The frame will grow by the end of a graph and by its own length in front, at most.
        finished: cython.longlong = self.offset() + self.frame_size + FRAME_OVERHEAD
        return self.restart_every > 0 and finished - self.restart_offset >= self.restart_every

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def restart(self) -> cython.int:
        """Begin a frame from which a reader may start: the options, and nothing that refers back."""
        n: cython.Py_ssize_t = len(self.options)
        self.names.clear()
        self.prefixes.clear()
        self.datatypes.clear()
        self.last_prefix = 0
        self.last_name = 0
        self.previous = int_column(4)
        self.restart_offset = self.offset()
        self.restarts.append((self.restart_offset, self.statements))
        self.restart_due = False
        self.reserve_frame(n + 32)
        self.write_number(0x0A)
        self.write_number(1 + varint_size(n) + n)
        self.write_number(ROW_OPTIONS << 3 | 2)
        self.write_number(n)
        move_bytes(self.frame, self.frame_size, memoryview(self.options), 0, n)
        self.frame_size += n
        self.frame_rows += 1
        return 0

    def offset(self) -> int:
        """How many bytes of the stream are finished."""
        return self.bytes_taken + self.out_size

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def flush_frame(self, metadata: bytes) -> cython.int:
        """Move the frame to the output."""
        n: cython.Py_ssize_t = self.frame_size + len(metadata)
        length: cython.Py_ssize_t = n
        if not self.delimited and self.frames > 0:
            raise EncodeError("a stream without delimiters holds one frame only; write it delimited")
        if self.out_size + n + 10 > self.out.shape[0]:
            self.out = grown_bytes(self.out, self.out_size, max(2 * self.out.shape[0], self.out_size + n + 10))
        if self.delimited:
            while length > 0x7F:
                self.out[self.out_size] = length & 0x7F | 0x80
                self.out_size += 1
                length >>= 7
            self.out[self.out_size] = length
            self.out_size += 1
        move_bytes(self.out, self.out_size, self.frame, 0, self.frame_size)
        self.out_size += self.frame_size
        if metadata:
            move_bytes(self.out, self.out_size, memoryview(metadata), 0, len(metadata))
            self.out_size += len(metadata)
        self.frame_size = 0
        self.frame_rows = 0
        self.frames += 1
        if self.restart_every > 0 and self.offset() - self.restart_offset >= self.restart_every:
            self.restart_due = True
        return 0

    def end_frame(self, metadata: bytes = b"") -> None:
        """End the frame, even if it is empty. `metadata` is the encoded metadata. An open graph ends with it."""
        self.end_frame_with(metadata)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def end_frame_with(self, metadata: bytes) -> cython.int:
        if self.restart_due:
            self.begin_frame()
        self.leave_graph()
        return self.flush_frame(metadata)

    def finish(self) -> None:
        """End the stream: write what is not written yet. A stream of nothing is still a frame with the options."""
        self.leave_graph()
        if self.frame_rows > 0 or self.frames == 0:
            self.end_frame()

    def take_output(self) -> bytes:
        """The bytes that are ready, which then are no longer kept."""
        taken = bytes(memoryview(self.out)[: self.out_size])
        self.bytes_taken += self.out_size
        self.out_size = 0
        return taken

    def output_size(self) -> int:
        """How many bytes are ready."""
        return self.out_size

    def change_options(self, options: bytes) -> bool:
        """Replace the options message by one of the same length, while all that was written is still here."""
        n: cython.Py_ssize_t = len(options)
        # The message is the content of the first row of a frame: behind two tags and two lengths.
        header: cython.Py_ssize_t = 2 + varint_size(1 + varint_size(n) + n) + varint_size(n)
        at: cython.Py_ssize_t
        if self.bytes_taken > 0 or n != len(self.options):
            return False
        self.options = options
        for offset, _statements in self.restarts:
            at = offset
            if at == self.out_size:
                move_bytes(self.frame, header, memoryview(options), 0, n)
                continue
            if self.delimited:
                while self.out[at] > 0x7F:
                    at += 1
                at += 1
            move_bytes(self.out, at + header, memoryview(options), 0, n)
        return True
