"""Jelly streams as Arrow tables, and back. The layouts are described in `jellyframe.arrow.layouts`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict, Unpack

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.metadata import stream_namespaces, stream_options, with_stream_metadata
from jellyframe.arrow.tables import record_batch_reader
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.errors import TableError
from jellyframe.options import VERSION_1_0
from jellyframe.stream.reader import JellyReader, open_reader
from jellyframe.stream.writer import WriterSettings, open_writer

if TYPE_CHECKING:
    from jellyframe.arrow.types import ArrowTable
    from jellyframe.options import DialectName, LayoutName, Limits, StreamOptions
    from jellyframe.storage.types import FileSystem, Path, Sink, Source
    from jellyframe.stream.recovery import Damage


class TableSettings(TypedDict, total=False):
    """The keyword arguments of `read_table`."""

    layout: LayoutName
    frame_column: bool
    columns: Sequence[str] | None
    dictionary: bool
    filesystem: FileSystem | None
    limits: Limits | None
    concatenated: bool
    delimited: bool | None
    byte_range: tuple[int, int | None] | None
    on_damage: Callable[[Damage], object] | None
    dialect: DialectName


def read_table(
    source: Source | Sequence[Path],
    layout: LayoutName = "struct",
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
    dictionary: bool = False,
    filesystem: FileSystem | None = None,
    limits: Limits | None = None,
    concatenated: bool = False,
    delimited: bool | None = None,
    byte_range: tuple[int, int | None] | None = None,
    on_damage: Callable[[Damage], object] | None = None,
    dialect: DialectName = "released",
) -> pa.Table:
    """Read a whole Jelly stream, or several, into an Arrow table.

    The metadata of its schema has the options of the (first) stream and the namespaces, as JSON, for `write_table`.

    Args:
        source: a path, a URI, bytes, or a binary file object; or a list of paths and URIs, read in their order.
        layout: `struct`, `ntriples` or `flat`.
        frame_column: add the number of the frame in its stream as a column `frame`.
        columns: the columns to make; all by default. There is a column for graphs if any of the streams has them.
        dictionary: encode strings with dictionaries. The dictionary of each chunk is the terms of its batch, so that a
            repeated term takes memory once.
        filesystem: of pyarrow or fsspec, in which the sources are paths.
        limits, concatenated, delimited, byte_range, on_damage, dialect: as in `open_reader`.
    """
    sources: Sequence[Source] = source if isinstance(source, list | tuple) else [source]  # type: ignore[list-item]

    def opened(
        one: Source, batch_rows: int = DEFAULT_BATCH_ROWS, on_damage: Callable[[Damage], object] | None = on_damage
    ) -> JellyReader:
        return open_reader(
            one,
            limits=limits,
            concatenated=concatenated,
            batch_rows=batch_rows,
            delimited=delimited,
            byte_range=byte_range,
            on_damage=on_damage,
            filesystem=filesystem,
            dialect=dialect,
        )

    def has_graph(one: Source) -> bool:
        # What is lost is reported when the rows are read.
        with opened(one, batch_rows=1, on_damage=None if on_damage is None else _ignore) as reader:
            return reader.options.has_graph

    if not sources:
        raise TableError("there is nothing to read: the list of paths is empty")
    make_view = partial(ArrowView, layout, frame_column=frame_column, columns=columns, dictionary=dictionary)
    view: ArrowView | None = None
    if len(sources) > 1:
        view = make_view(any(map(has_graph, sources)))
    batches: list[pa.RecordBatch] = []
    options: StreamOptions | None = None
    namespaces: dict[str, str] = {}
    for one in sources:
        with opened(one) as reader:
            if view is None:
                view = make_view(reader.options.has_graph)
            batches += view.record_batches(reader.batches())
            options = options or reader.options
            namespaces |= reader.namespaces
    assert view is not None
    assert options is not None
    schema = with_stream_metadata(view.schema, options, namespaces)
    return pa.Table.from_batches(batches, view.schema).replace_schema_metadata(schema.metadata)


def _ignore(_damage: Damage) -> None:
    """Do nothing."""


def write_table(
    table: ArrowTable,
    sink: Sink,
    options: StreamOptions | None = None,
    *,
    layout: LayoutName | None = None,
    **writer_options: Unpack[WriterSettings],
) -> None:
    """Write an Arrow table as a Jelly stream.

    Args:
        table: a table, record batch or record batch reader of pyarrow, or an object with Arrow's stream interface.
        sink: as in `open_writer`.
        options: of the stream. By default those in the metadata of the table's schema, where `read_table` puts them, as
            far as they fit the columns. The namespaces there are declared at the beginning of the stream; the draft
            dialect has none.
        layout: the layout of the columns: `struct`, `ntriples` or `flat`. By default it is inferred from them.
        writer_options: those of `open_writer`.
    """
    if not isinstance(table, pa.Table | pa.RecordBatch):
        table = record_batch_reader(table)
    with open_writer(sink, options or stream_options(table.schema), **writer_options) as writer:
        has_namespaces = dialect_named(writer_options.get("dialect", "released")).has_version_1_1
        if has_namespaces and (options is None or options.version != VERSION_1_0):
            for name, iri in stream_namespaces(table.schema).items():
                writer.declare_namespace(name, iri)
        writer.write_table(table, layout)
