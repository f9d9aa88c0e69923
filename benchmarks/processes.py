"""Whole processes: how long a command takes and how much memory it holds at its peak.

The command is started by this module running as a small process of its own: the system counts what the
parent held when it forked as the child's own peak, and a benchmark process holds a lot.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

_BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class ProcessCost:
    seconds: float
    peak_bytes: int


def run(command: Sequence[str]) -> ProcessCost:
    """Runs a command, its standard output thrown away; raises if it fails."""
    report = subprocess.run(
        [sys.executable, "-m", __name__, *command], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return ProcessCost(**json.loads(report))


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
