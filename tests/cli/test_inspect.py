"""Each option of `rdf inspect`, by the real command."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    BlankNode,
    Literal,
    LogicalType,
    PhysicalType,
    Quad,
    StreamOptions,
    Triple,
    ntriples,
    open_reader,
    open_writer,
)
from support import wire
from support.command import environment, error_of, run

S, P, G = IRI("http://a/s"), IRI("http://a/p"), IRI("http://a/g")
OPTIONS = StreamOptions.small(
    physical_type=PhysicalType.QUADS,
    logical_type=LogicalType.DATASETS,
    rdf_star=True,
    stream_name='on: "it"\n\u2028',
)


@pytest.fixture(scope="module")
def data() -> bytes:
    """Three frames: a namespace and metadata, quoted triples and repeated terms, nothing at all."""
    sink = io.BytesIO()
    with open_writer(sink, OPTIONS) as writer:
        writer.declare_namespace("a", "http://a/")
        writer.write([Quad(S, P, Literal("1", datatype="http://a/t"), DEFAULT_GRAPH), Quad(S, P, BlankNode("b"), G)])
        writer.end_frame({"no": b"\x00\xff", "key: #": b"x"})
        writer.write([Quad(Triple(S, P, BlankNode("b")), P, S, G), Quad(Triple(S, P, Literal("é")), P, S, G)])
        writer.end_frame()
        writer.end_frame({"empty": b""})
    return sink.getvalue()


def inspected(*options: str | Path, data: bytes = b"") -> dict[str, Any]:
    """Return the output of the command, which must be the same as YAML and as JSON."""
    as_yaml: dict[str, Any] = yaml.safe_load(run("rdf", "inspect", *options, data=data).out)
    assert as_yaml == json.loads(run("rdf", "inspect", *options, "--json", data=data).out)
    return as_yaml


def test_options_and_counts(data: bytes) -> None:
    found = inspected(data=data)
    assert found["stream_options"] == {
        "stream_name": 'on: "it"\n\u2028',
        "physical_type": "PHYSICAL_STREAM_TYPE_QUADS (2)",
        "generalized_statements": True,
        "rdf_star": True,
        "max_name_table_size": 128,
        "max_prefix_table_size": 16,
        "max_datatype_table_size": 16,
        "logical_type": "LOGICAL_STREAM_TYPE_DATASETS (4)",
        "version": 2,
    }
    frames = found["frames"]
    assert frames["frame_count"] == 3
    assert (frames["option_count"], frames["namespace_count"], frames["metadata_count"]) == (1, 1, 3)
    assert (frames["triple_count"], frames["quad_count"], frames["statement_count"]) == (0, 4, 4)
    assert (frames["graph_start_count"], frames["graph_end_count"]) == (0, 0)
    # The names are the empty one of the namespace, s, p and g.
    assert (frames["name_count"], frames["prefix_count"], frames["datatype_count"]) == (4, 1, 1)
    assert frames["row_count"] == sum(
        frames[f"{kind}_count"] for kind in "option namespace quad name prefix datatype".split()
    )
    assert found["input"] == {
        "dialect": "released",
        "delimited": True,
        "compression": "none",
        "uncompressed_size": len(data),
    }


def test_per_frame_with_metadata(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.jelly.gz"
    path.write_bytes(gzip.compress(data))
    found = inspected("--per-frame", path)
    assert [frame["frame_index"] for frame in found["frames"]] == [0, 1, 2]
    assert [frame["statement_count"] for frame in found["frames"]] == [2, 2, 0]
    assert [frame.get("metadata") for frame in found["frames"]] == [{"no": "00ff", "key: #": "78"}, None, {"empty": ""}]
    assert found["input"]["compression"] == "gzip"


def test_details(data: bytes) -> None:
    node = inspected("--detail", "node", data=data)["frames"]
    assert node["node_details"] == {
        "iri_count": 4,
        "bnode_count": 1,
        "literal_count": 1,
        "triple_count": 2,
        "default_graph_count": 1,
    }
    assert node["quoted_details"] == {"iri_count": 4, "bnode_count": 1, "literal_count": 1}
    assert node["repeated_details"] == {"subject_count": 1, "predicate_count": 3, "object_count": 1, "graph_count": 2}
    term = inspected("--detail=term", data=data)["frames"]
    assert term["term_details"] == {"subject_count": 3, "predicate_count": 1, "object_count": 3, "graph_count": 2}
    everything = inspected("--detail=all", data=data)["frames"]
    assert everything["subject"] == {"iri_count": 1, "triple_count": 2, "repeated_count": 1}
    assert everything["graph"] == {"iri_count": 1, "default_graph_count": 1, "repeated_count": 2}
    assert "invalid choice" in run("rdf", "inspect", "--detail=flat", data=data, code=2).err


def test_sizes(data: bytes) -> None:
    sizes = inspected("--size", "--detail=node", data=data)["frames"]
    parts = "option triple quad graph_start graph_end namespace name prefix datatype metadata wrapping".split()
    assert sizes["frame_size"] == sum(sizes[f"{part}_size"] for part in parts)
    # Each frame has one byte in front that says its length, or two.
    assert len(data) - 6 <= sizes["frame_size"] <= len(data) - 3
    text = ntriples.write(open_reader(data).batches())
    assert text is not None
    assert sizes["ntriples_size"] == len(text)
    assert sizes["ntriples_ratio"] == round(len(text) / sizes["frame_size"], 2)
    assert set(sizes["node_details"]) == {"iri_size", "bnode_size", "literal_size", "triple_size"}
    each = inspected("--size", "--per-frame", data=data)["frames"]
    assert sum(frame["frame_size"] for frame in each) == sizes["frame_size"]


def test_concatenated_streams() -> None:
    one = wire.stream(wire.options(), wire.name("a", 1))
    assert inspected("--concatenated", data=one + one)["frames"]["replaced_entries"]["name_count"] == 0
    assert inspected(data=one + one)["frames"]["replaced_entries"]["name_count"] == 1


def test_the_output_is_replaced_whole_or_not_at_all(data: bytes, tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    assert run("rdf", "inspect", "-", "--to", out, data=data).out == b""
    before = out.read_bytes()
    assert yaml.safe_load(before)["frames"]["frame_count"] == 3
    error = error_of("rdf", "inspect", "--per-frame", "--output-file", out, data=data[:-3])
    assert "frame 2, byte" in error
    assert out.read_bytes() == before
    assert "No such file" in error_of("rdf", "inspect", tmp_path / "nothing.jelly")


def test_broken_references_can_be_inspected_but_have_no_content() -> None:
    broken = wire.stream(wire.options(), wire.triple(wire.bnode("a"), wire.iri(0, 7), wire.bnode("b")))
    assert inspected(data=broken)["frames"]["triple_count"] == 1
    assert "never set" in error_of("rdf", "inspect", "--size", data=broken)


def test_the_page(data: bytes, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = run("rdf", "inspect", "--html", page, data=data)
    assert yaml.safe_load(outcome.out)["frames"]["statement_count"] == 4
    assert str(page) in outcome.err
    text = page.read_text()
    assert "<svg" in text
    assert "Size against N-Quads" in text


def test_the_page_on_standard_output(data: bytes, tmp_path: Path) -> None:
    outcome = run("rdf", "inspect", "--html", "-", data=data, cwd=tmp_path)
    assert outcome.out.startswith(b"<!doctype html>")
    assert outcome.out.rstrip().endswith(b"</html>")
    assert outcome.err == ""
    outcome = run("rdf", "inspect", "--html=-", "--to", "out.yaml", data=data, cwd=tmp_path)
    assert outcome.out.rstrip().endswith(b"</html>")
    assert yaml.safe_load((tmp_path / "out.yaml").read_bytes())["frames"]["statement_count"] == 4
    assert [file.name for file in tmp_path.iterdir()] == ["out.yaml"]


def test_little_is_imported(data: bytes, tmp_path: Path) -> None:
    """A small file is inspected in little more time than Python takes to start."""
    path = tmp_path / "data.jelly"
    path.write_bytes(data)
    program = (
        "import sys; from jellyframe.cli.main import main; main(['rdf', 'inspect', sys.argv[1]]);"
        "print({name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, env=environment(), check=True
    )
    for module in ("pyarrow", "numpy", "google", "pyoxigraph", "dataclasses_json", "yaml"):
        assert f"'{module}'" not in done.stderr
