"""`jellyframe rdf inspect`: show the options and the content of a Jelly stream."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jellyframe.cli.arguments import (
    STANDARD_STREAM,
    CommandParser,
    add_command,
    add_dialect,
    add_input,
    add_limits,
    add_output,
    limits_of,
    second_output,
)

if TYPE_CHECKING:
    from jellyframe.ops.survey import FrameCounts, StreamSurvey
    from jellyframe.report.documents import JsonWriter, YamlWriter

DETAILS = ("node", "term", "all")


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "inspect",
        run,
        help="show a stream's options, and count its rows, terms and bytes",
        description="Show the options of a Jelly stream, and count what it holds. Only the structure is read,\n"
        "unless --size or --html need the content: use `validate` to check a stream.",
        examples="""
jellyframe rdf inspect people.jelly
jellyframe rdf inspect people.jelly.gz --detail all --size
jellyframe rdf inspect people.jelly --per-frame --json | jq .frames[].triple_count
jellyframe rdf inspect people.jelly --html report.html
""",
    )
    add_input(parser)
    add_output(parser, binary=False)
    parser.add_switch("--per-frame", default=False, help="one entry for each frame, as it is read, instead of sums")
    parser.add_argument(
        "--detail",
        choices=DETAILS,
        help="also count terms: by kind (node), by position (term), or by both (all)",
    )
    parser.add_switch(
        "--size",
        default=False,
        help="bytes instead of counts; without --per-frame also compared to N-Triples, which takes longer",
    )
    add_documents(parser)
    parser.add_switch("--concatenated", default=False, help="the input consists of several streams")
    add_dialect(parser, "the released format or its draft 1.0.0; by default the statements show which", default=None)
    add_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.report.inspection import FrameWriter, input_document, options_document, totals_document

    if is_page_alone(arguments):
        _survey(arguments)
        return 0
    with document_writer(arguments) as writer:
        if arguments.per_frame:
            frames = FrameWriter(writer, arguments.detail, sizes=arguments.size)
            survey = _survey(arguments, frames.add)
            frames.end(survey)
        else:
            survey = _survey(arguments)
            writer.member("stream_options", options_document(survey))
            writer.member("frames", totals_document(survey, arguments.detail, sizes=arguments.size))
        writer.member("input", input_document(survey))
    return 0


def _survey(
    arguments: argparse.Namespace, on_frame: Callable[[StreamSurvey, FrameCounts], object] | None = None
) -> StreamSurvey:
    from jellyframe.cli.streams import progress_callback
    from jellyframe.ops.survey import inspect
    from jellyframe.storage.sources import InputFile

    history = None
    if arguments.html is not None:
        from jellyframe.report.history import FrameHistory

        history = FrameHistory(on_frame)
        on_frame = history.add
    with InputFile(arguments.input, limits=limits_of(arguments)) as source:
        survey = inspect(
            source,
            limits=limits_of(arguments),
            concatenated=arguments.concatenated,
            content=history is not None or (arguments.size and not arguments.per_frame),
            on_frame=on_frame,
            keep_metadata=arguments.per_frame,
            progress=progress_callback(arguments.console),
            dialect=arguments.dialect,
        )
    arguments.console.end_progress()
    if history is not None:
        from jellyframe.report.stream import stream_page

        write_page(stream_page(survey, history, source.name, source.bytes_read), arguments)
    return survey


def add_documents(parser: CommandParser) -> None:
    """Add the options for what an inspection writes: a document in YAML or JSON, and a page."""
    parser.add_switch("--json", default=False, help="JSON instead of YAML")
    parser.add_path(
        "--html",
        metavar="FILE",
        type=second_output,
        help="also write a page with plots, which needs no network; `-` writes it to standard output",
    )


def is_page_alone(arguments: argparse.Namespace) -> bool:
    """Return whether standard output is for the page, and there is no file for the document."""
    return bool(arguments.html == STANDARD_STREAM and arguments.to is None)


@contextmanager
def document_writer(arguments: argparse.Namespace) -> Iterator[YamlWriter | JsonWriter]:
    """Open the document, in YAML or JSON, where `--to` says, and end it."""
    from jellyframe.cli.streams import output_sink
    from jellyframe.report.documents import JsonWriter, YamlWriter
    from jellyframe.storage.sinks import ByteSink

    with ByteSink(output_sink(arguments.to, is_binary=False)) as sink:
        writer = JsonWriter(sink.write_text) if arguments.json else YamlWriter(sink.write_text)
        yield writer
        writer.end()


def write_page(page: str, arguments: argparse.Namespace) -> None:
    """Write a page to where `--html` says."""
    from jellyframe.cli.streams import write_second_output

    write_second_output(page, arguments.html, "page", arguments.console)
