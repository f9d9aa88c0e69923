"""`--recover`, of the commands that continue after damage."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from jellyframe.cli.console import EXIT_INCOMPLETE
from jellyframe.cli.wording import option_words

if TYPE_CHECKING:
    from jellyframe.cli.arguments import CommandParser
    from jellyframe.stream.recovery import Damage


def add_recover(parser: CommandParser, consequence: str = "") -> None:
    """Add the option.

    Args:
        parser: the parser of the command
        consequence: a sentence on what is done about what is lost, with a blank before it
    """
    parser.add_switch(
        "--recover",
        default=False,
        help="continue after damage, at the next restart point. What was lost is a warning for each place, with the "
        f"bytes from which to which; the exit code is then 1.{consequence} The rest of a pipe or of compressed input "
        "is lost",
    )


class Losses:
    """Reports lost parts of the input of a command: as warnings, and in the exit code."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._console = arguments.console
        self._is_wanted: bool = arguments.recover
        self._count = 0

    @property
    def on_damage(self) -> Callable[[Damage], None] | None:
        """The function that readers call with damage; None unless the user wants to read on behind it."""
        return self._report if self._is_wanted else None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that went well otherwise."""
        return EXIT_INCOMPLETE if self._count else 0

    def _report(self, damage: Damage) -> None:
        self._count += 1
        self._console.warn(damage.describe(option_words))
