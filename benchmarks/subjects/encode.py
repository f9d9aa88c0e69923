"""Batches, Arrow tables and statement objects into Jelly, against pyjelly's serializer.

Both sides write to memory with the same stream options and the same number of rows per frame.
"""

import io
from collections.abc import Callable, Iterator
from typing import Any

from jellyframe.options import LayoutName

from .. import peers
from ..comparison import against_peer
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant
from ..workload import Workload

_PEER = "pyjelly generic serialize"
_UNIT = "statements/s"
BATCHES = Row("batches-to-jelly", "batches → Jelly", _PEER, _UNIT, 40)
STRINGS = Row("arrow-ntriples-to-jelly", "Arrow table, ntriples → Jelly", _PEER, _UNIT, 12)
STRUCT = Row("arrow-struct-to-jelly", "Arrow table, struct → Jelly", _PEER, _UNIT, 12)
STATEMENTS = Row("statements-to-jelly", "statement objects → Jelly", _PEER, _UNIT, 5)


def _written(options: Any, write: Callable[[Any], None]) -> bool:
    from jellyframe import open_writer

    sink = io.BytesIO()
    with open_writer(sink, options, frame_rows=peers.FRAME_ROWS) as writer:
        write(writer)
    return sink.tell() > 0


@for_each_dataset("encode", BATCHES, STRINGS, STRUCT, STATEMENTS)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    def serialize() -> int:
        written = peers.serialize(workload.peer_statements, workload.peer_options)
        return workload.peer_count if written else 0

    def contestant(prepare: Callable[[], Any], write: Callable[[Any, Any], None]) -> Contestant:
        def run(prepared: Any) -> int:
            written = _written(workload.options, lambda writer: write(writer, prepared))
            return workload.statements_count if written else 0

        return Contestant(run, workload.statements_count, prepare=prepare)

    def table(layout: LayoutName) -> Any:
        from jellyframe import read_table

        return read_table(workload.jelly, layout=layout)

    def write_batches(writer: Any, batches: list[Any]) -> None:
        for batch in batches:
            writer.write_batch(batch)

    # Made before the contest: the peer's first run would otherwise include it.
    _ = workload.peer_statements
    peer = Contestant(serialize, workload.peer_count)
    ours = {
        BATCHES: contestant(lambda: workload.batches, write_batches),
        STRINGS: contestant(lambda: table("ntriples"), lambda writer, data: writer.write_table(data)),
        STRUCT: contestant(lambda: table("struct"), lambda writer, data: writer.write_table(data)),
        STATEMENTS: contestant(workload.our_statements, lambda writer, data: writer.write(data)),
    }
    yield from against_peer(settings, workload.name, peer, ours, wanted)
