"""The draft dialect, against pyjelly on the same statements in the released format, as it cannot read the draft."""

import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import peers, processes
from ..comparison import against_peer, measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant, Outcome, count
from ..workload import Workload
from .memory import LENGTHENING

_UNIT = "statements/s"
_AGAINST = "the stream a tenth as long"
READ = Row("draft-to-batches", "draft Jelly → batches", "pyjelly generic parse, released", _UNIT, 2)
READ_STATEMENTS = Row(
    "draft-to-statements", "draft Jelly → statement objects", "pyjelly generic parse, released", _UNIT, 2
)
WRITE = Row("batches-to-draft", "batches → draft Jelly", "pyjelly generic serialize, released", _UNIT, 2)
WRITE_STATEMENTS = Row(
    "statements-to-draft", "statement objects → draft Jelly", "pyjelly generic serialize, released", _UNIT, 2
)
READ_MEMORY = Row("memory-read-draft", "peak memory, draft Jelly → batches", _AGAINST, "bytes", 1.1, at_most=True)
WRITE_MEMORY = Row("memory-write-draft", "peak memory, text → draft Jelly", _AGAINST, "bytes", 1.1, at_most=True)


def _written(workload: Workload, batches: list[Any] | None = None, statements: list[Any] | None = None) -> bytes:
    from jellyframe import open_writer

    sink = io.BytesIO()
    with open_writer(sink, workload.options, frame_rows=peers.FRAME_ROWS, dialect="draft") as writer:
        for batch in batches or ():
            writer.write_batch(batch)
        writer.write(statements or ())
    return sink.getvalue()


def _to_batches(jelly: bytes) -> int:
    from jellyframe import open_reader

    with open_reader(jelly, dialect="draft") as reader:
        return sum(len(batch) for batch in reader.batches())


def _to_statements(jelly: bytes) -> int:
    from jellyframe import open_reader

    with open_reader(jelly, dialect="draft") as reader:
        return count(reader.statements())


def _peak(*arguments: str) -> Outcome:
    try:
        return processes.run([sys.executable, "-m", "benchmarks.memory_work", *arguments, "draft"]).peak_bytes
    except Exception as error:
        return error


@for_each_dataset("draft", READ, READ_STATEMENTS, WRITE, WRITE_STATEMENTS)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    def serialize() -> int:
        return workload.peer_count if peers.serialize(workload.peer_statements, workload.peer_options) else 0

    batches, statements = workload.batches, workload.statements_count
    draft = _written(workload, batches)
    some = workload.our_statements(workload.peer_count)
    reader = Contestant(lambda: count(peers.parse(workload.peer_jelly)), workload.peer_count)
    ours = {
        READ: Contestant(lambda: _to_batches(draft), statements),
        READ_STATEMENTS: Contestant(lambda: _to_statements(draft), statements),
    }
    yield from against_peer(settings, workload.name, reader, ours, wanted)
    _ = workload.peer_statements
    writer = Contestant(serialize, workload.peer_count)
    ours = {
        WRITE: Contestant(lambda: statements if _written(workload, batches) else 0, statements),
        WRITE_STATEMENTS: Contestant(lambda: len(some) if _written(workload, statements=some) else 0, len(some)),
    }
    yield from against_peer(settings, workload.name, writer, ours, wanted)


@for_each_dataset("draft-memory", WRITE_MEMORY, READ_MEMORY)
def measure_memory(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    peaks: dict[Row, list[Outcome]] = {WRITE_MEMORY: [], READ_MEMORY: []}
    with tempfile.TemporaryDirectory() as folder:
        for statements in (settings.memory_statements, LENGTHENING * settings.memory_statements):
            path = str(Path(folder, f"{statements}.jelly"))
            peaks[WRITE_MEMORY].append(_peak("write", workload.name, str(statements), path))
            peaks[READ_MEMORY].append(_peak("read", path))
    for row, (short, long) in peaks.items():
        if row.name in wanted:
            yield measurement(row, workload.name, long, short)
