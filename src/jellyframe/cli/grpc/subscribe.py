"""`jellyframe grpc subscribe`: a topic of a server to an output of any format."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, cast

from jellyframe import formats
from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_dialect, add_format, add_layout, add_output, natural, positive
from jellyframe.cli.console import EXIT_INCOMPLETE, Console, UsageError
from jellyframe.cli.grpc.connection import add_connection, open_client, positive_number
from jellyframe.cli.progress import REFRESH_SECONDS, human

if TYPE_CHECKING:
    from jellyframe.grpc.client.saving import ResumeFile, Saver, Saving
    from jellyframe.grpc.protocol import Start
    from jellyframe.options import StreamOptions

_DESCRIPTION = f"""\
Write the statements of a topic as they come, to standard output or a file, in one of
{formats.names(formats.FORMATS)}; N-Quads unless the name of the output tells another.

The command goes on until the server ends the topic, --take statements have come, or it is interrupted; what has been
received until then is in the output. With --roll-rows or --roll-seconds, --to is a folder for a series of files.

When the connection is lost, the command goes on where it was if the server keeps the frames of the topic. With --resume
it also does when it is started again; statements may then be written twice, but none is left out."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "subscribe",
        run,
        help="write the statements of a topic, in any format",
        description=_DESCRIPTION,
        examples="""
jellyframe grpc subscribe --server localhost:9090 people --from earliest --take 3
jellyframe grpc subscribe --server localhost:9090 people --from earliest --take 3 --to people.parquet
jellyframe grpc subscribe --server localhost:9090 people --from earliest --take 3 --to log --roll-rows 2
""",
    )
    parser.add_argument("topic", metavar="TOPIC", help="the topic")
    add_connection(parser)
    parser.add_argument(
        "--from",
        dest="start",
        metavar="START",
        help="where to start: earliest, latest or an offset; by default the server decides (ours: latest)",
    )
    parser.add_argument("--take", metavar="N", type=natural, help="end after N statements")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=positive_number, help="end with an error if it takes longer than this"
    )
    parser.add_argument(
        "--reconnect",
        choices=("resume", "always", "never"),
        default="resume",
        help="when the connection is lost: continue if no frame is missed (the default), in any case, or not at all",
    )
    parser.add_path("--resume", metavar="FILE", help="store the position in this file, and continue from there")
    add_format(parser, "--out-format", "--output-format", known=formats.FORMATS)
    add_output(parser)
    stream_options.add_compression(parser)
    parser.add_argument("--roll-rows", metavar="N", type=positive, help="begin a new file after N statements")
    parser.add_argument(
        "--roll-seconds",
        metavar="SECONDS",
        type=positive_number,
        help="complete a file after this time, and begin a new one with the next statements",
    )
    add_layout(parser, "the columns of Parquet and CSV")
    stream_options.add_stream_options(parser)
    add_dialect(
        parser,
        "what is asked for: the released format (by default) or its draft 1.0.0, without offsets to go on from; "
        "files are in the released format",
        default="released",
    )


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import output_sink
    from jellyframe.grpc.client.saving import Saver

    if arguments.resume is not None and arguments.dialect == "draft":
        raise UsageError("--resume needs the offsets of frames, which frames of the draft dialect do not have")
    saving = _saving(arguments)
    is_series = arguments.roll_rows is not None or arguments.roll_seconds is not None
    if is_series and arguments.to is None:
        raise UsageError("--roll-rows and --roll-seconds need a folder: name it with --to")
    is_binary = saving.format.is_binary or saving.compression is not None
    target = arguments.to if is_series else output_sink(arguments.to, is_binary=is_binary, force=arguments.force)
    resume = _resume_file(arguments)
    with (
        open_client(arguments) as client,
        client.subscribe(
            arguments.topic,
            _requested_options(arguments),
            from_=_start(arguments, resume),
            reconnect=arguments.reconnect,
            timeout=arguments.timeout,
            dialect=arguments.dialect,
        ) as subscription,
    ):
        saver = Saver(subscription, target, saving, resume=resume)
        statements = saver.save(arguments.take, _status(arguments.console))
    arguments.console.end_progress()
    if arguments.take is not None and statements < arguments.take:
        arguments.console.warn(f"the topic has ended after {statements} of {arguments.take} statements")
        return EXIT_INCOMPLETE
    return 0


def _saving(arguments: argparse.Namespace) -> Saving:
    from jellyframe.grpc.client.saving import Saving
    from jellyframe.ops.converting import output_format

    is_series = arguments.roll_rows is not None or arguments.roll_seconds is not None
    return Saving(
        format=output_format(arguments.out_format, None if is_series else arguments.to),
        compression=stream_options.compression_of(arguments),
        layout=arguments.layout,
        roll_statements=arguments.roll_rows,
        roll_seconds=arguments.roll_seconds,
    )


def _resume_file(arguments: argparse.Namespace) -> ResumeFile | None:
    from jellyframe.grpc.client.saving import ResumeFile

    return None if arguments.resume is None else ResumeFile(arguments.resume, arguments.server, arguments.topic)


def _start(arguments: argparse.Namespace, resume: ResumeFile | None) -> Start | None:
    from jellyframe.errors import OptionsError
    from jellyframe.grpc.protocol import parse_start

    if resume is not None and resume.offset is not None:
        return resume.offset
    if arguments.start is None:
        return None
    try:
        return parse_start(arguments.start)
    except OptionsError:
        raise UsageError(f"--from: {arguments.start!r} is not earliest, latest or an offset") from None


def _requested_options(arguments: argparse.Namespace) -> StreamOptions | None:
    """Return the options to ask for; None where the server is to choose."""
    from jellyframe.options import StreamOptions

    base, changes = stream_options.options_and_changes(arguments, arguments.dialect)
    return None if base is None and not changes else (base or StreamOptions()).replace(**changes)


def _status(console: Console) -> Any:
    """Return a callback that shows how much has been written, on a terminal."""
    line = console.status_line()
    if line is None:
        return None
    begun = time.monotonic()
    shown = begun

    def show(saver: Saver) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= REFRESH_SECONDS:
            shown = now
            rate = human(saver.statements / (now - begun))
            cast("Any", line).show(f"{human(saver.statements)} statements in {saver.frames} frames, {rate}/s")

    return show
