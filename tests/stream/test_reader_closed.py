"""The views of a closed reader raise, at every position."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jellyframe
from jellyframe import PhysicalType, StreamOptions, UsageError
from support.spark_data import quads

STATEMENTS = quads(20_000)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("closed") / "a.jelly"
    with jellyframe.open_writer(path, StreamOptions(PhysicalType.QUADS), frame_rows=100) as writer:
        writer.declare_namespace("ex", "http://example.org/")
        writer.write(STATEMENTS)
    return path


VIEWS: dict[str, Callable[[jellyframe.JellyReader], Iterator[Any]]] = {
    "batches": lambda reader: reader.batches(),
    "frames": lambda reader: reader.frames(),
    "statements": lambda reader: reader.statements(),
    "iteration": iter,
    "record_batches": lambda reader: iter(reader.record_batches()),
}


@pytest.mark.parametrize("source", [str, lambda path: path.read_bytes(), lambda path: io.BytesIO(path.read_bytes())])
@pytest.mark.parametrize("view", VIEWS)
def test_views_raise_from_their_middle_on(path: Path, view: str, source: Callable[[Path], Any]) -> None:
    reader = jellyframe.open_reader(source(path), batch_rows=1000)
    items = VIEWS[view](reader)
    next(items)
    reader.close()
    with pytest.raises(UsageError, match="the reader is closed"):
        for _ in items:
            pass


@pytest.mark.parametrize("view", VIEWS)
def test_views_raise_from_their_start(path: Path, view: str) -> None:
    with jellyframe.open_reader(path) as reader:
        items = VIEWS[view](reader)
    with pytest.raises(UsageError, match="the reader is closed"):
        next(items)
    with pytest.raises(UsageError, match="the reader is closed"):
        next(VIEWS[view](reader))


def test_options_and_namespaces_stay_available(path: Path) -> None:
    with jellyframe.open_reader(path) as reader:
        options = reader.options
        assert sum(len(batch) for batch in reader.batches()) == len(STATEMENTS)
    assert reader.options == options
    assert reader.namespaces == {"ex": "http://example.org/"}
    assert reader.source_name == str(path)
    reader.close()
    with jellyframe.open_reader(path) as unread:
        pass
    with pytest.raises(UsageError, match="the reader is closed"):
        _ = unread.options


def test_an_error_is_raised_again(path: Path) -> None:
    """Asked again after bad input, a view raises again: it does not look like the end."""
    damaged = path.read_bytes()[:-5]
    with jellyframe.open_reader(damaged) as reader:
        for _ in range(2):
            with pytest.raises(jellyframe.ParseError, match="ends inside a frame"):
                list(reader.batches())
