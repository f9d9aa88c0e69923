"""What the commands say to people: errors, notes and progress, all on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from jellyframe.errors import one_line

if TYPE_CHECKING:
    from jellyframe.cli.progress import Progress, StatusLine

RED = "31"
YELLOW = "33"
GREEN = "32"
BOLD = "1"


class UsageError(Exception):
    """The user asked for something that cannot be done; the message says it in one line."""


class Console:
    """Standard error, with colour where a person reads it."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.is_terminal = self._stream.isatty()
        self._has_colour = self.is_terminal and has_colour()
        self._progress: StatusLine | None = None

    def error(self, message: str) -> None:
        self._say(f"{self.paint('error', RED)}: ", message)

    def warn(self, message: str) -> None:
        self._say(f"{self.paint('warning', YELLOW)}: ", message)

    def note(self, message: str) -> None:
        """Something good to know, unless the user wants quiet."""
        if not self.quiet:
            self._say("", message)

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._has_colour else text

    @property
    def shows_progress(self) -> bool:
        """Whether somebody can see a progress bar, and wants to."""
        return self.is_terminal and not self.quiet

    def progress(self, total_bytes: int | None) -> Progress | None:
        """A progress bar, where somebody can see it and wants to."""
        if self.quiet or not self.is_terminal:
            return None
        from jellyframe.cli.progress import Progress

        self._progress = progress = Progress(self._stream, total_bytes)
        return progress

    def status_line(self) -> StatusLine | None:
        """A line that says how things are, where somebody can see it and wants to."""
        if self.quiet or not self.is_terminal:
            return None
        from jellyframe.cli.progress import StatusLine

        self._progress = StatusLine(self._stream)
        return self._progress

    def end_progress(self) -> None:
        if self._progress is not None:
            self._progress.close()
            self._progress = None

    def _say(self, kind: str, message: str) -> None:
        self.end_progress()
        self._stream.write(f"jellyframe: {kind}{one_line(message)}\n")
        self._stream.flush()


def has_colour() -> bool:
    """Whether colour is welcome on a terminal: not with NO_COLOR, whatever its value, nor on a dumb terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
