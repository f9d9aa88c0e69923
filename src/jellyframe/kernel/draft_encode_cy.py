"""Encode the rows of a stream in the draft dialect.

Rows are planned as in the released format, but with explicit ids. They are written differently: each term in its own
message, a term that the plan leaves out as an `RdfRepeat`, literals with their kind.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.encode_cy import Encoder

if cython.compiled:
    from cython.cimports.jellyframe.kernel.encode_cy import Encoder
    from cython.cimports.jellyframe.kernel.fields import GRAPHS, QUADS, ROW_GRAPH_START, ROW_QUAD, ROW_TRIPLE
    from cython.cimports.jellyframe.kernel.framing import is_frame_full
    from cython.cimports.jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from cython.cimports.jellyframe.kernel.runs import append_bytes, move_bytes
    from cython.cimports.jellyframe.kernel.steps import CLOSE_TRIPLE, STEP_OVERHEAD
else:
    from jellyframe.kernel.fields import GRAPHS, QUADS, ROW_GRAPH_START, ROW_QUAD, ROW_TRIPLE
    from jellyframe.kernel.framing import is_frame_full
    from jellyframe.kernel.kinds import (
        KIND_BLANK_NODE,
        KIND_DEFAULT_GRAPH,
        KIND_IRI,
        KIND_LANG_LITERAL,
        KIND_QUOTED_TRIPLE,
        KIND_TYPED_LITERAL,
    )
    from jellyframe.kernel.runs import append_bytes, move_bytes
    from jellyframe.kernel.steps import CLOSE_TRIPLE, STEP_OVERHEAD

# Protobuf readers give up at 100 nested messages. A quoted triple takes two, with its term; around it lie a row, a
# statement and a term, and inside it an IRI or a literal with its kind.
DEEPEST_WRAPPED_NESTING = cython.declare(cython.int, 47)


@cython.final
@cython.cclass
class DraftEncoder(Encoder):
    """Writes a stream of triples, quads or graphs. `use_repeat` says whether terms are repeated by `RdfRepeat`."""

    use_repeat: cython.bint

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
        use_repeat: cython.bint,
    ):
        Encoder.__init__(
            self,
            options,
            physical_type,
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
        self.explicit_ids = True
        self.deepest_nesting = DEEPEST_WRAPPED_NESTING
        self.use_repeat = use_repeat

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
            if not self.use_repeat:
                # With no previous terms the plan leaves nothing out.
                self.previous[0] = self.previous[1] = self.previous[2] = self.previous[3] = 0
            self.plan_statement(s[row], p[row], o[row], g[row], is_quads)
            self.write_wrapped_row(ROW_QUAD if is_quads else ROW_TRIPLE, 0, 4 if is_quads else 3)
            self.graph_is_empty = False
            self.statements += 1
        self.row_at = stop
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_graph_start(self, term: cython.int) -> cython.Py_ssize_t:
        self.plan(term, 3)
        return self.write_wrapped_row(ROW_GRAPH_START, 3, 4)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def planned_positions(self) -> cython.int:
        """Return which positions of the statement have a term in the plan, as bits."""
        i: cython.Py_ssize_t
        depth: cython.int = 0
        positions: cython.int = 0
        for i in range(self.steps):
            if self.step_kind[i] == CLOSE_TRIPLE:
                depth -= 1
                continue
            if depth == 0:
                # The plan counts fields as RdfQuad of the released format does, four for each position.
                positions |= 1 << ((self.step_field[i] - 1) >> 2)
            if self.step_kind[i] == KIND_QUOTED_TRIPLE:
                depth += 1
        return positions

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def write_wrapped_row(
        self, row_field: cython.int, first_position: cython.int, width: cython.int
    ) -> cython.Py_ssize_t:
        """Append the planned message to the frame as a row, clear the plan and return the size of the row.

        The message has the positions from `first_position` up to `width`, whose field numbers begin with 1.
        """
        planned: cython.int = self.planned_positions()
        end: cython.Py_ssize_t
        at: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        i: cython.Py_ssize_t
        kind: cython.int
        position: cython.int = width
        depth: cython.int = 0
        need: cython.Py_ssize_t = self.row_bytes + 2 * STEP_OVERHEAD
        if need > self.row.shape[0]:
            self.grow_row(need)
        end = at = self.row.shape[0]
        for i in range(self.steps - 1, -1, -1):
            kind = self.step_kind[i]
            if depth == 0:
                position -= 1
                while not planned >> position & 1:
                    at = self.repeat_before(at, position)
                    position -= 1
            if kind == CLOSE_TRIPLE:
                self.open_next[depth] = cython.cast(cython.int, at)
                depth += 1
                continue
            stop = at
            if kind == KIND_QUOTED_TRIPLE:
                depth -= 1
                stop = self.open_next[depth]
                at = self.tagged_before(at, stop, 0x22)
            elif kind == KIND_DEFAULT_GRAPH:
                at = self.tagged_before(at, stop, 0x22)
            else:
                at = self.term_before(at, i)
            at = self.number_before(at, stop - at)
            if depth == 0:
                at = self.number_before(at, (position + 1 - first_position) << 3 | 2)
            else:
                at = self.number_before(at, (((self.step_field[i] - 1) >> 2) + 1) << 3 | 2)
        while position > first_position:
            position -= 1
            at = self.repeat_before(at, position)
        at = self.tagged_before(self.tagged_before(at, end, row_field << 3 | 2), end, 0x0A)
        self.steps = 0
        self.row_bytes = 0
        self.reserve_frame(end - at)
        append_bytes(self.frame, self.frame_size, self.row, at, end - at)
        self.frame_size += end - at
        self.frame_rows += 1
        self.has_content = True
        return end - at

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def tagged_before(self, at: cython.Py_ssize_t, stop: cython.Py_ssize_t, tag: cython.int) -> cython.Py_ssize_t:
        """Write the length and the tag of the message from `at` to `stop` before it and return their start."""
        return self.number_before(self.number_before(at, stop - at), tag)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def repeat_before(self, at: cython.Py_ssize_t, position: cython.int) -> cython.Py_ssize_t:
        """Write an `RdfRepeat` for a position, ending before `at`, and return its start."""
        at = self.number_before(self.number_before(at, 0), 0x52)
        return self.number_before(self.number_before(at, 2), (position + 1) << 3 | 2)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def term_before(self, at: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the IRI, blank node or literal of step `i`, ending before `at`, and return its start."""
        stop: cython.Py_ssize_t = at
        kind: cython.int = self.step_kind[i]
        term: cython.int = self.step_a[i]
        detail: cython.int = self.step_b[i]
        n: cython.Py_ssize_t
        if kind == KIND_IRI:
            if detail != 0:
                at = self.number_before(self.number_before(at, detail), 0x10)
            if term != 0:
                at = self.number_before(self.number_before(at, term), 0x08)
            return self.tagged_before(at, stop, 0x0A)
        if kind == KIND_BLANK_NODE:
            n = self.terms.values.offsets[term + 1] - self.terms.values.offsets[term]
            at -= n
            move_bytes(self.row, at, self.terms.values.data, self.terms.values.offsets[term], n)
            return self.tagged_before(at, stop, 0x12)
        if kind == KIND_LANG_LITERAL:
            at = self.string_before(at, self.terms.languages, detail, 0x1A)
        elif kind == KIND_TYPED_LITERAL:
            at = self.number_before(self.number_before(at, detail), 0x20)
        else:
            at = self.number_before(self.number_before(at, 0), 0x12)
        at = self.string_before(at, self.terms.values, term, 0x0A)
        return self.tagged_before(at, stop, 0x1A)
