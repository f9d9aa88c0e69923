"""Back-off: increasing pauses between attempts, up to a time limit. It neither reads a clock nor sleeps."""

from __future__ import annotations

import random
from collections.abc import Callable

from jellyframe.errors import RemoteError

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 15.0
# The server cannot be reached or is stopping. Every other status is a deliberate answer.
_PASSING = "UNAVAILABLE"


class Backoff:
    """Pauses between attempts, each up to twice as long as the last one. They are random, so that clients do not all
    reconnect at once.

    `patience` is the number of seconds for which attempts may fail in a row.
    """

    def __init__(self, patience: float, *, jitter: Callable[[], float] = random.random) -> None:
        self.patience = patience
        self._jitter = jitter
        self._pause = FIRST_PAUSE_SECONDS
        self._failing_since: float | None = None

    def succeeded(self) -> None:
        """Note that an attempt succeeded: the next failure counts as the first one."""
        self._failing_since = None
        self._pause = FIRST_PAUSE_SECONDS

    def pause_after(self, error: RemoteError, now: float) -> float:
        """Return how many seconds to wait before the next attempt, or raise the error if there is none."""
        if error.status != _PASSING:
            raise error
        if self._failing_since is None:
            self._failing_since = now
        left = self._failing_since + self.patience - now
        if left <= 0:
            raise error
        pause = min(self._pause * (0.5 + self._jitter() / 2), left)
        self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
        return pause
