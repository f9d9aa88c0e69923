"""Each option of `rdf transcode`, by the real command."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Unpack

import pytest

from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Literal,
    LogicalType,
    PhysicalType,
    Quad,
    StreamOptions,
    Triple,
    open_reader,
    open_writer,
)
from jellyframe.stream.index import read_index, restart_points
from jellyframe.stream.writer import WriterSettings
from support import wire
from support.command import canonical, error_of, run

S, P, G = IRI("http://a/s"), IRI("http://a/p"), IRI("http://a/g")


def stream(
    name: str, options: StreamOptions | None = None, frames: int = 3, **settings: Unpack[WriterSettings]
) -> bytes:
    """Frames of five triples each, with metadata and a namespace."""
    sink = io.BytesIO()
    with open_writer(sink, options or StreamOptions(logical_type=LogicalType.FLAT_TRIPLES), **settings) as writer:
        writer.declare_namespace("a", "http://a/")
        for frame in range(frames):
            names = [IRI(f"http://{name}/{frame}/{row}") for row in range(5)]
            statements: list[Triple | Quad] = [Triple(S, P, other) for other in names]
            if options is not None and options.has_graph:
                statements = [Quad(S, P, other, G if i else DEFAULT_GRAPH) for i, other in enumerate(names)]
            writer.write_frame(statements, {"frame": b"%d" % frame})
    return sink.getvalue()


def lines(data: bytes) -> list[str]:
    with open_reader(data, concatenated=True) as reader:
        return [statement.to_line() for statement in reader.statements()]


QUADS = StreamOptions(physical_type=PhysicalType.QUADS, logical_type=LogicalType.FLAT_QUADS)


def test_frames_namespaces_metadata_and_options_are_kept() -> None:
    data = stream("x", StreamOptions.small(logical_type=LogicalType.GRAPHS, stream_name="mine"))
    again = run("rdf", "transcode", data=data).out
    with open_reader(data) as old, open_reader(again) as new:
        assert new.options == old.options
        for before, after in zip(old.frames(), new.frames(), strict=True):
            assert (after.statements(), after.metadata) == (before.statements(), before.metadata)
        assert new.namespaces == old.namespaces == {"a": "http://a/"}


def test_index_of_the_old_file_is_left_out(tmp_path: Path) -> None:
    data = stream("x", index=True)
    with open_reader(run("rdf", "transcode", data=data).out) as reader:
        assert [frame.metadata for frame in reader.frames()] == [{"frame": b"0"}, {"frame": b"1"}, {"frame": b"2"}]


def test_many_inputs_patterns_and_standard_input(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"part-{number}.jelly").write_bytes(stream(f"n{number}"))
    out = run("rdf", "transcode", "part-*.jelly", "--to", "all.jelly", "-", data=stream("stdin"), cwd=tmp_path).out
    assert out == b""
    expected = [line for number in range(3) for line in lines(stream(f"n{number}"))] + lines(stream("stdin"))
    assert lines((tmp_path / "all.jelly").read_bytes()) == expected
    assert "no file" in error_of("rdf", "transcode", "nothing-*.jelly", cwd=tmp_path)
    assert "only once" in error_of("rdf", "transcode", "-", "-", cwd=tmp_path)


def test_concatenated_streams_with_other_options_are_joined() -> None:
    data = stream("one", StreamOptions(stream_name="1")) + stream("two", StreamOptions(stream_name="2"))
    message = error_of("rdf", "transcode", data=data)
    assert "the options change inside the stream: stream_name '1' to '2'" in message
    assert "it may be several streams, one after the other" in message
    assert len(lines(run("rdf", "transcode", "--concatenated", data=data).out)) == 30


@pytest.mark.parametrize("index", [False, True])
def test_our_own_streams_of_equal_options_need_no_flag(index: bool) -> None:
    """The output of `cat a.jelly b.jelly`."""
    parts = [stream(name, frames=40, index=index, restart_every=300) for name in ("one", "two", "three")]
    expected = [line for part in parts for line in lines(part)]
    for flag in ((), ("--concatenated",)):
        assert lines(run("rdf", "transcode", *flag, data=b"".join(parts)).out) == expected


def version_1(name: str) -> bytes:
    sink = io.BytesIO()
    with open_writer(sink, StreamOptions(logical_type=LogicalType.FLAT_TRIPLES, version=1)) as writer:
        writer.write([Triple(S, P, IRI(f"http://{name}/o"))])
    return sink.getvalue()


def test_version_rises_where_the_output_needs_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old.jelly", tmp_path / "new.jelly"
    old.write_bytes(version_1("old"))
    with open_reader(run("rdf", "transcode", old).out) as reader:
        assert reader.options.version == 1
    run("rdf", "transcode", old, "--index", "--to", new)
    with open(new, "rb") as file:
        assert read_index(file) is not None
    with open_reader(new) as reader:
        assert reader.options.version == 2
    # Namespaces in a stream that comes later, of which nothing is known beforehand.
    later = stream("later")
    for out in (
        run("rdf", "transcode", old, "-", data=later).out,
        run("rdf", "transcode", "--concatenated", data=old.read_bytes() * 5000 + later).out,
    ):
        with open_reader(out) as reader:
            assert lines(out)[-15:] == lines(later)
            list(reader.batches())
            assert reader.namespaces == {"a": "http://a/"}


def with_repeated_options() -> bytes:
    """A stream that repeats its options and continues with its lookup tables, ids and repeated terms."""
    rows = (wire.options(), wire.prefix("http://a/", 1), wire.name("s", 1), wire.name("p"), wire.name("o"))
    statement = wire.triple(wire.iri(1, 1), wire.iri(0, 0), wire.iri(0, 0))
    again = (wire.options(), wire.name("later"), wire.triple(None, None, wire.iri(0, 4)))
    return wire.stream(*rows, statement) + wire.stream(*again)


def test_repeated_options_continue_the_stream(tmp_path: Path) -> None:
    expected = ["<http://a/s> <http://a/p> <http://a/o> .", "<http://a/s> <http://a/p> <http://a/later> ."]
    data = with_repeated_options()
    assert lines(run("rdf", "transcode", data=data).out) == expected
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(data)
    for options in ([], ["--preset=small"]):
        run("rdf", "transcode", source, "--to", target, *options)
        assert lines(target.read_bytes()) == expected
    message = error_of("rdf", "transcode", "--concatenated", data=data)
    assert "it may only repeat those of the stream" in message


def test_the_error_suggests_concatenated_for_a_second_stream() -> None:
    """As a continuation its first entry would be the ninth of a table of eight."""
    rows = [wire.options(names=8), *(wire.name(f"http://a/{number}") for number in range(8))]
    rows.append(wire.triple(wire.iri(0, 1), wire.iri(0, 2), wire.iri(0, 3)))
    data = wire.stream(*rows)
    message = error_of("rdf", "transcode", data=data + data)
    assert "name entry id 9 is above the table's size of 8; the options are repeated before this" in message
    assert "these may be several streams, one after the other" in message
    assert len(lines(run("rdf", "transcode", "--concatenated", data=data + data).out)) == 2


@pytest.mark.parametrize(
    ("names", "prefixes", "datatypes"), [("8", "0", "0"), ("8", "1", "1"), ("4000", "150", "32"), ("8", "150", "0")]
)
def test_any_table_size_is_written(names: str, prefixes: str, datatypes: str) -> None:
    data = stream("x", frames=20)
    sizes = (
        f"--opt.max-name-table-size={names}",
        f"--opt.max-prefix-table-size={prefixes}",
        f"--opt.max-datatype-table-size={datatypes}",
    )
    again = run("rdf", "transcode", *sizes, data=data).out
    assert open_reader(again).options.max_name_table_size == int(names)
    assert lines(again) == lines(data)


def test_frames_regrouped() -> None:
    data = stream("x", frames=6)
    rows = run("rdf", "transcode", "--rows-per-frame=1000", data=data).out
    assert [len(frame) for frame in open_reader(rows).frames()] == [30]
    default = run("rdf", "transcode", "--frames=rows", data=data).out
    assert lines(default) == lines(data)
    grouped = stream("x", StreamOptions(logical_type=LogicalType.GRAPHS))
    assert "cannot be regrouped" in error_of("rdf", "transcode", "--rows-per-frame=10", data=grouped)
    flat = run("rdf", "transcode", "--rows-per-frame=1000", "--opt.logical-type=FLAT_TRIPLES", data=grouped).out
    assert [len(frame) for frame in open_reader(flat).frames()] == [15]
    assert "exclude" in error_of("rdf", "transcode", "--frames=keep", "--rows-per-frame=10", data=data)


def test_one_frame_for_each_input(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jelly", tmp_path / "b.jelly"]
    for path in paths:
        path.write_bytes(stream(path.stem))
    out = run("rdf", "transcode", "--frames", "input", "--opt.logical-type=GRAPHS", *paths).out
    assert [len(frame) for frame in open_reader(out).frames()] == [15, 15]


@pytest.mark.parametrize("physical", ["QUADS", "GRAPHS"])
def test_physical_types_convert(physical: str) -> None:
    triples = stream("x")
    out = run("rdf", "transcode", "--opt.physical-type", physical, data=triples).out
    options = open_reader(out).options
    assert (options.physical_type.name, options.logical_type) == (physical, LogicalType.FLAT_QUADS)
    assert lines(out) == lines(triples)
    back = run("rdf", "transcode", "--opt.physical-type=TRIPLES", data=out).out
    assert open_reader(back).options.logical_type is LogicalType.FLAT_TRIPLES
    assert lines(back) == lines(triples)
    quads = stream("x", QUADS)
    assert lines(run("rdf", "transcode", "--opt.physical-type", physical, data=quads).out) == lines(quads)


def test_named_graphs_become_triples_only_when_merged() -> None:
    quads = stream("x", QUADS)
    assert "statement 2 is in a named graph" in error_of("rdf", "transcode", "--opt.physical-type=TRIPLES", data=quads)
    merged = run("rdf", "transcode", "--merge-graphs", data=quads).out
    with open_reader(merged) as reader:
        assert reader.options.physical_type is PhysicalType.TRIPLES
        assert [frame.metadata["frame"] for frame in reader.frames()] == [b"0", b"1", b"2"]
    assert len(lines(merged)) == 15


def test_triples_and_quads_together_are_quads(tmp_path: Path) -> None:
    (tmp_path / "t.jelly").write_bytes(stream("t"))
    (tmp_path / "q.jelly").write_bytes(stream("q", QUADS.replace(rdf_star=True)))
    out = run("rdf", "transcode", "t.jelly", "q.jelly", cwd=tmp_path).out
    options = open_reader(out).options
    assert (options.physical_type, options.rdf_star) == (PhysicalType.QUADS, True)
    assert canonical("\n".join(lines(out))) == canonical("\n".join(lines(stream("t")) + lines(stream("q", QUADS))))


def test_writer_options(tmp_path: Path) -> None:
    (tmp_path / "model.jelly").write_bytes(stream("model", StreamOptions.small(stream_name="model")))
    data = stream("x")
    copied = open_reader(run("rdf", "transcode", "--options-from", tmp_path / "model.jelly", data=data).out).options
    assert (copied.stream_name, copied.max_name_table_size) == ("model", 128)
    small = open_reader(run("rdf", "transcode", "--preset=small", "--opt.stream-name=s", data=data).out).options
    assert (small.stream_name, small.max_name_table_size) == ("s", 128)
    packed = run("rdf", "transcode", "--compress=gzip", data=data).out
    assert packed.startswith(b"\x1f\x8b")
    assert lines(packed) == lines(data)
    bare = run("rdf", "transcode", "--delimited=false", data=data).out
    assert [len(frame) for frame in open_reader(bare, delimited=False).frames()] == [15]
    indexed = run("rdf", "transcode", "--index", "--restart-every=1k", data=stream("x", frames=300)).out
    assert indexed.endswith(b"JELLYIDX")


def test_validate_terms() -> None:
    sink = io.BytesIO()
    with open_writer(sink) as writer:
        writer.write([Triple(S, P, Literal("x", language="toolonglanguage"))])
    run("rdf", "transcode", data=sink.getvalue())
    assert "BCP 47" in error_of("rdf", "transcode", "--validate-terms", data=sink.getvalue())


class TestNothingToChange:
    """A file that our writer could have written is copied byte by byte; any other is rewritten."""

    def test_a_file_that_does_not_change_is_copied(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(stream("x"))
        run("rdf", "transcode", str(source), "--to", str(target))
        assert target.read_bytes() == source.read_bytes()

    def test_concatenation_of_our_streams_is_copied(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(stream("x") + stream("y"))
        run("rdf", "transcode", str(source), "--to", str(target))
        assert target.read_bytes() == source.read_bytes()

    def test_stream_that_counts_on_from_another_is_rewritten(self, tmp_path: Path) -> None:
        # Ids that are left out mean something else after another stream, to a reader that does not know where it ends.
        from jellyframe.proto import rdf_pb2

        def without_ids(data: bytes) -> bytes:
            length = data[0]
            assert length < 0x80
            assert len(data) == length + 1
            frame = rdf_pb2.RdfStreamFrame.FromString(data[1:])
            for row in frame.rows:
                for entry in (row.name, row.prefix):
                    if entry.id == 1:
                        entry.id = 0
            body = frame.SerializeToString()
            return bytes([len(body)]) + body

        def small(name: str) -> bytes:
            sink = io.BytesIO()
            with open_writer(sink, StreamOptions(logical_type=LogicalType.FLAT_TRIPLES)) as writer:
                writer.write([Triple(IRI(f"http://{name}/s"), IRI(f"http://{name}/p"), Literal("1"))])
            return sink.getvalue()

        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(small("x") + without_ids(small("y")))
        for is_concatenated in (True, False):
            with open_reader(source, concatenated=is_concatenated) as reader:
                expected = [statement.to_line() for statement in reader.statements()]
            run("rdf", "transcode", str(source), "--to", str(target), f"--concatenated={is_concatenated}")
            for reads_concatenated in (True, False):
                with open_reader(target, concatenated=reads_concatenated) as reader:
                    assert [statement.to_line() for statement in reader.statements()] == expected

    def test_options_that_change_are_not_copied(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(stream("x") + stream("y", StreamOptions(stream_name="other")))
        assert "the options change" in error_of("rdf", "transcode", str(source), "--to", str(target))
        assert [file.name for file in tmp_path.iterdir()] == ["a.jelly"]
        run("rdf", "transcode", str(source), "--to", str(target), "--concatenated")
        assert lines(target.read_bytes()) == lines(stream("x") + stream("y"))

    def test_index_stays_only_where_it_is_asked_for(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(stream("x", index=True))
        run("rdf", "transcode", str(source), "--to", str(target), "--index")
        assert target.read_bytes() == source.read_bytes()
        run("rdf", "transcode", str(source), "--to", str(target))
        assert read_index(io.BytesIO(target.read_bytes())) is None
        assert lines(target.read_bytes()) == lines(source.read_bytes())

    def test_large_file_without_restart_points_gets_some(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        with open_writer(source, StreamOptions(logical_type=LogicalType.FLAT_TRIPLES), restart_every=None) as writer:
            writer.write(Triple(S, P, Literal(f"{i:05}" + 1000 * "x")) for i in range(18_000))
        run("rdf", "transcode", str(source), "--to", str(target))
        with open(source, "rb") as old, open(target, "rb") as new:
            assert len(restart_points(old)) == 1
            assert len(restart_points(new)) > 1

    def test_a_damaged_file_is_not_copied(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.jelly", tmp_path / "b.jelly"
        source.write_bytes(stream("x")[:-1])
        assert "ends inside a frame" in error_of("rdf", "transcode", str(source), "--to", str(target))
        assert [file.name for file in tmp_path.iterdir()] == ["a.jelly"]
