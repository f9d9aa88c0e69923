"""A hundred statements into one bare frame and back, a call each, as for a message queue."""

from collections.abc import Callable, Iterator
from typing import Any

from .. import peers
from ..comparison import against_peer
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant
from ..workload import Workload

STATEMENTS_PER_MESSAGE = 100
ROUND_TRIP = Row(
    "message-round-trip", "100 statements → a bare frame → statements", "pyjelly, the same", "messages/s", 3
)


def _messages(statements: list[Any]) -> list[list[Any]]:
    starts = range(0, len(statements), STATEMENTS_PER_MESSAGE)
    return [statements[start : start + STATEMENTS_PER_MESSAGE] for start in starts]


def _round_trips(messages: list[list[Any]], there_and_back: Callable[[list[Any]], list[Any]]) -> int:
    return sum(len(there_and_back(message)) == len(message) for message in messages)


@for_each_dataset("message", ROUND_TRIP)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    needed = min(settings.messages * STATEMENTS_PER_MESSAGE, workload.peer_count)
    peer_messages = _messages(workload.peer_statements[:needed])
    bare = peers.options(quads=workload.dataset.quads, rdf_star=workload.dataset.rdf_star, delimited=False)

    def ours(messages: list[list[Any]]) -> int:
        from jellyframe import dumps, loads

        return _round_trips(messages, lambda message: loads(dumps(message, workload.options)))

    def peer() -> int:
        return _round_trips(peer_messages, lambda message: peers.load_message(peers.dump_message(message, bare)))

    yield from against_peer(
        settings,
        workload.name,
        Contestant(peer, len(peer_messages)),
        {ROUND_TRIP: Contestant(ours, len(peer_messages), prepare=lambda: _messages(workload.our_statements(needed)))},
        wanted,
    )
