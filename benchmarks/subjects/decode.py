"""Jelly into batches, Arrow tables, statement objects and N-Triples text, against pyjelly's parser."""

from collections.abc import Iterator

from jellyframe.options import LayoutName
from jellyframe.storage.types import Buffer

from .. import peers
from ..comparison import against_peer
from ..registry import Measurement, Row, Settings, for_each_dataset
from ..timing import Contestant, count
from ..workload import Workload

_PEER = "pyjelly generic parse"
_UNIT = "statements/s"
TO_BATCHES = Row("jelly-to-batches", "Jelly → batches", _PEER, _UNIT, 40)
TO_STRUCT = Row("jelly-to-arrow-struct", "Jelly → Arrow table, struct", _PEER, _UNIT, 20)
TO_STRINGS = Row("jelly-to-arrow-ntriples", "Jelly → Arrow table, ntriples", _PEER, _UNIT, 20)
TO_STATEMENTS = Row("jelly-to-statements", "Jelly → statement objects", _PEER, _UNIT, 8)
TO_TEXT = Row("jelly-to-ntriples", "Jelly → N-Triples text", _PEER, _UNIT, 15)


class _LineCounter:
    """A sink that keeps nothing, like a pipe to another program."""

    def __init__(self) -> None:
        self.lines = 0

    def write(self, data: Buffer) -> int:
        self.lines += bytes(data).count(b"\n")
        return len(data)


def _to_batches(jelly: bytes) -> int:
    from jellyframe import open_reader

    with open_reader(jelly) as reader:
        return sum(len(batch) for batch in reader.batches())


def _to_table(jelly: bytes, layout: LayoutName) -> int:
    from jellyframe import read_table

    return read_table(jelly, layout=layout).num_rows


def _to_statements(jelly: bytes) -> int:
    from jellyframe import open_reader

    with open_reader(jelly) as reader:
        return count(reader.statements())


def _to_text(jelly: bytes) -> int:
    from jellyframe import open_reader
    from jellyframe.formats import ntriples

    sink = _LineCounter()
    with open_reader(jelly) as reader:
        ntriples.write(reader.batches(), sink)
    return sink.lines


@for_each_dataset("decode", TO_BATCHES, TO_STRUCT, TO_STRINGS, TO_STATEMENTS, TO_TEXT)
def measure(settings: Settings, wanted: frozenset[str], workload: Workload) -> Iterator[Measurement]:
    jelly, statements = workload.jelly, workload.statements_count
    peer = Contestant(lambda: count(peers.parse(workload.peer_jelly)), workload.peer_count)
    ours = {
        TO_BATCHES: Contestant(lambda: _to_batches(jelly), statements),
        TO_STRUCT: Contestant(lambda: _to_table(jelly, "struct"), statements),
        TO_STRINGS: Contestant(lambda: _to_table(jelly, "ntriples"), statements),
        TO_STATEMENTS: Contestant(lambda: _to_statements(jelly), statements),
        TO_TEXT: Contestant(lambda: _to_text(jelly), statements),
    }
    yield from against_peer(settings, workload.name, peer, ours, wanted)
