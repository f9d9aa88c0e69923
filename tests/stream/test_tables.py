"""Jelly streams read as Arrow tables, and tables written as streams."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest

import jellyframe
from jellyframe.arrow.tables import LAYOUTS, arrow_schema, batch_to_arrow
from jellyframe.batch import Batch
from jellyframe.errors import JellyError
from jellyframe.options import LayoutName, PhysicalType, StreamOptions
from jellyframe.stream.tables import read_table, write_table
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple

S, P = IRI("http://example.org/s"), IRI("http://example.org/p")
QUOTED = Triple(BlankNode("b"), P, Literal("x y", language="en"))
TRIPLES = [
    Triple(S, P, IRI("http://example.org/o")),
    Triple(BlankNode("b"), P, Literal("a\n")),
    Triple(S, P, Literal("b", language="en-GB")),
    Triple(QUOTED, P, Literal("1", "http://www.w3.org/2001/XMLSchema#integer")),
    Triple(S, P, Triple(QUOTED, P, QUOTED)),
]
GENERALIZED = [
    Quad(Literal("s"), BlankNode("p"), QUOTED, Literal("g", language="en")),
    *(Quad(*triple, DEFAULT_GRAPH) for triple in TRIPLES),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("statements", [TRIPLES, GENERALIZED, []], ids=["triples", "quads", "none"])
def test_written_tables_are_read_back(layout: LayoutName, statements: list[Any]) -> None:
    sink = io.BytesIO()
    table = pa.Table.from_batches([batch_to_arrow(Batch.from_statements(statements), layout)])
    write_table(table, sink)
    assert read_table(sink.getvalue(), layout).equals(table)


def test_columns_and_frames() -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink) as writer:
        writer.write(TRIPLES[:2])
        writer.end_frame()
        writer.write(TRIPLES[2:])
    table = read_table(sink.getvalue(), "ntriples", frame_column=True, columns=["o", "frame"])
    assert table.to_pydict() == {"o": [str(triple.o) for triple in TRIPLES], "frame": [0, 0, 1, 1, 1]}


def test_record_batches_are_read_as_they_are_drawn() -> None:
    data = jellyframe.dumps(TRIPLES * 10)
    with jellyframe.open_reader(data, batch_rows=20) as reader:
        stream = reader.record_batches("flat", columns=["o"])
        assert stream.schema == arrow_schema("flat", columns=["o"])
        assert len(stream.read_next_batch()) == 20
        assert stream.read_all().num_rows == 30


def test_an_error_of_the_stream_comes_through() -> None:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, frame_rows=2) as writer:
        writer.write(TRIPLES)
    data = sink.getvalue()[:-3]
    with pytest.raises(JellyError):
        read_table(data)
    with jellyframe.open_reader(data) as reader:
        stream = reader.record_batches()
        with pytest.raises(JellyError):
            stream.read_all()


def test_several_paths_are_one_table(tmp_path):
    triples = [Triple(IRI("s"), IRI("p"), Literal(str(number))) for number in range(5)]
    quads = [Quad(*triple, IRI("g")) for triple in triples]
    paths = [tmp_path / "a.jelly", tmp_path / "b.jelly"]
    with jellyframe.open_writer(paths[0], StreamOptions(PhysicalType.TRIPLES)) as writer:
        writer.write(triples)
    with jellyframe.open_writer(paths[1], StreamOptions(PhysicalType.QUADS)) as writer:
        writer.write(quads)
    table = jellyframe.read_table(paths, "ntriples")
    assert table["o"].to_pylist() == [f'"{number}"' for number in [*range(5), *range(5)]]
    assert table["g"].to_pylist() == [None] * 5 + ["<g>"] * 5
    assert jellyframe.read_table([str(paths[0])], "ntriples").column_names == ["s", "p", "o"]
    assert jellyframe.read_table(paths, "flat", columns=["s"]).num_rows == 10
    with pytest.raises(jellyframe.TableError, match="the list of paths is empty"):
        jellyframe.read_table([])


def test_a_path_in_a_file_system(tmp_path):
    with jellyframe.open_writer(tmp_path / "a.jelly") as writer:
        writer.write([Triple(IRI("s"), IRI("p"), IRI("o"))])
    inner = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    assert jellyframe.read_table("a.jelly", "ntriples", filesystem=inner).num_rows == 1
    assert jellyframe.read_table(["a.jelly", "a.jelly"], "ntriples", filesystem=inner).num_rows == 2
    with jellyframe.open_reader("a.jelly", filesystem=inner) as reader:
        assert len(list(reader)) == 1


def test_a_reader_is_an_arrow_stream():
    data = jellyframe.dumps([Triple(IRI("s"), IRI("p"), IRI("o"))])
    with jellyframe.open_reader(data) as reader:
        table = pa.RecordBatchReader.from_stream(reader).read_all()
    assert table == jellyframe.read_table(data)
