"""`jellyframe rdf to-jelly`: RDF text into Jelly."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_format, add_input, add_output

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.formats import Format
    from jellyframe.options import StreamOptions
    from jellyframe.storage.sources import InputFile
    from jellyframe.stream.writer import JellyWriter

_EXAMPLES = """
jellyframe rdf to-jelly people.nt.gz --to people.jelly
curl -s https://example.org/data.ttl | jellyframe rdf to-jelly --in-format ttl --to data.jelly
jellyframe rdf to-jelly graphs.trig --enable-namespace-declarations --compress zstd --to graphs.jelly.zst
"""
_DESCRIPTION = f"""\
Convert RDF text to Jelly. The format is told by the file's name or by --in-format, one of
{formats.names(formats.INPUT_FORMATS)}.
gzip and Zstandard are recognised by themselves.

The physical type follows the data: TRIPLES from formats without graphs. From formats with graphs it is QUADS, unless
the whole input is small (one batch of {1 << 16:,} statements) and names no graph."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "to-jelly", run, help="convert RDF text to Jelly", description=_DESCRIPTION, examples=_EXAMPLES
    )
    add_input(parser)
    add_format(parser, "--in-format", "--input-format", known=formats.INPUT_FORMATS)
    add_output(parser)
    stream_options.add_stream_options(parser)
    stream_options.add_writer_options(parser)
    parser.add_switch(
        "--enable-namespace-declarations",
        default=False,
        help="keep the prefixes of Turtle, TriG, RDF/XML and JSON-LD as namespace declarations",
    )
    parser.add_switch(
        "--resolve-iris", default=True, help="whether relative IRIs are resolved, against the input's own IRI at first"
    )
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import ProgressOfInputs, output_sink
    from jellyframe.storage.sources import InputFile

    input_format = formats.input_format(arguments.in_format, arguments.input, formats.INPUT_FORMATS)
    sink = output_sink(arguments.to, is_binary=True, force=arguments.force)
    with InputFile(arguments.input) as source:
        progress = ProgressOfInputs(arguments.console, source.total_bytes)
        if input_format is formats.JELLY_TEXT:
            from jellyframe.formats.jelly_text import text_to_jelly

            text_to_jelly(source, sink, arguments, progress)
        else:
            _convert(source, input_format, sink, arguments, progress)
    return 0


def _convert(source: InputFile, input_format: Format, sink: Any, arguments: argparse.Namespace, progress: Any) -> None:
    from jellyframe.stream.writer import open_writer

    text = TextInput(source, input_format, arguments)
    batches = iter(text.batches)
    first = next(batches, None)
    second = next(batches, None)
    found = [batch for batch in (first, second) if batch is not None]
    options = options_for(arguments, input_format, found, is_all=second is None)
    rows = arguments.rows_per_frame
    with open_writer(
        sink,
        options,
        frame_rows=rows or stream_options.DEFAULT_ROWS_PER_FRAME,
        **stream_options.writer_settings(arguments),
    ) as writer:
        declared: dict[str, str] = {}
        for batch in progress.over(chain(found, batches), source):
            if arguments.enable_namespace_declarations:
                declare_new(writer, text.namespaces(), declared)
            if rows is not None and options.logical_type.is_grouped and arguments.delimited:
                _write_in_frames(writer, batch, rows)
            else:
                writer.write_batch(_fitting(batch, options, source.name))
        if arguments.enable_namespace_declarations:
            declare_new(writer, text.namespaces(), declared)


class TextInput:
    """The statements of a text, in batches, and the prefixes that it has declared so far."""

    def __init__(self, source: InputFile, input_format: Format, arguments: argparse.Namespace) -> None:
        self._parser: Any = None
        is_generalized = arguments.generalized_statements is not False
        if input_format in (formats.NTRIPLES, formats.NQUADS):
            from jellyframe.formats import ntriples

            batches: Iterable[Batch] = ntriples.read(source, quads=input_format.has_graphs, generalized=is_generalized)
        else:
            from jellyframe.formats.oxigraph import OxigraphInput, iri_of_input

            self._parser = OxigraphInput(
                source,
                input_format,
                base_iri=iri_of_input(source.path) if arguments.resolve_iris else None,
                strict=arguments.validate_terms,
            )
            batches = self._parser.batches()
        if arguments.validate_terms:
            from jellyframe.batch.selection import checked

            batches = checked(batches, source.name)
        self.batches: Iterator[Batch] = iter(batches)

    def namespaces(self) -> dict[str, str]:
        return {} if self._parser is None else self._parser.namespaces()


def options_for(
    arguments: argparse.Namespace, input_format: Format, found: list[Batch], *, is_all: bool
) -> StreamOptions:
    """The options of the stream: what was said, and for the rest what the data asks for."""
    from jellyframe.options import LogicalType, PhysicalType, StreamOptions

    given = stream_options.given_options(arguments)
    base = stream_options.base_options(arguments)
    is_copy = arguments.options_from is not None
    if base is None or not is_copy:
        # Formats that can hold any statement do so in jelly-cli, and their streams have to say so.
        is_general = input_format in (formats.NTRIPLES, formats.NQUADS)
        are_graphs_named = any(batch.first_named_graph() is not None for batch in found)
        has_graphs = input_format.has_graphs and (are_graphs_named or not is_all)
        base = (base or StreamOptions()).replace(
            physical_type=PhysicalType.QUADS if has_graphs else PhysicalType.TRIPLES,
            generalized_statements=is_general,
            rdf_star=True,
        )
    if arguments.enable_namespace_declarations:
        base = base.replace(version=2)
    options = base.replace(**given)
    if "logical_type" not in given and (not is_copy or "physical_type" in given):
        flat = LogicalType.FLAT_QUADS if options.has_graph else LogicalType.FLAT_TRIPLES
        options = options.replace(logical_type=flat)
    return options


def declare_new(writer: JellyWriter, namespaces: dict[str, str], declared: dict[str, str]) -> None:
    """Declare the namespaces that are not declared yet, or differently."""
    for name, iri in namespaces.items():
        if declared.get(name) != iri:
            writer.declare_namespace(name, iri)
            declared[name] = iri


def _fitting(batch: Batch, options: StreamOptions, source: str) -> Batch:
    """The batch without its graphs if the stream has none: an error where that would lose something."""
    if batch.g is None or options.has_graph:
        return batch
    from jellyframe.batch.selection import without_graphs

    return next(without_graphs([batch], merge=False, target="the physical type TRIPLES", source=source))


def _write_in_frames(writer: JellyWriter, batch: Batch, rows: int) -> None:
    """Write a batch in frames of so many statements, though each is a graph or a dataset: it was asked for."""
    for start in range(0, len(batch), rows):
        stop = min(start + rows, len(batch))
        writer.write_batch(batch, start, stop)
        if stop - start == rows:
            writer.end_frame()
