"""The part that commands that write patches share: the output, headers, and the summary."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jellyframe import formats
from jellyframe.cli.arguments import CommandParser, add_format, key_and_value
from jellyframe.cli.console import print_text
from jellyframe.ops.documents import json_document

if TYPE_CHECKING:
    from jellyframe.patch.rows import HeaderValue
    from jellyframe.storage.types import Sink


def add_patch_format(parser: CommandParser) -> None:
    """Add the option that says the format of patches that are read."""
    add_format(parser, "--patch-format", known=formats.PATCH_FORMATS)


def add_summary(parser: CommandParser) -> None:
    """Add the option that prints the result."""
    parser.add_switch("--json", default=False, help="the result as JSON on standard output")


def add_headers(parser: CommandParser) -> None:
    """Add headers of the patch that is written; `header_values` reads them."""
    parser.add_argument(
        "--header",
        metavar="KEY=VALUE",
        action="append",
        type=key_and_value,
        default=[],
        help="a header of the patch: VALUE is a string, or an IRI if it is in < and >; may be given several times",
    )


def header_values(arguments: argparse.Namespace) -> dict[str, HeaderValue]:
    """Return the headers that were given."""
    from jellyframe.terms import IRI, Literal

    return {
        key: IRI(value[1:-1]) if value.startswith("<") and value.endswith(">") else Literal(value)
        for key, value in arguments.header
    }


def patch_sink(arguments: argparse.Namespace) -> tuple[Sink | None, str | None]:
    """Return where a patch goes, and in which format: None for nowhere, where a summary takes standard output.

    On a terminal a patch is text, so that it can be read.
    """
    from jellyframe.cli.streams import output_sink
    from jellyframe.formats.patches import patch_format

    if arguments.to is None and arguments.json:
        return None, arguments.out_format
    out_format = arguments.out_format
    if arguments.to is None and out_format is None and _is_terminal():
        out_format = formats.RDF_PATCH.name
    found = patch_format(out_format, arguments.to or b"", "out_format")
    return output_sink(arguments.to, is_binary=found.is_binary, force=arguments.force), out_format


def _is_terminal() -> bool:
    import sys

    return sys.stdout is not None and sys.stdout.isatty()


def print_summary(arguments: argparse.Namespace, counts: Mapping[str, object], text: str | None = None) -> None:
    """Print the result: as JSON on standard output, or as text on a terminal."""
    arguments.console.end_progress()
    if arguments.json:
        print_text(json_document(dict(counts)))
        return
    if arguments.console.is_terminal:
        words = [f"{name.replace('_', ' ')}: {value:,}" for name, value in counts.items() if type(value) is int]
        arguments.console.note(text or ", ".join(words))
