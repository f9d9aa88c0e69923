"""`jellyframe patch compact`: many patches as one that has the same effect."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import add_command
from jellyframe.cli.patch.outputs import print_summary
from jellyframe.cli.patch.rewriting import add_rewriting, rewriting_arguments

_EXAMPLES = """
jellyframe patch compact monday.jellyp tuesday.jellyp --to week.jellyp
jellyframe patch compact 'day-*.jellyp' --out-format rdfp
"""
_DESCRIPTION = """\
Write one patch that has the same effect as many, on any data: for each statement and each namespace the last operation.
What was in transactions that are aborted is left out; what is left is in one transaction.

Of headers, the last value of each key is kept, but of `prev` the first: the patch follows the one that the first of
them followed. Memory does not grow with the patches."""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "compact",
        run,
        help="write one patch that has the same effect as many",
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add_rewriting(parser)
    parser.add_switch("--transaction", default=True, help="whether the changes are in a transaction")


def run(arguments: argparse.Namespace) -> int:
    from jellyframe.ops.patches.compacting import compact

    sources, sink, named = rewriting_arguments(arguments)
    print_summary(arguments, compact(sources, sink, transaction=arguments.transaction, **named)._asdict())
    return 0
