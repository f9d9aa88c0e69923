"""Arrow columns in memory that is kept for the next ones, against the same columns from Arrow's own allocator."""

from collections.abc import Iterator

from jellyframe import read_table
from jellyframe.arrow import memory

from ..comparison import against_peer
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant
from ..workload import Workload

KEPT = Row("arrow-memory-kept", "Jelly → Arrow table, memory kept", "Arrow's allocator", "statements/s", 1.0)


@for_each_dataset("column-memory", KEPT)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    jelly, statements = workload.jelly, workload.statements_count
    before = memory.shared

    def reading_with(pool: memory.ColumnMemory) -> Contestant:
        def read() -> int:
            memory.shared = pool
            return read_table(jelly, layout="struct").num_rows

        return Contestant(read, statements)

    nothing_kept = reading_with(memory.ColumnMemory(0, 0))
    try:
        ours = {KEPT: reading_with(memory.ColumnMemory())}
        yield from against_peer(settings, workload.name, nothing_kept, ours, wanted)
    finally:
        memory.shared = before
