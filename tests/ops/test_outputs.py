"""Folders that tasks write together: every format, every mode of saving, and the summary."""

from __future__ import annotations

from collections import Counter

import pytest

import jellyframe
from jellyframe import IRI, OptionsError, Quad, Triple, scan
from jellyframe.errors import StorageError
from jellyframe.ops.inputs import InputOptions, Inputs
from jellyframe.ops.jelly_files import JellyFileOptions
from jellyframe.ops.outputs import Output
from jellyframe.ops.tasks import TaskResult, summarize, write_pieces
from jellyframe.storage.commit import APPEND, ERROR, OVERWRITE

TRIPLES = [Triple(IRI(f"http://a/s{i}"), IRI("http://a/p"), IRI(f"http://a/o{i % 9}")) for i in range(2000)]


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    with jellyframe.open_writer(folder / "a.jelly", restart_every=2000, frame_rows=50, index=True) as writer:
        writer.write(TRIPLES)
    (folder / "b.nt").write_text("<http://a/s> <http://a/p> <http://a/o> .\n<http://a/s> bad\n")
    return folder


def copy(source, path, count=3, **options):
    """Write what a folder holds, in several tasks."""
    inputs = Inputs.find(source, options=InputOptions(mode="PERMISSIVE"))
    output = Output.of(path, has_graph=inputs.has_graphs(), **options)
    results = []
    for number, pieces in enumerate(inputs.pieces_for(count)):
        prefix = output.target.file_prefix(number, 0)
        # Results travel as text.
        results.append(TaskResult.from_json(write_pieces(pieces, inputs, output, prefix).as_json()))
    output.publish([file for result in results for file, _size in result.files])
    return summarize("copy", [inputs], output, results, 1.0)


def objects(path):
    return Counter(scan(path, "ntriples", columns=["o"]).read_all()["o"].to_pylist())


EXPECTED = Counter([*(str(statement[2]) for statement in TRIPLES), "<http://a/o>"])


@pytest.mark.parametrize(
    ("name", "suffix"), [("jelly", ".jelly"), ("nt", ".nt"), ("nquads", ".nq"), ("parquet", ".parquet")]
)
def test_each_format_is_written(source, tmp_path, name, suffix):
    summary = copy(source, tmp_path / "out", out_format=name)
    assert objects(tmp_path / "out") == EXPECTED
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {suffix}
    assert (summary.files, summary.statements, summary.bad_records) == (3, 2001, 1)
    assert len(summary.problems) == 1
    assert summary.bytes == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())


def test_modes_of_saving(source, tmp_path):
    copy(source, tmp_path / "out", save=ERROR)
    with pytest.raises(StorageError, match="there is something already"):
        copy(source, tmp_path / "out", save=ERROR)
    copy(source, tmp_path / "out", save=APPEND)
    assert objects(tmp_path / "out").total() == 2 * EXPECTED.total()
    copy(source, tmp_path / "out", save=OVERWRITE, out_format="nt", options=JellyFileOptions(compression="zstd"))
    assert objects(tmp_path / "out") == EXPECTED
    assert all(path.name.endswith(".nt.zst") for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_no_more_tasks_than_were_asked_for(source, count):
    inputs = Inputs.find(source / "a.jelly")
    groups = inputs.pieces_for(count)
    assert 0 < len(groups) <= count
    pieces = [piece for group in groups for piece in group]
    assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)
    assert sum(piece.size for piece in pieces) == inputs.total_bytes


def test_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(OptionsError, match="not one of"):
        Output.of(tmp_path, has_graph=True, out_format="csv")
    with pytest.raises(OptionsError, match="must be one of error, overwrite, append"):
        Output.of(tmp_path, has_graph=True, save="replace")  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="group_by is for DataFrames"):
        Output.of(tmp_path, JellyFileOptions(group_by="g"), has_graph=True)
    with pytest.raises(OptionsError, match="stream_name: options of Jelly streams, and the output is N-Quads"):
        Output.of(tmp_path, JellyFileOptions(stream={"stream_name": "x"}), has_graph=True, out_format="nq")
    quad = jellyframe.Batch.from_statements([Quad(*TRIPLES[0], IRI("http://a/g"))])
    with pytest.raises(jellyframe.JellyError, match="graph"):
        Output.of(tmp_path, has_graph=True, out_format="nt").fitting(quad)
