"""Options and namespaces are kept in the metadata of schemas."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

import jellyframe
from jellyframe import LogicalType, PhysicalType, StreamOptions
from jellyframe.arrow.metadata import NAMESPACES_KEY, OPTIONS_KEY, stream_options
from jellyframe.errors import TableError
from jellyframe.terms import IRI, Quad, Triple

S = IRI("http://example.org/s")
QUADS = [Quad(S, S, S, IRI("http://example.org/g"))]
OPTIONS = StreamOptions(
    physical_type=PhysicalType.GRAPHS,
    logical_type=LogicalType.FLAT_QUADS,
    stream_name="näme",
    max_name_table_size=64,
    max_prefix_table_size=32,
    rdf_star=False,
)


def stream(options: StreamOptions, statements: list[Triple] | list[Quad]) -> bytes:
    sink = io.BytesIO()
    with jellyframe.open_writer(sink, options) as writer:
        writer.declare_namespace("ex", "http://example.org/")
        writer.write(statements)
        if options.logical_type.is_grouped:
            writer.end_frame()
    return sink.getvalue()


def written(table: pa.Table, options: StreamOptions | None = None) -> jellyframe.JellyReader:
    sink = io.BytesIO()
    jellyframe.write_table(table, sink, options)
    return jellyframe.open_reader(sink.getvalue())


def test_a_table_keeps_options_and_namespaces() -> None:
    data = stream(OPTIONS, QUADS)
    table = jellyframe.read_table(data)
    assert {OPTIONS_KEY, NAMESPACES_KEY} <= set(table.schema.metadata)
    with jellyframe.open_reader(data) as reader, written(table) as again:
        assert again.options == reader.options
        assert list(again) == QUADS
        assert again.namespaces == {"ex": "http://example.org/"}


def test_a_record_batch_reader_keeps_options_and_namespaces() -> None:
    with jellyframe.open_reader(stream(OPTIONS, QUADS)) as reader:
        record_batches = reader.record_batches()
        assert stream_options(record_batches.schema) == reader.options
        sink = io.BytesIO()
        jellyframe.write_table(record_batches, sink)
    with jellyframe.open_reader(sink.getvalue()) as again:
        assert again.options.stream_name == "näme"


def test_options_passed_have_precedence() -> None:
    table = jellyframe.read_table(stream(OPTIONS, QUADS))
    given = StreamOptions(physical_type=PhysicalType.QUADS, logical_type=LogicalType.FLAT_QUADS, stream_name="other")
    with written(table, given) as reader:
        assert reader.options.stream_name == "other"
        assert reader.options.physical_type == PhysicalType.QUADS


def test_a_table_without_graphs_or_frames_becomes_a_flat_stream() -> None:
    triples = jellyframe.read_table(stream(OPTIONS, QUADS), columns=["s", "p", "o"])
    with written(triples) as reader:
        assert reader.options.physical_type == PhysicalType.TRIPLES
        assert reader.options.max_name_table_size == 64
        assert list(reader) == [Triple(S, S, S)]
    grouped = OPTIONS.replace(logical_type=LogicalType.DATASETS)
    with written(jellyframe.read_table(stream(grouped, QUADS))) as reader:
        assert reader.options.logical_type == LogicalType.FLAT_QUADS
    with written(jellyframe.read_table(stream(grouped, QUADS), frame_column=True)) as reader:
        assert reader.options.logical_type == LogicalType.DATASETS


@pytest.mark.parametrize("entry", [b"{", b"[]", b'{"physical_type": "NONE"}', b'{"x": 1}'])
def test_invalid_stream_options_in_the_metadata_are_refused(entry: bytes) -> None:
    table = jellyframe.read_table(stream(OPTIONS, QUADS)).replace_schema_metadata({OPTIONS_KEY: entry})
    with pytest.raises(TableError, match="holds no stream options"):
        written(table)


@pytest.mark.parametrize("entry", [b"{", b"[]", b'{"a": 1}'])
def test_invalid_namespaces_in_the_metadata_are_refused(entry: bytes) -> None:
    table = jellyframe.read_table(stream(OPTIONS, QUADS)).replace_schema_metadata({NAMESPACES_KEY: entry})
    with pytest.raises(TableError, match=r"jelly\.namespaces"):
        written(table)
