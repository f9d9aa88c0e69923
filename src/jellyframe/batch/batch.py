"""A batch: a bounded run of statements as integer columns over one table of terms."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypedDict, cast

from jellyframe.errors import NamedGraphError, UsageError
from jellyframe.kernel.rows_cy import add_terms, count_rows, filter_ends, filter_ints, first_named_graph, take_ints
from jellyframe.kernel.table_cy import BatchBuilder, TermTable
from jellyframe.lazy import view_maker
from jellyframe.terms import DEFAULT_GRAPH, IRI, DefaultGraph, GraphName, Quad, Term, Triple

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa
    from typing_extensions import Buffer

    from jellyframe.kernel.objects_cy import StatementMaker
    from jellyframe.options import LayoutName, StreamOptions


# Bytes of terms in a batch, and of strings in a record batch: the number of rows alone bounds neither.
BATCH_BYTES: Final = 32 << 20
# The columns of statements.
POSITIONS: Final = ("s", "p", "o", "g")


class NamespaceDeclaration(NamedTuple):
    """A short name for an IRI: the number of the `frame` that declares it, the `name`, and the `iri`."""

    frame: int
    name: str
    iri: str


class FrameSpan(NamedTuple):
    """The part of a frame that is in one batch.

    Attributes:
        number: the number of the frame
        start: the first row of the part
        stop: the row after its last
        is_complete: whether the frame ends with it
    """

    number: int
    start: int
    stop: int
    is_complete: bool


Columns: TypeAlias = tuple[memoryview, memoryview, memoryview, memoryview | None]


class BatchParts(TypedDict, total=False):
    """Parts of a batch that `Batch.replace` changes."""

    columns: Columns
    terms: TermTable
    options: StreamOptions | None
    first_frame: int
    frame_ends: memoryview | None
    last_frame_open: bool
    metadata: dict[int, dict[str, bytes]]
    namespaces: list[NamespaceDeclaration]
    op: memoryview | None


class Batch:
    """Statements in columns: `s`, `p`, `o` and, where there are graphs, `g` hold rows of `terms`.

    A batch may hold many frames, or a part of one. `frame_ends` has, for each frame of which the batch has rows or
    the end, the row at which it stops; the first of them has the number `first_frame`, and `last_frame_open` says that
    the last one continues in the next batch.

    The batch of a patch also has `op`, the operation of each row (`jellyframe.kernel.patch_fields`); else it is None. A
    row that has no term at a position, such as the start of a transaction, has the default graph there.

    Args:
        columns: the columns s, p, o and g, of 32-bit integers; g is None where the statements are triples
        terms: the table of terms that the columns refer to
        options: the options of the stream, if the batch comes from one
        first_frame: the number of the first frame
        frame_ends: the row after the last one of each frame, None for one frame without an end
        last_frame_open: whether the last frame continues in the next batch
        metadata: the metadata of frames, by their numbers
        namespaces: the namespaces that frames declare
        op: the operations of the rows, for the batch of a patch
    """

    __slots__ = (
        "_maker",
        "first_frame",
        "frame_ends",
        "g",
        "last_frame_open",
        "metadata",
        "namespaces",
        "o",
        "op",
        "options",
        "p",
        "s",
        "terms",
    )

    def __init__(
        self,
        columns: Columns,
        terms: TermTable,
        *,
        options: StreamOptions | None = None,
        first_frame: int = 0,
        frame_ends: memoryview | None = None,
        last_frame_open: bool = True,
        metadata: dict[int, dict[str, bytes]] | None = None,
        namespaces: list[NamespaceDeclaration] | None = None,
        op: memoryview | None = None,
    ) -> None:
        self.op = op
        self.s, self.p, self.o, self.g = columns
        self.terms = terms
        self.options = options
        self.first_frame = first_frame
        self.frame_ends = frame_ends
        self.last_frame_open = last_frame_open
        self.metadata = metadata or {}
        self.namespaces = namespaces or []
        self._maker: StatementMaker | None = None

    @classmethod
    def from_builder(cls, builder: BatchBuilder) -> Batch:
        """Return the content of a `builder` of the kernel as a batch without frames."""
        return cls(builder.columns(), builder.terms)

    @classmethod
    def from_statements(cls, statements: Iterable[Triple | Quad], *, quads: bool | None = None) -> Batch:
        """Return a batch of Python statements.

        Args:
            statements: triples or quads, all of one kind
            quads: whether they have a graph; by default the first one decides
        """
        from jellyframe.kernel.from_objects_cy import build_statements

        return cls.from_builder(build_statements(statements, quads))

    def __len__(self) -> int:
        return len(self.s)

    @property
    def has_graph(self) -> bool:
        """Whether the statements are quads."""
        return self.g is not None

    @property
    def operations(self) -> memoryview:
        """The column `op` of the batch of a patch; UsageError if the batch is one of statements."""
        if self.op is None:
            raise UsageError("the batch is one of statements, not of a patch: it has no operations")
        return self.op

    @property
    def last_frame(self) -> int:
        """The number of the last frame."""
        return self.first_frame + max(0, len(self.frame_ends or ()) - 1)

    # ---- the algebra: each result shares the terms of this batch, and its columns where rows stay together ----

    def replace(self, **changes: Unpack[BatchParts]) -> Batch:
        """Return the same batch with some of its parts changed.

        Args:
            changes: the parts to change, by the names of the constructor's arguments
        """
        return Batch(
            changes.get("columns", self.columns),
            changes.get("terms", self.terms),
            options=changes.get("options", self.options),
            first_frame=changes.get("first_frame", self.first_frame),
            frame_ends=changes.get("frame_ends", self.frame_ends),
            last_frame_open=changes.get("last_frame_open", self.last_frame_open),
            metadata=changes.get("metadata", self.metadata),
            namespaces=changes.get("namespaces", self.namespaces),
            op=changes.get("op", self.op),
        )

    def slice(self, start: int = 0, stop: int | None = None) -> Batch:
        """Return the rows from `start` to `stop`, which is excluded, without a copy.

        Frames keep their numbers and metadata; one that continues after `stop` is open. An empty frame belongs to the
        slice with the row after it, and at the end of the batch to the slice with the row before it. Namespaces stay
        with the slice in which their frame begins.
        """
        rows = len(self)
        stop = rows if stop is None else min(max(stop, 0), rows)
        start = min(max(start, 0), stop)
        if start == 0 and stop == rows:
            return self
        columns = self._each_column(lambda column: column[start:stop])
        op = None if self.op is None else self.op[start:stop]
        if self.frame_ends is None:
            return self.replace(columns=columns, op=op)
        is_end_kept = stop == rows and start < rows
        kept = [
            span
            for span in self.frame_spans()
            if max(span.start, start) < min(span.stop, stop)
            or (span.start == span.stop and (start <= span.start < stop or (is_end_kept and span.start == stop)))
        ]
        first = kept[0].number if kept else self.first_frame
        numbers = {span.number for span in kept}
        begun = {span.number for span in kept if span.start >= start}
        return self.replace(
            columns=columns,
            op=op,
            first_frame=first,
            frame_ends=memoryview(array("i", [min(span.stop, stop) - start for span in kept])),
            last_frame_open=bool(kept) and (kept[-1].stop > stop or not kept[-1].is_complete),
            metadata={number: entries for number, entries in self.metadata.items() if number in numbers},
            namespaces=[declaration for declaration in self.namespaces if declaration.frame in begun],
        )

    def take(self, rows: Iterable[int]) -> Batch:
        """Return the given rows, in the given order; a row may come more than once.

        `rows` are numbers; those of a `memoryview` of 32-bit integers are not copied.
        Options and namespaces are kept. Frames and their metadata are dropped, as rows may come in any order.
        """
        is_ready = isinstance(rows, memoryview) and rows.format == "i"
        wanted = rows if is_ready else memoryview(array("i", rows))
        columns = self._each_column(lambda column: take_ints(column, wanted))
        op = None if self.op is None else take_ints(self.op, wanted)
        return self.replace(columns=columns, op=op, first_frame=0, frame_ends=None, last_frame_open=True, metadata={})

    def filter(self, mask: list[bool] | Buffer) -> Batch:
        """Return the rows where `mask`, with a value for each row, is true (a buffer: not 0), in their order.

        All else is kept. Frames keep their numbers, and may become empty.
        """
        selected = memoryview(bytes(mask) if isinstance(mask, list) else mask).cast("B")
        if len(selected) != len(self):
            raise ValueError(f"a mask of {len(selected)} rows for a batch of {len(self)}")
        count = count_rows(selected)
        if count == len(self):
            return self
        columns = self._each_column(lambda column: filter_ints(column, selected, count))
        op = None if self.op is None else filter_ints(self.op, selected, count)
        ends = self.frame_ends
        return self.replace(columns=columns, op=op, frame_ends=None if ends is None else filter_ends(ends, selected))

    @classmethod
    def concat(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of batches, one after the other, over one new table of terms.

        If one of them has graphs, the rows of the others are in the default graph. Frames are numbered consecutively,
        from the first one of the first batch on; one that is open continues in the next batch if the frame there has
        the same number. Metadata and namespaces are kept, and options if all batches have the same.

        Args:
            batches: one or more
        """
        if not batches:
            raise ValueError("there is no batch to concatenate")
        if len({batch.op is None for batch in batches}) > 1:
            raise ValueError("batches of patches cannot be concatenated with batches of statements")
        has_graph = any(batch.has_graph for batch in batches)
        op = None if batches[0].op is None else array("i")
        terms = TermTable()
        columns = [array("i") for _ in range(4 if has_graph else 3)]
        for batch in batches:
            mapping = add_terms(terms, batch.terms)
            for joined, column in zip(columns, (batch.s, batch.p, batch.o), strict=False):
                joined.frombytes(take_ints(mapping, column).cast("B"))
            if op is not None and batch.op is not None:
                op.frombytes(batch.op.cast("B"))
            if batch.g is not None:
                columns[3].frombytes(take_ints(mapping, batch.g).cast("B"))
            elif has_graph:
                columns[3].extend([terms.default_graph_term()] * len(batch))
        frames = _JoinedFrames(batches[0].first_frame)
        for batch in batches:
            frames.add(batch)
        options = batches[0].options
        return cls(
            (
                memoryview(columns[0]),
                memoryview(columns[1]),
                memoryview(columns[2]),
                memoryview(columns[3]) if has_graph else None,
            ),
            terms,
            options=options if all(batch.options == options for batch in batches) else None,
            first_frame=frames.first,
            frame_ends=memoryview(frames.ends) if any(batch.frame_ends is not None for batch in batches) else None,
            last_frame_open=batches[-1].last_frame_open,
            metadata=frames.metadata,
            namespaces=frames.namespaces,
            op=None if op is None else memoryview(op),
        )

    def with_graph(self, graph: GraphName = DEFAULT_GRAPH) -> Batch:
        """Return the statements as quads, all of them in one graph.

        The graphs that they had are dropped, and the options if they were those of triples; all else is kept.

        Args:
            graph: the name of the graph
        """
        if graph is DEFAULT_GRAPH:
            term = self.terms.default_graph_term()
        else:
            iri = IRI("")
            named = Batch.from_statements([Quad(iri, iri, iri, graph)])
            assert named.g is not None
            term = self.terms.adopt(named.terms, named.g[0])
        graphs = memoryview(array("i", [term]) * len(self))
        return self.replace(columns=(self.s, self.p, self.o, graphs), options=self.options if self.has_graph else None)

    def without_graph(self, *, merge: bool = False) -> Batch:
        """Return the statements as triples.

        A statement in a named graph raises NamedGraphError, unless `merge` is true. The options, which were those of
        quads, are dropped with the graphs; all else is kept.
        """
        if self.g is None:
            return self
        if not merge:
            row = self.first_named_graph()
            if row is not None:
                from jellyframe.batch.lines import row_line

                raise NamedGraphError(
                    f"a statement in a named graph, where only triples fit: {row_line(self, row)}", row=row
                )
        return self.replace(columns=(self.s, self.p, self.o, None), options=None)

    def fitted(self, *, has_graph: bool) -> Batch:
        """Return the batch as quads or as triples, for a stream of that kind.

        Args:
            has_graph: whether the stream has quads

        Raises:
            NamedGraphError: if the stream has triples, and a statement is in a named graph
        """
        if has_graph == self.has_graph:
            return self
        return self.with_graph() if has_graph else self.without_graph()

    def first_named_graph(self) -> int | None:
        """Return the first row with a statement in a named graph, or None."""
        row = -1 if self.g is None else first_named_graph(self.g, self.terms)
        return None if row < 0 else row

    @property
    def columns(self) -> Columns:
        """The columns s, p, o and g; g is None where the statements are triples."""
        return self.s, self.p, self.o, self.g

    def _each_column(self, change: Callable[[memoryview], memoryview]) -> Columns:
        g = None if self.g is None else change(self.g)
        return change(self.s), change(self.p), change(self.o), g

    def frame_spans(self) -> Iterator[FrameSpan]:
        """Return the frames of the batch, whole or in part, in order."""
        ends = [len(self)] if self.frame_ends is None else self.frame_ends
        last = len(ends) - 1
        start = 0
        for i, stop in enumerate(ends):
            yield FrameSpan(self.first_frame + i, start, stop, i < last or not self.last_frame_open)
            start = stop

    def statements(self, start: int = 0, stop: int | None = None) -> list[Triple | Quad]:
        """Return statements as Python objects. Each distinct term is made once, over all calls.

        Args:
            start: the first row
            stop: the row after the last one, by default all that follow
        """
        maker = self._maker or self._objects()
        return maker.make(start, len(self) if stop is None else stop)

    def term(self, number: int) -> Term | DefaultGraph:
        """Return a term of the table as a Python object, the same one that `statements` has.

        Args:
            number: the row of the table, as the columns have it
        """
        if not 0 <= number < self.terms.count:
            raise IndexError(f"there is no term {number} in a table of {self.terms.count}")
        return cast("Term | DefaultGraph", self._objects().term(number))

    def _objects(self) -> StatementMaker:
        if self._maker is None:
            from jellyframe.kernel.objects_cy import StatementMaker

            self._maker = StatementMaker(self.s, self.p, self.o, self.g, self.terms)
        return self._maker

    def to_arrow(
        self,
        layout: LayoutName = "struct",
        *,
        frame_column: bool = False,
        columns: Sequence[str] | None = None,
        dictionary: bool = False,
    ) -> pa.RecordBatch:
        """Return the statements as an Arrow record batch, in one of the layouts of `read_table`.

        Args:
            layout: `struct`, `ntriples` or `flat`
            frame_column: whether to add the number of the frame as a column `frame`
            columns: the columns to make, in that order; all by default
            dictionary: whether strings are dictionary-encoded over the terms of the batch
        """
        record_batch: pa.RecordBatch = view_maker("batch.to_arrow")(
            self, layout, frame_column=frame_column, columns=columns, dictionary=dictionary
        )
        return record_batch

    def __repr__(self) -> str:
        columns = "s, p, o, g" if self.has_graph else "s, p, o"
        return f"<Batch of {len(self)} rows ({columns}), {self.terms.count} terms>"


class _JoinedFrames:
    """The frames of batches that are being joined, numbered one after the other."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.ends = array("i")
        self.metadata: dict[int, dict[str, bytes]] = {}
        self.namespaces: list[NamespaceDeclaration] = []
        self._rows = 0
        self._open_frame: int | None = None

    def add(self, batch: Batch) -> None:
        numbers: dict[int, int] = {}
        for span in batch.frame_spans():
            if self._open_frame is not None and self._open_frame == span.number:
                self.ends.pop()
            self._open_frame = None
            numbers[span.number] = self.first + len(self.ends)
            self.ends.append(self._rows + span.stop)
            if not span.is_complete:
                self._open_frame = span.number
        for number, entries in batch.metadata.items():
            self.metadata.setdefault(numbers.get(number, number), {}).update(entries)
        self.namespaces += [
            declaration._replace(frame=numbers.get(declaration.frame, declaration.frame))
            for declaration in batch.namespaces
        ]
        self._rows += len(batch)
