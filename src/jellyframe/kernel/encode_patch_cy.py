"""Encode the rows of a patch stream. `decode_patch_cy` describes the columns."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import EncodeError, JellyError
from jellyframe.kernel.encode_frames_cy import FrameEncoder
from jellyframe.kernel.table_cy import TermTable

if cython.compiled:
    from cython.cimports.jellyframe.kernel.encode_frames_cy import FrameEncoder
    from cython.cimports.jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_DEFAULT_GRAPH, KIND_IRI, KIND_LITERAL
    from cython.cimports.jellyframe.kernel.patch_fields import (
        PATCH_ADD,
        PATCH_DATATYPE,
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAME,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PREFIX,
        PATCH_PUNCTUATION,
        PATCH_TRANSACTION_ABORT,
        PATCH_TRANSACTION_COMMIT,
        PATCH_TRANSACTION_START,
        STATEMENT_QUADS,
        STREAM_FRAME,
        STREAM_PUNCTUATED,
    )
    from cython.cimports.jellyframe.kernel.table_cy import TermTable
else:
    from jellyframe.kernel.kinds import KIND_BLANK_NODE, KIND_DEFAULT_GRAPH, KIND_IRI, KIND_LITERAL
    from jellyframe.kernel.patch_fields import (
        PATCH_ADD,
        PATCH_DATATYPE,
        PATCH_DELETE,
        PATCH_HEADER,
        PATCH_NAME,
        PATCH_NAMESPACE_ADD,
        PATCH_NAMESPACE_DELETE,
        PATCH_PREFIX,
        PATCH_PUNCTUATION,
        PATCH_TRANSACTION_ABORT,
        PATCH_TRANSACTION_COMMIT,
        PATCH_TRANSACTION_START,
        STATEMENT_QUADS,
        STREAM_FRAME,
        STREAM_PUNCTUATED,
    )

# Subtracted from the field numbers of the graph and the object in RdfQuad, these give those of the graph in
# RdfPatchNamespace and of the value in RdfPatchHeader.
GRAPH_SHIFT = cython.declare(cython.int, 10)
VALUE_SHIFT = cython.declare(cython.int, 7)


@cython.final
@cython.cclass
class PatchEncoder(FrameEncoder):
    """Writes a patch stream.

    A punctuation mark ends its frame. Restart points are outside of transactions and, in streams of several patches,
    between patches.
    """

    is_quads: cython.bint
    stream_type: cython.int
    in_transaction: cython.bint
    in_patch: cython.bint

    def __init__(
        self,
        options: bytes,
        statement_type: cython.int,
        stream_type: cython.int,
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
        self.name_row = PATCH_NAME
        self.prefix_row = PATCH_PREFIX
        self.datatype_row = PATCH_DATATYPE
        self.is_quads = statement_type == STATEMENT_QUADS
        self.stream_type = stream_type
        self.in_transaction = False
        # Whether the current patch has rows.
        self.in_patch = False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def may_restart(self) -> cython.bint:
        return not self.in_transaction and (not self.in_patch or self.stream_type != STREAM_PUNCTUATED)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def is_new_frame_due(self) -> cython.bint:
        """Return whether the next row begins another frame; true for the first row."""
        return (
            0 < self.frame_row_limit <= self.frame_rows
            or (self.frame_byte_limit > 0 and self.frame_size >= self.frame_byte_soft_limit)
            or (self.restart_due and self.may_restart())
        )

    def encode(
        self,
        ops: cython.const[cython.int][::1],
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

        A row that cannot be written raises an error, whose `row` is its row in the batch, and has no effect; those
        before it are written.
        """
        # Streams of triples do not use it, but it must be a column.
        graph: cython.const[cython.int][::1] = s if g is None else g
        is_full: cython.bint = False
        self.begin_rows(terms, start, stop)
        while self.row_at < stop and not is_full:
            try:
                is_full = self.encode_rows(ops, s, p, o, graph, self.row_at + 1 if self.whole_iris else stop)
                self.whole_iris = False
            except JellyError:
                if not self.undo_row():
                    raise
            except BaseException:
                self.is_broken = True
                raise
        return self.row_at

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def encode_rows(
        self,
        ops: cython.const[cython.int][::1],
        s: cython.const[cython.int][::1],
        p: cython.const[cython.int][::1],
        o: cython.const[cython.int][::1],
        g: cython.const[cython.int][::1],
        stop: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write the rows from `row_at` on and return whether the output is full. `row_at` stays at a row that fails."""
        row: cython.Py_ssize_t
        op: cython.int
        for row in range(self.row_at, stop):
            self.row_at = row
            op = ops[row]
            if self.frame_rows == 0 or self.is_new_frame_due():
                # A bare stream ends with its first frame, which an earlier row may have ended.
                self.require_open()
                if self.out_size >= self.output_limit:
                    return True
                if self.is_new_frame_due():
                    self.begin_frame()
            if op in (PATCH_ADD, PATCH_DELETE):
                self.plan_statement(s[row], p[row], o[row], g[row], self.is_quads)
            else:
                self.begin_statement()
                self.plan_other(op, s[row], o[row], g[row])
            self.write_row(op)
            self.statements += 1
            self.note_row(op)
        self.row_at = stop
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_other(self, op: cython.int, s: cython.int, o: cython.int, g: cython.int) -> cython.int:
        """Plan a row that is not a statement. Raises if it is not allowed here."""
        planned: cython.Py_ssize_t
        if op in (PATCH_NAMESPACE_ADD, PATCH_NAMESPACE_DELETE):
            self.plan_text(s, "the name of a namespace")
            if self.terms.kinds[o] == KIND_IRI:
                self.plan_iri(o, 2, -1)
            elif op == PATCH_NAMESPACE_ADD or self.terms.kinds[o] != KIND_DEFAULT_GRAPH:
                raise self.refusal("a namespace whose value is not an IRI")
            if self.is_quads:
                planned = self.steps
                self.plan_graph(g)
                if self.steps > planned:
                    self.step_field[planned] -= GRAPH_SHIFT
        elif op == PATCH_HEADER:
            self.plan_text(s, "the key of a header")
            if self.terms.kinds[o] == KIND_DEFAULT_GRAPH:
                raise self.refusal("a header without a value")
            planned = self.steps
            self.plan(o, 2)
            self.step_field[planned] -= VALUE_SHIFT
        elif op == PATCH_TRANSACTION_START:
            if self.in_transaction:
                raise self.refusal("a transaction starts inside another transaction")
        elif op in (PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_ABORT):
            if not self.in_transaction:
                word = "commit" if op == PATCH_TRANSACTION_COMMIT else "abort"
                raise self.refusal(f"a transaction {word} outside of a transaction")
        elif op == PATCH_PUNCTUATION:
            self.require_patch_end()
            if self.stream_type != STREAM_PUNCTUATED:
                raise self.refusal("a punctuation mark, but the stream is not of type PUNCTUATED; use end_patch()")
        else:
            raise self.refusal(f"{op} is not an operation of a patch")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def plan_text(self, term: cython.int, what: object) -> cython.int:
        """Plan the string of a plain literal as the first field of the message."""
        if self.terms.kinds[term] != KIND_LITERAL:
            raise self.refusal(f"{what} is not a plain literal")
        self.row_bytes += self.terms.values.offsets[term + 1] - self.terms.values.offsets[term]
        # Strings are written as labels of blank nodes are.
        return self.step(KIND_BLANK_NODE, 1, term, 0)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def note_row(self, op: cython.int) -> cython.int:
        """Update the state after a row that has been written."""
        self.in_patch = True
        if op == PATCH_TRANSACTION_START:
            self.in_transaction = True
        elif op in (PATCH_TRANSACTION_COMMIT, PATCH_TRANSACTION_ABORT):
            self.in_transaction = False
        elif op == PATCH_PUNCTUATION:
            self.in_patch = False
            self.flush_frame(b"")
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_patch_end(self) -> cython.int:
        if self.in_transaction:
            raise self.refusal("the patch ends inside a transaction; commit or abort it first")
        return 0

    def end_patch(self) -> None:
        """End the patch, even an empty one: with a punctuation mark, or with the frame in streams of type FRAME."""
        self.row_at = -1
        self.require_open()
        self.require_patch_end()
        if self.stream_type == STREAM_PUNCTUATED:
            if self.is_new_frame_due():
                self.begin_frame()
            self.begin_statement()
            self.write_row(PATCH_PUNCTUATION)
            self.statements += 1
            self.note_row(PATCH_PUNCTUATION)
        elif self.stream_type == STREAM_FRAME:
            self.in_patch = False
            self.end_frame_with(b"")
        else:
            raise EncodeError("a stream of type FLAT is one patch, which ends with the stream")

    def finish(self) -> None:
        """End the stream, and the current patch if it has rows."""
        self.row_at = -1
        self.require_patch_end()
        if self.in_patch and self.stream_type == STREAM_PUNCTUATED:
            self.end_patch()
        FrameEncoder.finish(self)
