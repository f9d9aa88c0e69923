"""Many small data sets, one per frame, into frames of statements, against pyjelly's grouped parser."""

from collections.abc import Iterator
from pathlib import Path

from .. import peers, plain_text
from ..comparison import against_peer
from ..datasets import GROUPED
from ..registry import Measurement, Row, Settings, once
from ..timing import Contestant
from ..workload import data_directory, kept_file

FRAMES = Row("grouped-to-frames", "small data sets, one a frame → frames", "pyjelly grouped parse", "statements/s", 6)


def grouped_file(settings: Settings) -> Path:
    """Return a Jelly file with one frame per data set."""
    path = data_directory(settings.directory) / f"{GROUPED.name}-{settings.groups}.jelly"
    options = peers.options(quads=True, rdf_star=False, grouped=True)
    kept_file(
        path,
        lambda: [peers.serialize_frames(map(plain_text.statements, GROUPED.groups(settings.groups)), options)],
    )
    return path


def grouped_statements(settings: Settings) -> int:
    """Return the number of statements of all data sets together."""
    return sum(text.count(b"\n") for text in GROUPED.groups(settings.groups))


@once("grouped", FRAMES)
def measure(settings: Settings, wanted: frozenset[str]) -> Iterator[Measurement]:
    jelly = grouped_file(settings).read_bytes()
    statements = grouped_statements(settings)

    def to_frames() -> int:
        from jellyframe import open_reader

        with open_reader(jelly) as reader:
            return sum(len(frame.statements()) for frame in reader.frames())

    peer = Contestant(lambda: sum(len(frame) for frame in peers.parse_frames(jelly)), statements)
    ours = {FRAMES: Contestant(to_frames, statements)}
    yield from against_peer(settings, GROUPED.name, peer, ours, wanted)
