"""`jellyframe rdf to-jelly`: RDF text, and what else we read, into Jelly."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_dialect, add_format, add_limits, add_output, limits_of

_EXAMPLES = """
jellyframe rdf to-jelly people.nt.gz --to people.jelly
curl -s https://example.org/data.ttl | jellyframe rdf to-jelly --in-format ttl --to data.jelly
jellyframe rdf to-jelly people.nt --dialect draft --to people-draft.jelly
jellyframe rdf to-jelly graphs.trig --enable-namespace-declarations --compress zstd --to graphs.jelly.zst
"""
_DESCRIPTION = f"""\
Convert RDF to Jelly. The format is told by the file's name or by --in-format, one of
{formats.names(formats.FORMATS)}.
gzip and Zstandard are recognised by themselves.

The physical type follows the data: TRIPLES from formats without graphs. From formats with graphs it is QUADS, unless
the whole input is small (one batch: up to 16,384 statements and 32 MiB) and names no graph."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "to-jelly", run, help="convert RDF text to Jelly", description=_DESCRIPTION, examples=_EXAMPLES
    )
    parser.add_inputs("the input files, folders, or patterns such as 'part-*.nt'; standard input if none or `-`")
    add_format(parser, "--in-format", "--input-format", known=formats.FORMATS)
    add_output(parser)
    stream_options.add_stream_options(parser)
    stream_options.add_writer_options(parser)
    parser.add_switch(
        "--enable-namespace-declarations",
        default=False,
        help="keep the prefixes of Turtle, TriG, RDF/XML and JSON-LD as namespace declarations",
    )
    parser.add_switch(
        "--resolve-iris",
        default=True,
        help="whether relative IRIs are resolved, by default against the IRI of the input",
    )
    parser.add_switch(
        "--lenient", default=False, help="accept what specifications forbid, such as IRIs that are not absolute"
    )
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")
    add_dialect(
        parser,
        "what is written: the released format (by default) or its draft 1.0.0",
        dest="out_dialect",
        default="released",
    )
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.formats.settings import ReadSettings
    from jellyframe.ops.converting import Conversion, input_paths, run_conversion

    paths = input_paths(named_inputs(arguments.inputs), arguments.in_format)
    sink = output_sink(arguments.to, is_binary=True, force=arguments.force)
    base, changes = stream_options.options_and_changes(arguments, arguments.out_dialect)
    plan = Conversion(
        in_format=arguments.in_format,
        out_format=formats.JELLY.name,
        read=ReadSettings(
            lenient=arguments.lenient,
            resolve_iris=arguments.resolve_iris,
            generalized=arguments.generalized_statements is not False,
            limits=limits_of(arguments),
        ),
        validate_terms=arguments.validate_terms,
        compression=stream_options.compression_of(arguments) or "none",
        namespaces=arguments.enable_namespace_declarations,
        base_options=base,
        changes=changes,
        jelly={**stream_options.jelly_settings(arguments), "dialect": arguments.out_dialect},
        progress=progress_callback(arguments.console),
    )
    run_conversion(paths, sink, plan)
    return 0
