"""From RDF to Jelly: each test of the suite's `to_jelly` manifest."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import jellyframe
from jellyframe.batch import Batch
from jellyframe.formats import ntriples
from support import oracle
from support.conformance_manifest import Entry
from support.plain import PlainStatement, assert_same_frames, plain
from support.pyjelly_bridge import pyjelly_frames


def stream_options(path: Path) -> bytes:
    """The RdfStreamOptions message of a file that holds nothing but the options row."""
    (frame,) = oracle.parse_frames(path.read_bytes())
    (row,) = frame.rows
    return bytes(row.options.SerializeToString())


def write(options: bytes, inputs: list[list[Batch]], *, as_batches: bool) -> bytes:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, jellyframe.StreamOptions.from_bytes(options)) as writer:
        for batches in inputs:
            for batch in batches:
                if as_batches:
                    writer.write_batch(batch)
                else:
                    writer.write(batch.statements())
            writer.end_frame()
    return sink.getvalue()


def read(data: bytes | Path) -> list[list[PlainStatement]]:
    with jellyframe.open_reader(data) as reader:
        return [plain(frame.statements()) for frame in reader.frames()]


@pytest.mark.parametrize("as_batches", [False, True], ids=["statements", "batches"])
def test_to_jelly(to_jelly_entry: Entry, as_batches: bool) -> None:
    options_file, *inputs = to_jelly_entry.action
    requested = stream_options(options_file)
    batches = [list(ntriples.read(path, quads=path.suffix == ".nq", generalized=True)) for path in inputs]
    if not to_jelly_entry.positive:
        with pytest.raises(jellyframe.JellyError):
            write(requested, batches, as_batches=as_batches)
        return

    data = write(requested, batches, as_batches=as_batches)
    written = oracle.parse_frames(data)[0].rows[0].options
    assert written.SerializeToString() == requested

    expected = [[statement for batch in frame for statement in plain(batch.statements())] for frame in batches]
    (result,) = to_jelly_entry.result
    assert_same_frames(read(result), expected, "the suite's own result")
    assert_same_frames(read(data), expected, "read back by us")
    assert_same_frames([frame.statements for frame in oracle.decode(data)], expected, "read back by the oracle")
    assert_same_frames(pyjelly_frames(data), expected, "read back by pyjelly")
