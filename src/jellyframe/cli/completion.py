"""`jellyframe completion`: scripts with which shells complete the command line, made from its parsers."""

from __future__ import annotations

import argparse
from typing import Any

from jellyframe.cli.arguments import CommandParser, add_command, boolean
from jellyframe.cli.console import print_text

SHELLS = ("bash", "zsh", "fish")
_EXAMPLES = """
eval "$(jellyframe completion bash)"                                        # in ~/.bashrc
jellyframe completion zsh > ~/.zfunc/_jellyframe                            # in a folder of $fpath
jellyframe completion fish > ~/.config/fish/completions/jellyframe.fish
"""


def add_parser(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "completion",
        run,
        help="print a script that completes commands and options in a shell",
        examples=_EXAMPLES,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(arguments: argparse.Namespace) -> int:
    import shtab

    from jellyframe.cli.commands import build_parser

    parser = build_parser()
    _describe_values(parser)
    print_text(f"{shtab.complete(parser, shell=arguments.shell).rstrip()}\n")
    return 0


def _describe_values(parser: CommandParser) -> None:
    """Tell shtab what follows each option, of all commands: files, values that are usual, or nothing."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _describe_values(command)
        elif action in parser.path_actions:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action in parser.suggestions:
            action.choices = parser.suggestions[action]
        elif action.type is boolean:
            # Switches stand alone as well, so what follows is not a value.
            action.nargs = 0
