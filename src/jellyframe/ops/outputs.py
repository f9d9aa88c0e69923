"""Folders of Jelly, N-Quads, N-Triples or Parquet files that many tasks write, and that are published together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any
from uuid import uuid4

import pyarrow as pa

from jellyframe import formats
from jellyframe.arrow.layouts import ArrowView
from jellyframe.arrow.operations import OP_COLUMN
from jellyframe.arrow.sorting import sorted_runs
from jellyframe.arrow.tables import arrow_schema
from jellyframe.arrow.terms import BatchMaker
from jellyframe.batch import Batch
from jellyframe.errors import OptionsError
from jellyframe.formats import Format
from jellyframe.formats.settings import BatchOutput, WriteSettings
from jellyframe.ops.documents import json_document
from jellyframe.ops.jelly_files import FilePlan, JellyFileOptions
from jellyframe.ops.patch_files import PatchFileOptions, PatchFilePlan
from jellyframe.ops.stream_files import StreamFilePlan
from jellyframe.options import LayoutName, check_word
from jellyframe.patch.options import PatchStreamType
from jellyframe.storage.commit import ERROR, SAVE_MODES, SaveMode, Target
from jellyframe.storage.names import compression_suffix
from jellyframe.storage.rolling import RollingFiles
from jellyframe.storage.sinks import ByteSink

MANIFEST = "manifest.json"


def is_replaced(name: str) -> bool:
    """Return whether an overwrite replaces a file with this name: data of any format that jobs read."""
    return name == MANIFEST or formats.format_by_path(name, formats.FOLDER_FORMATS) is not None


def is_replaced_patch(name: str) -> bool:
    """Return whether an overwrite with patches replaces a file with this name: patches of any format."""
    return formats.format_by_path(name, formats.PATCH_FORMATS) is not None


@dataclass(frozen=True)
class Output:
    """The output of a job. It can be sent to other processes."""

    target: Target
    format: Format
    plan: StreamFilePlan
    layout: LayoutName
    save: SaveMode

    @classmethod
    def of(
        cls,
        path: str | PathLike[str],
        options: JellyFileOptions | None = None,
        *,
        has_graph: bool,
        out_format: str = "jelly",
        save: SaveMode = ERROR,
        layout: LayoutName | None = None,
    ) -> Output:
        """Return an output after checking the arguments, and that the folder may be written to.

        `layout` is that of the columns of Parquet files, `struct` by default.
        """
        options = options or JellyFileOptions()
        found = formats.format_by_name(out_format, formats.CUT_FORMATS)
        if not found.is_stream and options.stream:
            named = ", ".join(options.stream)
            raise OptionsError(f"{named}: options of Jelly streams, and the output is {found.title}")
        if not found.is_stream and options.dialect != "released":
            raise OptionsError(f"dialect: an option of Jelly streams, and the output is {found.title}")
        plan = FilePlan.of(options, arrow_schema("ntriples", has_graph))
        return cls._checked(path, found, plan, layout or "struct", save)

    @classmethod
    def of_patches(
        cls,
        path: str | PathLike[str],
        options: PatchFileOptions | None = None,
        *,
        has_graph: bool,
        save: SaveMode = ERROR,
    ) -> Output:
        """Return an output of Jelly-Patch files after the same checks."""
        options = options or PatchFileOptions()
        schema = pa.schema([pa.field(OP_COLUMN, pa.string()), *arrow_schema("ntriples", has_graph)])
        return cls._checked(path, formats.JELLY_PATCH, PatchFilePlan.of(options, schema), "ntriples", save)

    @classmethod
    def _checked(
        cls, path: str | PathLike[str], found: Format, plan: StreamFilePlan, layout: LayoutName, save: SaveMode
    ) -> Output:
        check_word("save", save, SAVE_MODES)
        if plan.options.group_by is not None:
            raise OptionsError("jobs write flat streams: group_by is for DataFrames")
        target = Target.of(fspath(path), uuid4().hex)
        if save == ERROR:
            target.require_empty()
        return cls(target, found, plan, layout, save)

    @property
    def has_graph(self) -> bool:
        """Whether the files can hold named graphs."""
        return self.plan.has_graph and self.format.has_graphs

    @property
    def has_patch_ends(self) -> bool:
        """Whether punctuation marks end patches in the files."""
        return isinstance(self.plan, PatchFilePlan) and self.plan.stream.stream_type is PatchStreamType.PUNCTUATED

    def files(self, prefix: str) -> RollingFiles:
        """Return the files of one task, whose names begin with `prefix`."""
        if self.format.is_stream:
            return self.plan.files(self.target, prefix)
        return _FormatFiles(self, prefix)

    def fitting(self, batch: Batch) -> Batch:
        """Return a batch in a form that the files can hold. Raises NamedGraphError if graphs would be lost."""
        return batch if self.has_graph else batch.without_graph()

    def stage_manifest(self, document: dict[str, Any]) -> str:
        """Write a manifest of the folder to the staging folder, and return its path."""
        path = f"{self.target.staging}/driver/{MANIFEST}"
        storage = self.target.storage
        storage.fs.create_dir(path.rpartition("/")[0], recursive=True)
        with storage.fs.open_output_stream(path) as stream:
            stream.write((json_document(document)).encode())
        return path

    def publish(self, staged: list[str], places: Mapping[str, str] | None = None) -> None:
        """Publish the files of all tasks: at their `places`, or otherwise with their names and folders."""
        is_data = is_replaced_patch if self.format.is_patch else is_replaced
        self.target.publish(staged, self.save, is_data=is_data, places=places)


class _FormatFiles(RollingFiles):
    """Files of a format other than Jelly."""

    def __init__(self, output: Output, prefix: str) -> None:
        options = output.plan.options
        self._format = output.format
        # Tables are compressed internally, so their names have no suffix for it.
        self._compression = None if output.format.is_binary else options.compression
        suffix = f".{output.format.extensions[0]}{compression_suffix(self._compression)}"
        super().__init__(output.target, prefix, suffix, options.max_records_per_file)
        self._settings = WriteSettings(
            has_graph=output.has_graph,
            layout=output.layout,
            table_compression=options.compression,
        )
        self._sink: ByteSink | None = None
        self._output: BatchOutput | None = None

    def _open(self, sink: Any) -> None:
        self._sink = ByteSink(sink, self._compression)
        self._output = formats.open_output(self._sink, self._format, self._settings)

    def _write_rows(self, batch: Batch, start: int, stop: int) -> None:
        assert self._output is not None
        self._output.write(batch.slice(start, stop))

    def _finish(self) -> None:
        assert self._output is not None
        assert self._sink is not None
        self._output.close()
        self._sink.close()

    def _discard(self) -> None:
        if self._output is not None:
            self._output.discard()
        if self._sink is not None:
            self._sink.discard()


def ready_batches(batches: Iterator[Batch], output: Output) -> Iterator[Batch]:
    """Return batches in a form that the files can hold, sorted in runs if requested."""
    batches = map(output.fitting, batches)
    options = output.plan.options
    if not options.sort:
        return batches
    view = ArrowView("ntriples", output.has_graph)
    maker = BatchMaker(view.schema)
    return map(maker.make, sorted_runs(view.record_batches(batches), options.sort, options.sort_rows))
