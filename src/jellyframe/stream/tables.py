"""Jelly streams as Arrow tables, and back. The layouts are described in `jellyframe.arrow.layouts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import open_writer

if TYPE_CHECKING:
    from jellyframe.options import StreamOptions


def read_table(
    source: Any,
    layout: str = "struct",
    *,
    frame_column: bool = False,
    columns: Sequence[str] | None = None,
    **reader_options: Any,
) -> pa.Table:
    """Read a whole Jelly stream into an Arrow table.

    `layout` is `struct`, `ntriples` or `flat`; `columns` are those to make, all by default; `frame_column` adds
    the number of the frame as a column `frame`. The other options are those of `open_reader`.
    """
    with open_reader(source, **reader_options) as reader:
        view = ArrowView(layout, reader.options.has_graph, frame_column=frame_column, columns=columns)
        return pa.Table.from_batches(map(view.convert, reader.batches()), view.schema)


def write_table(table: Any, sink: Any, options: StreamOptions | None = None, **writer_options: Any) -> None:
    """Write an Arrow table, or what `table_to_batches` takes, as a Jelly stream.

    The options are those of `open_writer`.
    """
    with open_writer(sink, options, **writer_options) as writer:
        writer.write_table(table)
