"""Streams to damage, ways to damage them, and the outcome of reading them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any

from jellyframe.errors import JellyError
from jellyframe.storage.types import Source
from support import wire
from support.conformance_manifest import suite_folder
from support.plain import plain
from support.wire import bnode, graph_literal, iri, literal, quoted

# Small tables, many kinds of rows, ids both given and left out: few bytes, of which most mean something.
_ALL = wire.options(physical=2, generalized=1, star=1, names=8, prefixes=2, datatypes=2, version=2, name="s")
_HAND_MADE = [
    wire.delimited(
        wire.frame(
            wire.options(names=8, prefixes=2, datatypes=2, logical=1),
            wire.prefix("http://example.org/"),
            wire.name("a"),
            wire.name("b"),
            wire.datatype("urn:d"),
            wire.triple(iri(1, 1), iri(), literal("x", datatype=1)),
            wire.triple(None, iri(0, 1), literal("é", lang="fr")),
        ),
        wire.frame(wire.name("c", 8), wire.triple(bnode("b0"), None, iri(0, 8)), metadata={"k": b"\x01\x02"}),
        b"",
        wire.frame(wire.options(names=8, prefixes=2, datatypes=2, logical=1), wire.triple()),
    ),
    wire.delimited(
        wire.frame(
            _ALL,
            wire.name("a"),
            wire.name("b"),
            wire.namespace("n", iri(0, 1)),
            wire.quad(quoted(iri(0, 1), bnode("p"), literal("l")), literal("p"), iri(), graph_literal("g", "en")),
            wire.quad(None, quoted(iri(0, 1), iri(), quoted(bnode("x"), bnode("y"), bnode("z"))), None, bnode("g")),
            wire.quad(bnode("s"), None, None, wire.DEFAULT_GRAPH),
        ),
    ),
    wire.frame(
        wire.options(physical=3, names=8),
        wire.name("a"),
        wire.graph_start(iri()),
        wire.triple(bnode("a"), iri(0, 1), literal("long enough " * 12)),
        wire.triple(bnode("b")),
        wire.GRAPH_END,
        wire.graph_start(wire.DEFAULT_GRAPH),
        wire.GRAPH_END,
        wire.graph_start(bnode("g")),
        wire.triple(),
        wire.GRAPH_END,
    ),
]


def corpus() -> list[bytes]:
    """Valid and invalid streams: hand-made ones, and those of the conformance suite if it is there."""
    folder = suite_folder()
    files = sorted(folder.glob("from_jelly/*/*/in.jelly")) if folder else []
    return _HAND_MADE + [data for data in (file.read_bytes() for file in files) if len(data) < 1500]


_INTERESTING = [
    b"\x00",
    b"\x01",
    b"\x0a",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\x80\x01",
    b"\xff\xff\xff\xff\x0f",
    b"\xff" * 10,
]


def mutate(data: bytes, rng: Random) -> bytes:
    """The stream with one to four things wrong with it."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if not out:
            break
        position = rng.randrange(len(out))
        length = min(rng.choice([1, 1, 2, 4, 20]), len(out) - position)
        chosen = slice(position, position + length)
        match rng.randrange(9):
            case 0:
                out[position] ^= 1 << rng.randrange(8)
            case 1:
                out[position] = rng.randrange(256)
            case 2:
                del out[position:]
            case 3:
                del out[chosen]
            case 4:
                out[position:position] = rng.choice(_INTERESTING)
            case 5:
                out[position : position + 1] = rng.choice(_INTERESTING)
            case 6:
                out[position:position] = out[chosen]
            case 7:
                other = rng.randrange(len(out))
                out[position], out[other] = out[other], out[position]
            case _:
                # Lengths and ids are small numbers: one more or less is often a plausible one.
                out[position] = (out[position] + rng.choice([-1, 1])) % 256
    return bytes(out)


@dataclass(frozen=True)
class Outcome:
    """All that a reader returned, and the error that ended it, with its position."""

    frames: tuple[Any, ...]
    error: str | None = None
    message: str | None = None
    place: tuple[int | None, ...] = ()


def outcome(package: ModuleType, data: Source, **arguments: Any) -> Outcome:
    """Read all of it. Anything but a JellyError escapes, and fails the test."""
    frames: list[Any] = []
    try:
        with package.open_reader(data, **arguments) as reader:
            for frame in reader.frames():
                frames.append((plain(frame.statements()), list(frame.namespaces), dict(frame.metadata)))
    except JellyError as error:
        place = error.frame, error.row, error.offset
        return Outcome(tuple(frames), type(error).__name__, str(error), place)
    return Outcome(tuple(frames))


def batch_contents(package: ModuleType, data: bytes, **arguments: Any) -> Iterator[tuple[Any, ...]]:
    """The columns and the term tables of all batches; ends at the first error, which is the last item."""
    try:
        with package.open_reader(data, **arguments) as reader:
            for batch in reader.batches():
                terms = batch.terms
                buffers = [batch.s, batch.p, batch.o, batch.g or b"", *terms.buffers(), *terms.values.buffers()]
                names = terms.datatypes.strings(), terms.languages.strings()
                frames = list(batch.frame_ends), batch.first_frame, batch.last_frame_open, batch.metadata
                yield *map(bytes, buffers), names, frames, list(map(tuple, batch.namespaces))
    except JellyError as error:
        yield type(error).__name__, str(error)
