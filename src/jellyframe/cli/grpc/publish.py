"""`jellyframe grpc publish`: files of any format to a topic of a server."""

from __future__ import annotations

import argparse
import time
from typing import Any

from jellyframe import formats
from jellyframe.cli import stream_options
from jellyframe.cli.arguments import add_command, add_dialect, add_format, limits_of
from jellyframe.cli.console import UsageError
from jellyframe.cli.grpc.connection import add_connection, open_client, positive_number
from jellyframe.defaults import PUBLISHED_FRAME_ROWS

_DESCRIPTION = """\
Publish RDF files to a topic. Each file is a publication of its own, which the server acknowledges. Jelly is published
in the frames and with the options that it has, unless options are given; other formats become flat streams.

When the connection is lost, what the server has not acknowledged is sent again: each statement arrives at least once.
With --follow the command continues and publishes files as they appear in folders, until it is interrupted."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "publish",
        run,
        help="publish files of any format to a topic",
        description=_DESCRIPTION,
        examples="""
jellyframe grpc publish --server localhost:9090 --topic people people.nt
jellyframe grpc publish --server localhost:9090 --topic people 'part-*.jelly' --rate 1000
jellyframe rdf from-jelly people.jelly | jellyframe grpc publish --server localhost:9090 --topic copy --in-format nq
""",
    )
    parser.add_inputs("the input files, folders, or patterns such as 'part-*.nt'; standard input if none or `-`")
    parser.add_argument("--topic", required=True, metavar="TOPIC", help="the topic; any text, may be empty")
    add_format(parser, "--in-format", "--input-format", known=formats.FORMATS)
    add_dialect(
        parser,
        "what Jelly files are: the released format (by default) or its draft 1.0.0",
        option="--in-dialect",
        default="released",
    )
    add_dialect(parser, "what is sent: the released format (by default) or its draft 1.0.0", default="released")
    add_connection(parser)
    parser.add_switch("--follow", default=False, help="continue with files as they appear in the given folders")
    parser.add_path(
        "--resume", metavar="FILE", help="with --follow: remember in this file which files have been published"
    )
    parser.add_argument(
        "--poll", metavar="SECONDS", type=positive_number, default=1.0, help="with --follow: how often to look (1)"
    )
    parser.add_argument(
        "--rate", metavar="N", type=positive_number, help="the maximum average number of statements per second"
    )
    parser.add_switch(
        "--resend", default=True, help="whether to send frames again that may have been lost with the connection"
    )
    stream_options.add_stream_options(parser)
    stream_options.add_frame_rows(parser, PUBLISHED_FRAME_ROWS)
    parser.add_switch(
        "--lenient", default=False, help="accept what specifications forbid, such as IRIs that are not absolute"
    )


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.cli.streams import named_inputs, progress_callback
    from jellyframe.formats.settings import ReadSettings
    from jellyframe.grpc.client.publishing import PublisherSettings
    from jellyframe.grpc.client.uploading import Upload, Uploader

    if arguments.resume is not None and not arguments.follow:
        raise UsageError("--resume needs --follow")
    base, changes = stream_options.options_and_changes(arguments, arguments.dialect)
    settings = PublisherSettings(resend=arguments.resend, dialect=arguments.dialect)
    if arguments.rows_per_frame is not None:
        settings["frame_rows"] = arguments.rows_per_frame
    upload = Upload(
        in_format=arguments.in_format,
        read=ReadSettings(lenient=arguments.lenient, limits=limits_of(arguments), dialect=arguments.in_dialect),
        options=base,
        changes=changes,
        publisher=settings,
        rate=arguments.rate,
        progress=progress_callback(arguments.console),
    )
    with open_client(arguments) as client:
        uploader = Uploader(client, arguments.topic, upload)
        if arguments.follow:
            _follow(uploader, arguments)
        else:
            uploader.publish(named_inputs(arguments.inputs))
    files, frames, statements = uploader.uploaded
    arguments.console.note(f"published: {statements} statements, {frames} frames, {files} files")
    return 0


def _follow(uploader: Any, arguments: argparse.Namespace) -> None:
    """Publish files as they appear, without an end."""
    from jellyframe.grpc.client.uploading import FollowedFolders

    if not arguments.inputs or "-" in arguments.inputs:
        raise UsageError("--follow needs folders or patterns, and standard input is neither")
    folders = FollowedFolders(arguments.inputs, arguments.in_format, arguments.resume)
    while True:
        for path in folders.new_files():
            uploader.publish_file(path)
            folders.mark_done(path)
        time.sleep(arguments.poll)
