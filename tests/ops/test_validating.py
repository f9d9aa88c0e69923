"""`jellyframe.validate` and `jellyframe.compare`, as a Python program uses them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, BlankNode, JellyError, LimitError, Limits, StreamOptions, TextError, Triple
from jellyframe.ops.progress import Progress

S, P = IRI("http://a/s"), IRI("http://a/p")
STATEMENTS = [Triple(S, P, BlankNode("a")), Triple(BlankNode("a"), P, S)]


def stream(statements: list[Triple], options: StreamOptions | None = None) -> bytes:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, options) as writer:
        writer.write(statements)
    return sink.getvalue()


def test_report_of_a_valid_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.jelly"
    path.write_bytes(stream(STATEMENTS))
    seen: list[Progress] = []
    report = jellyframe.validate(path, expected_options=path, compare_to=path, delimited=True, progress=seen.append)
    assert report.is_valid
    assert report.is_complete
    assert (report.frames, report.statements, report.delimited, report.problems) == (1, 2, True, [])
    with jellyframe.open_reader(path) as reader:
        assert report.options == reader.options
    assert seen[-1] == Progress(path.stat().st_size, path.stat().st_size, 2)


def test_report_of_a_bad_stream() -> None:
    report = jellyframe.validate(stream(STATEMENTS)[:-1])
    assert not report.is_valid
    assert not report.is_complete
    (problem,) = report.problems
    assert (problem.check, problem.frame) == ("stream", 0)
    report = jellyframe.validate(io.BytesIO(stream(STATEMENTS)), expected_options=StreamOptions.small())
    assert {problem.check for problem in report.problems} == {"options"}


def test_errors_that_are_not_about_the_stream_are_raised(tmp_path: Path) -> None:
    with pytest.raises(LimitError):
        jellyframe.validate(stream(STATEMENTS), limits=Limits(max_name_table_size=10))
    bad = tmp_path / "bad.nt"
    bad.write_text("no statement\n")
    for ordered in (False, True):
        with pytest.raises(TextError):
            jellyframe.validate(stream(STATEMENTS), compare_to=bad, compare_ordered=ordered)
    with pytest.raises(FileNotFoundError):
        jellyframe.validate(tmp_path / "nothing.jelly")


def test_compare_two_sources(tmp_path: Path) -> None:
    text = tmp_path / "b.nt"
    text.write_text("_:x <http://a/p> <http://a/s> .\n<http://a/s> <http://a/p> _:x .\n")
    data = stream(STATEMENTS)
    assert jellyframe.compare(data, text).is_equal
    assert jellyframe.compare(text, data).is_equal
    assert jellyframe.compare(data, text.read_bytes(), second_format="nt").is_equal
    different = jellyframe.compare(data, text, ordered=True)
    assert not different.is_equal
    assert different.differences[0] == f"statement 1 differs from {text}"
    assert "in the first input: " in different.differences[1]
    with pytest.raises(JellyError):
        jellyframe.compare(data, b"rubbish")
