"""One check for every way in which this package reads Jelly: commands, functions, Spark.

A way is a function that reads a file and returns its statements, or raises `RefusedError`. To put another way through
the whole suite, write a test that takes the fixture `from_jelly_entry` and calls `assert_conforms` with it and the way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jellyframe.formats import ntriples
from support.conformance_manifest import Entry
from support.plain import PlainStatement, assert_same_frames, plain


class RefusedError(Exception):
    """The file was refused, in the way in which this way of reading refuses bad files."""


Way = Callable[[Path], list[PlainStatement]]


def assert_conforms(entry: Entry, way: Way) -> None:
    """A positive case gives the expected statements in their order; a negative one is refused.

    Ways may give triples as quads of the default graph, as N-Quads does.
    """
    (source,) = entry.action
    if not entry.positive:
        with pytest.raises(RefusedError):
            way(source)
        return
    expected = [as_quad(statement) for path in entry.result for statement in read_text(path)]
    assert_same_frames([[as_quad(statement) for statement in way(source)]], [expected], entry.name)


def as_quad(statement: PlainStatement) -> PlainStatement:
    return statement if len(statement) == 4 else (*statement, ("default",))


def read_text(path: Path) -> list[PlainStatement]:
    """The statements of an N-Triples or N-Quads file, in order. Both may be generalized."""
    batches = ntriples.read(path, quads=path.suffix == ".nq", generalized=True)
    return [statement for batch in batches for statement in plain(batch.statements())]
