"""Small Jelly streams that expand to very much text: terms that are stored once and repeated everywhere."""

from __future__ import annotations

from collections.abc import Callable

from support import wire
from support.wire import Term, iri, literal


def repeated_literal(size: int = 400_000, rows: int = 8192) -> bytes:
    """One long literal, which every row repeats in no bytes at all."""
    first = wire.triple(iri(0, 1), iri(0, 1), literal("x" * size))
    later = [wire.triple(iri(0, 2 - row % 2)) for row in range(rows - 1)]
    return wire.stream(wire.options(names=8), wire.name("x:a"), wire.name("x:b", 2), first, *later)


def repeated_prefix(size: int = 400_000, rows: int = 4000) -> bytes:
    """A long prefix, which every IRI begins with."""
    entries = [wire.name(f"n{number}", 1 + number % 8) for number in range(rows)]
    rows_of = [wire.triple(iri(1, 1 + number % 8), iri(1, 1 + number % 8), iri(1, 1)) for number in range(rows)]
    pairs = [part for pair in zip(entries, rows_of, strict=True) for part in pair]
    return wire.stream(wire.options(names=8, prefixes=8), wire.prefix("x:" + "y" * size), *pairs)


def repeated_datatype(size: int = 400_000, rows: int = 4000) -> bytes:
    """A long datatype, which short literals have."""
    rows_of = [wire.triple(iri(0, 1), iri(0, 1), literal(str(number), datatype=1)) for number in range(rows)]
    return wire.stream(wire.options(names=8, datatypes=8), wire.name("x:a"), wire.datatype("x:" + "y" * size), *rows_of)


def quoted_repeats(size: int = 20_000, depth: int = 40, rows: int = 64) -> bytes:
    """Triples quoted in triples, each of which repeats a long IRI."""

    def nested(levels: int) -> Term:
        term = iri(0, 1)
        for _ in range(levels):
            term = wire.quoted(iri(0, 1), iri(0, 1), term)
        return term

    rows_of = [wire.triple(iri(0, 1), iri(0, 1), nested(depth)) for _ in range(rows)]
    return wire.stream(wire.options(names=8, star=1), wire.name("x:" + "y" * size), *rows_of)


def one_wide_quoted(size: int = 20_000, levels: int = 10) -> bytes:
    """One statement, whose object quotes a long IRI more than a thousand times: a text of tens of megabytes."""

    def tree(level: int) -> Term:
        return iri(0, 1) if level == 0 else wire.quoted(tree(level - 1), iri(0, 1), tree(level - 1))

    row = wire.triple(iri(0, 1), iri(0, 1), tree(levels))
    return wire.stream(wire.options(names=8, star=1), wire.name("x:" + "y" * size), row)


STREAMS: dict[str, Callable[[], bytes]] = {
    "repeated_literal": repeated_literal,
    "repeated_prefix": repeated_prefix,
    "repeated_datatype": repeated_datatype,
    "quoted_repeats": quoted_repeats,
    "one_wide_quoted": one_wide_quoted,
}
