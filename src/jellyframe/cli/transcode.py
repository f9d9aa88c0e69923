"""`jellyframe rdf transcode`: one or many Jelly streams into one, with other options, other frames, another type."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_dialect, add_limits, add_output, limits_of, positive
from jellyframe.cli.console import UsageError

_EXAMPLES = """
jellyframe rdf transcode old.jelly --preset small --to small.jelly
jellyframe rdf transcode 'part-*.jelly' --rows-per-frame 1000 --index --to all.jelly
jellyframe rdf transcode people-draft.jelly --dialect draft --out-dialect released --to people.jelly
cat a.jelly b.jelly | jellyframe rdf transcode --opt.physical-type QUADS > both.jelly
"""
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
    parser.add_inputs("the input files, folders, or patterns such as 'part-*.jelly'; standard input if none or `-`")
    add_output(parser)
    stream_options.add_stream_options(parser)
    stream_options.add_writer_options(parser)
    parser.add_argument(
        "--frames",
        choices=("keep", "rows", "input"),
        help="frames as they are, with their metadata (by default); of --rows-per-frame rows each (by default if "
        "that is given); or one for each input",
    )
    parser.add_switch("--merge-graphs", default=False, help="drop the graphs of statements")
    parser.add_switch("--validate-terms", default=False, help="check IRIs (RFC 3987) and language tags (BCP 47)")
    parser.add_switch(
        "--concatenated",
        default=False,
        help="an input may consist of several streams of other writers: each options row begins a new one. "
        "Our own files need this only where their options differ",
    )
    parser.add_argument(
        "--jobs",
        "-j",
        metavar="N",
        type=positive,
        help="processes that rewrite large files, piece by piece, where --to names a file and the output is a flat "
        "stream with restart points; by default as many as there are cores, up to 8",
    )
    add_dialect(parser, "what the inputs are: the released format (by default) or its draft 1.0.0", default="released")
    add_dialect(
        parser, "what the output is, released (by default) or draft", option="--out-dialect", default="released"
    )
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, output_sink, progress_callback
    from jellyframe.ops.transcoding import default_jobs, transcode
    from jellyframe.storage.sources import InputFile

    if arguments.rows_per_frame is not None and arguments.frames not in (None, "rows"):
        raise UsageError(f"--frames {arguments.frames} and --rows-per-frame exclude each other")
    inputs = named_inputs(arguments.inputs)
    sink = output_sink(arguments.to, is_binary=True, force=arguments.force)
    base, changes = stream_options.options_and_changes(arguments, arguments.out_dialect)
    transcode(
        [InputFile(None) if name is None else name for name in inputs],
        sink,
        options=base,
        changes=changes,
        frames=arguments.frames,
        frame_rows=arguments.rows_per_frame,
        merge_graphs=arguments.merge_graphs,
        validate_terms=arguments.validate_terms,
        concatenated=arguments.concatenated,
        jobs=arguments.jobs or default_jobs(),
        limits=limits_of(arguments),
        progress=progress_callback(arguments.console),
        dialect=arguments.dialect,
        out_dialect=arguments.out_dialect,
        **stream_options.writer_settings(arguments),
    )
    return 0
