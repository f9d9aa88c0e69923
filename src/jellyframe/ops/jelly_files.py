"""The Jelly files that one task writes into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from jellyframe import formats
from jellyframe.dialects import dialect_named
from jellyframe.errors import OptionsError
from jellyframe.ops.stream_files import StreamFileOptions, StreamFilePlan, StreamFiles
from jellyframe.options import VERSION_1_1, DialectName, LogicalType, PhysicalType, StreamOptionChanges, StreamOptions
from jellyframe.storage.commit import Target
from jellyframe.storage.types import Sink
from jellyframe.stream.writer import JellyWriter, open_writer


@dataclass(frozen=True, kw_only=True)
class JellyFileOptions(StreamFileOptions):
    """Options of Jelly files. `stream` has only the stream options that were given.

    Rows with the same value in the column `group_by` become one frame of a grouped stream.
    """

    stream: StreamOptionChanges = field(default_factory=StreamOptionChanges)
    dialect: DialectName = "released"

    def stream_options(self, *, has_graph: bool) -> StreamOptions:
        """Return the options of the streams, for triples or for quads."""
        physical = self.stream.get("physical_type")
        logical = self.stream.get("logical_type", LogicalType.UNSPECIFIED)
        if physical is not None:
            has_graph = physical is not PhysicalType.TRIPLES
        elif logical is not LogicalType.UNSPECIFIED:
            has_graph = logical.base not in (LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS)
        stream = StreamOptions().resolved(has_graph=has_graph)
        if self.group_by is not None:
            stream = stream.replace(logical_type=LogicalType.DATASETS if has_graph else LogicalType.GRAPHS)
        stream = stream.replace(**self.stream)
        dialect_named(self.dialect).check_writable(stream)
        return stream


@dataclass(frozen=True)
class FilePlan(StreamFilePlan):
    """Options of Jelly files, checked against the columns of the data."""

    options: JellyFileOptions
    stream: StreamOptions
    layout: str
    columns: tuple[str, ...]
    type_option: ClassVar[str] = "physical_type"

    @classmethod
    def of(cls, options: JellyFileOptions, schema: pa.Schema) -> FilePlan:
        layout, columns = options.term_columns(schema, "a Jelly stream")
        options.require_group_column(schema)
        if options.group_by is not None and options.sort:
            raise OptionsError("sort cannot be combined with group_by; use df.sortWithinPartitions(group, …)")
        for name in options.sort:
            if name not in schema.names and name != "g":
                raise OptionsError(f"sort: there is no column {name!r}")
        if options.group_by is not None and options.index:
            raise OptionsError("index is a frame with no statements, which in a grouped stream is an empty graph")
        stream = options.stream_options(has_graph="g" in schema.names)
        if stream.logical_type.is_grouped is not (options.group_by is not None):
            raise OptionsError(
                f"logical_type {stream.logical_type.name} has one graph or dataset in each frame: "
                "name the column that distinguishes them with the option group_by"
                if options.group_by is None
                else f"group_by makes grouped streams; logical_type {stream.logical_type.name} is not grouped"
            )
        return cls(options, stream, layout, columns)

    @property
    def has_index(self) -> bool:
        """Whether files have an index. It makes planning a read fast, but needs version 1.1 of the format."""
        options = self.options
        if options.index is not None:
            return options.index
        has_version_1_1 = self.stream.version in (0, VERSION_1_1) and dialect_named(options.dialect).has_version_1_1
        return options.can_split and options.group_by is None and has_version_1_1

    @property
    def has_graph(self) -> bool:
        return self.stream.has_graph

    def files(self, target: Target, prefix: str) -> JellyFiles:
        return JellyFiles(self, target, prefix)


class JellyFiles(StreamFiles[JellyWriter]):
    """Jelly files, written one after the other by one task."""

    def __init__(self, plan: FilePlan, target: Target, prefix: str) -> None:
        super().__init__(target, prefix, formats.JELLY, plan.options)
        self._plan = plan

    def declare(self, namespaces: Mapping[str, str]) -> None:
        """Declare namespaces in the current file, if the dialect has them."""
        if not dialect_named(self._plan.options.dialect).has_version_1_1:
            return
        self._ready()
        assert self._writer is not None
        for name, iri in namespaces.items():
            self._writer.declare_namespace(name, iri)

    def _end_group(self) -> None:
        if self._writer is not None:
            self._writer.end_frame(self._group_metadata)

    def _open_writer(self, sink: Sink) -> JellyWriter:
        plan, options = self._plan, self._plan.options
        stream = plan.stream
        if options.group_by is not None and stream.version == 0:
            # Any group may have metadata, and the version cannot be raised later.
            stream = stream.replace(version=VERSION_1_1)
        return open_writer(
            sink,
            stream,
            frame_rows=options.frame_rows,
            frame_bytes=options.frame_bytes,
            compression=options.compression,
            restart_every=options.restart_every,
            index=plan.has_index,
            dialect=options.dialect,
        )
