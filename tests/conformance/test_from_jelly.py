"""From Jelly to RDF: each test of the suite's `from_jelly` manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

import jellyframe
from support.conformance_checking import read_text
from support.conformance_manifest import Entry
from support.plain import PlainStatement, assert_same_frames, plain


def read_frames(source: Path) -> list[list[PlainStatement]]:
    with jellyframe.open_reader(source) as reader:
        return [plain(frame.statements()) for frame in reader.frames()]


def test_from_jelly(from_jelly_entry: Entry) -> None:
    (source,) = from_jelly_entry.action
    if not from_jelly_entry.positive:
        with pytest.raises(jellyframe.JellyError):
            read_frames(source)
        return
    expected = [read_text(path) for path in from_jelly_entry.result]
    assert_same_frames(read_frames(source), expected, from_jelly_entry.name)


def test_views_agree(from_jelly_entry: Entry) -> None:
    """Frames, batches and statements show the same stream."""
    (source,) = from_jelly_entry.action
    if not from_jelly_entry.positive:
        for view in ("statements", "batches", "frames"):
            with pytest.raises(jellyframe.JellyError), jellyframe.open_reader(source.read_bytes()) as reader:
                list(getattr(reader, view)())
        return
    with jellyframe.open_reader(source) as reader:
        by_frame = [statement for frame in reader.frames() for statement in frame.statements()]
    with jellyframe.open_reader(source, batch_rows=2) as reader:
        by_batch = [statement for batch in reader.batches() for statement in batch.statements()]
    with source.open("rb") as file, jellyframe.open_reader(file) as reader:
        one_by_one = list(reader.statements())
    assert by_frame == by_batch == one_by_one
