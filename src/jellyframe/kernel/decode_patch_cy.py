"""Decode the rows of a patch stream: operations on statements and namespaces, headers, transactions, punctuation marks.

A batch of a patch has one more column, `op`, with the operation of each row. An absent term is represented by the
default graph, which is never a subject, predicate or object:

| operation | s | p | o | g |
| --- | --- | --- | --- | --- |
| add, delete | subject | predicate | object | graph, in streams of quads |
| namespace add, delete | the name, a plain literal | - | the IRI, or none in a delete | graph, in streams of quads |
| header | the key, a plain literal | - | the value | - |
| transaction start, commit, abort, punctuation | - | - | - | - |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import Advice, ParseError
from jellyframe.kernel.decode_frames_cy import FrameDecoder
from jellyframe.kernel.memory_cy import grown_ints, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.decode_frames_cy import FrameDecoder
    from cython.cimports.jellyframe.kernel.fields import (
        PART_ABSENT,
        PART_DEFAULT_GRAPH,
        PART_LITERAL,
        PART_TRIPLE,
        ROW_OPTIONS,
    )
    from cython.cimports.jellyframe.kernel.kinds import KIND_LITERAL
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
    from cython.cimports.jellyframe.kernel.varints import read_length, read_varint
else:
    from jellyframe.kernel.fields import PART_ABSENT, PART_DEFAULT_GRAPH, PART_LITERAL, PART_TRIPLE, ROW_OPTIONS
    from jellyframe.kernel.kinds import KIND_LITERAL
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
    from jellyframe.kernel.varints import read_length, read_varint

ROW_FIELDS = (
    ROW_OPTIONS,
    PATCH_ADD,
    PATCH_DELETE,
    PATCH_NAMESPACE_ADD,
    PATCH_NAMESPACE_DELETE,
    PATCH_TRANSACTION_START,
    PATCH_TRANSACTION_COMMIT,
    PATCH_TRANSACTION_ABORT,
    PATCH_NAME,
    PATCH_PREFIX,
    PATCH_DATATYPE,
    PATCH_HEADER,
    PATCH_PUNCTUATION,
)
# The first field of the graph in RdfPatchNamespace, and of the value in RdfPatchHeader.
GRAPH_FIELD = cython.declare(cython.int, 3)
VALUE_FIELD = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class PatchDecoder(FrameDecoder):
    """Reads a patch stream. Its settings from the options are the statement type and the stream type.

    `strict` refuses what the specification lets a consumer refuse: transactions that do not alternate between start and
    end, graphs in a stream of triples, and namespaces without a graph before the first graph of a stream of quads.
    """

    strict: cython.bint
    is_quads: cython.bint
    stream_type: cython.int
    in_transaction: cython.bint
    ops: cython.int[::1]
    # Positions of a row's name or key, its IRI and its term, set by `find_parts`.
    text_start: cython.Py_ssize_t
    text_stop: cython.Py_ssize_t
    iri_start: cython.Py_ssize_t
    iri_stop: cython.Py_ssize_t
    term_kind: cython.int
    term_start: cython.Py_ssize_t
    term_stop: cython.Py_ssize_t

    def __init__(
        self,
        read_options: Callable[[bytes, bool], tuple[tuple[int, ...], bool, bool, int, int, int]],
        max_nesting_depth: cython.int,
        max_frame_bytes: cython.longlong,
        batch_rows: cython.Py_ssize_t,
        batch_bytes: cython.Py_ssize_t,
        concatenated: cython.bint,
        strict: cython.bint,
    ):
        FrameDecoder.__init__(
            self, read_options, max_nesting_depth, max_frame_bytes, batch_rows, batch_bytes, concatenated
        )
        self.row_fields = sum([1 << field for field in ROW_FIELDS])
        self.name_field = PATCH_NAME
        self.prefix_field = PATCH_PREFIX
        self.datatype_field = PATCH_DATATYPE
        self.stream_name = "Jelly-Patch"
        self.strict = strict
        self.is_quads = False
        self.stream_type = 0
        self.in_transaction = False
        self.ops = int_column(16)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def begin_stream(self, settings: Sequence[int]) -> cython.bint:
        self.is_quads = settings[0] == STATEMENT_QUADS
        self.stream_type = settings[1]
        self.statement_width = 4 if self.is_quads else 3
        self.forbids_graph = self.strict and not self.is_quads
        self.in_transaction = False
        return self.is_quads

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def require_stream_end(self, pos: cython.Py_ssize_t) -> cython.int:
        if self.in_transaction and self.strict:
            self.fail_reference("a new stream begins inside a transaction", pos)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def check_frame_end(self) -> cython.int:
        if self.in_transaction and self.stream_type == STREAM_FRAME:
            self.fail("a frame ends inside a transaction, in a stream of type FRAME", self.pos)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def read_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        row: cython.Py_ssize_t = self.builder.rows
        if field <= PATCH_DELETE:
            self.statement(pos, stop, self.statement_width)
            self.builder.add_row(self.last[0], self.last[1], self.last[2], self.last[3])
        elif field <= PATCH_NAMESPACE_DELETE:
            self.namespace_row(field, pos, stop)
        elif field == PATCH_HEADER:
            self.header_row(pos, stop)
        else:
            self.mark_row(field, pos, stop)
        if row >= self.ops.shape[0]:
            self.ops = grown_ints(self.ops, row, 2 * row)
        self.ops[row] = field
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def add_row(self, s: cython.int, o: cython.int, g: cython.int) -> cython.int:
        """Add a row of two terms and a graph, each -1 for none."""
        none: cython.int = self.terms.default_graph()
        return self.builder.add_row(none if s < 0 else s, none, none if o < 0 else o, none if g < 0 else g)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def namespace_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        name: cython.int
        iri: cython.int = -1
        self.find_parts(pos, stop, GRAPH_FIELD, "namespace")
        if self.iri_start < 0 and field == PATCH_NAMESPACE_ADD:
            self.fail("a namespace is added without its IRI", pos)
        name = self.text_term("the name of a namespace")
        if self.iri_start >= 0:
            iri = self.iri(self.iri_start, self.iri_stop)
        if not self.is_quads:
            if self.term_kind != PART_ABSENT and self.strict:
                self.fail_graph(pos)
            return self.add_row(name, iri, -1)
        if self.term_kind == PART_ABSENT:
            if self.last[3] < 0 and self.strict:
                self.fail_unset_graph(pos)
        else:
            if self.term_kind >= 2:
                # The fields of a graph are an IRI, a blank node, the default graph, a literal.
                self.term_kind = PART_DEFAULT_GRAPH if self.term_kind == 2 else PART_LITERAL
            self.last[3] = self.term(self.term_kind, self.term_start, self.term_stop, 3)
        return self.add_row(name, iri, self.last[3])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fail_unset_graph(self, pos: cython.Py_ssize_t) -> cython.int:
        raise ParseError(
            "the graph is to be repeated, but none came before this namespace" + self.reference_hint,
            source=self.source_name,
            frame=self.frame_number,
            row=self.row_number,
            offset=self.base_offset + pos,
            advice=self.reference_advice or Advice("argument", "strict", "False"),
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def header_row(self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        key: cython.int
        value: cython.int
        self.find_parts(pos, stop, VALUE_FIELD, "header")
        if self.term_kind == PART_ABSENT:
            self.fail("a header without a value: it is never repeated", pos)
        key = self.text_term("the key of a header")
        # Any term can be a value, as it can be an object.
        if self.term_kind == PART_TRIPLE:
            value = self.quoted(self.term_start, self.term_stop, 2)
        else:
            value = self.term(self.term_kind, self.term_start, self.term_stop, 2)
        return self.add_row(key, value, -1)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_parts(
        self, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t, first_field: cython.int, what: object
    ) -> cython.int:
        """Record the positions of the text, the IRI and the term of a row, whatever the order of its fields.

        The text is field 1, the term is one of the four fields from `first_field` on, and a field between them is an
        IRI.
        """
        tag: cython.longlong
        field: cython.longlong
        n: cython.Py_ssize_t
        self.text_start = self.text_stop = pos
        self.iri_start = -1
        self.term_kind = PART_ABSENT
        while pos < stop:
            tag = read_varint(self, pos, stop)
            field = tag >> 3
            if field < 1 or field > first_field + 3:
                pos = self.skip(tag, self.pos, stop)
                continue
            if (tag & 7) != 2:
                self.fail(f"field {field} of a {what} has the wire type {tag & 7}, and must have 2", pos)
            n = read_length(self, self.pos, stop)
            if field == 1:
                self.text_start = self.pos
                self.text_stop = self.pos + n
            elif field < first_field:
                self.iri_start = self.pos
                self.iri_stop = self.pos + n
            else:
                if self.term_kind != PART_ABSENT:
                    self.fail(f"a {what} with two {'graphs' if first_field == GRAPH_FIELD else 'values'}", pos)
                self.term_kind = cython.cast(cython.int, field - first_field)
                self.term_start = self.pos
                self.term_stop = self.pos + n
            pos = self.pos + n
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def text_term(self, what: object) -> cython.int:
        """Return the text that `find_parts` found, as a plain literal."""
        self.require_utf8(self.text_start, self.text_stop, what)
        return self.terms.intern(KIND_LITERAL, 0, self.buf, self.text_start, self.text_stop - self.text_start)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def mark_row(self, field: cython.int, pos: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.int:
        """Read a row without content: the start or end of a transaction, or a punctuation mark."""
        start: cython.Py_ssize_t = pos
        while pos < stop:
            pos = self.skip(read_varint(self, pos, stop), self.pos, stop)
        if field == PATCH_PUNCTUATION:
            if self.stream_type != STREAM_PUNCTUATED:
                self.fail("a punctuation mark, but the stream is not of type PUNCTUATED", start)
            if self.in_transaction:
                self.fail("a punctuation mark inside a transaction", start)
        elif field == PATCH_TRANSACTION_START:
            if self.in_transaction and self.strict:
                self.fail_reference("a transaction starts inside another transaction", start)
            self.in_transaction = True
        else:
            if not self.in_transaction and self.strict:
                word = "commit" if field == PATCH_TRANSACTION_COMMIT else "abort"
                self.fail_reference(f"a transaction {word} outside of a transaction", start)
            self.in_transaction = False
        return self.add_row(-1, -1, -1)

    def take_batch(self) -> tuple[Any, ...]:
        """Return what `FrameDecoder.take_batch` returns, and the operations of the rows."""
        rows: cython.Py_ssize_t = self.builder.rows
        ops = memoryview(self.ops)[:rows]
        self.ops = int_column(max(rows, 16))
        return (*FrameDecoder.take_batch(self), ops)

    def end_of_input(self) -> None:
        """Raise if the stream may not end here."""
        FrameDecoder.end_of_input(self)
        if self.in_transaction and self.strict:
            self.fail("the input ends inside a transaction", 0)
