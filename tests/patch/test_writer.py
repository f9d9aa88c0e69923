"""Writing patch streams: the rules for producers, and rows that are refused."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import EncodeError, JellyError, OptionsError
from jellyframe.stream.index import read_index, restart_points
from support import patch_oracle
from support.patch_streams import EX, STREAM_TYPES

every_stream_type = pytest.mark.parametrize("stream_type", STREAM_TYPES.values(), ids=STREAM_TYPES)


def iri(package: ModuleType, name: str) -> Any:
    return package.IRI(EX + name)


def adds(package: ModuleType, count: int) -> list[Any]:
    return [package.Add(*(iri(package, f"{role}{n}") for role in "spog")) for n in range(count)]


def written(package: ModuleType, rows: list[Any], options: Any = None, **settings: Any) -> bytes:
    sink = io.BytesIO()
    with package.open_patch_writer(sink, options, **settings) as writer:
        writer.write(rows)
    return sink.getvalue()


def kinds(data: bytes) -> list[list[str]]:
    """The kinds of the rows of each frame, as protobuf reads them."""
    return [[row.WhichOneof("row") for row in frame.rows] for frame in patch_oracle.parse_frames(data)]


@every_stream_type
@pytest.mark.parametrize("has_graph", [False, True], ids=["TRIPLES", "QUADS"])
def test_rows_read_back(twin: ModuleType, stream_type: int, has_graph: bool) -> None:
    graph = iri(twin, "g") if has_graph else None
    triple = twin.Triple(iri(twin, "a"), iri(twin, "b"), twin.Literal("1", "urn:d"))
    rows = [
        twin.Header("id", twin.Literal("x", language="en")),
        twin.Header("a key", triple),
        twin.TransactionStart(),
        twin.NamespaceAdd("ex", iri(twin, ""), graph),
        twin.Add(iri(twin, "a"), iri(twin, "b"), triple, graph),
        twin.Delete(twin.BlankNode("b"), iri(twin, "b"), triple, graph and twin.DEFAULT_GRAPH),
        twin.NamespaceDelete("ex", None, graph and twin.DEFAULT_GRAPH),
        twin.NamespaceDelete("", iri(twin, ""), graph),
        twin.TransactionCommit(),
        twin.TransactionStart(),
        twin.TransactionAbort(),
    ]
    options = twin.PatchOptions(statement_type=2 if has_graph else 1, stream_type=stream_type)
    data = written(twin, rows, options)
    with twin.open_patch_reader(data) as reader:
        assert reader.options == options
        assert [list(patch) for patch in reader.patches()] == [rows]
    marks = [("P",)] if stream_type == 3 else []
    assert patch_oracle.decode(data) == [patch_oracle.plain_row(row) for row in rows] + marks


def test_the_options_are_the_first_row_with_version_1(twin: ModuleType) -> None:
    first = patch_oracle.parse_frames(written(twin, []))[0].rows[0]
    assert first.WhichOneof("row") == "options"
    assert first.options.version == 1
    assert (first.options.statement_type, first.options.stream_type) == (2, 3)


def test_punctuation_is_written_at_the_end_of_a_frame_only(twin: ModuleType) -> None:
    one, two = adds(twin, 2)
    mark = twin.Punctuation()
    frames = kinds(written(twin, [one, mark, mark, two, one, mark, two]))
    assert [rows.index("punctuation") == len(rows) - 1 for rows in frames] == [True] * 4


@pytest.mark.parametrize("limits", [{"frame_rows": 1}, {"frame_bytes": 30}, {"frame_rows": 3, "frame_bytes": 100}])
def test_punctuation_is_at_the_end_of_a_frame_however_frames_are_cut(twin: ModuleType, limits: dict[str, int]) -> None:
    rows = [row for one in adds(twin, 20) for row in (one, twin.Punctuation())]
    data = written(twin, rows, **limits)
    assert all("punctuation" not in frame[:-1] for frame in kinds(data))
    assert patch_oracle.decode(data) == [patch_oracle.plain_row(row) for row in rows]


@pytest.mark.parametrize("stream_type", [1, 2], ids=["FRAME", "FLAT"])
def test_punctuation_is_refused_in_other_streams(twin: ModuleType, stream_type: int) -> None:
    with pytest.raises(EncodeError, match="row 1 of those given: a punctuation mark"):
        written(twin, [*adds(twin, 1), twin.Punctuation()], twin.PatchOptions(stream_type=stream_type))


def test_frames_of_a_frame_stream_are_ended_by_end_patch_alone(twin: ModuleType) -> None:
    sink = io.BytesIO()
    with twin.open_patch_writer(sink, twin.PatchOptions(stream_type=1), frame_rows=2, frame_bytes=10) as writer:
        writer.write(adds(twin, 9))
        writer.flush()
        writer.end_patch()
        writer.end_patch()
        writer.write(adds(twin, 3))
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [9, 0, 3]


def test_a_flat_stream_is_one_patch(twin: ModuleType) -> None:
    sink = io.BytesIO()
    with twin.open_patch_writer(sink, twin.PatchOptions(stream_type=2), frame_rows=2) as writer:
        writer.write(adds(twin, 5))
        with pytest.raises(EncodeError, match="FLAT is one patch"):
            writer.end_patch()
    assert len(kinds(sink.getvalue())) > 2
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [5]


def test_end_patch_ends_empty_patches_too(twin: ModuleType) -> None:
    sink = io.BytesIO()
    with twin.open_patch_writer(sink) as writer:
        writer.end_patch()
        writer.write(adds(twin, 2))
        writer.end_patch()
        writer.end_patch()
        assert writer.rows_written == 5
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert [(len(list(patch)), patch.is_complete) for patch in reader.patches()] == [
            (0, True),
            (2, True),
            (0, True),
        ]


def test_closing_ends_the_last_patch(twin: ModuleType) -> None:
    assert kinds(written(twin, adds(twin, 1)))[-1][-2:] == ["statement_add", "punctuation"]
    assert kinds(written(twin, [])) == [["options"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["TransactionCommit"], "row 0 of those given: a transaction commit outside"),
        (["TransactionAbort"], "row 0 of those given: a transaction abort outside"),
        (["TransactionStart", "TransactionStart"], "row 1 of those given: a transaction starts inside"),
        (["TransactionStart", "TransactionAbort", "TransactionCommit"], "row 2 of those given: a transaction commit"),
        (["TransactionStart", "Punctuation"], "row 1 of those given: the patch ends inside a transaction"),
        (["TransactionStart"], "the patch ends inside a transaction"),
    ],
)
def test_transactions_out_of_turn_are_refused(twin: ModuleType, given: list[str], message: str) -> None:
    with pytest.raises(EncodeError, match=message):
        written(twin, [getattr(twin, name)() for name in given])


def test_a_patch_cannot_end_inside_a_transaction(twin: ModuleType) -> None:
    for stream_type in (1, 3):
        sink = io.BytesIO()
        with twin.open_patch_writer(sink, twin.PatchOptions(stream_type=stream_type)) as writer:
            writer.write([twin.TransactionStart()])
            with pytest.raises(EncodeError, match="inside a transaction"):
                writer.end_patch()
            writer.write([twin.TransactionCommit()])
            writer.end_patch()
        with twin.open_patch_reader(sink.getvalue()) as reader:
            assert [len(list(patch)) for patch in reader.patches()] == [2]


def test_a_refused_row_leaves_no_trace(twin: ModuleType) -> None:
    good = adds(twin, 3)
    bad = [
        twin.Add(twin.DEFAULT_GRAPH, good[0].p, good[0].o, good[0].g),
        twin.Add(good[0].s, twin.Literal("p"), good[0].o, good[0].g),
        twin.Header("k", twin.DEFAULT_GRAPH),
        twin.Header("k", None),
        twin.Header(1, good[0].s),
        twin.NamespaceAdd("n", twin.Literal("x"), good[0].g),
        twin.NamespaceAdd("n", twin.DEFAULT_GRAPH, good[0].g),
        twin.NamespaceAdd(None, good[0].s, good[0].g),
        twin.NamespaceAdd("\ud800", good[0].s, good[0].g),
        twin.NamespaceDelete("n", None, twin.Triple(*good[0].statement[:3])),
        good[0].statement,
        None,
    ]
    sink = io.BytesIO()
    options = twin.PatchOptions(generalized_statements=False)
    with twin.open_patch_writer(sink, options) as writer:
        for row in bad:
            with pytest.raises(JellyError):
                writer.write([good[0], row, good[1]])
            writer.write([good[2]])
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert list(reader.rows()) == [good[0], good[2]] * len(bad) + [twin.Punctuation()]


def test_a_row_without_a_graph_is_in_the_default_graph_of_a_quads_stream(twin: ModuleType) -> None:
    row = twin.Add(iri(twin, "a"), iri(twin, "b"), iri(twin, "c"))
    with twin.open_patch_reader(written(twin, [row, twin.NamespaceDelete("n")])) as reader:
        assert [row.g for row in list(reader.rows())[:2]] == [twin.DEFAULT_GRAPH] * 2


def test_a_row_with_a_graph_is_refused_in_a_triples_stream(twin: ModuleType) -> None:
    with pytest.raises(EncodeError, match="statement_type to QUADS"):
        written(twin, adds(twin, 1), twin.PatchOptions(statement_type=1))
    with twin.open_patch_reader(written(twin, adds(twin, 1))) as reader:
        (batch,) = reader.batches()
    with (
        pytest.raises(EncodeError, match="statement_type to QUADS"),
        twin.open_patch_writer(io.BytesIO(), twin.PatchOptions(statement_type=1)) as writer,
    ):
        writer.write_batch(batch)


def test_batches_are_written_as_they_are_read(twin: ModuleType) -> None:
    rows = [twin.Header("id", twin.Literal("1")), *adds(twin, 500), twin.Punctuation()]
    sink = io.BytesIO()
    with twin.open_patch_reader(written(twin, rows), batch_rows=37) as reader, twin.open_patch_writer(sink) as writer:
        for batch in reader.batches():
            assert batch.op is not None
            writer.write_batch(batch)
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert list(reader.rows()) == rows


def test_a_batch_of_statements_is_refused(twin: ModuleType) -> None:
    batch = twin.Batch.from_statements([adds(twin, 1)[0].statement])
    with twin.open_patch_writer(io.BytesIO()) as writer, pytest.raises(ValueError, match="no operations"):
        writer.write_batch(batch)


@pytest.mark.parametrize(
    "changes", [{"statement_type": 0}, {"stream_type": 0}, {"version": 2}, {"max_name_table_size": 7}]
)
def test_invalid_options_are_refused(twin: ModuleType, changes: dict[str, Any]) -> None:
    with pytest.raises(OptionsError):
        twin.open_patch_writer(io.BytesIO(), twin.PatchOptions(**changes))


def test_presets(twin: ModuleType) -> None:
    small, big = twin.PatchOptions.small(stream_type=1), twin.PatchOptions.big()
    assert (small.max_name_table_size, small.max_prefix_table_size, small.max_datatype_table_size) == (128, 16, 16)
    assert small.stream_type == 1
    assert big == twin.PatchOptions()
    assert (big.statement_type, big.stream_type) == (2, 3)
    assert twin.PatchOptions.from_bytes(small.to_bytes()) == small


# ---- restart points and index ----


def transactions(package: ModuleType, count: int, rows: int) -> list[Any]:
    return [
        row
        for number in range(count)
        for row in (
            package.TransactionStart(),
            *(package.Add(*(iri(package, f"{role}{number}.{n}") for role in "spog")) for n in range(rows)),
            package.TransactionCommit(),
        )
    ]


@pytest.mark.parametrize("index", [False, True], ids=["scanned", "indexed"])
def test_a_flat_stream_restarts_outside_of_transactions_only(twin: ModuleType, tmp_path: Path, index: bool) -> None:
    path = tmp_path / "log.jellyp"
    rows = transactions(twin, 40, 7)
    options = twin.PatchOptions(stream_type=2)
    with twin.open_patch_writer(path, options, restart_every=200, frame_rows=3, index=index) as writer:
        writer.write(rows)
        expected = [offset for offset, _ in writer.restarts]
    assert len(expected) > 10
    with path.open("rb") as file:
        assert (read_index(file) is not None) == index
        points = [point.offset for point in restart_points(file)]
    assert points == expected
    read: list[Any] = []
    for start, stop in zip(points, [*points[1:], None], strict=True):
        with twin.open_patch_reader(path, byte_range=(start, stop)) as reader:
            part = list(reader.rows())
        assert part[0] == twin.TransactionStart()
        assert part[-1] == twin.TransactionCommit()
        read += part
    assert read == rows
    assert [patch_oracle.build_row(twin, row) for row in patch_oracle.decode(path.read_bytes())] == rows


def test_a_punctuated_stream_restarts_between_patches_only(twin: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "log.jellyp"
    with twin.open_patch_writer(path, restart_every=100, frame_rows=3, index=True) as writer:
        for number in range(30):
            writer.write([twin.Header("id", twin.Literal(str(number))), *transactions(twin, 2, 5), *adds(twin, 3)])
            writer.end_patch()
        points = [offset for offset, _ in writer.restarts]
    assert len(points) > 10
    patches = 0
    for start, stop in zip(points, [*points[1:], None], strict=True):
        with twin.open_patch_reader(path, byte_range=(start, stop)) as reader:
            for patch in reader.patches():
                assert patch.headers == {"id": twin.Literal(str(patches))}
                assert len(list(patch)) == 18
                assert patch.is_complete
                patches += 1
    assert patches == 30


def test_a_frame_stream_restarts_at_frames_and_has_no_index(twin: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "log.jellyp"
    options = twin.PatchOptions(stream_type=1)
    with pytest.raises(OptionsError, match="an empty patch"):
        twin.open_patch_writer(path, options, index=True)
    with twin.open_patch_writer(path, options, restart_every=1) as writer:
        for _ in range(4):
            writer.write(transactions(twin, 1, 2))
            writer.end_patch()
    assert [frame[0] for frame in kinds(path.read_bytes())] == ["options"] * 4
    with twin.open_patch_reader(path) as reader:
        assert [len(list(patch)) for patch in reader.patches()] == [4] * 4


def test_files_of_equal_options_can_be_concatenated(twin: ModuleType) -> None:
    rows = [*transactions(twin, 2, 3), twin.Punctuation()]
    data = written(twin, rows)
    with twin.open_patch_reader(data * 3) as reader:
        assert list(reader.rows()) == rows * 3
    flat = written(twin, adds(twin, 2), twin.PatchOptions(stream_type=2))
    with twin.open_patch_reader(data + flat, concatenated=True) as reader:
        assert list(reader.rows()) == [*rows, *adds(twin, 2)]


# ---- files ----


def test_a_file_appears_when_the_writer_is_closed(twin: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.jellyp"
    with twin.open_patch_writer(path) as writer:
        writer.write(adds(twin, 1))
        assert not path.exists()
    assert path.exists()


def test_nothing_appears_after_an_error_or_with_an_open_transaction(twin: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.jellyp"

    def fail() -> None:
        with twin.open_patch_writer(path) as writer:
            writer.write(adds(twin, 1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with pytest.raises(EncodeError, match="transaction"), twin.open_patch_writer(path) as writer:
        writer.write([twin.TransactionStart()])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
def test_compressed_files(twin: ModuleType, tmp_path: Path, compression: Any) -> None:
    path = tmp_path / "a.jellyp"
    with twin.open_patch_writer(path, compression=compression) as writer:
        writer.write(adds(twin, 50))
    with twin.open_patch_reader(path) as reader:
        assert len(list(reader.rows())) == 51


def test_a_bare_stream_is_one_frame(twin: ModuleType) -> None:
    sink = io.BytesIO()
    with twin.open_patch_writer(sink, delimited=False, frame_rows=2) as writer:
        writer.write(adds(twin, 9))
        writer.end_patch()
        with pytest.raises(EncodeError, match="one frame only"):
            writer.write(adds(twin, 1))
    with twin.open_patch_reader(sink.getvalue()) as reader:
        assert len(list(reader.rows())) == 10


def test_a_closed_writer_and_a_closed_reader_refuse(twin: ModuleType) -> None:
    sink = io.BytesIO()
    writer = twin.open_patch_writer(sink)
    writer.close()
    for call in (writer.end_patch, writer.flush, lambda: writer.write([])):
        with pytest.raises(EncodeError, match="closed"):
            call()
    reader = twin.open_patch_reader(sink.getvalue())
    reader.close()
    for view in (reader.rows, reader.batches, reader.transactions, reader.patches):
        with pytest.raises(JellyError, match="closed"):
            next(iter(view()))


def test_rows_before_an_error_of_the_iterable_are_written(twin: ModuleType) -> None:
    def failing() -> Any:
        yield from adds(twin, 3)
        raise RuntimeError

    sink = io.BytesIO()
    with twin.open_patch_writer(sink) as writer:
        with pytest.raises(RuntimeError):
            writer.write(failing())
        assert writer.rows_written == 3
        writer.write(adds(twin, 1))
    assert len(patch_oracle.decode(sink.getvalue())) == 5


def test_a_statement_with_more_prefixes_than_the_table_is_written_with_whole_iris(twin: ModuleType) -> None:
    rows = [
        twin.NamespaceAdd("n", twin.IRI("http://a/x"), twin.IRI("http://b/x")),
        twin.Add(twin.IRI("http://c/x"), twin.IRI("http://d/x"), twin.IRI("http://e/x"), twin.IRI("http://b/x")),
        twin.Header("k", twin.Triple(twin.IRI("http://c/x"), twin.IRI("http://d/x"), twin.IRI("http://e/x"))),
    ]
    data = written(twin, rows, twin.PatchOptions(max_prefix_table_size=1))
    assert patch_oracle.decode(data)[:-1] == [patch_oracle.plain_row(row) for row in rows]
