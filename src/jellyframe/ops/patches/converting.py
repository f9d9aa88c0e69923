"""Convert patches between RDF Patch text and Jelly-Patch, and between stream types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.batch.lines import row_line
from jellyframe.errors import NamedGraphError, OptionsError, display_name
from jellyframe.formats.patches import open_patch_input, open_patch_output, patch_format
from jellyframe.formats.rdf_patch import PatchEnds
from jellyframe.ops.patches.copying import copy_patches
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.options import Limits
from jellyframe.patch.options import PatchOptionChanges, PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.storage.sources import InputFile, total_size
from jellyframe.storage.types import Path, Sink

if TYPE_CHECKING:
    from jellyframe.patch.reader import PatchReader
    from jellyframe.patch.writer import PatchWriterSettings
    from jellyframe.stream.recovery import Damage


class ConvertedPatches(NamedTuple):
    """The result of a conversion.

    Attributes:
        rows: rows read, including the ends of patches
    """

    rows: int


def convert_patches(
    inputs: Path | Sequence[Path | None],
    output: Sink,
    *,
    in_format: str | None = None,
    out_format: str | None = None,
    strict: bool = True,
    lenient: bool = False,
    concatenated: bool = False,
    limits: Limits | None = None,
    on_damage: Callable[[Damage], object] | None = None,
    patch_ends: PatchEnds = "headers",
    options: PatchOptions | None = None,
    changes: PatchOptionChanges | None = None,
    progress: ProgressCallback | None = None,
    **settings: Unpack[PatchWriterSettings],
) -> ConvertedPatches:
    """Convert files of patches to one file, between all formats of patches and stream types.

    Patches stay separate, and a patch ends with its file, unless the output is FLAT, which is one patch with all rows.
    A row with a graph is an error if the output is a stream of triples.

    Args:
        inputs: files of patches, one after the other; None is standard input
        output: a path, at which the file appears when it is complete, or a binary file object
        in_format: `jelly-patch` or `rdfp`; by default it follows from the names of the files
        out_format: `jelly-patch` or `rdfp`; by default it follows from the name of the output
        strict: refuse transactions that start or end where they must not, or are open at the end
        lenient: for text: accept IRIs that are not absolute, and decode labels `hex-…` of blank nodes
        concatenated: for Jelly-Patch: every options row begins a new stream
        limits: the limits for untrusted input
        on_damage: continue after damage of Jelly-Patch, and call this with each loss, as in `open_patch_reader`
        patch_ends: for text: where the patches end (see `open_patch_input`)
        options: the options of the output; by default those of the first input
        changes: changes to these options
        progress: called with a `Progress` now and then
        settings: arguments of `open_patch_writer` for the output

    Raises:
        OptionsError: if a format is unknown, or the options exclude each other
        NamedGraphError: if a row has a graph, and the output has triples
    """
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    names = [None if path is None else os.fspath(path) for path in paths]
    if not names:
        raise OptionsError("there is nothing to convert: name at least one input")
    target = patch_format(out_format, output, "out_format")
    wanted = (changes or {}).get("statement_type") or (options.statement_type if options is not None else None)
    meter = ProgressMeter(progress, total_size(names))
    rows = 0
    writer = None
    try:
        for number, name in enumerate(names):
            with InputFile(name) as file:
                found = formats.input_format(in_format, name, formats.PATCH_FORMATS)
                if on_damage is not None and found is not formats.JELLY_PATCH:
                    raise OptionsError(
                        f"only Jelly-Patch can be read behind damage, and this is {found.title}", source=file.name
                    )
                reader = open_patch_input(
                    file,
                    found,
                    limits=limits,
                    strict=strict,
                    lenient=lenient,
                    concatenated=concatenated,
                    statement_type=wanted or PatchStatementType.QUADS,
                    patch_ends=patch_ends,
                    on_damage=on_damage,
                )
                if writer is None:
                    writer = open_patch_output(
                        output, target, _output_options(reader, target, options, changes or {}), **settings
                    )
                batches = meter.over(_fitted(reader, has_graph=writer.options.has_graph), file)
                copied = copy_patches(batches, reader.options.stream_type, writer)
                rows += copied.rows
                is_flat = writer.options.stream_type is PatchStreamType.FLAT
                if copied.is_open and number + 1 < len(names) and not is_flat:
                    writer.end_patch()
        assert writer is not None
        writer.close()
    except BaseException:
        if writer is not None:
            writer.discard()
        raise
    return ConvertedPatches(rows)


def require_format(path: str | None, wanted: formats.Format, hint: str) -> None:
    """Raise if the name of a file is that of another format than the wanted one.

    Args:
        path: the name of the file, None if it has none
        wanted: the format
        hint: the advice if the name is that of the other format of patches
    """
    found = None if path is None else formats.format_by_path(path, (*formats.FORMATS, *formats.PATCH_FORMATS))
    if found is None or found is wanted:
        return
    if not found.is_patch:
        formats.input_format(None, path, formats.PATCH_FORMATS)
    raise OptionsError(f"{display_name(path or '')} is {found.title}, and {wanted.title} is expected: {hint}")


def _output_options(
    reader: PatchReader, target: formats.Format, options: PatchOptions | None, changes: PatchOptionChanges
) -> PatchOptions:
    wanted = (reader.options if options is None else options).replace(**changes)
    if target is formats.RDF_PATCH and wanted.stream_type is PatchStreamType.FRAME:
        # A text has no frames: marks end its patches.
        return wanted.replace(stream_type=PatchStreamType.PUNCTUATED)
    return wanted


def _fitted(reader: PatchReader, *, has_graph: bool) -> Iterator[Batch]:
    """Yield the batches of a reader in a form that a stream of triples, or of quads, can hold."""
    before = 0
    for batch in reader.batches():
        try:
            yield batch if has_graph else batch.without_graph()
        except NamedGraphError as error:
            row = error.row or 0
            raise NamedGraphError(
                f"row {before + row + 1} has a graph, which a stream of triples cannot hold: {row_line(batch, row)}",
                source=reader.source_name,
            ) from None
        before += len(batch)
