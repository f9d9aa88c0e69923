"""Writers: statements, how frames are cut, the options written, and refused statements."""

import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import jellyframe
import jellyframe.stream.index
import jellyframe.wire
from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Batch,
    BlankNode,
    EncodeError,
    Literal,
    LogicalType,
    OptionsError,
    PhysicalType,
    Quad,
    StreamOptions,
    Triple,
)
from jellyframe.errors import NamedGraphError
from jellyframe.storage.types import Compression

A, B, C = (IRI(f"http://example.org/{name}") for name in "abc")
STAR = Triple(Triple(A, B, C), B, C)
GENERALIZED = Triple(A, BlankNode("p"), C)


def many(count: int) -> list[Triple]:
    return [Triple(IRI(f"http://example.org/{number}"), B, Literal(str(number))) for number in range(count)]


def written(statements: Iterable[Triple | Quad], options: StreamOptions | None = None, **arguments) -> bytes:
    file = io.BytesIO()
    with jellyframe.open_writer(file, options, **arguments) as writer:
        writer.write(statements)
    return file.getvalue()


def frame_sizes(data: bytes) -> list[int]:
    with jellyframe.open_reader(data) as reader:
        return [len(frame) for frame in reader.frames()]


def options_of(data: bytes) -> StreamOptions:
    with jellyframe.open_reader(data) as reader:
        return reader.options


@pytest.mark.parametrize("statements", [[], [Triple(A, B, C)], [Quad(A, B, C, DEFAULT_GRAPH)], many(1000)])
def test_without_options_the_first_statement_decides(statements: list[Triple | Quad]) -> None:
    data = written(statements)
    with jellyframe.open_reader(data) as reader:
        assert list(reader.statements()) == statements
        is_quads = statements and len(statements[0]) == 4
        assert reader.options.physical_type is (PhysicalType.QUADS if is_quads else PhysicalType.TRIPLES)


def test_an_endless_iterable_is_written_as_it_comes(tmp_path: Path) -> None:
    file = io.BytesIO()
    writer = jellyframe.open_writer(file)
    endless = (Triple(A, B, Literal(str(number))) for number in itertools.count())

    class EnoughError(Exception):
        pass

    def stop_when_enough() -> Iterable[Triple]:
        for statement in endless:
            if file.tell() > 1_000_000:
                raise EnoughError
            yield statement

    with pytest.raises(EnoughError):
        writer.write(stop_when_enough())


def test_frames_are_cut_by_rows() -> None:
    # 20 rows a frame: the options, entries and statements all count.
    sizes = frame_sizes(written(many(1000), frame_rows=20))
    assert sum(sizes) == 1000
    assert max(sizes) <= 20


def test_frames_are_cut_by_bytes() -> None:
    long = [Triple(A, B, Literal(str(number) * 300)) for number in range(3000)]
    data = written(long, frame_rows=None)
    lengths = []
    at = 0
    while at < len(data):
        size, at = jellyframe.wire.decode_varint(data, at)
        lengths.append(size)
        at += size
    assert len(lengths) > 2
    assert max(lengths) < 1_000_000


def test_a_row_above_the_frame_limit_gets_its_own_frame() -> None:
    statements = [Triple(A, B, Literal("x" * 5000)), Triple(A, B, C)]
    data = written(statements, frame_bytes=1000)
    with jellyframe.open_reader(data) as reader:
        assert list(reader.statements()) == statements


def test_grouped_streams_are_cut_by_hand_only() -> None:
    options = StreamOptions(logical_type=LogicalType.GRAPHS)
    file = io.BytesIO()
    with jellyframe.open_writer(file, options, frame_rows=5) as writer:
        writer.write(many(100))
        writer.end_frame()
        writer.end_frame()
        writer.write_frame(many(3), {"key": b"value"})
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert [(len(frame), frame.metadata) for frame in reader.frames()] == [
            (100, {}),
            (0, {}),
            (3, {"key": b"value"}),
        ]


def test_a_frame_can_be_written_as_it_was_read() -> None:
    file, copy = io.BytesIO(), io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(logical_type=LogicalType.GRAPHS)) as writer:
        writer.declare_namespace("ex", "http://example.org/")
        writer.write_frame(many(10), {"number": b"\x00\x01"})
        writer.write_frame(many(5))
    with (
        jellyframe.open_reader(file.getvalue(), batch_rows=4) as reader,
        jellyframe.open_writer(copy, reader.options) as writer,
    ):
        for frame in reader.frames():
            writer.write_frame(frame)
    assert copy.getvalue() == file.getvalue()


@pytest.mark.parametrize(
    ("write", "version"),
    [
        (lambda writer: writer.write([Triple(A, B, C)]), 1),
        (lambda writer: writer.declare_namespace("ex", "http://example.org/"), 2),
        (lambda writer: writer.end_frame({"key": b""}), 2),
        (lambda writer: (writer.write([Triple(A, B, C)]), writer.end_frame({"key": b""})), 2),
        (lambda writer: (writer.write(many(1000)), writer.end_frame({"key": b""})), 2),
    ],
    ids=["plain", "namespace", "metadata", "metadata_after_statements", "metadata_after_frames"],
)
def test_the_version_is_the_lowest_that_fits(write, version: int) -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(), restart_every=1000) as writer:
        write(writer)
    assert options_of(file.getvalue()).version == version
    # The options are repeated at restart points, and have to be the same everywhere.
    assert sum(frame_sizes(file.getvalue())) == writer.statements_written


def test_namespaces_are_refused_once_version_1_is_written() -> None:
    with jellyframe.open_writer(io.BytesIO(), StreamOptions()) as writer:
        writer.write([Triple(A, B, C)])
        writer.flush()
        with pytest.raises(EncodeError, match="version=2"):
            writer.declare_namespace("ex", "http://example.org/")


@pytest.mark.parametrize(
    ("statement", "flag"), [(STAR, "rdf_star"), (GENERALIZED, "generalized_statements")], ids=["star", "generalized"]
)
def test_a_missing_flag_is_named_and_the_stream_goes_on(statement: Triple, flag: str) -> None:
    file = io.BytesIO()
    options = StreamOptions(generalized_statements=False, rdf_star=False)
    with jellyframe.open_writer(file, options) as writer:
        writer.write([Triple(A, B, C)])
        with pytest.raises(EncodeError, match=f"statement 1 of those given: .*{flag}"):
            writer.write([Triple(C, B, A), statement, Triple(A, A, A)])
        writer.write([Triple(B, A, A)])
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == [Triple(A, B, C), Triple(C, B, A), Triple(B, A, A)]


def test_a_typed_literal_needs_a_datatype_table() -> None:
    typed = Literal("1", "http://www.w3.org/2001/XMLSchema#integer")
    with pytest.raises(EncodeError, match="max_datatype_table_size"):
        written([Triple(A, B, typed)], StreamOptions(max_datatype_table_size=0))
    string = Literal("1", "http://www.w3.org/2001/XMLSchema#string")
    assert written([Triple(A, B, string)], StreamOptions(max_datatype_table_size=0)) == written(
        [Triple(A, B, Literal("1"))], StreamOptions(max_datatype_table_size=0)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_statement_with_more_prefixes_than_the_table_has_is_written(size: int) -> None:
    statements = [
        Quad(*(IRI(f"http://{part}.example.org/{number % 3}") for part in (f"s{number}", "p", f"o{number % 4}", "g")))
        for number in range(50)
    ]
    options = StreamOptions(PhysicalType.QUADS, max_prefix_table_size=size, max_name_table_size=8)
    with jellyframe.open_reader(written(statements, options)) as reader:
        assert list(reader.statements()) == statements


def test_a_statement_with_more_names_than_the_table_has_is_refused() -> None:
    term: Triple | IRI = A
    for number in range(10):
        term = Triple(term, B, IRI(f"http://example.org/n{number}"))
    with pytest.raises(EncodeError, match="max_name_table_size"):
        written([Triple(term, B, C)], StreamOptions(rdf_star=True, max_name_table_size=8))


def test_triples_go_into_a_stream_of_quads_as_batches() -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(PhysicalType.GRAPHS)) as writer:
        writer.write_batch(Batch.from_statements(many(3)))
        with pytest.raises(EncodeError):
            writer.write(many(1))
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == [Quad(*triple, DEFAULT_GRAPH) for triple in many(3)]


def test_quads_do_not_go_into_a_stream_of_triples() -> None:
    options = StreamOptions(PhysicalType.TRIPLES)
    with jellyframe.open_writer(io.BytesIO(), options) as writer, pytest.raises(NamedGraphError, match="QUADS"):
        writer.write_batch(Batch.from_statements([Quad(A, B, C, A)]))


def test_a_bare_stream_is_one_frame() -> None:
    data = written(many(1000), delimited=False, frame_rows=10)
    assert frame_sizes(data) == [1000]
    writer = jellyframe.open_writer(io.BytesIO(), delimited=False)
    writer.write_frame(many(1))
    with pytest.raises(EncodeError, match="one frame"):
        writer.write_frame(many(1))
    writer.discard()


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed(tmp_path: Path, compression: Compression) -> None:
    with jellyframe.open_writer(tmp_path / "file", compression=compression) as writer:
        writer.write(many(1000))
    with jellyframe.open_reader(tmp_path / "file") as reader:
        assert list(reader.statements()) == many(1000)


def test_nothing_appears_when_writing_fails(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with jellyframe.open_writer(tmp_path / "file.jelly") as writer:
            writer.write(many(10))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert os.listdir(tmp_path) == []


def test_a_closed_writer_refuses() -> None:
    writer = jellyframe.open_writer(io.BytesIO())
    writer.close()
    writer.close()
    with pytest.raises(EncodeError, match="closed"):
        writer.write(many(1))


def test_flush_makes_rows_readable() -> None:
    file = io.BytesIO()
    writer = jellyframe.open_writer(file)
    writer.write(many(3))
    writer.flush()
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == many(3)
    writer.close()


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (StreamOptions(PhysicalType.TRIPLES, LogicalType.DATASETS), {}),
        (StreamOptions(PhysicalType.QUADS, LogicalType.FLAT_TRIPLES), {}),
        (StreamOptions(max_name_table_size=7), {}),
        (StreamOptions(version=3), {}),
        (StreamOptions(logical_type=LogicalType.GRAPHS), {"index": True}),
        (StreamOptions(max_name_table_size=2**31 - 1), {}),
        (StreamOptions(max_prefix_table_size=2**70), {}),
        (StreamOptions(max_datatype_table_size=-1), {}),
        (StreamOptions(max_prefix_table_size=1.5), {}),  # type: ignore[arg-type]
        (StreamOptions(stream_name="a\ud800b"), {}),
        (None, {"frame_rows": 0}),
        (None, {"frame_rows": 2**70}),
        (None, {"frame_bytes": -1}),
        (None, {"frame_bytes": 10**30}),
        (None, {"restart_every": 0}),
        (None, {"restart_every": -1}),
        (None, {"restart_every": 2**63}),
        (None, {"restart_every": "often"}),
        (None, {"index": True, "compression": "gzip"}),
        (None, {"index": True, "delimited": False}),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: StreamOptions | None, arguments) -> None:
    with pytest.raises(OptionsError):
        jellyframe.open_writer(tmp_path / "file", options, **arguments)
    assert os.listdir(tmp_path) == []


def test_files_to_paths_have_restart_points_by_default(tmp_path: Path) -> None:
    long = [Triple(A, B, Literal(str(number) * 1000)) for number in range(4000)]
    with jellyframe.open_writer(tmp_path / "file.jelly") as writer:
        writer.write(long)
    with (tmp_path / "file.jelly").open("rb") as file:
        assert len(jellyframe.stream.index.restart_points(file)) == 2
    assert len(jellyframe.stream.index.restart_points(io.BytesIO(written(long)))) == 1


def test_a_table_with_frames_keeps_them() -> None:
    options = StreamOptions(logical_type=LogicalType.GRAPHS)
    file, copy = io.BytesIO(), io.BytesIO()
    with jellyframe.open_writer(file, options) as writer:
        for size in (3, 10, 1):
            writer.write_frame(many(size))
    table = jellyframe.read_table(file.getvalue(), frame_column=True)
    jellyframe.write_table(table, copy, options)
    assert frame_sizes(copy.getvalue()) == [3, 10, 1]


def test_a_refused_graph_does_not_disturb_the_next_statements(twin: ModuleType) -> None:
    iris = [twin.IRI(f"http://example.org/{number}") for number in range(8)]
    good = [twin.Quad(*iris[at : at + 4]) for at in (0, 1, 2, 4)]
    file = io.BytesIO()
    options = StreamOptions(PhysicalType.GRAPHS, generalized_statements=False, rdf_star=False)
    with twin.open_writer(file, options) as writer:
        for quad in good:
            writer.write([quad])
            for graph in (twin.Literal("no graph"), iris[5]):
                with pytest.raises(EncodeError):
                    writer.write([twin.Quad(iris[7], twin.BlankNode("b"), iris[6], graph)])
    with twin.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == good
    # Nor is a graph begun for a statement that is refused: four graphs, each with its start and its end.
    assert file.getvalue().count(b"\x0a\x02\x2a\x00") == 4


def test_a_refused_statement_leaves_no_frame() -> None:
    file = io.BytesIO()
    options = StreamOptions(logical_type=LogicalType.GRAPHS, rdf_star=False)
    with jellyframe.open_writer(file, options) as writer:
        writer.write_frame(many(2))
        with pytest.raises(EncodeError):
            writer.write([Triple(IRI("http://new.org/x"), B, STAR)])
        writer.flush()
    assert frame_sizes(file.getvalue()) == [2]


class StopError(Exception):
    """An error of the caller's iterable."""


def failing(items: Iterable[Any]) -> Iterator[Any]:
    yield from items
    raise StopError


@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_statements_before_a_foreign_error_are_written(count: int) -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file) as writer:
        with pytest.raises(StopError):
            writer.write(failing(many(count)))
        writer.write(many(2))
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == many(count) + many(2)


def test_frames_and_tables_before_a_foreign_error_are_written() -> None:
    file = io.BytesIO()
    record_batch = Batch.from_statements(many(3)).to_arrow()
    reader = pa.RecordBatchReader.from_batches(record_batch.schema, failing([record_batch, record_batch]))
    with jellyframe.open_writer(file) as writer:
        with pytest.raises(StopError):
            writer.write_table(reader)
        with pytest.raises(StopError):
            writer.write_frame(failing(many(4)))
        writer.end_frame()
    with jellyframe.open_reader(file.getvalue()) as read:
        assert list(read.statements()) == many(3) * 2 + many(4)


def test_the_first_statement_decides_only_if_it_is_accepted() -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file) as writer:
        writer.declare_namespace("ex", "http://example.org/")
        for refused in ([(A, B)], [(A, B, "text")], [Triple(A, B, deep(100))]):
            with pytest.raises(EncodeError):
                writer.write(refused)  # type: ignore[arg-type]
        assert writer.options is None
        writer.write([Quad(A, B, C, A)])
    with jellyframe.open_reader(file.getvalue()) as reader:
        assert list(reader.statements()) == [Quad(A, B, C, A)]
        assert reader.namespaces == {"ex": "http://example.org/"}


def deep(levels: int) -> Triple:
    term = Triple(A, B, C)
    for _ in range(levels):
        term = Triple(term, B, C)
    return term


@pytest.mark.parametrize(
    "statement", [Triple(A, B, C), STAR, GENERALIZED, Quad(A, B, C, A), Quad(A, B, C, Literal("g"))]
)
def test_default_options_are_the_same_everywhere(statement: Triple | Quad) -> None:
    assert written([statement]) == written([statement], StreamOptions()) == written([statement], StreamOptions.big())
    assert jellyframe.dumps([statement]) == jellyframe.dumps([statement], StreamOptions())


@pytest.mark.parametrize("what", ["namespace", "metadata", "index"])
@pytest.mark.parametrize("late", [False, True])
def test_the_version_of_copied_options_rises_by_itself(tmp_path: Path, what: str, late: bool) -> None:
    path = tmp_path / "file.jelly"
    options = StreamOptions(version=1)
    with jellyframe.open_writer(path, options, index=what == "index", restart_every=20_000) as writer:
        if late:
            writer.write(many(20_000))
            writer.flush()
        if what == "namespace":
            writer.declare_namespace("ex", IRI("http://example.org/"))
        elif what == "metadata":
            writer.end_frame({"key": b"value"})
        writer.write(many(5))
    with jellyframe.open_reader(path) as reader:
        assert reader.options.version == 2
        assert list(reader.statements()) == many(20_000 if late else 0) + many(5)


@pytest.mark.parametrize(
    "refused",
    [
        lambda writer: writer.declare_namespace("a\ud800", "http://example.org/"),
        lambda writer: writer.declare_namespace("a", "http://example.org/\udfff"),
        lambda writer: writer.declare_namespace("a", None),
        lambda writer: writer.end_frame({"a\ud800": b""}),
        lambda writer: writer.end_frame({"a": "text"}),
        lambda writer: writer.write([Triple(IRI("x:\ud800"), B, C)]),
    ],
)
def test_lone_surrogates_are_refused_and_change_nothing(refused: Callable[[jellyframe.JellyWriter], None]) -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file) as writer:
        writer.write(many(1))
        with pytest.raises(EncodeError) as caught:
            refused(writer)
        assert str(caught.value).isprintable()
    assert options_of(file.getvalue()).version == 1
    assert frame_sizes(file.getvalue()) == [1]


def test_large_tables_take_memory_as_they_fill(twin: ModuleType) -> None:
    file = io.BytesIO()
    options = StreamOptions(max_name_table_size=1 << 24, max_prefix_table_size=1 << 24, max_datatype_table_size=1 << 24)
    statements = [
        twin.Triple(twin.IRI(f"http://{n % 300}.org/{n}"), twin.IRI("x:p"), twin.Literal("x", f"x:{n % 99}"))
        for n in range(1000)
    ]
    with twin.open_writer(file, options) as writer:
        writer.write(statements)
    limits = jellyframe.Limits(
        max_name_table_size=1 << 24, max_prefix_table_size=1 << 24, max_datatype_table_size=1 << 24
    )
    with twin.open_reader(file.getvalue(), limits=limits) as reader:
        assert list(reader.statements()) == statements


@pytest.mark.parametrize(
    "limit",
    [
        {"max_nesting_depth": 10**9},
        {"max_name_table_size": 2**31 - 1},
        {"max_frame_bytes": 2**31},
        {"max_frame_bytes": 1.5},
        {"max_inflated_bytes": -1},
        {"max_prefix_table_size": True},
    ],
)
def test_invalid_limits_are_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(OptionsError, match=next(iter(limit))):
        jellyframe.Limits(**limit)
