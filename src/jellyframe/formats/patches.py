"""Patches of any format: Jelly-Patch and RDF Patch text, opened as readers and writers of the same kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypedDict, Unpack

from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.errors import OptionsError, TextError
from jellyframe.formats.rdf_patch import PatchEnds, PatchTextWriter, open_text_input
from jellyframe.formats.registry import (
    JELLY_PATCH,
    PATCH_FORMATS,
    Format,
    format_by_name,
    input_format,
)
from jellyframe.options import Limits
from jellyframe.patch.options import PatchOptions, PatchStatementType
from jellyframe.patch.reader import PatchReader, open_patch_reader
from jellyframe.patch.writer import PatchWriterSettings, open_patch_writer
from jellyframe.storage.names import compression_by_name

if TYPE_CHECKING:
    import pyarrow as pa

    from jellyframe.batch import Batch
    from jellyframe.options import LayoutName
    from jellyframe.patch.rows import PatchRow
    from jellyframe.patch.tables import PatchTable
    from jellyframe.storage.types import FileSystem, Sink, Source
    from jellyframe.stream.recovery import Damage


class PatchReadSettings(TypedDict, total=False):
    """The keyword arguments of `open_patch_input`."""

    limits: Limits | None
    strict: bool
    lenient: bool
    concatenated: bool
    batch_rows: int
    delimited: bool | None
    byte_range: tuple[int, int | None] | None
    statement_type: PatchStatementType
    patch_ends: PatchEnds
    generalized: bool
    on_error: Callable[[TextError], object] | None
    on_damage: Callable[[Damage], object] | None
    filesystem: FileSystem | None


class PatchOutput(Protocol):
    """A writer of patches in any format: a `PatchWriter` or a `PatchTextWriter`."""

    @property
    def options(self) -> PatchOptions:
        """The options of the stream."""

    @property
    def rows_written(self) -> int:
        """The number of rows written so far, ends of patches included."""

    def write(self, rows: Iterable[PatchRow]) -> None:
        """Write the rows of any iterable."""

    def write_batch(self, batch: Batch, start: int = 0, stop: int | None = None) -> None:
        """Write the rows of a batch, which has the column `op`."""

    def write_table(self, table: PatchTable, layout: LayoutName | None = None) -> None:
        """Write an Arrow table of patches."""

    def end_patch(self) -> None:
        """End the patch, even if it is empty."""

    def flush(self) -> None:
        """Write all buffered bytes to the sink."""

    def close(self) -> None:
        """End the stream. A file appears at its path now."""

    def discard(self) -> None:
        """Discard the output: nothing appears at the path."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None, /
    ) -> None: ...


def open_patch_input(
    source: Source,
    format: str | Format | None = None,  # noqa: A002
    *,
    limits: Limits | None = None,
    strict: bool = True,
    lenient: bool = False,
    concatenated: bool = False,
    batch_rows: int = DEFAULT_BATCH_ROWS,
    delimited: bool | None = None,
    byte_range: tuple[int, int | None] | None = None,
    statement_type: PatchStatementType = PatchStatementType.QUADS,
    patch_ends: PatchEnds = "headers",
    generalized: bool = True,
    on_error: Callable[[TextError], object] | None = None,
    on_damage: Callable[[Damage], object] | None = None,
    filesystem: FileSystem | None = None,
) -> PatchReader:
    """Open patches of any format for reading: Jelly-Patch or RDF Patch text.

    Args:
        source: a path, a URI, bytes, or a binary file object, which need not seek; gzip and Zstandard are detected
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        limits: the limits for untrusted input
        strict: refuse transactions that start or end where they must not, or are open at the end
        lenient: for text: accept IRIs that are not absolute, and decode labels `hex-…` of blank nodes
        concatenated: for Jelly-Patch: every options row begins a new stream
        batch_rows: the maximum number of rows in a batch
        delimited: for Jelly-Patch: whether frames are delimited; by default it is detected
        byte_range: for Jelly-Patch: read from one restart point to another
        statement_type: for text: QUADS, or TRIPLES, in which a graph is an error
        patch_ends: for text: where the patches end: `headers` (at a line `# end of patch` or `Z .` and before a header
            that follows other rows), `marks` (only at such lines), `transactions` (at such lines and after each
            transaction) or `none`
        generalized: for text: whether any term may be at any position
        on_error: for text: called with the error of each invalid line, which is then left out; its transaction ends
            with an abort
        on_damage: for Jelly-Patch: called with each loss of a damaged file, a `Damage`; reading continues after it,
            and a transaction that is partly lost ends with an abort
        filesystem: the file system of the path, of pyarrow or fsspec

    Raises:
        OptionsError: if the format is unknown, or not a format of patches
    """
    found = patch_format(format, source)
    if found is JELLY_PATCH:
        return open_patch_reader(
            source,
            limits=limits,
            strict=strict,
            concatenated=concatenated,
            batch_rows=batch_rows,
            delimited=delimited,
            byte_range=byte_range,
            on_damage=on_damage,
            filesystem=filesystem,
        )
    if byte_range is not None:
        raise OptionsError("a byte range is for Jelly-Patch: RDF Patch text has no restart points")
    return open_text_input(
        source,
        statement_type=statement_type,
        patch_ends=patch_ends,
        strict=strict,
        lenient=lenient,
        generalized=generalized,
        batch_rows=batch_rows,
        limits=limits,
        on_error=on_error,
        filesystem=filesystem,
    )


def open_patch_output(
    sink: Sink,
    format: str | Format | None = None,  # noqa: A002
    options: PatchOptions | None = None,
    **settings: Unpack[PatchWriterSettings],
) -> PatchOutput:
    """Open patches of any format for writing: Jelly-Patch or RDF Patch text.

    Args:
        sink: a path or a URI, at which the file appears when the writer is closed, or a binary file object
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        options: the options of the stream; for text they decide about graphs and ends of patches
        settings: those of `open_patch_writer`, of which text uses `compression` and `filesystem`. The default of
            `compression` follows from the file name

    Raises:
        OptionsError: if the format is unknown, or not a format of patches
    """
    found = patch_format(format, sink)
    settings.setdefault("compression", compression_by_name(sink))
    if found is JELLY_PATCH:
        return open_patch_writer(sink, options, **settings)
    return PatchTextWriter(
        sink, options, compression=settings.get("compression"), filesystem=settings.get("filesystem")
    )


def read_patch_table(
    source: Source,
    layout: LayoutName = "struct",
    *,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
    format: str | Format | None = None,  # noqa: A002
    **settings: Unpack[PatchReadSettings],
) -> pa.Table:
    """Read all patches of a source, of any format, into an Arrow table.

    The column `op` is the operation of a row, as in RDF Patch; `P` ends a patch. The metadata of the schema has the
    options of the stream, as JSON, for `write_patch_table`.

    Args:
        source: a path, a URI, bytes, or a binary file object
        layout: `struct`, `ntriples` or `flat`
        columns: the columns to make; all by default
        dictionary: encode strings with dictionaries
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        settings: those of `open_patch_input`
    """
    with open_patch_input(source, format, **settings) as reader:
        return reader.read_table(layout, columns=columns, dictionary=dictionary)


def write_patch_table(
    table: PatchTable,
    sink: Sink,
    options: PatchOptions | None = None,
    *,
    layout: LayoutName | None = None,
    format: str | Format | None = None,  # noqa: A002
    **settings: Unpack[PatchWriterSettings],
) -> None:
    """Write an Arrow table of patches, as Jelly-Patch or RDF Patch text.

    Args:
        table: a table, record batch or record batch reader of pyarrow, or an object with Arrow's stream interface
        sink: a path or a URI, or a binary file object
        options: the options of the stream; by default those in the metadata of the table's schema, as from
            `read_patch_table`
        layout: the layout of the columns: `struct`, `ntriples` or `flat`; by default it is inferred from the columns
        format: `jelly-patch` or `rdfp`; by default that of the file name, or otherwise Jelly-Patch
        settings: those of `open_patch_writer`

    Raises:
        TableError: if the columns do not hold rows of patches
        EncodeError: if a row cannot be written
    """
    import pyarrow as pa

    from jellyframe.arrow.tables import record_batch_reader
    from jellyframe.patch.tables import table_options

    if not isinstance(table, pa.Table | pa.RecordBatch):
        table = record_batch_reader(table)
    with open_patch_output(sink, format, options or table_options(table), **settings) as writer:
        writer.write_table(table, layout)


def patch_format(format: str | Format | None, place: Source | Sink, argument: str = "format") -> Format:  # noqa: A002
    """Return the format of patches of an argument or of a file name; Jelly-Patch if there is neither.

    `argument` is the argument that an error advises, if the format is unknown.
    """
    if isinstance(format, Format):
        return format_by_name(format.name, PATCH_FORMATS)
    path = os.fspath(place) if isinstance(place, str | os.PathLike) else None
    if format is None and path is None:
        return JELLY_PATCH
    return input_format(format, path, PATCH_FORMATS, argument)
