"""Every format into Jelly and out again, and every format by way of Jelly into every other, keeps the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import canonical, run

TRIPLES = b"""\
<http://example.org/a> <http://example.org/p> "plain" .
<http://example.org/a> <http://example.org/p> "with\\ttab and \\"quotes\\""@en-GB .
<http://example.org/a> <http://example.org/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/a> <http://example.org/q> _:x .
_:x <http://example.org/r> _:y .
_:y <http://example.org/r> <http://example.org/\xc3\xa9t\xc3\xa9> .
_:y <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Thing> .
"""
QUADS = (
    TRIPLES
    + b"""\
<http://example.org/a> <http://example.org/p> "in a graph" <http://example.org/g> .
_:x <http://example.org/p> "in another" _:graph .
"""
)
TRIPLE_FORMATS = ("nt", "ttl", "rdfxml")
QUAD_FORMATS = ("nq", "trig", "jsonld")


def jelly_of(text: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "data.jelly"
    run("rdf", "to-jelly", "--in-format", "nq", "--to", path, data=text)
    return path


@pytest.mark.parametrize("name", [*TRIPLE_FORMATS, *QUAD_FORMATS])
def test_triples_survive_every_format(name: str, tmp_path: Path) -> None:
    jelly = jelly_of(TRIPLES, tmp_path)
    text = run("rdf", "from-jelly", jelly, "--out-format", name).out
    again = run("rdf", "to-jelly", "--in-format", name, data=text).out
    assert canonical(run("rdf", "from-jelly", data=again).out) == canonical(TRIPLES)


@pytest.mark.parametrize("name", QUAD_FORMATS)
def test_quads_survive_every_format_with_graphs(name: str, tmp_path: Path) -> None:
    jelly = jelly_of(QUADS, tmp_path)
    text = run("rdf", "from-jelly", jelly, "--out-format", name).out
    again = run("rdf", "to-jelly", "--in-format", name, data=text).out
    assert canonical(run("rdf", "from-jelly", data=again).out) == canonical(QUADS)


def test_jelly_text_gives_the_same_bytes_again(tmp_path: Path) -> None:
    options = ("--rows-per-frame", "4", "--opt.stream-name", "näme")
    jelly = run("rdf", "to-jelly", "--in-format", "nq", *options, data=QUADS).out
    text = run("rdf", "from-jelly", "--out-format", "jelly-text", data=jelly).out
    assert text.startswith(b"# Frame 0\nrows {\n  options {\n")
    assert 'stream_name: "näme"'.encode() in text
    path = tmp_path / "rows.jelly.txt"
    path.write_bytes(text)
    assert run("rdf", "to-jelly", path).out == jelly


def test_names_of_files_tell_formats_and_compression(tmp_path: Path) -> None:
    jelly = jelly_of(TRIPLES, tmp_path)
    for name, magic in (("data.nt.gz", b"\x1f\x8b"), ("data.ttl.zst", b"\x28\xb5\x2f\xfd"), ("data.rdf", b"<?xml")):
        path = tmp_path / name
        run("rdf", "from-jelly", jelly, "--to", path)
        assert path.read_bytes().startswith(magic)
        run("rdf", "to-jelly", path, "--to", tmp_path / "again.jelly.gz")
        assert (tmp_path / "again.jelly.gz").read_bytes().startswith(b"\x1f\x8b")
        assert canonical(run("rdf", "from-jelly", tmp_path / "again.jelly.gz").out) == canonical(TRIPLES)


def test_quoted_triples_and_generalized_statements(tmp_path: Path) -> None:
    text = (
        b'<< <http://a/s> <http://a/p> _:b >> <http://a/p> << <http://a/s> <http://a/p> "o" >> .\n'
        b'"literal" _:p <http://a/o> .\n'
    )
    jelly = run("rdf", "to-jelly", "--in-format", "nt", data=text).out
    assert run("rdf", "from-jelly", "--out-format", "nt", data=jelly).out == text


def test_triple_terms_survive_turtle() -> None:
    turtle = b"<http://a/s> <http://a/p> <<( <http://a/s> <http://a/p> 5 )>> .\n"
    jelly = run("rdf", "to-jelly", "--in-format", "ttl", data=turtle).out
    assert b"<< <http://a/s>" in run("rdf", "from-jelly", data=jelly).out
    assert run("rdf", "from-jelly", "--out-format", "ttl", data=jelly).out == turtle
