"""Sizes of files: ours against pyjelly's with the same options and frames, and the size that restart points add."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import peers
from ..comparison import measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Outcome
from ..workload import Workload

PLAIN = Row("size", "size, same options, no restart points", "pyjelly's file", "bytes", 1.00, at_most=True)
RESTARTS = Row(
    "size-restart-points", "size with default restart points", "the same without", "bytes", 1.02, at_most=True
)


def _size(workload: Workload, **writer_options: Any) -> float:
    from jellyframe import open_writer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.jelly")
        with open_writer(path, workload.options, frame_rows=peers.FRAME_ROWS, **writer_options) as writer:
            for batch in workload.batches:
                writer.write_batch(batch)
        return path.stat().st_size


def _outcome(measure_size: Callable[[], float]) -> Outcome:
    try:
        return measure_size()
    except Exception as error:
        return error


@for_each_dataset("size", PLAIN, RESTARTS)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    without = _outcome(lambda: _size(workload, restart_every=None))
    if PLAIN.name in wanted:
        yield measurement(PLAIN, workload.name, without, float(len(workload.jelly)))
    if RESTARTS.name in wanted:
        yield measurement(RESTARTS, workload.name, _outcome(lambda: _size(workload)), without)
