"""`jellyframe rdf from-jelly`: Jelly into RDF text, into tables, or into a readable form of its rows."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.batch.selection import FrameRange
from jellyframe.cli.arguments import add_command, add_format, add_input, add_limits, add_output, limits_of
from jellyframe.cli.frame_ranges import frame_range
from jellyframe.cli.stream_options import add_compression, compression_of

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.cli.streams import ProgressOfInputs
    from jellyframe.formats import Format
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.sources import InputFile
    from jellyframe.stream.reader import JellyReader

_EXAMPLES = """
jellyframe rdf from-jelly people.jelly > people.nq
jellyframe rdf from-jelly people.jelly --to people.ttl
jellyframe rdf from-jelly people.jelly --take-frames ..3 --out-format jelly-text
jellyframe rdf from-jelly graphs.jelly --merge-graphs --to graphs.parquet
"""
_DESCRIPTION = f"""\
Convert Jelly to {formats.names(formats.OUTPUT_FORMATS)}.
The format is told by --out-format or by the name of the output; without either it is N-Quads.

Quoted triples are written as `<< s p o >>` in N-Triples and N-Quads, and as the triple terms of RDF 1.2 in Turtle, TriG
and RDF/XML, which have them as objects only. N-Triples and N-Quads also take generalized statements."""

_STREAMED = (formats.NTRIPLES, formats.NQUADS, formats.TURTLE, formats.TRIG, formats.PARQUET, formats.CSV)


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "from-jelly",
        run,
        help="convert Jelly to RDF text, Parquet, CSV or readable rows",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add_input(parser)
    add_format(parser, "--out-format", "--output-format", known=formats.OUTPUT_FORMATS)
    add_output(parser)
    add_compression(parser)
    parser.add_argument(
        "--take-frames",
        metavar="RANGE",
        type=frame_range,
        default=FrameRange(),
        help="frames to convert, counted from 0: 3, ..3, 3.., 1..5 or 4..=6",
    )
    parser.add_switch(
        "--combine",
        help="one RDF/XML or JSON-LD document of all frames (true) or one of each; by default one of each where frames "
        "are graphs or datasets of their own. The other formats always take all",
    )
    parser.add_switch("--merge-graphs", default=False, help="leave out which graph statements are in")
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")
    parser.add_switch(
        "--concatenated", default=False, help="the input is several streams, end to end, each with its own options"
    )
    add_limits(parser)
    parser.add_argument(
        "--layout",
        choices=("struct", "ntriples", "flat"),
        help="the columns of Parquet (struct if not said) and CSV (ntriples if not said, never struct)",
    )


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import ProgressOfInputs, output_sink
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.sources import InputFile

    target = output_format(arguments)
    compression = compression_of(arguments)
    is_binary = target.is_binary or compression is not None
    sink = output_sink(arguments.to, is_binary=is_binary, force=arguments.force)
    with InputFile(arguments.input) as source:
        progress = ProgressOfInputs(arguments.console, source.total_bytes)
        with ByteSink(sink, compression) as output:
            if target is formats.JELLY_TEXT:
                from jellyframe.formats.jelly_text import jelly_to_text

                jelly_to_text(source, output, arguments.take_frames)
            else:
                _convert(source, target, output, arguments, progress)
    return 0


def output_format(arguments: argparse.Namespace) -> Format:
    """The format that was said, or that the name of the output tells, or N-Quads."""
    if arguments.out_format is not None:
        return formats.format_by_name(arguments.out_format, formats.OUTPUT_FORMATS)
    if arguments.to is None:
        return formats.NQUADS
    return formats.input_format(None, arguments.to, formats.OUTPUT_FORMATS, "--out-format")


def _convert(
    source: InputFile, target: Format, output: ByteSink, arguments: argparse.Namespace, progress: ProgressOfInputs
) -> None:
    from jellyframe.stream.reader import open_reader

    with open_reader(source, limits=limits_of(arguments), concatenated=arguments.concatenated) as reader:
        batches = progress.over(reader.batches(), source)
        if _is_one_document(reader, target, arguments):
            _write(_wanted(batches, target, arguments, source.name), reader, target, output, arguments)
        else:
            for number, part in _frame_by_frame(batches, arguments.take_frames):
                if number:
                    output.write(b"\n")
                _write(_wanted([part], target, arguments, source.name, FrameRange()), reader, target, output, arguments)
            output.write(b"\n")


def _is_one_document(reader: JellyReader, target: Format, arguments: argparse.Namespace) -> bool:
    if target in _STREAMED or arguments.combine:
        return True
    return arguments.combine is None and not reader.options.logical_type.is_grouped


def _wanted(
    batches: Iterable[Batch],
    target: Format,
    arguments: argparse.Namespace,
    source: str,
    frames: FrameRange | None = None,
) -> Iterable[Batch]:
    """Of a stream what is to be written, as the target can hold it."""
    from jellyframe.batch import selection

    frames = arguments.take_frames if frames is None else frames
    if not frames.is_all:
        batches = selection.take_frames(batches, frames)
    if arguments.validate_terms:
        batches = selection.checked(batches, source)
    if arguments.merge_graphs or not target.has_graphs:
        batches = selection.without_graphs(batches, merge=arguments.merge_graphs, target=target.title, source=source)
    return batches


def _frame_by_frame(batches: Iterable[Batch], frames: FrameRange) -> Iterator[tuple[int, Batch]]:
    """The wanted frames, each as one batch."""
    from jellyframe.batch.frames import frames_of

    count = 0
    for frame in frames_of(batches):
        if frames.stop is not None and frame.number >= frames.stop:
            return
        if frame.number < frames.start:
            continue
        yield count, frame.to_batch()
        count += 1


def _write(
    batches: Iterable[Batch], reader: JellyReader, target: Format, output: ByteSink, arguments: argparse.Namespace
) -> None:
    if target in (formats.NTRIPLES, formats.NQUADS):
        from jellyframe.formats import ntriples

        ntriples.write(batches, output)
        return
    from jellyframe.storage.sinks import SinkFile

    if target in (formats.PARQUET, formats.CSV):
        from jellyframe.formats.tables import write_table_file

        has_graph = reader.options.has_graph and not arguments.merge_graphs
        write_table_file(batches, SinkFile(output), target, arguments.layout, has_graph=has_graph)
        return
    from jellyframe.formats.oxigraph import write_text

    # The document begins with its prefixes, so those that come later in the stream come too late.
    iterator = iter(batches)
    first = next(iterator, None)
    batches = iterator if first is None else chain([first], iterator)
    write_text(batches, SinkFile(output), target, dict(reader.namespaces), reader.source_name)
