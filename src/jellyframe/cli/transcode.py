"""`jellyframe rdf transcode`: one or many Jelly streams into one, with other options, other frames, another type."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_limits, add_output, limits_of, positive
from jellyframe.cli.console import UsageError

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.cli.streams import ProgressOfInputs
    from jellyframe.ops.regroup import Framing
    from jellyframe.options import LogicalType, StreamOptions

_EXAMPLES = """
jellyframe rdf transcode old.jelly --preset small --to small.jelly
jellyframe rdf transcode 'part-*.jelly' --rows-per-frame 1000 --index --to all.jelly
cat a.jelly b.jelly | jellyframe rdf transcode --opt.physical-type QUADS > both.jelly
"""
# Each process takes some 30 MB, and the one that joins what they make has little to do only while they are few.
_MOST_DEFAULT_JOBS = 8
_DESCRIPTION = """\
Rewrite Jelly streams as one stream. Its options are those of the first input, as far as nothing else is said; any table
size will do. With many inputs that are files, the flags and the physical type are such that all of them fit. A file of
which nothing is to change is checked in full and copied.

Physical types: triples become quads of the default graph; quads become triples if all are in the default graph, or with
--merge-graphs; QUADS and GRAPHS become one another. Blank nodes keep their labels: streams that use the same label for
different nodes should not be joined."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "transcode",
        run,
        help="rewrite Jelly streams as one, with other options or other frames",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("the input files, or patterns such as 'part-*.jelly'; standard input if none or `-`")
    add_output(parser)
    stream_options.add_stream_options(parser)
    stream_options.add_writer_options(parser)
    parser.add_argument(
        "--frames",
        choices=("keep", "rows", "input"),
        help="frames as they are, with their metadata (by default); of --rows-per-frame rows each (by default if "
        "that is given); or one for each input",
    )
    parser.add_switch("--merge-graphs", default=False, help="leave out which graph statements are in")
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")
    parser.add_switch(
        "--concatenated",
        default=True,
        help="whether options that come again begin a new stream (true by default); with false they must be the same",
    )
    parser.add_argument(
        "--jobs",
        "-j",
        metavar="N",
        type=positive,
        help="processes that rewrite large files, piece by piece, where --to names a file and the output is a flat "
        f"stream with restart points; by default as many as there are cores, up to {_MOST_DEFAULT_JOBS}",
    )
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import ProgressOfInputs, expand_inputs, output_sink
    from jellyframe.ops.regroup import write_frames
    from jellyframe.storage.sources import total_size

    paths = expand_inputs(arguments.inputs)
    sink = output_sink(arguments.to, is_binary=True, force=arguments.force)
    inputs = _Inputs(paths, arguments, ProgressOfInputs(arguments.console, total_size(paths)))
    try:
        options = _output_options(inputs.first_options(), arguments)
        framing = _framing(arguments, options)
        files = inputs.files
        if files is not None and len(files) == 1 and _changes_nothing(arguments, inputs, options, framing):
            from jellyframe.ops.unchanged import copy_checked

            if copy_checked(files[0], sink, options, limits_of(arguments), bool(arguments.index), inputs.progress):
                return 0
        settings = stream_options.writer_settings(arguments)
        if files is not None and arguments.to is not None and arguments.concatenated:
            from jellyframe.ops.rewriting import Rewriting, rewrite_in_pieces
            from jellyframe.ops.workers import usable_cores

            rewriting = Rewriting(
                options,
                settings,
                framing,
                limits_of(arguments),
                lambda batches, name: _fitting(batches, name, options, arguments),
            )
            jobs = arguments.jobs or min(usable_cores(), _MOST_DEFAULT_JOBS)
            if rewrite_in_pieces(files, arguments.to, rewriting, jobs, inputs.progress):
                return 0
        write_frames(inputs.batches(options), sink, options, settings, framing)
    finally:
        inputs.close()
    return 0


class _Inputs:
    """The streams to read, one after the other. The first one stays open from when its options have been read."""

    def __init__(self, paths: list[str | None], arguments: argparse.Namespace, progress: ProgressOfInputs) -> None:
        self._paths = paths
        self._arguments = arguments
        self.progress = progress
        self._source: Any = None
        self._reader: Any = None
        self._open(paths[0])

    def _open(self, path: str | None) -> None:
        from jellyframe.storage.sources import InputFile
        from jellyframe.stream.reader import open_reader

        self._source = InputFile(path)
        self._limits = limits_of(self._arguments)
        self._reader = open_reader(self._source, limits=self._limits, concatenated=self._arguments.concatenated)

    def close(self) -> None:
        self._reader.close()
        self._source.close()

    @property
    def files(self) -> list[str] | None:
        """The inputs, if all of them are files, which can be read again."""
        import os

        files = [path for path in self._paths if path is not None and os.path.isfile(path)]
        return files if len(files) == len(self._paths) else None

    def first_options(self) -> list[StreamOptions]:
        """The options of the first stream and, as far as they can be read beforehand, of the other inputs."""
        import os

        from jellyframe.stream.reader import open_reader

        found = [self._reader.options]
        for path in self._paths[1:]:
            if path is not None and os.path.isfile(path):
                with open_reader(path, limits=self._limits) as reader:
                    found.append(reader.options)
        return found

    def batches(self, options: StreamOptions) -> Iterator[Iterable[Batch]]:
        """For each input its batches, as the output can hold them."""
        for number, path in enumerate(self._paths):
            if number:
                self._open(path)
            batches = self.progress.over(self._reader.batches(), self._source)
            yield _fitting(batches, self._source.name, options, self._arguments)
            self.close()


def _fitting(
    batches: Iterable[Batch], source: str, options: StreamOptions, arguments: argparse.Namespace
) -> Iterable[Batch]:
    """The batches of an input as the output can hold them."""
    from jellyframe.batch import selection

    if arguments.validate_terms:
        batches = selection.checked(batches, source)
    if arguments.merge_graphs or not options.has_graph:
        target = f"the physical type {options.physical_type.name}"
        batches = selection.without_graphs(batches, merge=arguments.merge_graphs, target=target, source=source)
    return batches


def _changes_nothing(arguments: argparse.Namespace, inputs: _Inputs, options: StreamOptions, framing: Framing) -> bool:
    """Whether the output may be the input, byte for byte, as far as options tell."""
    from jellyframe.ops.regroup import FramesKept

    return (
        arguments.to is not None
        and options == inputs.first_options()[0]
        and isinstance(framing, FramesKept)
        and stream_options.compression_of(arguments) is None
        and not hasattr(arguments, "restart_every")
        and not arguments.validate_terms
        and not arguments.merge_graphs
    )


def _output_options(inputs: list[StreamOptions], arguments: argparse.Namespace) -> StreamOptions:
    from jellyframe.options import PhysicalType

    given = stream_options.given_options(arguments)
    base = stream_options.base_options(arguments)
    first = inputs[0]
    if arguments.options_from is None:
        with_graphs = [options for options in inputs if options.has_graph]
        if arguments.merge_graphs:
            physical = PhysicalType.TRIPLES
        else:
            physical = with_graphs[0].physical_type if with_graphs and not first.has_graph else first.physical_type
        options = first.replace(
            physical_type=physical,
            generalized_statements=any(options.generalized_statements for options in inputs),
            rdf_star=any(options.rdf_star for options in inputs),
        )
        if base is not None:
            options = stream_options.with_sizes_of(base, options)
    else:
        assert base is not None
        options = base
    # Namespaces and metadata are kept, so the version has to cover those that may come.
    options = options.replace(version=max(options.version for options in inputs), **given)
    if "logical_type" not in given:
        options = options.replace(logical_type=_logical_type(options))
    return options


def _logical_type(options: StreamOptions) -> LogicalType:
    """The logical type that goes with the physical one: the same, or its counterpart."""
    from jellyframe.options import LogicalType

    triples = {
        LogicalType.FLAT_QUADS: LogicalType.FLAT_TRIPLES,
        LogicalType.DATASETS: LogicalType.GRAPHS,
    }
    quads = {other: this for this, other in triples.items()}
    counterparts = quads if options.has_graph else triples
    return counterparts.get(options.logical_type.base, options.logical_type)


def _framing(arguments: argparse.Namespace, options: StreamOptions) -> Framing:
    from jellyframe.ops.regroup import FramePerInput, FrameRows, FramesKept

    how = arguments.frames or ("keep" if arguments.rows_per_frame is None else "rows")
    if how != "rows" and arguments.rows_per_frame is not None:
        raise UsageError(f"--frames {how} and --rows-per-frame exclude each other")
    if how == "input" or not arguments.delimited:
        return FramePerInput()
    if how == "keep":
        return FramesKept()
    if options.logical_type.is_grouped:
        raise UsageError(
            f"in a stream of the logical type {options.logical_type.name} each frame is an element, so its frames "
            "cannot be regrouped by rows; say another type with --opt.logical-type, such as FLAT_TRIPLES"
        )
    return FrameRows(arguments.rows_per_frame or stream_options.DEFAULT_ROWS_PER_FRAME)
