"""Each option of `rdf from-jelly`, by the real command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Unpack

import pyarrow.parquet
import pytest

from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple, open_writer
from jellyframe.stream.writer import WriterSettings
from support.command import canonical, error_of, run

S, P, G = IRI("http://a/s"), IRI("http://a/p"), IRI("http://a/g")
QUADS = StreamOptions(
    physical_type=PhysicalType.QUADS, logical_type=LogicalType.DATASETS, generalized_statements=True, rdf_star=True
)
GRAPHS = StreamOptions(logical_type=LogicalType.GRAPHS, generalized_statements=True, rdf_star=True)


def stream(
    frames: list[list[Triple | Quad]], options: StreamOptions | None = None, **settings: Unpack[WriterSettings]
) -> bytes:
    sink = io.BytesIO()
    with open_writer(sink, options, **settings) as writer:
        for frame in frames:
            writer.write_frame(frame)
    return sink.getvalue()


def numbered(frames: int) -> bytes:
    """A stream of graphs, each of one triple with its number."""
    return stream([[Triple(S, P, Literal(str(i)))] for i in range(frames)], GRAPHS)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [("3", "3"), ("..3", "012"), ("3..", "34567"), ("1..5", "1234"), ("4..=6", "456"), ("..", "01234567"), ("9", "")],
)
def test_take_frames(frames: str, expected: str) -> None:
    out = run("rdf", "from-jelly", "--take-frames", frames, data=numbered(8)).out
    assert [line.split(b'"')[1].decode() for line in out.splitlines()] == list(expected)


def test_take_frames_of_rows() -> None:
    text = run("rdf", "from-jelly", "--take-frames=1..=2", "--out-format=jelly-text", data=numbered(4)).out
    assert [line for line in text.splitlines() if line.startswith(b"#")] == [b"# Frame 1", b"# Frame 2"]
    assert "range of frames" in error_of("rdf", "from-jelly", "--take-frames=x..3", data=numbered(1))


def test_documents_of_frames_combine() -> None:
    data = numbered(3)
    each = run("rdf", "from-jelly", "--out-format", "jsonld", data=data).out
    assert len([json.loads(line) for line in each.splitlines()]) == 3
    some = run("rdf", "from-jelly", "--out-format", "jsonld", "--take-frames=1..", data=data).out
    assert len(some.splitlines()) == 2
    all_in_one = run("rdf", "from-jelly", "--out-format", "jsonld", "--combine", data=data).out
    assert len(json.loads(all_in_one)) == 1
    flat = stream([[Triple(S, P, Literal("1"))], [Triple(S, P, Literal("2"))]])
    assert len(json.loads(run("rdf", "from-jelly", "--out-format=jsonld", data=flat).out)) == 1
    assert len(run("rdf", "from-jelly", "--out-format=jsonld", "--combine=false", data=flat).out.splitlines()) == 2


@pytest.mark.parametrize("name", ["nt", "ttl", "rdfxml"])
def test_graphs_merge_only_when_asked(name: str) -> None:
    data = stream([[Quad(S, P, S, G), Quad(S, P, P, G)]], QUADS)
    error = error_of("rdf", "from-jelly", "--out-format", name, data=data)
    assert "standard input: statement 1 is in a named graph" in error
    assert "--merge-graphs" in error
    text = run("rdf", "from-jelly", "--out-format", name, "--merge-graphs", data=data).out
    again = run("rdf", "from-jelly", data=run("rdf", "to-jelly", "--in-format", name, data=text).out).out
    assert canonical(again) == canonical(
        b"<http://a/s> <http://a/p> <http://a/s>, <http://a/p> .".replace(b",", b" .\n<http://a/s> <http://a/p>")
    )


def test_merge_graphs_in_formats_that_have_them() -> None:
    data = stream([[Quad(S, P, S, G)]], QUADS)
    assert run("rdf", "from-jelly", "--merge-graphs", data=data).out == b"<http://a/s> <http://a/p> <http://a/s> .\n"


def test_namespaces_become_prefixes() -> None:
    turtle = b"@prefix ex: <http://a/> .\nex:s ex:p ex:s .\n"
    jelly = run("rdf", "to-jelly", "--in-format=ttl", "--enable-namespace-declarations", data=turtle).out
    assert run("rdf", "from-jelly", "--out-format=ttl", data=jelly).out == turtle


@pytest.mark.parametrize(
    ("statement", "formats", "complaint"),
    [
        (Triple(Triple(S, P, S), P, S), ["jsonld", "rdfxml"], "subject"),
        (Triple(S, P, Triple(S, P, S)), ["jsonld"], "a quoted triple"),
        (Triple(S, P, Triple(Literal("s"), P, S)), ["ttl", "trig"], "a quoted triple"),
        (Triple(S, BlankNode("b"), S), ["trig", "jsonld"], "a predicate that is no IRI"),
        (Triple(Literal("s"), P, S), ["ttl"], "subject"),
        (Triple(S, P, IRI("http://a/b c")), ["ttl"], "an IRI with such a character"),
        (Triple(S, P, IRI("relative")), ["ttl", "trig", "rdfxml", "jsonld"], "an IRI that is not absolute"),
        (Triple(S, P, Literal("x", "relative")), ["ttl", "rdfxml", "jsonld"], "an IRI that is not absolute"),
        (Triple(S, P, Literal("x", language="a_b")), ["ttl", "rdfxml", "jsonld"], "a language tag that is not valid"),
        (Triple(S, IRI("http://a/1"), S), ["rdfxml"], "such a predicate"),
        (Triple(S, P, Literal("\x01")), ["rdfxml"], "a control character"),
    ],
)
def test_statements_that_a_format_cannot_hold_are_refused(
    statement: Triple, formats: list[str], complaint: str, tmp_path: Path
) -> None:
    data = stream([[Triple(S, P, S), statement]], GRAPHS)
    for name in formats:
        path = tmp_path / "out"
        error = error_of("rdf", "from-jelly", "--out-format", name, "--to", path, data=data)
        assert "statement 2: " in error
        assert "cannot hold" in error
        assert complaint in error
        assert list(tmp_path.iterdir()) == []


def test_validate_terms() -> None:
    data = stream([[Triple(S, P, IRI("relative"))]], GRAPHS)
    run("rdf", "from-jelly", data=data)
    error = error_of("rdf", "from-jelly", "--validate-terms", data=data)
    assert "standard input: statement 1: the IRI <relative> is not valid: it is not absolute" in error


def test_concatenated_streams() -> None:
    one = stream([[Triple(S, P, Literal("1"))]], StreamOptions(stream_name="one"))
    two = stream([[Triple(S, P, Literal("2"))]], StreamOptions(stream_name="two"))
    assert "concatenated" in error_of("rdf", "from-jelly", data=one + two)
    assert run("rdf", "from-jelly", "--concatenated", data=one + two).out.count(b"\n") == 2


def test_parquet_and_csv_are_written(tmp_path: Path) -> None:
    data = stream([[Quad(S, P, Literal("x", language="en"), G)]], QUADS)
    run("rdf", "from-jelly", "--to", tmp_path / "a.parquet", data=data)
    (row,) = pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert row["o"] == {"kind": "literal", "value": "x", "datatype": None, "lang": "en"}
    run("rdf", "from-jelly", "--out-format=parquet", "--layout=flat", "--to", tmp_path / "b", data=data)
    (row,) = pyarrow.parquet.read_table(tmp_path / "b").to_pylist()
    assert (row["s"], row["o_lang"], row["g"]) == ("http://a/s", "en", "http://a/g")
    text = run("rdf", "from-jelly", "--out-format=csv", data=data).out.decode()
    assert list(csv.DictReader(io.StringIO(text))) == [
        {"s": "<http://a/s>", "p": "<http://a/p>", "o": '"x"@en', "g": "<http://a/g>"}
    ]
    error_of("rdf", "from-jelly", "--out-format=csv", "--layout=struct", data=data)
    merged = run("rdf", "from-jelly", "--out-format=csv", "--merge-graphs", data=data).out
    assert merged.startswith(b'"s","p","o"\n')


def test_compress_and_other_names(tmp_path: Path) -> None:
    path = tmp_path / "out.nt.gz"
    run("rdf", "from-jelly", "--output-format=ntriples", "--compress=none", "--output-file", path, data=numbered(1))
    assert path.read_bytes() == b'<http://a/s> <http://a/p> "0" .\n'
    assert run("rdf", "from-jelly", "--compress=zstd", data=numbered(1)).out.startswith(b"\x28\xb5\x2f\xfd")


def test_errors_name_the_file_and_the_frame(tmp_path: Path) -> None:
    path = tmp_path / "cut.jelly"
    path.write_bytes(numbered(3)[:-2])
    assert f"{path}: frame 2" in error_of("rdf", "from-jelly", path)
    path.write_bytes(b"")
    error_of("rdf", "from-jelly", path)
