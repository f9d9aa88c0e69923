"""A batch: a bounded run of statements as integer columns over one table of terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jellyframe.kernel.table_cy import BatchBuilder, TermTable
from jellyframe.lazy import view_maker

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.kernel.objects_cy import StatementMaker
    from jellyframe.options import StreamOptions
    from jellyframe.terms import Quad, Triple


class NamespaceDeclaration(NamedTuple):
    """A short name for an IRI, and the frame in which the stream declares it."""

    frame: int
    name: str
    iri: str


class FrameSpan(NamedTuple):
    """The part of a frame that lies in one batch: rows `start` to `stop`."""

    number: int
    start: int
    stop: int
    is_complete: bool


class Batch:
    """Statements in columns: `s`, `p`, `o` and, where there are graphs, `g` hold rows of `terms`.

    A batch may hold many frames, or a part of one. `frame_ends` has, for each frame of which the batch has rows or
    the end, the row at which it stops; the first of them has the number `first_frame`, and `last_frame_open` says that
    the last one goes on in the next batch.
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
        "options",
        "p",
        "s",
        "terms",
    )

    def __init__(
        self,
        columns: tuple[memoryview, memoryview, memoryview, memoryview | None],
        terms: TermTable,
        *,
        options: StreamOptions | None = None,
        first_frame: int = 0,
        frame_ends: memoryview | None = None,
        last_frame_open: bool = True,
        metadata: dict[int, dict[str, bytes]] | None = None,
        namespaces: list[NamespaceDeclaration] | None = None,
    ) -> None:
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
        """A batch of what a builder holds, with no frames of its own."""
        return cls(builder.columns(), builder.terms)

    @classmethod
    def from_statements(cls, statements: Iterable[Triple | Quad], *, quads: bool | None = None) -> Batch:
        """A batch of Python statements. `quads` says whether they have a graph; by default the first one tells."""
        from jellyframe.kernel.objects_cy import build_statements

        return cls.from_builder(build_statements(statements, quads))

    def __len__(self) -> int:
        return len(self.s)

    @property
    def has_graph(self) -> bool:
        return self.g is not None

    def default_graph_column(self) -> memoryview:
        """A graph column for a batch that has none: the default graph in every row."""
        from array import array

        return memoryview(array("i", [self.terms.default_graph_term()]) * len(self))

    def frame_spans(self) -> Iterator[FrameSpan]:
        """The frames of the batch, whole or in part, in order."""
        ends = [len(self)] if self.frame_ends is None else self.frame_ends
        last = len(ends) - 1
        start = 0
        for i, stop in enumerate(ends):
            yield FrameSpan(self.first_frame + i, start, stop, i < last or not self.last_frame_open)
            start = stop

    def statements(self, start: int = 0, stop: int | None = None) -> list[Triple | Quad]:
        """The statements of some rows as Python objects. Each distinct term is made once, over all calls."""
        if self._maker is None:
            from jellyframe.kernel.objects_cy import StatementMaker

            self._maker = StatementMaker(self.s, self.p, self.o, self.g, self.terms)
        return self._maker.make(start, len(self) if stop is None else stop)

    def to_arrow(
        self, layout: str = "struct", *, frame_column: bool = False, columns: Sequence[str] | None = None
    ) -> pa.RecordBatch:
        """The statements as an Arrow record batch, in one of the layouts of `read_table`."""
        record_batch: pa.RecordBatch = view_maker("batch.to_arrow")(
            self, layout, frame_column=frame_column, columns=columns
        )
        return record_batch

    def __repr__(self) -> str:
        columns = "s, p, o, g" if self.has_graph else "s, p, o"
        return f"<Batch of {len(self)} rows ({columns}), {self.terms.count} terms>"
