"""`jellyframe rdf from-jelly`: Jelly into RDF text, into tables, or into a readable form of its rows."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_dialect, add_format, add_layout, add_limits, add_output, limits_of
from jellyframe.cli.console import UsageError
from jellyframe.cli.frame_ranges import frame_range
from jellyframe.cli.recovering import Losses, add_recover
from jellyframe.cli.stream_options import add_compression, compression_of

_EXAMPLES = """
jellyframe rdf from-jelly people.jelly > people.nq
jellyframe rdf from-jelly people.jelly --to people.ttl
jellyframe rdf from-jelly people.jelly --take-frames ..3 --out-format jelly-text
jellyframe rdf from-jelly graphs.jelly --merge-graphs --to graphs.parquet
jellyframe rdf from-jelly monday.jelly dumps --to all.nt.gz
jellyframe rdf from-jelly people.jelly --recover --to rest.nq
"""
_DESCRIPTION = f"""\
Convert Jelly to {formats.names(formats.FORMATS)}.
The format is told by --out-format or by the name of the output; without either it is N-Quads. With --in-format, input
of any of these formats is converted.

Quoted triples are written as `<< s p o >>`, the syntax of RDF-star, in N-Triples, N-Quads, Turtle and TriG; RDF/XML and
JSON-LD have no place for them. N-Triples and N-Quads also take generalized statements."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "from-jelly",
        run,
        help="convert Jelly to RDF text, Parquet, CSV or readable rows",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    parser.add_inputs("the input files, folders, or patterns such as 'part-*.jelly'; standard input if none or `-`")
    add_format(parser, "--in-format", "--input-format", known=formats.FORMATS)
    add_format(parser, "--out-format", "--output-format", known=formats.FORMATS)
    add_output(parser)
    add_compression(parser)
    parser.add_argument(
        "--take-frames",
        metavar="RANGE",
        type=frame_range,
        default="..",
        help="frames to convert, of each input, counted from 0: 3, ..3, 3.., 1..5 or 4..=6",
    )
    parser.add_switch(
        "--combine",
        help="one RDF/XML or JSON-LD document of all frames (true) or one of each; by default one of each where frames "
        "are graphs or datasets of their own. The other formats always take all",
    )
    parser.add_switch("--merge-graphs", default=False, help="drop the graphs of statements")
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")
    parser.add_switch(
        "--lenient", default=False, help="accept what specifications forbid, if --in-format is another format"
    )
    parser.add_switch(
        "--concatenated", default=False, help="the input consists of several streams with different options"
    )
    add_recover(parser)
    add_dialect(parser, "what is read: the released format (by default) or its draft 1.0.0", default="released")
    add_limits(parser)
    add_layout(parser, "the columns of Parquet (default struct) and CSV (default ntriples, never struct)")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.formats.settings import ReadSettings
    from jellyframe.ops.converting import Conversion, input_paths, output_format, run_conversion

    in_format = arguments.in_format or formats.JELLY.name
    if arguments.recover and formats.format_by_name(in_format) is not formats.JELLY:
        raise UsageError(f"--recover reads damaged Jelly, and --in-format says {in_format}")
    losses = Losses(arguments)
    paths = input_paths(named_inputs(arguments.inputs), in_format)
    target = output_format(arguments.out_format, arguments.to)
    compression = compression_of(arguments)
    is_binary = target.is_binary or compression is not None
    sink = output_sink(arguments.to, is_binary=is_binary, force=arguments.force)
    plan = Conversion(
        in_format=in_format,
        out_format=target.name,
        read=ReadSettings(
            lenient=arguments.lenient,
            concatenated=arguments.concatenated,
            limits=limits_of(arguments),
            on_damage=losses.on_damage,
            dialect=arguments.dialect,
        ),
        validate_terms=arguments.validate_terms,
        merge_graphs=arguments.merge_graphs,
        frames=arguments.take_frames,
        combine=arguments.combine,
        compression=compression or "none",
        layout=arguments.layout,
        progress=progress_callback(arguments.console),
    )
    run_conversion(paths, sink, plan)
    return losses.exit_code
