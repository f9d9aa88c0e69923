"""`jellyframe.transcode`, as a Python program uses it."""

from __future__ import annotations

import io
import multiprocessing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import jellyframe
from jellyframe import IRI, JellyError, Limits, Literal, LogicalType, OptionsError, PhysicalType, StreamOptions, Triple
from jellyframe.ops import joining, regroup, rewriting, workers
from jellyframe.ops.progress import Progress
from support import hostile

S, P = IRI("http://a/s"), IRI("http://a/p")


def stream(count: int, first: int = 0, options: StreamOptions | None = None, **settings: int) -> bytes:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, options, **settings) as writer:  # type: ignore[arg-type]
        writer.write(Triple(S, P, Literal(str(number))) for number in range(first, first + count))
    return sink.getvalue()


def values(data: bytes | Path) -> list[int]:
    with jellyframe.open_reader(data) as reader:
        return [int(statement.o.lex) for statement in reader.statements()]  # type: ignore[union-attr]


def test_paths_bytes_and_files_become_one_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.jelly"
    path.write_bytes(stream(10))
    output = io.BytesIO()
    done = jellyframe.transcode([path, stream(10, 10), io.BytesIO(stream(10, 20))], output, frame_rows=7)
    assert done.statements == 30
    assert done.options.logical_type is LogicalType.FLAT_TRIPLES
    assert values(output.getvalue()) == list(range(30))


def test_changes_and_whole_options() -> None:
    output = io.BytesIO()
    changes = {"stream_name": "x", "physical_type": PhysicalType.QUADS}
    done = jellyframe.transcode(stream(3), output, changes=changes)  # type: ignore[arg-type]
    assert (done.options.stream_name, done.options.logical_type) == ("x", LogicalType.FLAT_QUADS)
    wanted = StreamOptions.small(logical_type=LogicalType.FLAT_TRIPLES)
    done = jellyframe.transcode(output.getvalue(), io.BytesIO(), options=wanted)
    assert done.options.max_name_table_size == 128


def test_a_kept_frame_that_becomes_too_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """IRIs of one long prefix, which our writer splits at another place, are all written whole."""
    monkeypatch.setattr(regroup, "_KEPT_FRAME_BYTES", 50_000)
    small = hostile.repeated_prefix(size=2000, rows=300)
    with jellyframe.open_reader(small) as reader:
        statements = list(reader.statements())
        assert len(list(jellyframe.open_reader(small).frames())) == 1
    output = io.BytesIO()
    jellyframe.transcode(small, output, changes={"max_name_table_size": 8})
    with jellyframe.open_reader(output.getvalue(), limits=Limits(max_frame_bytes=60_000)) as reader:
        frames = list(reader.frames())
    assert len(frames) > 5
    assert [statement for frame in frames for statement in frame] == statements
    jellyframe.transcode(small, whole := io.BytesIO(), changes={"max_name_table_size": 8}, frames="input")
    assert len(list(jellyframe.open_reader(whole.getvalue()).frames())) == 1


def test_file_that_does_not_change_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
    source.write_bytes(stream(10))
    done = jellyframe.transcode(source, target)
    assert (done.statements, done.is_copy) == (10, True)
    assert target.read_bytes() == source.read_bytes()


def test_progress_counts_all_inputs(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jelly", tmp_path / "b.jelly"]
    for number, path in enumerate(paths):
        path.write_bytes(stream(20_000, 20_000 * number))
    total = sum(path.stat().st_size for path in paths)
    seen: list[Progress] = []
    jellyframe.transcode(paths, tmp_path / "out.jelly", progress=seen.append)
    assert seen[-1] == Progress(total, total, 40_000)
    assert seen == sorted(seen)


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(OptionsError, match="no inputs"):
        jellyframe.transcode([], io.BytesIO())
    with pytest.raises(OptionsError, match="exclude each other"):
        jellyframe.transcode(stream(1), io.BytesIO(), frames="keep", frame_rows=3)
    with pytest.raises(OptionsError, match="must be one of keep, rows, input"):
        jellyframe.transcode(stream(1), io.BytesIO(), frames="other")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a source is a path"):
        jellyframe.transcode(3, io.BytesIO())  # type: ignore[arg-type]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pieces_by_processes_started_in_any_way(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
    source.write_bytes(stream(3000, restart_every=2000))
    monkeypatch.setattr(workers, "process_context", lambda: multiprocessing.get_context(method))
    monkeypatch.setattr(joining, "process_context", workers.process_context)
    original = rewriting.rewrite_in_pieces
    outcomes = []

    def in_small_pieces(*arguments: Any) -> object:
        outcomes.append(partial(original, piece_bytes=5000)(*arguments))
        return outcomes[-1]

    monkeypatch.setattr(rewriting, "rewrite_in_pieces", in_small_pieces)
    done = jellyframe.transcode(source, target, changes={"stream_name": "x"}, jobs=2)
    assert outcomes[0] is not None
    assert (done.statements, done.options.stream_name) == (3000, "x")
    assert values(target) == list(range(3000))
    # An error in the data ends the workers, and leaves nothing.
    source.write_bytes(source.read_bytes()[:-1])
    with pytest.raises(JellyError, match="ends inside a frame"):
        jellyframe.transcode(source, target, changes={"stream_name": "x"}, jobs=2)
    assert outcomes[1] is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jelly", "b.jelly"]
