"""Rewrite Jelly streams as one stream, with other options, other frames, another physical type."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from jellyframe.defaults import DEFAULT_FRAME_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.errors import Advice, OptionsError
from jellyframe.ops.fitting import Fitting
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.regroup import FramePerInput, FrameRows, FramesKept, Framing, WriterSettings, write_frames
from jellyframe.ops.sources import CountedSource, local_file, local_files
from jellyframe.options import (
    MIN_NAME_TABLE_SIZE,
    VERSION_1_1,
    DialectName,
    Limits,
    LogicalType,
    OptionChanges,
    PhysicalType,
    StreamOptions,
    check_word,
)
from jellyframe.storage.closing import Closeable
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.storage.sources import total_size
from jellyframe.stream.reader import JellyReader, open_reader

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.storage.types import Compression, Sink, Source

Frames: TypeAlias = Literal["keep", "rows", "input"]

# Each process uses some 30 MB, and the one that joins their results can keep up with only a few.
MOST_DEFAULT_JOBS = 8
# The writer chooses the distance of restart points.
_BY_WRITER = -1


class Transcoded(NamedTuple):
    """The result of `transcode`: the number of `statements` written, and the `options` of the output.

    `is_copy` is whether the output equals the input, byte for byte.
    """

    statements: int
    options: StreamOptions
    is_copy: bool = False


def transcode(
    inputs: Source | Sequence[Source],
    output: Sink,
    *,
    options: StreamOptions | None = None,
    changes: OptionChanges | None = None,
    frames: Frames | None = None,
    frame_rows: int | None = None,
    merge_graphs: bool = False,
    validate_terms: bool = False,
    concatenated: bool = False,
    delimited: bool = True,
    compression: Compression | None = None,
    restart_every: int | None = _BY_WRITER,
    index: bool = False,
    jobs: int = 1,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    dialect: DialectName = "released",
    out_dialect: DialectName = "released",
) -> Transcoded:
    """Rewrite Jelly streams as one stream, and return the counts.

    Triples become quads of the default graph; quads become triples if all of them are in the default graph, or with
    `merge_graphs`. Blank nodes keep their labels. A file that does not change is checked in full and copied.

    Args:
        inputs: a path (of a file, a folder with Jelly files, or a pattern), a URI, bytes or a binary file object, or a
            list of them
        output: a path, a URI, or a binary file object
        options: the options of the output; by default those of the first input, with flags and a physical type that fit
            all inputs
        changes: changes to these options
        frames: `keep` keeps frames with their metadata (the default; in flat streams up to 64 MiB), `rows` makes frames
            of `frame_rows` rows (the default if that is given), `input` makes one frame of each input
        frame_rows: rows in a frame
        merge_graphs: drop the graphs of statements where triples are written
        validate_terms: check IRIs (RFC 3987) and language tags (BCP 47)
        concatenated: whether every options row inside an input begins a new stream. By default, as the format
            specifies, a repeated one has to be identical, and changes nothing. Our own files can be concatenated and
            read either way, if their options are the same
        delimited, compression, restart_every, index: as in `open_writer`
        jobs: the number of processes that rewrite large files, piece by piece. Several are used if all inputs are
            files, and the output is a flat stream with restart points that goes to a path
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
        dialect: the dialect of the inputs, `released` or `draft`
        out_dialect: the dialect of the output. The draft has no namespaces, which are left out, and no metadata of
            frames, which is an error if frames are kept
    """
    given: Sequence[Source] = inputs if isinstance(inputs, list | tuple) else [inputs]  # type: ignore[list-item]
    sources: Sequence[Source] = resolve_inputs(given)
    if not sources:
        raise OptionsError("there are no inputs: name at least one")
    limits = limits or Limits()
    if index and not dialect_named(out_dialect).has_version_1_1:
        raise OptionsError(f"an index is metadata of a frame, which the {out_dialect} dialect does not have")
    settings: WriterSettings = {
        "delimited": delimited,
        "compression": compression,
        "index": index,
        "dialect": out_dialect,
    }
    if restart_every != _BY_WRITER:
        settings["restart_every"] = restart_every
    files = local_files(sources)
    meter = ProgressMeter(progress, None if files is None else total_size(files))
    with _Inputs(sources, limits, meter, concatenated=concatenated, dialect=dialect) as opened:
        found = opened.options()
        target = output_options(found, options, changes or {}, merge_graphs=merge_graphs)
        if dialect != out_dialect == "released" and "max_name_table_size" not in (changes or {}):
            # The draft also has smaller tables.
            target = target.replace(max_name_table_size=max(target.max_name_table_size, MIN_NAME_TABLE_SIZE))
        if index or concatenated or len(found) < len(sources):
            # The index needs version 1.1, and so may later streams, which have not been read yet.
            target = target.replace(version=VERSION_1_1)
        framing = _framing(frames, frame_rows, target, delimited=delimited)
        fitting = Fitting(target.physical_type, target.has_graph, merge_graphs, validate_terms)
        if files is not None and isinstance(output, str | os.PathLike):
            path = os.fspath(output)
            is_same = target == found[0] and dialect == out_dialect
            may_copy = len(files) == 1 and is_same and isinstance(framing, FramesKept)
            if may_copy and delimited and not (compression or validate_terms or merge_graphs or restart_every != -1):
                from jellyframe.ops.unchanged import copy_checked

                statements = copy_checked(files[0], path, target, limits, meter, index=index, dialect=dialect)
                if statements is not None:
                    return Transcoded(statements, target, is_copy=True)
            if jobs > 1:
                from jellyframe.ops.pieces import Rewriting
                from jellyframe.ops.rewriting import rewrite_in_pieces

                rewriting = Rewriting(target, settings, framing, limits, concatenated, fitting, dialect)
                done = rewrite_in_pieces(files, path, rewriting, jobs, meter)
                if done is not None:
                    return Transcoded(done.statements, done.options or target)
        writer = write_frames(opened.batches(fitting), output, target, settings, framing)
    return Transcoded(writer.statements_written, writer.options or target)


def default_jobs() -> int:
    """Return the default number of processes: one for each core that this process may use, up to 8."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_DEFAULT_JOBS)


class _Inputs(Closeable):
    """The streams to read, one after the other. The first one stays open after its options have been read."""

    def __init__(
        self,
        sources: Sequence[Source],
        limits: Limits,
        meter: ProgressMeter,
        *,
        concatenated: bool,
        dialect: DialectName,
    ) -> None:
        self._dialect: DialectName = dialect
        self._sources = sources
        self._limits = limits
        self._meter = meter
        self._concatenated = concatenated
        self._open(sources[0])

    def _open(self, source: Source) -> None:
        self._source = CountedSource(source, limits=self._limits)
        self._reader: JellyReader = open_reader(
            self._source, limits=self._limits, concatenated=self._concatenated, dialect=self._dialect
        )

    def options(self) -> list[StreamOptions]:
        """Return the options of the first input, and of other inputs that can be read twice."""
        found = [self._reader.options]
        for path in map(local_file, self._sources[1:]):
            if path is not None:
                with open_reader(path, limits=self._limits, dialect=self._dialect) as reader:
                    found.append(reader.options)
        return found

    def batches(self, fitting: Fitting) -> Iterator[Iterable[Batch]]:
        """Yield for each input its batches, in a form that the output can hold."""
        for number, source in enumerate(self._sources):
            if number:
                self._open(source)
            yield fitting.apply(self._meter.over(self._reader.batches(), self._source), self._source.name)
            self.close()

    def close(self) -> None:
        self._reader.close()
        self._source.close()


def output_options(
    inputs: Sequence[StreamOptions],
    options: StreamOptions | None,
    changes: OptionChanges,
    *,
    merge_graphs: bool = False,
) -> StreamOptions:
    """Return the options of a stream that can hold all inputs, given their options and the requested changes."""
    if options is None:
        first = inputs[0]
        physical = first.physical_type
        if merge_graphs:
            physical = PhysicalType.TRIPLES
        elif not first.has_graph:
            physical = next((other.physical_type for other in inputs if other.has_graph), physical)
        options = first.replace(
            physical_type=physical,
            generalized_statements=any(other.generalized_statements for other in inputs),
            rdf_star=any(other.rdf_star for other in inputs),
        )
    # Namespaces and metadata are kept, so the version has to allow those of all inputs.
    options = options.replace(version=max(other.version for other in inputs), **changes)
    if "logical_type" not in changes:
        options = options.replace(logical_type=counterpart_logical_type(options))
    return options


def counterpart_logical_type(options: StreamOptions) -> LogicalType:
    """Return the logical type that matches the physical one: the same, or its counterpart."""
    triples = {
        LogicalType.FLAT_QUADS: LogicalType.FLAT_TRIPLES,
        LogicalType.DATASETS: LogicalType.GRAPHS,
    }
    quads = {other: this for this, other in triples.items()}
    counterparts = quads if options.has_graph else triples
    return counterparts.get(options.logical_type.base, options.logical_type)


def _framing(frames: Frames | None, rows: int | None, options: StreamOptions, *, delimited: bool) -> Framing:
    how = frames or ("keep" if rows is None else "rows")
    check_word("frames", how, ("keep", "rows", "input"))
    if how != "rows" and rows is not None:
        raise OptionsError(f"frames={how!r} and frame_rows exclude each other")
    if how == "input" or not delimited:
        return FramePerInput()
    if how == "keep":
        return FramesKept()
    if options.logical_type.is_grouped:
        raise OptionsError(
            f"in a stream of the logical type {options.logical_type.name} each frame is an element, so its frames "
            "cannot be regrouped by rows",
            advice=Advice("stream option", "logical_type", "FLAT_QUADS" if options.has_graph else "FLAT_TRIPLES"),
        )
    return FrameRows(rows or DEFAULT_FRAME_ROWS)
