"""`jellyframe grpc topics`: the topics of a server."""

from __future__ import annotations

import argparse
import json
from typing import Any

from jellyframe.cli.arguments import add_command
from jellyframe.cli.console import print_text
from jellyframe.cli.grpc.connection import add_connection, open_client
from jellyframe.ops.documents import json_document

_COLUMNS = ("name", "retention", "first_offset", "next_offset", "publishers", "subscribers", "frames", "statements")


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "topics",
        run,
        help="list the topics of a jellyframe server",
        description="List the topics of a jellyframe server that the token may subscribe to, with what is kept of\n"
        "them and what has gone through them since the server started. Servers of others do not offer this.",
        examples="""
jellyframe grpc topics --server localhost:9090
jellyframe grpc topics --server localhost:9090 --json | jq .[].name
""",
    )
    parser.add_switch("--json", default=False, help="JSON instead of a table")
    add_connection(parser)


def run(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    with open_client(arguments) as client:
        topics = [asdict(topic) for topic in client.topics(timeout=arguments.connect_timeout or None)]
    if arguments.json:
        print_text(json_document(topics))
    else:
        print_text(_table([_COLUMNS, *([_cell(topic[name]) for name in _COLUMNS] for topic in topics)]))
    return 0


def _cell(value: str | int) -> str:
    """Return a value as it stands in the table; names that would upset it in quotation marks."""
    text = str(value)
    return text if text and text.isprintable() and " " not in text else json.dumps(text, ensure_ascii=False)


def _table(rows: Any) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"
