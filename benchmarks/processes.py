"""Measure whole processes: how long a command takes, and its peak memory.

The command is started by this module in a small process of its own: the system counts the memory of the
parent at the fork as part of the child's peak, and a benchmark process has a lot of memory.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .timing import Outcome

_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class ProcessCost:
    seconds: float
    peak_bytes: int


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> ProcessCost:
    """Run a command and discard its standard output. Raises if it fails."""
    report = subprocess.run(
        [sys.executable, "-m", __name__, *command], check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout
    return ProcessCost(**json.loads(report))


class Costs:
    """The costs of a command, round by round, or the reason why it failed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._environment = environment
        self._rounds: list[ProcessCost] = []
        self._failure: Exception | None = None

    def run(self) -> None:
        if self._failure is None:
            try:
                self._rounds.append(run(self._command, self._environment))
            except Exception as error:
                self._failure = error

    @property
    def seconds(self) -> Outcome:
        return self._failure or statistics.median(cost.seconds for cost in self._rounds)

    @property
    def peak(self) -> Outcome:
        return self._failure or max(cost.peak_bytes for cost in self._rounds)

    def rate(self, statements: int) -> Outcome:
        seconds = self.seconds
        return seconds if isinstance(seconds, Exception) else statements / seconds


def in_turns(rounds: int, *commands: Sequence[str], environment: Mapping[str, str] | None = None) -> list[Costs]:
    """Run commands in turns, so that a slow moment of the machine affects all of them."""
    contestants = [Costs(command, environment) for command in commands]
    for _ in range(rounds):
        for contestant in contestants:
            contestant.run()
    return contestants


def _launch(command: Sequence[str]) -> int:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps({"seconds": elapsed, "peak_bytes": usage.ru_maxrss * _BYTES_PER_UNIT}))
    return process.returncode


if __name__ == "__main__":
    sys.exit(_launch(sys.argv[1:]))
