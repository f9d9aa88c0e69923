"""A progress bar on one line of a terminal: bytes, statements, rate, time left."""

from __future__ import annotations

import os
import time
from typing import TextIO

REFRESH_SECONDS = 0.1
USUAL_WIDTH = 80
_BAR_WIDTH = 12
_CLEAR = "\r\x1b[K"


class Progress:
    """Shows how far the input has been read. `total_bytes` is None where nobody knows."""

    def __init__(self, stream: TextIO, total_bytes: int | None) -> None:
        self._stream = stream
        self._total = total_bytes
        self._start = time.monotonic()
        self._shown: float | None = None

    def update(self, bytes_read: int, statements: int) -> None:
        """Say how much has been done so far. Draws now and then only."""
        now = time.monotonic()
        if self._shown is not None and now - self._shown < REFRESH_SECONDS:
            return
        self._shown = now
        line = self.line(bytes_read, statements, now - self._start)
        self._stream.write(_CLEAR + line[: self._width() - 1])
        self._stream.flush()

    def _width(self) -> int:
        """How much fits on a line, which must not wrap."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or USUAL_WIDTH
        except OSError:
            return USUAL_WIDTH

    def line(self, bytes_read: int, statements: int, seconds: float) -> str:
        """What is shown after so many seconds."""
        seconds = max(seconds, 1e-3)
        counts = f"{human(bytes_read)}B"
        left = bar = ""
        if self._total:
            part = min(bytes_read / self._total, 1.0)
            bar = f"[{'#' * round(_BAR_WIDTH * part):{_BAR_WIDTH}}] {100 * part:3.0f} % "
            counts += f" of {human(self._total)}B"
            if part > 0:
                left = f", {clock(seconds / part - seconds)} left"
        return f"{bar}{counts}, {human(statements)} statements, {human(statements / seconds)}/s{left}"

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._shown = None


def human(number: float) -> str:
    """A number in three or four digits and a letter."""
    for letter in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.0f} {letter}".rstrip() if letter == "" else f"{number:.1f} {letter}"
        number /= 1000
    return f"{number:.1f} T"


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
