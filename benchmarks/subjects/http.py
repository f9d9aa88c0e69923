"""Many small data sets in one response: read over HTTP on loopback, against the same file read from disk."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..comparison import against_peer
from ..datasets import GROUPED
from ..registry import Measurement, Row, Settings, once
from ..timing import Contestant
from .grouped import grouped_file, grouped_statements

# Half the rate is twice the time.
FRAMES = Row("http-to-frames", "small data sets over HTTP → frames", "from disk", "statements/s", 0.5)
BATCHES = Row("http-to-batches", "small data sets over HTTP → batches", "from disk", "statements/s", 0.5)


@contextmanager
def _served(path: Path) -> Iterator[str]:
    """Serve a file in another process, and yield its address."""
    command = [sys.executable, "-m", "jellyframe", "http", "serve", str(path), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().removeprefix("listening on ").strip() + f"/{path.name}"
        finally:
            process.terminate()


def _to_frames(source: str) -> int:
    from jellyframe import open_reader

    with open_reader(source) as reader:
        return sum(len(frame.statements()) for frame in reader.frames())


def _to_batches(source: str) -> int:
    from jellyframe import open_reader

    with open_reader(source) as reader:
        return sum(map(len, reader.batches()))


@once("http", FRAMES, BATCHES)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    path = grouped_file(settings)
    statements = grouped_statements(settings)
    work: dict[Row, Callable[[str], int]] = {FRAMES: _to_frames, BATCHES: _to_batches}
    with _served(path) as address:
        for row, read in work.items():
            disk = Contestant(lambda read=read: read(str(path)), statements)
            ours = {row: Contestant(lambda read=read: read(address), statements)}
            if row.name in wanted:
                yield from against_peer(settings, GROUPED.name, disk, ours, wanted)
