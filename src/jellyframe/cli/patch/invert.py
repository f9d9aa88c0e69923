"""`jellyframe patch invert`: patches that undo others."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import add_command
from jellyframe.cli.patch.outputs import print_summary
from jellyframe.cli.patch.rewriting import add_rewriting, rewriting_arguments

_EXAMPLES = """
jellyframe patch invert changes.jellyp --to undo.jellyp
jellyframe patch invert monday.jellyp tuesday.jellyp --to undo.rdfp
"""
_DESCRIPTION = """\
Write patches that undo others: the last of them first, each from its end to its start, adds for deletes and deletes
for adds. That leads back if every row of the patches changed something, as those of `patch diff` do.

Transactions stay, unless they are aborted. Headers stay; but `id` becomes the `prev` of the patch that undoes. Memory
does not grow with the patches: what waits for its turn lies on disk."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "invert",
        run,
        help="write patches that undo others",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add_rewriting(parser)


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.ops.patches.inverting import invert

    sources, sink, named = rewriting_arguments(arguments)
    print_summary(arguments, invert(sources, sink, **named)._asdict())
    return 0
