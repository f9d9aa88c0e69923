"""Peak memory of a process that reads or writes a stream ten times as long as another one."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import processes
from ..comparison import measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Outcome
from ..workload import Workload

LENGTHENING = 10
_AGAINST = "the stream a tenth as long"
WRITE = Row("memory-write", "peak memory, text → Jelly", _AGAINST, "bytes", 1.1, at_most=True)
READ = Row("memory-read", "peak memory, Jelly → batches", _AGAINST, "bytes", 1.1, at_most=True)
READ_STATEMENTS = Row("memory-read-statements", "peak memory, Jelly → statements", _AGAINST, "bytes", 1.1, at_most=True)


def _peak(*arguments: str) -> Outcome:
    try:
        return processes.run([sys.executable, "-m", "benchmarks.memory_work", *arguments]).peak_bytes
    except Exception as error:
        return error


@for_each_dataset("memory", WRITE, READ, READ_STATEMENTS)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        # The processes that write also make the files for those that read.
        peaks: dict[Row, list[Outcome]] = {WRITE: [], READ: [], READ_STATEMENTS: []}
        for statements in (settings.memory_statements, LENGTHENING * settings.memory_statements):
            path = str(Path(folder, f"{statements}.jelly"))
            peaks[WRITE].append(_peak("write", workload.name, str(statements), path))
            peaks[READ].append(_peak("read", path))
            peaks[READ_STATEMENTS].append(_peak("read-statements", path))
    for row, (short, long) in peaks.items():
        if row.name in wanted:
            yield measurement(row, workload.name, long, short)
