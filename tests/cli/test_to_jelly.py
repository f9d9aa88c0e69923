"""Each option of `rdf to-jelly`, by the real command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jellyframe import LogicalType, PhysicalType, open_reader
from jellyframe.batch import BATCH_BYTES
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.stream.index import read_index
from support.command import canonical, error_of, run

LINES = b"".join(b'<http://a/s%d> <http://a/p> "%d" .\n' % (i, i) for i in range(20))
GRAPH_LINE = b"<http://a/s> <http://a/p> <http://a/o> <http://a/g> .\n"
TURTLE = b"@prefix ex: <http://example.org/> . ex:a ex:b <c> . @prefix foaf: <http://xmlns.com/foaf/0.1/> ."


def converted(*arguments: str | Path, data: bytes = LINES, name: str = "nt") -> Any:
    """A reader of what the command makes of some text."""
    return open_reader(run("rdf", "to-jelly", "--in-format", name, *arguments, data=data).out)


def test_defaults_are_those_of_jelly_cli() -> None:
    reader = converted()
    options = reader.options
    assert (options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size) == (
        4000,
        150,
        32,
    )
    assert (options.physical_type, options.logical_type) == (PhysicalType.TRIPLES, LogicalType.FLAT_TRIPLES)
    assert options.generalized_statements
    assert options.rdf_star
    assert options.version == 1
    assert converted(data=TURTLE, name="ttl").options == options


def test_every_stream_option_is_written() -> None:
    options = converted(
        "--opt.stream-name=hello",
        "--opt.generalized-statements=false",
        "--opt.rdf-star=false",
        "--opt.max-name-table-size=16",
        "--opt.max-prefix-table-size",
        "8",
        "--opt.max-datatype-table-size=4",
        "--opt.physical-type=PHYSICAL_STREAM_TYPE_QUADS",
        "--opt.logical-type=https://w3id.org/stax/ontology#datasetStream",
    ).options
    assert options.stream_name == "hello"
    assert not options.generalized_statements
    assert not options.rdf_star
    assert (options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size) == (16, 8, 4)
    assert (options.physical_type, options.logical_type) == (PhysicalType.QUADS, LogicalType.DATASETS)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--opt.physical-type=X"], "TRIPLES, QUADS, GRAPHS"),
        (["--opt.logical-type=https://w3id.org/stax/ontology#noStream"], "RDF-STaX|IRI of such a type"),
        (["--opt.max-name-table-size=4"], "at least 8"),
        (["--opt.logical-type=flat-quads", "--opt.physical-type=triples"], "does not go with"),
        (["--opt.rdf-star=maybe"], "neither true nor false"),
        (["--rows-per-frame=0"], "at least 1"),
        (["--restart-every=lots"], "8MiB"),
        (["--in-format=docx"], "nt, nq, ttl"),
        (["--preset=huge"], "big"),
    ],
)
def test_bad_values_are_one_line(arguments: list[str], complaint: str) -> None:
    import re

    assert re.search(complaint, error_of("rdf", "to-jelly", "--in-format", "nt", *arguments, data=LINES))


def test_flags_that_forbid_are_obeyed() -> None:
    quoted = b"<< <http://a/s> <http://a/p> <http://a/o> >> <http://a/p> <http://a/o> .\n"
    error_of("rdf", "to-jelly", "--in-format=nt", "--opt.rdf-star=false", data=quoted)
    assert "line 1" in error_of(
        "rdf", "to-jelly", "--in-format=nt", "--opt.generalized-statements=false", data=b'"s" <a:p> <a:o> .\n'
    )


def test_physical_type_follows_the_data() -> None:
    assert converted(data=LINES, name="nq").options.physical_type is PhysicalType.TRIPLES
    assert converted(data=LINES + GRAPH_LINE, name="nq").options.physical_type is PhysicalType.QUADS
    assert converted(data=TURTLE, name="trig").options.physical_type is PhysicalType.TRIPLES
    graphs = converted("--opt.physical-type", "graphs", data=LINES + GRAPH_LINE, name="nq")
    assert graphs.options.physical_type is PhysicalType.GRAPHS
    assert len(list(graphs.statements())) == 21
    error = error_of("rdf", "to-jelly", "--in-format=nq", "--opt.physical-type=triples", data=LINES + GRAPH_LINE)
    assert "statement 21 is in a named graph" in error


def test_preset_and_options_from(tmp_path: Path) -> None:
    model = tmp_path / "model.jelly"
    run(
        "rdf", "to-jelly", "--in-format=nq", "--preset=small", "--opt.stream-name=model", "--to", model, data=GRAPH_LINE
    )
    options = converted("--options-from", model, "--opt.stream-name=mine").options
    assert (options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size) == (
        128,
        16,
        16,
    )
    assert (options.stream_name, options.physical_type) == ("mine", PhysicalType.QUADS)
    assert options.logical_type is LogicalType.FLAT_QUADS


def test_rows_per_frame() -> None:
    frames = [len(frame) for frame in converted("--rows-per-frame", "10").frames()]
    assert len(frames) > 4
    assert sum(frames) == 20
    grouped = converted("--rows-per-frame=6", "--opt.logical-type=GRAPHS").frames()
    assert [len(frame) for frame in grouped] == [6, 6, 6, 2]
    assert [len(frame) for frame in converted("--opt.logical-type=GRAPHS").frames()] == [20]


def test_namespace_declarations() -> None:
    reader = converted("--enable-namespace-declarations", data=TURTLE, name="ttl")
    assert len(list(reader.statements())) == 1
    assert reader.options.version == 2
    assert reader.namespaces == {"ex": "http://example.org/", "foaf": "http://xmlns.com/foaf/0.1/"}
    silent = converted("--enable-namespace-declarations=false", data=TURTLE, name="ttl")
    assert list(silent.statements())
    assert silent.namespaces == {}


def test_delimited_or_not() -> None:
    bare = run("rdf", "to-jelly", "--in-format=nt", "--delimited=false", "--rows-per-frame=5", data=LINES).out
    assert bare[0] == bare[2] == 0x0A
    with open_reader(bare, delimited=False) as reader:
        assert [len(frame) for frame in reader.frames()] == [20]


def test_resolve_iris(tmp_path: Path) -> None:
    path = tmp_path / "data.ttl"
    path.write_bytes(TURTLE)
    resolved = run("rdf", "from-jelly", data=run("rdf", "to-jelly", path).out).out
    assert f"<{tmp_path.as_uri()}/c>".encode() in resolved
    left = run("rdf", "from-jelly", data=run("rdf", "to-jelly", path, "--resolve-iris=false").out).out
    assert b"<c>" in left


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("nt", b"<http://a/%zz> <http://a/p> <http://a/o> .\n", "hexadecimal"),
        ("nt", b'<http://a/s> <http://a/p> "x"@englishlanguage .\n', "BCP 47"),
        ("ttl", b"<http://a/s> <http://a/p> <http://a/%zz> .\n", "zz"),
    ],
)
def test_validate_terms(name: str, text: bytes, complaint: str) -> None:
    run("rdf", "to-jelly", "--in-format", name, data=text)
    assert complaint in error_of("rdf", "to-jelly", "--in-format", name, "--validate-terms", data=text)


def test_restart_points_index_and_compression(tmp_path: Path) -> None:
    many = b"".join(b"<http://a/s%d> <http://a/p%d> <http://a/o> .\n" % (i, i) for i in range(20_000))
    path = tmp_path / "a.jelly"
    run("rdf", "to-jelly", "--in-format=nt", "--restart-every=64k", "--index", "--to", path, data=many)
    with path.open("rb") as file:
        index = read_index(file)
    assert index is not None
    assert index.statements == 20_000
    assert len(index.restarts) > 3
    run("rdf", "to-jelly", "--in-format=nt", "--restart-every=off", "--index=true", "--to", path, data=many)
    with path.open("rb") as file:
        index = read_index(file)
    assert index is not None
    assert len(index.restarts) == 1
    for name, magic in (("gzip", b"\x1f\x8b"), ("zstd", b"\x28\xb5\x2f\xfd")):
        data = run("rdf", "to-jelly", "--in-format=nt", "--compress", name, data=LINES).out
        assert data.startswith(magic)
        assert canonical(run("rdf", "from-jelly", data=data).out) == canonical(LINES)
    assert "index" in error_of("rdf", "to-jelly", "--in-format=nt", "--compress=gzip", "--index", data=LINES)


def test_option_names_of_jelly_cli_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.jelly"
    run("rdf", "to-jelly", "--input-format", "ntriples", "--output-file", path, "-", data=LINES)
    with open_reader(path) as reader:
        assert len(list(reader.statements())) == 20


def test_errors_name_the_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.nt"
    path.write_bytes(LINES + b"<http://a/s> oops .\n")
    assert f"{path}: line 21, column 14:" in error_of("rdf", "to-jelly", path)
    path = tmp_path / "bad.ttl"
    path.write_bytes(b"<a:b> <a:c>\n <a:d> oops .")
    assert f"{path}: line 2, column" in error_of("rdf", "to-jelly", path)
    path = tmp_path / "bad.jelly.txt"
    path.write_bytes(b"# Frame 0\nrows {\n  oops {\n")
    assert "line 3" in error_of("rdf", "to-jelly", path)


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    assert "--in-format" in error_of("rdf", "to-jelly", data=LINES)
    path = tmp_path / "data.bin"
    path.write_bytes(LINES)
    assert f"{path}: the format cannot be recognised by the name" in error_of("rdf", "to-jelly", path)


def test_jelly_text_without_marks_and_with_options() -> None:
    jelly = run("rdf", "to-jelly", "--in-format=nt", "--rows-per-frame=7", data=LINES).out
    text = run("rdf", "from-jelly", "--out-format=jelly-text", data=jelly).out
    bare = b"\n".join(line for line in text.split(b"\n") if not line.startswith(b"#"))
    frames = converted("--rows-per-frame=12", data=bare, name="jelly-text").frames()
    assert sum(len(frame) for frame in frames) == 20
    changed = converted("--opt.max-name-table-size=8", data=text, name="jelly-text")
    assert changed.options.max_name_table_size == 8
    assert len(list(changed.statements())) == 20
    bare_frame = run("rdf", "to-jelly", "--in-format=jelly-text", "--delimited=false", data=text).out
    with open_reader(bare_frame, delimited=False) as reader:
        assert len(list(reader.statements())) == 20


def test_help_states_up_to_which_size_triples_are_detected() -> None:
    assert f"up to {DEFAULT_BATCH_ROWS:,} statements and {BATCH_BYTES >> 20} MiB" in run(
        "rdf", "to-jelly", "--help"
    ).out.decode().replace("\n", " ")
    quads = b"<http://a/s> <http://a/p> <http://a/o> .\n"
    assert converted(data=quads * DEFAULT_BATCH_ROWS, name="nq").options.physical_type is PhysicalType.TRIPLES
    assert converted(data=quads * (DEFAULT_BATCH_ROWS + 1), name="nq").options.physical_type is PhysicalType.QUADS


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("nt", b"<http://a/s> <http://a/p> <relative> .\n", "line 1, column 27"),
        (
            "rdfxml",
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<rdf:li/>\n</rdf:RDF>',
            "line 2",
        ),
        ("rdfxml", b"<a>\n<b>\n</a>", "line 1"),
        ("jsonld", b'{"@id": "http://a/s",\n "@type": 5}', "line 2"),
    ],
)
def test_input_is_read_strictly_and_problems_have_a_line(name: str, text: bytes, place: str) -> None:
    assert f"standard input: {place}" in error_of("rdf", "to-jelly", "--in-format", name, data=text)


def test_lenient_accepts_relative_iris() -> None:
    text = b"<http://a/s> <http://a/p> <relative> .\n"
    jelly = run("rdf", "to-jelly", "--in-format=nt", "--lenient", data=text).out
    assert run("rdf", "from-jelly", data=jelly).out == text
    json_ld = b'{"@id": "http://a/s", "term": "x", "http://a/p": {"@value": "y", "@language": "a b"}}'
    strict = run("rdf", "to-jelly", "--in-format=jsonld", data=json_ld).out
    assert run("rdf", "from-jelly", data=strict).out == b""
