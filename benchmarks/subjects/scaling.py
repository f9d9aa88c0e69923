"""Check whether the peer's rate depends on the length of the stream. It has no bar: it supports the other rows.

pyjelly is timed on the beginning of each data set. If it were faster or slower on longer streams, rates would not
be comparable, so its rate on more of the data is measured against its rate on that beginning.
"""

from collections.abc import Iterator

from .. import peers
from ..comparison import measurement
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant, count, rates
from ..workload import Workload

PARSE = Row("peer-scaling-parse", "pyjelly parse, all of the data", "pyjelly parse, the part", "statements/s", None)
SERIALIZE = Row(
    "peer-scaling-serialize", "pyjelly serialize, the part", "pyjelly, a quarter of it", "statements/s", None
)


@for_each_dataset("scaling", PARSE, SERIALIZE)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    def parse(data: bytes, statements: int) -> Contestant:
        return Contestant(lambda: count(peers.parse(data)), statements)

    def serialize(statements: int) -> Contestant:
        chosen = workload.peer_statements[:statements]
        return Contestant(lambda: len(chosen) if peers.serialize(chosen, workload.peer_options) else 0, statements)

    part = workload.peer_count
    if PARSE.name in wanted and part < workload.statements_count:
        contest = {
            "all": parse(workload.jelly, workload.statements_count),
            "part": parse(workload.peer_jelly, part),
        }
        outcomes = rates(contest, 1, collect_garbage=settings.collect_garbage)
        yield measurement(PARSE, workload.name, outcomes["all"], outcomes["part"])
    if SERIALIZE.name in wanted:
        contest = {"part": serialize(part), "quarter": serialize(part // 4)}
        outcomes = rates(contest, settings.repeats, collect_garbage=settings.collect_garbage)
        yield measurement(SERIALIZE, workload.name, outcomes["part"], outcomes["quarter"])
