"""Read and write RDF Patch text.

    with open_text_input("changes.rdfp.gz") as reader:
        for row in reader:
            ...

A line is a row: `H key value .`, `TX .`, `TC .`, `TA .`, `PA "name" <iri> [graph] .`, `PD "name" [graph] .`,
`A s p o [g] .`, `D s p o [g] .`. Terms are those of N-Triples, with quoted triples and `<_:label>` for blank nodes;
terms that are not valid in N-Triples are written as in `formats/ntriples.py`. Other forms are also read: names as
`rdf:`, and the IRI of a namespace in quotation marks.

RDF Patch has no row for the end of a patch. It is written as the comment `# end of patch`, which other readers skip.
`PatchEnds` decides where patches end when a text is read. Jena's row for it, `Z .`, is read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from jellyframe.batch import Batch
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import EncodeError, NamedGraphError, TextError, locating
from jellyframe.formats.ntriples import LINES_BYTES, line_pieces
from jellyframe.formats.text_reading import TextReader
from jellyframe.kernel.line_write_cy import PATCH_END, write_patch_lines
from jellyframe.kernel.memory_cy import Memory
from jellyframe.kernel.rdf_patch_parse_cy import AT_HEADERS, AT_MARKS, AT_TRANSACTIONS, PatchTextParser
from jellyframe.options import Limits, check_batch_rows, check_word
from jellyframe.patch.batches import write_given
from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.patch.reader import PatchReader
from jellyframe.patch.recovery import RowsAroundLosses
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import ByteSource
from jellyframe.stream.writing import SinkWriter

if TYPE_CHECKING:
    from jellyframe.kernel.table_cy import StringTable
    from jellyframe.options import LayoutName
    from jellyframe.patch.rows import PatchRow
    from jellyframe.patch.tables import PatchTable
    from jellyframe.storage.types import Compression, FileSystem, Sink, Source

# Where the patches of a text end: at marks, `# end of patch` or `Z .`, and before headers that follow other rows; at
# marks only; at marks and after each transaction; or only with the text.
PatchEnds: TypeAlias = Literal["headers", "marks", "transactions", "none"]
PATCH_ENDS: Final[tuple[PatchEnds, ...]] = get_args(PatchEnds)
_END_BITS: Final[dict[PatchEnds, int]] = {
    "headers": AT_MARKS | AT_HEADERS,
    "marks": AT_MARKS,
    "transactions": AT_MARKS | AT_TRANSACTIONS,
    "none": 0,
}


# ---- reading ----------------------------------------------------------------------------------------------


def open_text_input(
    source: Source,
    *,
    statement_type: PatchStatementType = PatchStatementType.QUADS,
    patch_ends: PatchEnds = "headers",
    strict: bool = True,
    lenient: bool = False,
    generalized: bool = True,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    limits: Limits | None = None,
    on_error: Callable[[TextError], object] | None = None,
    abort_losses: bool = True,
    filesystem: FileSystem | None = None,
) -> PatchReader:
    """Open RDF Patch text for reading, as a stream of patches of type PUNCTUATED; FLAT if `patch_ends` is `none`.

    Args:
        source: a path, a URI, bytes, or a binary file object; gzip and Zstandard are detected
        statement_type: QUADS, or TRIPLES, in which a graph is an error
        patch_ends: where the patches end: `headers`, `marks`, `transactions` or `none`
        strict: refuse transactions that start or end where they must not, or are open at the end
        lenient: accept IRIs that are not absolute, and decode labels `hex-…` of blank nodes
        generalized: whether any term may be at any position
        batch_rows: the maximum number of rows in a batch
        limits: the limits for untrusted input
        on_error: called with the error of each invalid line, which is then left out; its transaction ends with an
            abort. By default the first error ends reading
        abort_losses: whether to add rows that abort transactions with invalid lines; without them it is not
            safe to apply the rows
        filesystem: the file system of the path, of pyarrow or fsspec

    Raises:
        OptionsError: if `patch_ends` or `batch_rows` is not valid
    """
    check_word("patch_ends", patch_ends, PATCH_ENDS)
    check_batch_rows(batch_rows)
    limits = limits or Limits()
    options = PatchOptions(
        statement_type=statement_type,
        stream_type=PatchStreamType.FLAT if patch_ends == "none" else PatchStreamType.PUNCTUATED,
        generalized_statements=generalized,
    )
    options.check()
    parser = PatchTextParser(
        options.has_graph,
        generalized,
        limits.max_nesting_depth,
        on_error,
        lenient,
        strict,
        _END_BITS[patch_ends],
        on_error is not None and abort_losses,
    )
    file = ByteSource(source, limits, filesystem=filesystem)
    batches = _TextBatches(file, parser, options, batch_rows)
    if on_error is None or not abort_losses:
        return PatchReader(batches, file.name)
    return PatchReader(_TolerantBatches(batches, on_error), file.name)


class _TextBatches:
    """The batches of a text, for a reader."""

    is_delimited = None

    def __init__(self, file: ByteSource, parser: PatchTextParser, options: PatchOptions, batch_rows: int) -> None:
        self._file = file
        self._parser = parser
        self.options = options
        self._builders = TextReader(file, parser, quads=options.has_graph).builders(batch_rows)

    def next_batch(self) -> Batch | None:
        with locating(self._file.name):
            builder = next(self._builders, None)
            if builder is None:
                self._parser.end_of_text()
                return None
        return Batch.from_builder(builder).replace(op=self._parser.take_ops(builder.rows))

    def close(self) -> None:
        self._file.close()


class _TolerantBatches:
    """The same without invalid lines; none of their transactions is committed."""

    is_delimited = None

    def __init__(self, batches: _TextBatches, on_error: Callable[[TextError], object]) -> None:
        self._batches = batches
        self._on_error = on_error
        self.options = batches.options
        self._given = self._each_batch()

    def next_batch(self) -> Batch | None:
        return next(self._given, None)

    def _each_batch(self) -> Iterator[Batch]:
        rows = RowsAroundLosses()
        try:
            while (batch := self._batches.next_batch()) is not None:
                yield from rows.of(batch)
        except TextError as error:
            # The error is not in a line, but at the end of the text.
            self._on_error(error)
            yield from rows.loss(None)
        yield from rows.end()

    def close(self) -> None:
        self._batches.close()


# ---- writing ----------------------------------------------------------------------------------------------


class PatchTextWriter(SinkWriter):
    """A writer of RDF Patch text, with the methods of a `PatchWriter`.

    A file appears at its path when the writer is closed. It is not checked whether transactions start and end in turns.
    If a row is refused, those before it are written.

    Args:
        sink: a path or a URI, at which the file appears when the writer is closed, or a binary file object
        options: decide whether there may be graphs, and whether the ends of patches are written; by default both
        compression: `gzip`, `zstd` or None
        filesystem: the file system of the path, of pyarrow or fsspec
    """

    def __init__(
        self,
        sink: Sink,
        options: PatchOptions | None = None,
        *,
        compression: Compression | None = None,
        filesystem: FileSystem | None = None,
    ) -> None:
        self._options = PatchOptions() if options is None else options
        self._options.check()
        super().__init__(ByteSink(sink, compression, filesystem=filesystem))
        self._memory = Memory()
        self._rows_written = 0

    @property
    def options(self) -> PatchOptions:
        """The options of the text as a stream."""
        return self._options

    @property
    def rows_written(self) -> int:
        """The number of rows written so far, ends of patches included."""
        return self._rows_written

    def write(self, rows: Iterable[PatchRow]) -> None:
        """Write the rows of any iterable.

        Args:
            rows: rows of a patch

        Raises:
            EncodeError: if an item is not a row, or has a graph in a stream of triples
        """
        with self._exclusive:
            has_graph = self._options.has_graph
            write_given(rows, lambda batch: self._write_batch(batch, 0, len(batch)), has_graph=has_graph)

    def write_batch(self, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Write the rows of a batch; its frames are ignored.

        Args:
            batch: the rows, with the column `op`
            start: the first row to write
            stop: the row after the last one; by default all rows are written
        """
        with self._exclusive:
            self._write_batch(batch, start, len(batch) if stop is None else stop)

    def write_table(self, table: PatchTable, layout: LayoutName | None = None) -> None:
        """Write an Arrow table, record batch or record batch reader of patches, in any of the layouts.

        Args:
            table: the rows; a row with the operation `P` ends a patch
            layout: the layout of the columns; by default it is inferred from them

        Raises:
            TableError: if the columns do not hold rows of patches
        """
        from jellyframe.patch.tables import write_rows

        write_rows(table, layout, self)

    def end_patch(self) -> None:
        """End the patch, even if it is empty.

        Raises:
            EncodeError: if the stream type is FLAT, which is one patch only
        """
        if self._options.stream_type is PatchStreamType.FLAT:
            raise EncodeError("a stream of type FLAT is one patch, which ends with the stream")
        with self._exclusive:
            self._require_open()
            self._sink.write(PATCH_END)
            self._rows_written += 1

    def flush(self) -> None:
        """Write all buffered bytes to the sink."""
        with self._exclusive:
            self._require_open()
            self._sink.flush()

    def _write_batch(self, batch: Batch, start: int, stop: int) -> None:
        self._require_open()
        if batch.has_graph and not self._options.has_graph:
            raise NamedGraphError("rows with graphs in a patch of triples; set statement_type to QUADS")
        written = start
        try:
            for lines in patch_text(batch, start, stop, memory=self._memory):
                self._sink.write(lines)
            written = stop
        except EncodeError as error:
            written = start if error.row is None else error.row
            raise
        finally:
            self._rows_written += written - start


def patch_text(
    batch: Batch, start: int = 0, stop: int | None = None, *, memory: Memory | None = None
) -> Iterator[memoryview]:
    """Return the rows `start` to `stop` as RDF Patch, in pieces of up to about 8 MiB, cut anywhere."""
    ops = batch.operations

    def write(strings: StringTable, start: int, stop: int) -> tuple[memoryview, int]:
        return write_patch_lines(ops, *batch.columns, strings, start, stop, LINES_BYTES, memory)

    return line_pieces(batch, start, len(batch) if stop is None else stop, write, memory, ops)
