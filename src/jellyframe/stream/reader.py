"""Read Jelly streams, as batches, Arrow record batches, frames or statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame, frames_of
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import JellyError
from jellyframe.lazy import view_maker
from jellyframe.options import DEFAULT_LIMITS, Limits, StreamOptions
from jellyframe.storage.types import FileSystem, Source
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.stream.exclusive import ExclusiveIterator
from jellyframe.stream.opening import ReadingPlace, Recovery, open_batches
from jellyframe.stream.reading import AnyReader, BatchSource

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.options import DialectName, LayoutName
    from jellyframe.stream.recovery import Damage
    from jellyframe.terms import Quad, Triple

STATEMENTS_AT_A_TIME = 4096


class ReaderSettings(TypedDict, total=False):
    """The keyword arguments of `open_reader`."""

    limits: Limits | None
    concatenated: bool
    batch_rows: int
    delimited: bool | None
    byte_range: tuple[int, int | None] | None
    self_contained: bool
    on_damage: Callable[[Damage], object] | None
    filesystem: FileSystem | None
    dialect: DialectName


def open_reader(
    source: Source,
    *,
    limits: Limits | None = None,
    concatenated: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    delimited: bool | None = None,
    byte_range: tuple[int, int | None] | None = None,
    self_contained: bool = False,
    on_damage: Callable[[Damage], object] | None = None,
    filesystem: FileSystem | None = None,
    dialect: DialectName = "released",
) -> JellyReader:
    """Open a Jelly stream for reading.

    Args:
        source: a path, a URI, bytes, or a binary file object, which need not seek. gzip and Zstandard are recognised.
        limits: the limits for untrusted input.
        concatenated: every options row begins a new stream. By default, as the format says, a repeated one has to be
            identical and changes nothing.
        batch_rows: statements in a batch, at most.
        delimited: whether the frames have their lengths in front; by default detected from the first bytes.
        byte_range: read from one restart point to another (see `jellyframe.stream.index`).
        self_contained: refuse a stream that begins by leaving out an id, so that its meaning depends on what was read
            before. Those of our writer do not.
        on_damage: continue after damage, at the next restart point that can be found by its bytes. The function is
            called with what was lost, a `Damage`, each time. By default the first error ends reading.
        filesystem: of pyarrow or fsspec, in which the source is a path.
        dialect: `released`, or `draft` for a stream in the draft of the format (docs/draft.md). It is not detected, but
            an error says if the bytes look like the other one.
    """
    return JellyReader(
        source,
        limits=limits or DEFAULT_LIMITS,
        concatenated=concatenated,
        batch_rows=batch_rows,
        delimited=delimited,
        byte_range=byte_range,
        self_contained=self_contained,
        on_damage=on_damage,
        filesystem=filesystem,
        dialect=dialect,
    )


class StatementReader(AnyReader[StreamOptions]):
    """A stream of statements and its views, wherever the batches come from.

    The views share one position: what one has consumed, another does not see.
    """

    def __init__(self, batches: BatchSource[StreamOptions], source_name: str | None) -> None:
        """Read `batches`; `source_name` is the name of the input in errors."""
        super().__init__(batches, source_name, "Jelly")
        self._namespaces: dict[str, str] = {}

    # ---- the views ----

    @property
    def namespaces(self) -> dict[str, str]:
        """The namespaces declared in what has been read: the IRI of each name."""
        return self._namespaces

    def frames(self) -> Iterator[Frame]:
        """Return the stream frame by frame: in a grouped stream, each is a graph or a dataset."""
        # The guard is on the batches: frames of a batch share nothing that a step changes, and may be small and many.
        return frames_of(ExclusiveIterator(self._exclusive, self._each_batch()))

    def statements(self) -> Iterator[Triple | Quad]:
        """Return the stream statement by statement."""
        for statements in ExclusiveIterator(self._exclusive, self._statement_lists()):
            yield from statements
            # Their memory, which is still in the cache, is reused for the next list.
            del statements

    def record_batches(
        self,
        layout: LayoutName = "struct",
        *,
        frame_column: bool = False,
        columns: Sequence[str] | None = None,
        dictionary: bool = False,
    ) -> pa.RecordBatchReader:
        """Return the rest of the stream as Arrow record batches, decoded as they are drawn.

        The schema's metadata has the options of the stream, and the namespaces declared so far.

        Args:
            layout: `struct`, `ntriples` or `flat`, as in `read_table`.
            frame_column: add the number of the frame as a column `frame`.
            columns: the columns to make; all by default.
            dictionary: encode strings with a dictionary, which is the term table of each batch.
        """
        import pyarrow as pa

        from jellyframe.arrow.layouts import ArrowView
        from jellyframe.arrow.metadata import with_stream_metadata

        view = ArrowView(
            layout, self.options.has_graph, frame_column=frame_column, columns=columns, dictionary=dictionary
        )
        schema = with_stream_metadata(view.schema, self.options, self.namespaces)
        return pa.RecordBatchReader.from_batches(schema, view.record_batches(self.batches()))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rest of the stream through the Arrow C stream interface, in the layout `struct`."""
        return self.record_batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Triple | Quad]:
        return self.statements()

    def _repr_html_(self) -> str:
        """Return the options and the first statements, for notebooks. Nothing is consumed."""
        options: StreamOptions | JellyError
        try:
            options = self.options
        except JellyError as error:
            options = error
        html: str = view_maker("reader.html")(self.source_name, options, self._waiting_batch)
        return html

    # ---- the mechanism ----

    def _each_batch(self) -> Iterator[Batch]:
        for batch in super()._each_batch():
            self._namespaces.update((declaration.name, declaration.iri) for declaration in batch.namespaces)
            yield batch
            del batch

    def _statement_lists(self) -> Iterator[list[Triple | Quad]]:
        for batch in self._each_batch():
            for start in range(0, len(batch), STATEMENTS_AT_A_TIME):
                yield batch.statements(start, min(start + STATEMENTS_AT_A_TIME, len(batch)))
            del batch


class JellyReader(StatementReader):
    """A Jelly stream that is being read. Its views share one position: what one has consumed, another does not see.

    A reader is for one thread at a time. Views of a reader that has been closed raise.
    """

    def __init__(
        self,
        source: Source,
        *,
        limits: Limits,
        concatenated: bool,
        batch_rows: int,
        delimited: bool | None,
        byte_range: tuple[int, int | None] | None,
        self_contained: bool,
        on_damage: Callable[[Damage], object] | None,
        filesystem: FileSystem | None,
        dialect: DialectName,
    ) -> None:
        """Open a stream; the arguments are those of `open_reader`."""

        def decoder_at(place: ReadingPlace) -> StreamDecoder:
            return StreamDecoder(
                limits=limits,
                concatenated=concatenated,
                delimited=delimited if byte_range is None and place.is_start else True,
                batch_rows=batch_rows,
                self_contained=self_contained or place.offset > 0,
                start=place.offset,
                first_frame=place.first_frame,
                source_name=place.source_name,
                dialect=dialect,
            )

        recovery: Recovery[StreamOptions] | None = None
        if on_damage is not None:
            from jellyframe.stream.kinds import statement_streams
            from jellyframe.stream.recovery import RecoveringBatches

            recovery = partial(
                RecoveringBatches,
                on_damage=on_damage,
                limits=limits,
                concatenated=concatenated,
                kind=statement_streams(dialect),
            )
        super().__init__(
            *open_batches(
                source,
                decoder_at,
                limits=limits,
                byte_range=byte_range,
                filesystem=filesystem,
                recovery=recovery,
            )
        )
