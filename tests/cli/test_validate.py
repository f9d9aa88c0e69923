"""Each option of `rdf validate`, by the real command."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

import pytest

from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.storage.compression import zstd_module
from jellyframe.stream.writer import WriterSettings
from support import wire
from support.command import error_of, run
from support.strategies import FrameCase, StreamCase
from support.writing import written

S, P, G = IRI("http://a/s"), IRI("http://a/p"), IRI("http://a/g")
A, B = BlankNode("a"), BlankNode("b")
GRAPHS = StreamOptions(physical_type=PhysicalType.QUADS, logical_type=LogicalType.DATASETS)
TURTLE = b"@prefix a: <http://a/> . [] a:p [ a:p 'x'@EN ] . a:s a:p a:s ."


def stream(
    frames: Iterable[Iterable[Triple | Quad]], options: StreamOptions | None = None, **settings: Unpack[WriterSettings]
) -> bytes:
    """A stream with a frame for each of the lists."""
    return written(StreamCase(options or StreamOptions(), [FrameCase(list(frame)) for frame in frames]), **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of TURTLE in one frame, and quads in four."""
    folder = tmp_path_factory.mktemp("validate")
    statements = [Triple(S, P, S), Triple(A, P, B), Triple(B, P, Literal("x", language="en"))]
    (folder / "one.jelly").write_bytes(stream([statements]))
    (folder / "same.ttl").write_bytes(TURTLE)
    (folder / "other.ttl").write_bytes(TURTLE.replace(b"'x'", b"'y'"))
    (folder / "same.nt").write_text("".join(f"{line.to_line()}\n" for line in statements).replace("_:a", "_:zz"))
    (folder / "swapped.nt").write_text("".join(f"{line.to_line()}\n" for line in reversed(statements)))
    frames = [[Quad(S, P, Literal(str(i)), G)] for i in range(4)]
    (folder / "four.jelly").write_bytes(stream(frames, GRAPHS))
    (folder / "middle.nq").write_text("".join(f"{frame[0].to_line()}\n" for frame in frames[1:3]))
    return folder


def answer(*options: str | Path, code: int, data: bytes = b"") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("rdf", "validate", "--json", *options, data=data, code=code).out)
    assert found["valid"] == (code == 0)
    return found


def test_a_valid_stream(folder: Path) -> None:
    outcome = run("rdf", "validate", "one.jelly", cwd=folder)
    assert outcome.out == b"one.jelly: valid (1 frame, 3 statements)\n"
    assert outcome.err == ""
    data = (folder / "four.jelly").read_bytes()
    found = answer(data=gzip.compress(data), code=0)
    assert (found["frame_count"], found["statement_count"], found["delimited"]) == (4, 4, True)
    assert (found["input"], found["read_to_the_end"], found["problems"]) == ("standard input", True, [])


def test_errors_say_the_problem_and_its_position(folder: Path) -> None:
    good = wire.stream(wire.options(generalized=1), wire.triple(wire.bnode("a"), wire.bnode("b"), wire.literal("c")))
    data = good + wire.stream(wire.triple(wire.iri(0, 3), None, None))
    (problem,) = answer(data=data, code=1)["problems"]
    assert (problem["check"], problem["frame"], problem["row"]) == ("stream", 1, 0)
    assert problem["offset"] > len(good)
    assert "name id 3 was never set" in problem["message"]
    text = run("rdf", "validate", data=data, code=1).out.decode()
    assert text.startswith(
        "standard input: invalid (1 frame, 1 statement read before the error)\n  frame 1, row 0, byte "
    )
    assert run("rdf", "validate", "--quiet", data=data, code=1).out == b""
    (problem,) = answer(data=wire.stream(wire.options(version=9)), code=1)["problems"]
    assert problem["check"] == "options"
    (problem,) = answer(data=b"", code=1)["problems"]
    assert "empty" in problem["message"] or "no options row" in problem["message"]


def test_other_errors_exit_with_2(folder: Path) -> None:
    assert "No such file" in error_of("rdf", "validate", folder / "nothing.jelly")
    assert "No such file" in error_of("rdf", "validate", folder / "one.jelly", "--compare-to-rdf-file", "no.nt")
    large = wire.stream(wire.options(names=10**6))
    assert "above the limit" in error_of("rdf", "validate", data=large)


def test_comparison_without_order(folder: Path) -> None:
    for name in ("same.ttl", "same.nt", "swapped.nt", "one.jelly"):
        run("rdf", "validate", "one.jelly", "--compare-to-rdf-file", name, cwd=folder)
    found = answer(folder / "one.jelly", "--compare-to-rdf-file", folder / "other.ttl", code=1)
    messages = [problem["message"] for problem in found["problems"]]
    assert "not isomorphic" in messages[0]
    assert "2 in the stream, 2 in" in messages[0]
    assert any(line.startswith("extra in the stream: _:") and '"x"@en' in line for line in messages)
    assert any("other.ttl: _:" in line and '"y"@en' in line for line in messages)
    assert {problem["check"] for problem in found["problems"]} == {"comparison"}


def test_comparison_in_order(folder: Path) -> None:
    run("rdf", "validate", "one.jelly", "--compare-to-rdf-file=same.nt", "--compare-ordered", cwd=folder)
    compared = ("--compare-ordered", "--compare-to-rdf-file")
    found = answer(folder / "one.jelly", *compared, folder / "swapped.nt", code=1)
    assert found["problems"][0]["message"].startswith("statement 1 differs from")
    short = folder / "short.nt"
    short.write_text("<http://a/s> <http://a/p> <http://a/s> .\n")
    (problem,) = answer(folder / "one.jelly", *compared, short, code=1)["problems"]
    assert "has 1 statements, and the stream goes on" in problem["message"]
    short.write_text((folder / "same.nt").read_text() + "<http://a/s> <http://a/p> <http://a/g> .\n")
    (problem,) = answer(folder / "one.jelly", *compared, short, code=1)["problems"]
    assert "the stream has 3 statements" in problem["message"]
    short.write_text("no statement\n")
    assert "line 1" in error_of("rdf", "validate", folder / "one.jelly", *compared, short)


def test_the_format_of_the_compared_file_can_be_set(folder: Path) -> None:
    odd = folder / "data.odd"
    odd.write_bytes(TURTLE)
    assert "--compare-to-format" in error_of("rdf", "validate", folder / "one.jelly", "--compare-to-rdf-file", odd)
    run("rdf", "validate", folder / "one.jelly", "--compare-to-rdf-file", odd, "--compare-to-format", "turtle")


def test_some_frames_are_compared_and_all_are_checked(folder: Path) -> None:
    compared = (folder / "four.jelly", "--compare-to-rdf-file", folder / "middle.nq")
    for indices in ("1..3", "1..=2"):
        assert answer(*compared, f"--compare-frame-indices={indices}", code=0)["statement_count"] == 4
    answer(*compared, "--compare-frame-indices=..3", code=1)
    assert "range" in error_of("rdf", "validate", *compared, "--compare-frame-indices=a")
    broken = (folder / "four.jelly").read_bytes() + wire.stream(wire.quad())[:-1] + b"\xff"
    found = answer("-", *compared[1:], "--compare-frame-indices=1..3", data=broken, code=1)
    assert [problem["check"] for problem in found["problems"]] == ["stream"]


def test_options_have_to_be_the_same(folder: Path) -> None:
    run("rdf", "validate", "one.jelly", "--options-file", "one.jelly", cwd=folder)
    found = answer(folder / "four.jelly", "--options-file", folder / "one.jelly", code=1)
    messages = [problem["message"] for problem in found["problems"]]
    assert any(line.startswith("the option physical_type is 'QUADS', and 'TRIPLES' in") for line in messages)
    assert "No such file" in error_of("rdf", "validate", folder / "four.jelly", "--options-file", "none.jelly")


def test_delimiting_is_checked(folder: Path) -> None:
    bare = stream([[Triple(S, P, S)]], delimited=False)
    assert answer("--delimited=false", data=bare, code=0)["delimited"] is False
    run("rdf", "validate", "--delimited", "either", data=bare)
    (problem,) = answer("--delimited=true", data=bare, code=1)["problems"]
    assert (problem["check"], problem["message"]) == (
        "delimiting",
        "the input is one bare frame, not frames with their lengths in front",
    )
    answer("--delimited=false", folder / "one.jelly", code=1)
    run("rdf", "validate", "--delimited=true", folder / "one.jelly")


def test_terms_are_checked_when_asked(folder: Path) -> None:
    bad = [[Triple(S, P, S)], [Triple(S, P, IRI("not absolute"))]]
    bad += [[Triple(S, P, IRI(f"also bad {i}"))] for i in range(30)]
    data = stream(bad, StreamOptions(logical_type=LogicalType.GRAPHS))
    run("rdf", "validate", data=data)
    found = answer("--validate-terms", data=data, code=1)
    first = found["problems"][0]
    assert (first["check"], first["frame"]) == ("terms", 1)
    assert "statement 2: the IRI <not absolute> is not valid" in first["message"]
    assert (found["bad_term_count"], len(found["problems"])) == (31, 20)
    assert "11 more terms" in run("rdf", "validate", "--validate-terms", data=data, code=1).out.decode()


def test_concatenated_streams(folder: Path) -> None:
    data = (folder / "one.jelly").read_bytes() + (folder / "four.jelly").read_bytes()
    assert answer("--concatenated", data=data, code=0)["statement_count"] == 7
    (problem,) = answer(data=data, code=1)["problems"]
    assert (problem["check"], problem["frame"]) == ("options", 1)


COMPRESSIONS = {"gzip": gzip.compress, "zstd": zstd_module().compress}


@pytest.mark.parametrize("outer", COMPRESSIONS)
@pytest.mark.parametrize("inner", COMPRESSIONS)
def test_data_that_is_compressed_twice(inner: str, outer: str, folder: Path) -> None:
    """Each command reports it, instead of decompressing it twice or reading garbage."""
    once = COMPRESSIONS[inner]((folder / "one.jelly").read_bytes())
    run("rdf", "validate", data=once)
    data = COMPRESSIONS[outer](once)
    expected = f"the input is compressed twice: there is {inner} data in the {outer} data"
    (problem,) = answer(data=data, code=1)["problems"]
    assert problem["message"].startswith(expected)
    for command in (["from-jelly"], ["transcode"], ["inspect"], ["inspect", "--size"], ["to-jelly", "--in-format=nt"]):
        assert expected in error_of("rdf", *command, data=data)


def test_many_empty_frames_count(folder: Path) -> None:
    data = (folder / "four.jelly").read_bytes() + b"\0" * 100_000
    assert answer(data=data, code=0)["frame_count"] == 100_004


def test_long_statements_are_not_quoted_whole(folder: Path) -> None:
    long = folder / "long.nt"
    long.write_text(f'<http://a/s> <http://a/p> "{"x" * 100_000}" .\n')
    for order in ("true", "false"):
        arguments = ("--compare-to-rdf-file", long, f"--compare-ordered={order}")
        out = run("rdf", "validate", folder / "one.jelly", *arguments, code=1).out
        assert len(out) < 3000
        assert "…".encode() in out
