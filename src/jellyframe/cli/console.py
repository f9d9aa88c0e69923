"""Messages of commands to the user: errors, notes and progress, on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, TextIO

from jellyframe.errors import one_line
from jellyframe.storage.types import STANDARD_OUTPUT_NAME
from jellyframe.storage.writing import flush_all, write_all

if TYPE_CHECKING:
    from jellyframe.cli.progress import Progress, StatusLine

# The exit code if the output was written, but a part of the input is missing in it.
EXIT_INCOMPLETE = 1
RED = "31"
YELLOW = "33"
GREEN = "32"
BOLD = "1"


class UsageError(Exception):
    """The user asked for something that cannot be done; the message says it in one line."""


class Console:
    """Standard error, with colour where a person reads it.

    Where it is closed or full nothing is shown, and the exit code alone tells how it went.
    """

    def __init__(self, *, quiet: bool = False, debug: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.debug = debug
        self.is_terminal = self._stream is not None and self._stream.isatty()
        self._has_colour = self.is_terminal and has_colour()
        self._progress: StatusLine | None = None

    def error(self, message: str) -> None:
        self._say(f"{self.paint('error', RED)}: ", message)

    def warn(self, message: str) -> None:
        self._say(f"{self.paint('warning', YELLOW)}: ", message)

    def note(self, message: str) -> None:
        """Show a note, unless the user wants quiet."""
        if not self.quiet:
            self._say("", message)

    def announce(self, message: str) -> None:
        """Write a line that programs wait for, as it is, whether or not the user wants quiet."""
        self._write(f"{message}\n")

    def traceback(self) -> None:
        """Show the traceback of the exception that is being handled, if the user wants that."""
        if self.debug:
            import traceback

            self._write(traceback.format_exc())

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._has_colour else text

    @property
    def shows_progress(self) -> bool:
        """Whether to show progress: on a terminal, unless turned off."""
        return self.is_terminal and not self.quiet

    def progress(self, total_bytes: int | None) -> Progress | None:
        """Return a progress bar; None if progress is turned off or there is no terminal."""
        if self.quiet or not self.is_terminal:
            return None
        from jellyframe.cli.progress import Progress

        self._progress = progress = Progress(self._stream, total_bytes)
        return progress

    def status_line(self) -> StatusLine | None:
        """Return a status line; None if progress is turned off or there is no terminal."""
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
        self._write(f"jellyframe: {kind}{one_line(message)}\n")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._stream.write(text)
                self._stream.flush()


def has_colour() -> bool:
    """Return whether to use colour on a terminal: not with NO_COLOR, whatever its value, nor on a dumb terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def standard_output() -> BinaryIO:
    """Return standard output as a binary stream. Raises if it is closed."""
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    return sys.stdout.buffer


def print_text(text: str) -> None:
    """Write text to standard output, all of it; lone surrogates become escapes."""
    with _named():
        write_all(standard_output(), text.encode("utf-8", "backslashreplace"))


def flush_output() -> None:
    """Flush standard output."""
    if sys.stdout is not None:
        with _named():
            flush_all(sys.stdout.buffer)


@contextmanager
def _named() -> Iterator[None]:
    """Name standard output in an error of the system."""
    try:
        yield
    except OSError as error:
        error.filename = STANDARD_OUTPUT_NAME
        raise
