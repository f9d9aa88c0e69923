"""`jellyframe rdf to-neo4j`: CSV files for Neo4j's importer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.cli.arguments import add_command, add_dialect, add_format, add_limits, limits_of
from jellyframe.cli.console import UsageError, print_text
from jellyframe.ops.documents import json_document

if TYPE_CHECKING:
    from jellyframe.cli.console import Console


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "to-neo4j",
        run,
        help="write nodes and relationships as CSV files for the import into Neo4j",
        description="Write IRIs and blank nodes as nodes with their literals as properties, and other statements as\n"
        "relationships, into CSV files with a header for each kind. The command that imports them is shown at the\n"
        "end. Memory is bounded.",
        examples="""
jellyframe rdf to-neo4j people.jelly --to graph
jellyframe rdf to-neo4j dump/*.nt.gz --to graph --overwrite --json
""",
    )
    parser.add_inputs("files, folders and patterns; formats follow from names, and may be mixed")
    add_format(parser, "--in-format", "--input-format", known=formats.FOLDER_FORMATS)
    parser.add_path("--to", "--output", metavar="FOLDER", required=True, help="the folder to write to")
    parser.add_switch(
        "--overwrite", default=False, help="replace such files in the folder when the new ones are complete"
    )
    parser.add_switch("--concatenated", default=False, help="Jelly files may consist of several streams")
    parser.add_switch(
        "--lenient", default=False, help="accept what specifications forbid, such as IRIs that are not absolute"
    )
    add_dialect(parser, "what is read: the released format (by default) or its draft 1.0.0", default="released")
    add_limits(parser)
    parser.add_switch("--json", default=False, help="the summary as JSON on standard output")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe import write_neo4j
    from jellyframe.cli.streams import progress_callback

    if not arguments.inputs:
        raise UsageError("no input is named: name files, folders or patterns")
    console: Console = arguments.console
    files = write_neo4j(
        list(arguments.inputs),
        arguments.to,
        save="overwrite" if arguments.overwrite else "error",
        progress=progress_callback(console),
        in_format=arguments.in_format,
        concatenated=arguments.concatenated,
        lenient=arguments.lenient,
        limits=limits_of(arguments),
        dialect=arguments.dialect,
    )
    console.end_progress()
    console.note(f"{files.node_count:,} nodes and {files.relationship_count:,} relationships to {files.folder}")
    console.note(files.command())
    if arguments.json:
        print_text(json_document({**files._asdict(), "command": files.command()}))
    return 0
