"""rdflib's own behaviours with Jelly, compared with its N-Quads."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import rdflib
from hypothesis import given
from rdflib.compare import isomorphic
from rdflib.graph import QuotedGraph

import jellyframe
from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.errors import EncodeError, NamedGraphError, OptionsError, ParseError, TermError
from jellyframe.rdflib import read_graphs, read_statements, write_graphs, write_statements
from support.strategies import Shape, statement_lists
from support.web_processes import serving_process

# rdflib warns about its own calls.
pytestmark = pytest.mark.filterwarnings("ignore:Dataset.:DeprecationWarning")

EX = rdflib.Namespace("http://example.org/")
INTEGER = rdflib.XSD.integer


def literal(text: str, datatype: rdflib.URIRef = INTEGER) -> rdflib.Literal:
    return rdflib.Literal(text, datatype=datatype, normalize=False)


@pytest.fixture
def graph() -> rdflib.Graph:
    made = rdflib.Graph()
    made.bind("ex", EX)
    made.add((EX.a, rdflib.RDF.type, EX.Thing))
    made.add((EX.a, EX.number, literal("007")))
    made.add((EX.a, EX.name, rdflib.Literal("Ada", lang="en")))
    made.add((rdflib.BNode("x"), EX.knows, EX.a))
    return made


@pytest.fixture
def dataset() -> rdflib.Dataset:
    made = rdflib.Dataset()
    made.add((EX.a, EX.p, rdflib.Literal("in the default graph")))
    made.graph(EX.g1).add((EX.a, EX.p, EX.b))
    made.graph(EX.g2).add((EX.a, EX.p, EX.b))
    made.graph(rdflib.BNode("g")).add((EX.a, EX.p, EX.c))
    return made


def in_new_process(code: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- found without an import ----


def test_files_are_read_and_written_by_a_program_that_imports_rdflib_only(graph: rdflib.Graph, tmp_path: Path) -> None:
    graph.serialize(tmp_path / "x.jelly", format="jelly")
    code = """
import rdflib, sys
assert "jellyframe" not in sys.modules
graph = rdflib.Graph().parse("x.jelly")
graph.serialize("y.jelly", format="jelly")
print(len(graph), len(rdflib.Dataset().parse("y.jelly")), rdflib.util.guess_format("a/b.JELLY"))
"""
    assert in_new_process(code, tmp_path) == "4 4 jelly"


def test_jellyframe_serves_jelly_although_pyjelly_is_installed_too(tmp_path: Path) -> None:
    code = """
import pyjelly, rdflib
from rdflib.parser import Parser
from rdflib.serializer import Serializer
found = {rdflib.plugin.get(name, kind).__module__.partition(".")[0]
         for name in ("jelly", "application/x-jelly-rdf") for kind in (Parser, Serializer)}
rdflib.plugin.register("jelly", Parser, "pyjelly.integrations.rdflib.parse", "RDFLibJellyParser")
print(*found, rdflib.plugin.get("jelly", Parser).__module__.partition(".")[0])
"""
    assert in_new_process(code, tmp_path) == "jellyframe pyjelly"


def test_the_plugin_can_be_turned_off(tmp_path: Path) -> None:
    code = 'import rdflib; print(rdflib.util.guess_format("x.jelly"))'
    assert in_new_process(code, tmp_path, JELLYFRAME_RDFLIB="off") == "None"


def test_python_starts_without_jellyframe_and_rdflib(tmp_path: Path) -> None:
    code = 'import sys; print([name for name in ("jellyframe", "rdflib", "typing") if name in sys.modules])'
    assert in_new_process(code, tmp_path) == "[]"


# ---- parse and serialize, as with N-Quads ----


def test_a_graph_survives_a_round_trip(graph: rdflib.Graph, tmp_path: Path) -> None:
    path = tmp_path / "x.jelly"
    assert graph.serialize(str(path), format="jelly") is graph
    for source in (str(path), path):
        assert isomorphic(rdflib.Graph().parse(source), graph)
    data = graph.serialize(format="application/x-jelly-rdf", encoding="utf-8")
    assert isomorphic(rdflib.Graph().parse(data=data, format="application/x-jelly-rdf"), graph)
    with path.open("rb") as file:
        assert isomorphic(rdflib.Graph().parse(file, format="jelly"), graph)
    sink = io.BytesIO()
    graph.serialize(sink, format="jelly", compression="gzip")
    assert isomorphic(rdflib.Graph().parse(data=sink.getvalue(), format="jelly"), graph)


def test_a_dataset_survives_a_round_trip_as_with_nquads(dataset: rdflib.Dataset, tmp_path: Path) -> None:
    dataset.serialize(tmp_path / "x.jelly", format="jelly")
    dataset.serialize(tmp_path / "x.nq", format="nquads")
    ours, theirs = (rdflib.Dataset().parse(tmp_path / name) for name in ("x.jelly", "x.nq"))
    named = [g for g in ours.graphs() if isinstance(g.identifier, rdflib.URIRef)]
    assert {g.identifier for g in named} == {
        g.identifier for g in theirs.graphs() if isinstance(g.identifier, rdflib.URIRef)
    }
    for g in named:
        assert set(g) == set(theirs.graph(g.identifier))
    assert len(list(ours.quads())) == len(list(theirs.quads())) == 4


def test_blank_nodes_of_two_files_differ_as_with_ntriples(tmp_path: Path) -> None:
    single = rdflib.Graph()
    single.add((rdflib.BNode("x"), EX.p, EX.a))
    single.serialize(tmp_path / "x.jelly", format="jelly")
    merged = rdflib.Graph().parse(tmp_path / "x.jelly").parse(tmp_path / "x.jelly")
    assert len(merged) == 2
    shared: dict[str, rdflib.BNode] = {}
    merged = rdflib.Graph()
    for _ in range(2):
        merged.parse(tmp_path / "x.jelly", bnode_context=shared)
    assert len(merged) == 1
    (subject,) = rdflib.Graph().parse(tmp_path / "x.jelly", skolemize=True).subjects()
    assert isinstance(subject, rdflib.URIRef)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("01", rdflib.XSD.integer),
        ("+1.50", rdflib.XSD.decimal),
        ("1", rdflib.XSD.boolean),
        (" spaces  inside ", rdflib.XSD.token),
        ("a\tb\nc", rdflib.XSD.normalizedString),
        ("2020-01-01T00:00:00+00:00", rdflib.XSD.dateTime),
        ("no number", EX.type),
    ],
)
def test_literals_stay_as_written(text: str, datatype: rdflib.URIRef, tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write([Triple(IRI("a:s"), IRI("a:p"), Literal(text, datatype=str(datatype)))])
    (node,) = rdflib.Graph().parse(tmp_path / "x.jelly").objects()
    assert str(node) == text
    assert node.datatype == datatype  # type: ignore[attr-defined]
    rdflib.Graph().parse(tmp_path / "x.jelly").serialize(tmp_path / "y.jelly", format="jelly")
    with jellyframe.open_reader(tmp_path / "y.jelly") as reader:
        (statement,) = reader
    assert statement.o == Literal(text, datatype=str(datatype))


def test_namespaces_are_kept(graph: rdflib.Graph, tmp_path: Path) -> None:
    graph.serialize(tmp_path / "x.jelly", format="jelly")
    assert ("ex", rdflib.URIRef(EX)) in rdflib.Graph().parse(tmp_path / "x.jelly").namespaces()
    with jellyframe.open_reader(tmp_path / "x.jelly") as reader:
        assert list(reader)
        # Of those that rdflib binds in every graph, the ones that are used.
        assert reader.namespaces == {"ex": str(EX), "rdf": str(rdflib.RDF)}
    for changes in ({"namespaces": False}, {"options": StreamOptions(version=1)}):
        graph.serialize(tmp_path / "x.jelly", format="jelly", **changes)
        with jellyframe.open_reader(tmp_path / "x.jelly") as reader:
            assert list(reader)
            assert not reader.namespaces


def test_quads_do_not_go_into_a_plain_graph(dataset: rdflib.Dataset, tmp_path: Path) -> None:
    dataset.serialize(tmp_path / "x.jelly", format="jelly")
    with pytest.raises(NamedGraphError, match=r"parse into an rdflib\.Dataset"):
        rdflib.Graph().parse(tmp_path / "x.jelly")
    with pytest.raises(NamedGraphError):
        dataset.graph(EX.g9).parse(tmp_path / "x.jelly")


def test_quads_of_the_default_graph_go_into_a_plain_graph(tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write([Quad(IRI("a:s"), IRI("a:p"), IRI("a:o"), jellyframe.DEFAULT_GRAPH)])
    assert len(rdflib.Graph().parse(tmp_path / "x.jelly")) == 1


def test_quoted_triples_variables_and_formulas_are_refused(tmp_path: Path) -> None:
    quoted = Triple(IRI("a:s"), IRI("a:p"), IRI("a:o"))
    with jellyframe.open_writer(tmp_path / "x.jelly") as writer:
        writer.write([Triple(quoted, IRI("a:p"), IRI("a:o"))])
    with pytest.raises(TermError, match="quoted triples"):
        rdflib.Graph().parse(tmp_path / "x.jelly")
    odd = rdflib.Graph()
    odd.add((EX.a, EX.p, rdflib.Variable("x")))
    with pytest.raises(EncodeError, match="a Variable for a term"):
        odd.serialize(format="jelly", encoding="utf-8")
    with pytest.raises(EncodeError, match="formula"):
        QuotedGraph("default", EX.f).serialize(format="jelly", encoding="utf-8")
    with pytest.raises(ParseError, match="mode 'rb'"):
        rdflib.Graph().parse(io.StringIO("text"), format="jelly")
    with pytest.raises(ParseError):
        rdflib.Graph().parse(data=b"no jelly", format="jelly")


@given(statement_lists(Shape(quads=True), min_size=1))
def test_every_quad_of_rdf_survives_a_round_trip(quads: list[Quad]) -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(quads)
    labels = {label: rdflib.BNode(label) for quad in quads for label in _labels(quad)}
    try:
        read = rdflib.Dataset().parse(data=sink.getvalue(), format="jelly", bnode_context=labels)
    except TermError as error:
        assert "language tag" in str(error)  # noqa: PT017
        return
    with jellyframe.open_reader(read.serialize(format="jelly", encoding="utf-8")) as reader:
        assert set(map(_folded, reader)) == set(map(_folded, quads))


def _folded(quad: Quad | Triple) -> tuple[str, ...]:
    """To rdflib, language tags are the same in upper and lower case."""
    return tuple(
        f"{term.lex}@{term.language.lower()}" if isinstance(term, Literal) and term.language else str(term)
        for term in quad
    )


def _labels(quad: Quad) -> list[str]:
    return [term.label for term in quad if isinstance(term, BlankNode)]


# ---- streams of graphs and of statements ----


def test_grouped_streams_are_read_as_graphs(tmp_path: Path) -> None:
    graphs = []
    for number in range(3):
        one = rdflib.Graph()
        one.add((EX.a, EX.p, rdflib.Literal(number)))
        graphs.append(one)
    write_graphs(graphs, tmp_path / "x.jelly")
    with jellyframe.open_reader(tmp_path / "x.jelly") as reader:
        assert reader.options.logical_type is LogicalType.GRAPHS
    assert [set(one) for one in read_graphs(tmp_path / "x.jelly")] == [set(one) for one in graphs]
    assert len(rdflib.Graph().parse(tmp_path / "x.jelly")) == 3
    write_graphs([], tmp_path / "none.jelly")
    # The options need a frame.
    assert [len(one) for one in read_graphs(tmp_path / "none.jelly")] == [0]
    with pytest.raises(EncodeError, match="mixed"):
        write_graphs([rdflib.Graph(), rdflib.Dataset()], tmp_path / "x.jelly")


def test_grouped_streams_are_read_as_datasets(dataset: rdflib.Dataset, tmp_path: Path) -> None:
    write_graphs([dataset, dataset], tmp_path / "x.jelly")
    read = list(read_graphs(tmp_path / "x.jelly"))
    assert [type(one) for one in read] == [rdflib.Dataset, rdflib.Dataset]
    assert [len(list(one.quads())) for one in read] == [4, 4]  # type: ignore[attr-defined]
    options = StreamOptions(physical_type=PhysicalType.GRAPHS, logical_type=LogicalType.NAMED_GRAPHS)
    write_graphs(dataset, tmp_path / "x.jelly", options)
    assert len(list(read_graphs(tmp_path / "x.jelly"))) == 4


def test_flat_streams_are_read_as_statements(dataset: rdflib.Dataset, graph: rdflib.Graph, tmp_path: Path) -> None:
    dataset.remove_graph(rdflib.BNode("g"))
    write_statements(dataset.quads(), tmp_path / "x.jelly")
    assert set(read_statements(tmp_path / "x.jelly")) == {
        (s, p, o, None if g == rdflib.graph.DATASET_DEFAULT_GRAPH_ID else g) for s, p, o, g in dataset.quads()
    }
    write_statements(graph, tmp_path / "x.jelly")
    assert len(list(read_statements(tmp_path / "x.jelly"))) == 4
    with pytest.raises(OptionsError, match="read_statements"):
        list(read_graphs(tmp_path / "x.jelly"))


def test_the_draft_dialect_is_read_and_written(graph: rdflib.Graph, tmp_path: Path) -> None:
    path = tmp_path / "old.jelly"
    graph.serialize(path, format="jelly", dialect="draft")
    with pytest.raises(ParseError, match="set dialect='draft'"):
        rdflib.Graph().parse(path)
    assert isomorphic(rdflib.Graph().parse(path, dialect="draft"), graph)
    assert len(list(read_statements(path, dialect="draft"))) == len(graph)
    write_graphs([graph, graph], path, dialect="draft")
    assert [len(one) for one in read_graphs(path, dialect="draft")] == [len(graph)] * 2


def test_a_graph_is_read_from_a_web_server(graph: rdflib.Graph, tmp_path: Path) -> None:
    graph.serialize(tmp_path / "x.jelly", format="jelly")
    graph.serialize(tmp_path / "x.nt", format="nt", encoding="utf-8")
    with serving_process("http", "serve", tmp_path) as served:
        for name in ("x.jelly", "x.nt?format=jelly"):
            assert isomorphic(rdflib.Graph().parse(f"{served.url}/{name}"), graph)


@pytest.mark.parametrize("format_name", ["jelly", "nquads"])
def test_sources_and_destinations_of_every_kind(dataset: rdflib.Dataset, format_name: str, tmp_path: Path) -> None:
    """As with the N-Quads of rdflib, but for text, which is refused."""
    dataset.graph(rdflib.URIRef("http://example.org/empty"))
    path = tmp_path / f"x.{'jelly' if format_name == 'jelly' else 'nq'}"
    dataset.serialize(destination=path, format=format_name)
    data = path.read_bytes()
    for destination in (str(tmp_path / "y"), (tmp_path / "y").as_uri()):
        assert dataset.serialize(destination=destination, format=format_name) is dataset
        assert len((tmp_path / "y").read_bytes()) == len(data)
    sink = io.BytesIO()
    dataset.serialize(sink, format=format_name)
    assert isinstance(dataset.serialize(format=format_name, encoding="utf-8"), bytes)
    assert len(sink.getvalue()) == len(data)
    for union in (False, True):
        shapes = []
        for arguments in (
            {"source": path},
            {"source": str(path)},
            {"source": path.as_uri()},
            {"location": str(path)},
            {"source": io.BytesIO(data), "format": format_name},
            {"data": data, "format": format_name},
            {"source": path, "publicID": "http://example.org/public"},
        ):
            found = rdflib.Dataset(default_union=union)
            assert found.parse(**arguments) is found
            visible = len(list(found.triples((None, None, None))))
            shapes.append((visible, sorted(len(context) for context in found.graphs())))
        # Empty graphs are lost, as with N-Quads; blank nodes may be names of graphs.
        assert shapes == [(3 if union else 1, [1, 1, 1, 1])] * 7
    with pytest.raises(FileNotFoundError):
        rdflib.Dataset().parse(tmp_path / f"missing{path.suffix}")
    with pytest.raises((ParseError, rdflib.exceptions.ParserError)):
        rdflib.Dataset().parse(io.StringIO("text"), format=format_name)
