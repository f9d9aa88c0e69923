"""Every format into Jelly and out again, and every format by way of Jelly into every other, keeps the data."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from pyjelly.integrations.generic.parse import parse_jelly_flat

from jellyframe import IRI, BlankNode, Triple, open_reader, open_writer
from support.command import canonical, error_of, run

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


@pytest.mark.parametrize("name", ["ttl", "trig"])
def test_quoted_triples_survive_turtle(name: str) -> None:
    text = b'<< <http://a/s> <http://a/p> _:b >> <http://a/p> << <http://a/s> <http://a/p> "o"@EN-gb >> .\n'
    jelly = run("rdf", "to-jelly", "--in-format", "nt", data=text).out
    turtle = run("rdf", "from-jelly", "--out-format", name, data=jelly).out
    again = run("rdf", "to-jelly", "--in-format", name, data=turtle).out
    assert run("rdf", "from-jelly", "--out-format", "nt", data=again).out == text


@pytest.mark.parametrize("name", ["nt", "ttl", "trig"])
@pytest.mark.parametrize("object_", ["<<( <http://a/s> <http://a/p> 'o' )>>", '"x"@en--ltr'])
def test_terms_of_rdf_1_2_are_refused(name: str, object_: str) -> None:
    data = f"<http://a/s> <http://a/p> {object_} .\n".encode()
    error = error_of("rdf", "to-jelly", "--in-format", name, data=data)
    assert "standard input: line 1" in error
    assert "RDF 1.2, and Jelly has no place for it yet" in error


@pytest.mark.parametrize("name", [*TRIPLE_FORMATS, *QUAD_FORMATS])
def test_language_tags_keep_their_case(name: str) -> None:
    text = b'<http://a/s> <http://a/p> "x"@EN-gb .\n'
    jelly = run("rdf", "to-jelly", "--in-format", "nt", data=text).out
    written = run("rdf", "from-jelly", "--out-format", name, data=jelly).out
    assert b"EN-gb" in written
    if name not in ("rdfxml", "jsonld"):
        # These are read by pyoxigraph, which returns tags in lower case.
        again = run("rdf", "to-jelly", "--in-format", name, data=written).out
        assert run("rdf", "from-jelly", data=again).out == text


@pytest.mark.parametrize("name", [*TRIPLE_FORMATS, *QUAD_FORMATS])
def test_any_label_of_a_blank_node_reads_back(name: str) -> None:
    labels = ["0", "a b", "hex-30", "é", "", "x:y", "-", "1.2."]
    sink = io.BytesIO()
    with open_writer(sink) as writer:
        for number, label in enumerate(labels):
            writer.write([Triple(BlankNode(label), IRI(f"http://a/p{number}"), BlankNode(label))])
    text = run("rdf", "from-jelly", "--out-format", name, data=sink.getvalue()).out
    again = run("rdf", "to-jelly", "--in-format", name, data=text).out
    statements = {}
    with open_reader(again) as reader:
        for s, p, o in (statement[:3] for statement in reader.statements()):
            assert s == o
            statements[p] = s
    assert len(set(statements.values())) == len(labels)


def test_long_literals_pass_through_turtle() -> None:
    text = b'<http://a/s> <http://a/p> "' + b"x" * (17 << 20) + b'" .\n'
    jelly = run("rdf", "to-jelly", "--in-format", "nt", data=text).out
    for name in ("ttl", "trig", "rdfxml"):
        written = run("rdf", "from-jelly", "--out-format", name, data=jelly).out
        again = run("rdf", "to-jelly", "--in-format", name, data=written).out
        assert run("rdf", "from-jelly", data=again).out == text
    written = run("rdf", "from-jelly", "--out-format", "jsonld", data=jelly).out
    error = error_of("rdf", "to-jelly", "--in-format", "jsonld", data=written)
    assert "longer than 16 MiB" in error
    assert len(error) < 400


@pytest.mark.parametrize("name", ["csv", "parquet", "jelly-text", "jelly"])
def test_tables_and_streams_are_input_too(name: str, tmp_path: Path) -> None:
    jelly = jelly_of(QUADS, tmp_path)
    path = tmp_path / "table"
    run("rdf", "from-jelly", jelly, "--out-format", name, "--to", path)
    text = run("rdf", "from-jelly", path, "--in-format", name, "--out-format", "nq").out
    assert text == run("rdf", "from-jelly", jelly).out


def test_text_to_text(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(b"@prefix ex: <http://a/> . ex:s a ex:T ; ex:p 5 .")
    out = run("rdf", "from-jelly", "--in-format", "ttl", path, "--out-format", "trig").out
    assert out == (
        b'@prefix ex: <http://a/> .\nex:s a ex:T ;\n\tex:p "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    )


def test_several_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for number, place in enumerate(("a.jelly", "in/b.jelly", "in/deep/c.jelly")):
        run(
            "rdf", "to-jelly", "--in-format=nt", "--to", tmp_path / place,
            data=b"<http://a/s> <http://a/p> \"%d\" .\n" % number,
        )  # fmt: skip
    (tmp_path / "in" / "README").write_bytes(b"not read")
    out = run("rdf", "from-jelly", tmp_path / "a.jelly", tmp_path / "in").out
    assert [line.split(b'"')[1] for line in out.splitlines()] == [b"0", b"1", b"2"]
    out = run("rdf", "from-jelly", tmp_path / "in" / "*.jelly", "--out-format", "jsonld").out
    assert json.loads(out)[0]["http://a/p"] == [{"@value": "1"}]
    (tmp_path / "empty").mkdir()
    assert f"{tmp_path / 'empty'}: " in error_of("rdf", "from-jelly", tmp_path / "empty")


@pytest.mark.parametrize("index", [False, True])
def test_outputs_of_all_formats_of_triples_concatenate(index: bool, tmp_path: Path) -> None:
    text = b'<http://a/s> <http://a/p> "1" .\n'
    files = []
    for name in ("nt", "ttl", "nq"):
        path = tmp_path / f"{name}.jelly"
        run("rdf", "to-jelly", f"--in-format={name}", f"--index={index}", "--to", path, data=text)
        files.append(path.read_bytes())
    data = b"".join(files)
    assert run("rdf", "from-jelly", data=data).out == text * 3
    assert run("rdf", "validate", data=data).code == 0
    triples = list(parse_jelly_flat(io.BytesIO(data)))
    assert len([row for row in triples if isinstance(row, tuple)]) == 3
