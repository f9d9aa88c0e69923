"""Filtered statements of files or of one stream, as batches or as an Arrow stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import pyarrow as pa

from jellyframe.arrow.layouts import ArrowView
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, OptionsError, UsageError
from jellyframe.ops.filters import FILTERS, RowFilter
from jellyframe.ops.inputs import InputOptions, Inputs, Paths
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.reading import piece_batches
from jellyframe.ops.scanning import Terms, terms_of
from jellyframe.ops.sources import CountedSource
from jellyframe.options import DialectName, LayoutName, Limits
from jellyframe.report.notebook import FIRST_ROWS, table_html
from jellyframe.storage.types import FileSystem
from jellyframe.stream.reader import open_reader
from jellyframe.stream.splits import Piece

if TYPE_CHECKING:
    from jellyframe.storage.types import Source

# Files of any format by path, or a stream of Jelly as bytes or as a file object.
Statements: TypeAlias = "Paths | Source"


class ReadingOptions(TypedDict, total=False):
    """The keyword arguments that all functions here share, as in `scan`."""

    subjects: Terms | None
    predicates: Terms | None
    objects: Terms | None
    graphs: Terms | None
    in_format: str | None
    filesystem: FileSystem | None
    concatenated: bool
    lenient: bool
    limits: Limits | None
    dialect: DialectName


@dataclass
class StatementSource:
    """A source of statements, read as batches or as Arrow.

    `source` is a path, a pattern, a folder or a list of those, of any format; or bytes or a file object with Jelly. The
    `reading` options are those of `scan`. A file object can be read once, other sources any number of times.
    """

    source: Statements
    reading: ReadingOptions = field(default_factory=ReadingOptions)

    def __post_init__(self) -> None:
        for name in self.reading:
            if name not in ReadingOptions.__annotations__:
                known = ", ".join(ReadingOptions.__annotations__)
                raise TypeError(f"{name!r} is not an argument for reading: those are {known}")

    @property
    def is_files(self) -> bool:
        """Whether the source is named by paths."""
        return isinstance(self.source, str | os.PathLike | list | tuple)

    @property
    def is_repeatable(self) -> bool:
        """Whether the source can be read more than once."""
        return self.is_files or isinstance(self.source, bytes | bytearray | memoryview)

    @cached_property
    def _options(self) -> InputOptions:
        filters: Mapping[str, Terms | None] = {name: self.reading.get(name) for name in FILTERS}  # type: ignore[misc]
        options = InputOptions(
            filters={FILTERS[name]: terms_of(terms) for name, terms in filters.items() if terms is not None},
            concatenated=self.reading.get("concatenated", False),
            lenient=self.reading.get("lenient", False),
            limits=self.reading.get("limits") or Limits(),
            dialect=self.reading.get("dialect", "released"),
        )
        RowFilter(options.filters)
        return options

    @cached_property
    def inputs(self) -> Inputs:
        """The files."""
        if not self.is_files:
            raise UsageError("bytes and file objects are not files: save them to a path first")
        return Inputs.find(
            self.source,  # type: ignore[arg-type]
            in_format=self.reading.get("in_format"),
            options=self._options,
            filesystem=self.reading.get("filesystem"),
        )

    @cached_property
    def has_graph(self) -> bool:
        """Whether there may be statements in named graphs."""
        if self.is_files:
            return self.inputs.has_graphs()
        return self._reader_options_have_graph

    @cached_property
    def _reader_options_have_graph(self) -> bool:
        if not isinstance(self.source, bytes | bytearray | memoryview):
            # A file object can be read only once, so whether it has graphs is unknown; quads hold both.
            return True
        limits, dialect = self._options.limits, self._options.dialect
        with open_reader(self.source, limits=limits, batch_rows=1, dialect=dialect) as reader:
            return reader.options.has_graph

    @property
    def jelly_bytes(self) -> int | None:
        """The approximate size of the source as Jelly, in bytes; None for a file object."""
        if self.is_files:
            return self.inputs.bytes_as_jelly
        return memoryview(self.source).nbytes if isinstance(self.source, bytes | bytearray | memoryview) else None

    def batches(self, progress: ProgressCallback | None = None) -> Iterator[Batch]:
        """Yield the statements that pass the filters, in batches."""
        if self.is_files:
            inputs = self.inputs.metered(progress)
            for file in inputs.files:
                yield from piece_batches(Piece(file), inputs, _raise)
            return
        if self.reading.get("in_format") not in (None, "jelly"):
            raise OptionsError("bytes and file objects are read as Jelly: for other formats, pass a path")
        row_filter = RowFilter(self._options.filters)
        counted = None if progress is None else CountedSource(self.source)  # type: ignore[arg-type]
        with open_reader(
            counted or self.source,  # type: ignore[arg-type]
            limits=self._options.limits,
            concatenated=self._options.concatenated,
            dialect=self._options.dialect,
        ) as reader:
            batches = reader.batches()
            if counted is not None:
                batches = ProgressMeter(progress, counted.total_bytes).over(batches, counted)
            for batch in batches:
                yield row_filter.apply(batch) if row_filter else batch

    def view(self, layout: LayoutName, columns: Sequence[str] | None = None, *, dictionary: bool = False) -> ArrowView:
        """Return the view of the statements as Arrow columns."""
        return ArrowView(layout, self.has_graph, columns=columns, dictionary=dictionary)

    def table(self, layout: LayoutName, columns: Sequence[str] | None = None, *, dictionary: bool = False) -> pa.Table:
        """Return all statements as a table; with `dictionary`, each column has one dictionary over all of them."""
        view = self.view(layout, columns, dictionary=dictionary)
        table = pa.Table.from_batches(view.record_batches(self.batches()), view.schema)
        return table.unify_dictionaries() if dictionary else table


def _raise(error: JellyError) -> None:
    raise error


class ArrowStatements:
    """A table that is read again each time it is used. Polars, DuckDB, pandas and pyarrow accept it.

    Args:
        source: the source of the statements
        layout: `struct`, `ntriples` or `flat`
        columns: the columns to make; all by default
        dictionary: whether strings are dictionary-encoded
    """

    def __init__(
        self,
        source: StatementSource,
        layout: LayoutName,
        columns: Sequence[str] | None = None,
        *,
        dictionary: bool = False,
    ) -> None:
        self._source = source
        self._view = source.view(layout, columns, dictionary=dictionary)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        return self._view.schema

    def reader(self) -> pa.RecordBatchReader:
        """Return a reader that starts at the first statement."""
        return pa.RecordBatchReader.from_batches(self.schema, self._view.record_batches(self._source.batches()))

    def _repr_html_(self) -> str:
        """Return the first rows, for notebooks; of a file object, which can be read once, only the columns."""
        batch = next(iter(self.reader()), None) if self._source.is_repeatable else None
        rows = [] if batch is None else [list(row.values()) for row in batch.slice(0, FIRST_ROWS).to_pylist()]
        return table_html(self.schema.names, rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the statements through the Arrow C stream interface."""
        return self.reader().__arrow_c_stream__(requested_schema)
