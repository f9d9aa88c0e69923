"""Progress on one line of a terminal."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TextIO

REFRESH_SECONDS = 0.1
USUAL_WIDTH = 80
_BAR_WIDTH = 12
_CLEAR = "\r\x1b[K"


class StatusLine:
    """A status line on a terminal, which is erased at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: float | None = None

    def show(self, line: str) -> None:
        self._shown = time.monotonic()
        self._write(_CLEAR + line[: self._width() - 1])

    def _write(self, text: str) -> None:
        # The terminal may have been closed; the work continues.
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()

    def _width(self) -> int:
        """Return how much fits on a line, which must not wrap."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or USUAL_WIDTH
        except (OSError, ValueError):
            return USUAL_WIDTH

    def close(self) -> None:
        """Erase the line."""
        if self._shown is not None:
            self._write(_CLEAR)
            self._shown = None


class Progress(StatusLine):
    """Shows how far the input has been read: bytes, statements, rate, time left. `total_bytes` may be unknown."""

    def __init__(self, stream: TextIO, total_bytes: int | None) -> None:
        super().__init__(stream)
        self._total = total_bytes
        self._start = time.monotonic()

    def update(self, bytes_read: int, statements: int) -> None:
        """Report how much has been done so far. The bar is redrawn only now and then."""
        now = time.monotonic()
        if self._shown is None or now - self._shown >= REFRESH_SECONDS:
            self.show(self.line(bytes_read, statements, now - self._start))

    def line(self, bytes_read: int, statements: int, seconds: float) -> str:
        """Return the text to show after some seconds."""
        seconds = max(seconds, 1e-3)
        counts = f"{human(bytes_read)}B"
        left = bar = ""
        if self._total:
            part = min(bytes_read / self._total, 1.0)
            bar = f"{drawn_bar(part)} "
            counts += f" of {human(self._total)}B"
            if part > 0:
                left = f", {clock(seconds / part - seconds)} left"
        return f"{bar}{counts}, {human(statements)} statements, {human(statements / seconds)}/s{left}"


def drawn_bar(part: float) -> str:
    """Return the progress as a bar and as text."""
    return f"[{'#' * round(_BAR_WIDTH * part):{_BAR_WIDTH}}] {100 * part:3.0f} %"


def human(number: float) -> str:
    """Return a number in three or four digits and a letter."""
    for letter in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.0f} {letter}".rstrip() if letter == "" else f"{number:.1f} {letter}"
        number /= 1000
    return f"{number:.1f} T"


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
