"""`rdf transcode` with several processes: the same result as with one, and failures of workers."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

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
    open_reader,
    open_writer,
)
from jellyframe.stream.index import read_index, restart_points
from support import wire
from support.command import environment, error_of, run

PIECE_BYTES = 1500
# The real command, but for the size of the pieces; `{more}` is for what else is to be different.
_PROGRAM = f"""
import functools, io, os, signal, sys
from jellyframe.ops import joining, rewriting
from jellyframe.cli.main import main
rewriting.rewrite_in_pieces = functools.partial(rewriting.rewrite_in_pieces, piece_bytes={PIECE_BYTES})
really_rewrite = joining._rewrite
{{more}}
sys.exit(main())
"""

_EVERY_UPDATE_IS_SHOWN = "from jellyframe.cli import progress; progress.REFRESH_SECONDS = 1e-6"


def in_pieces(*arguments: str | Path, more: str = "") -> list[str]:
    """The command line of `rdf transcode` that cuts even small files into pieces."""
    return [sys.executable, "-c", _PROGRAM.format(more=more), "rdf", "transcode", *map(str, arguments), "--jobs=3"]


def run_in_pieces(*arguments: str | Path, more: str = "", code: int = 0) -> str:
    """Run it, and expect an exit code. What it writes to standard error."""
    done = subprocess.run(in_pieces(*arguments, more=more), capture_output=True, env=environment(), check=False)
    assert done.returncode == code, done
    assert done.stdout == b""
    return done.stderr.decode()


# ---- inputs ----


def triples(start: int, stop: int) -> list[Triple]:
    """Every kind of term where it may stand in RDF-star, and generalized statements."""
    return [
        Triple(
            (IRI(f"http://a/thing/{i // 4}"), BlankNode(f"b{i % 9}"), Literal("subject"))[i % 3],
            IRI(f"http://a/terms#p{i % 5}"),
            (
                Literal(f"text {i}", language="en"),
                Literal(f"{i}", datatype="http://www.w3.org/2001/XMLSchema#integer"),
                Triple(IRI(f"http://a/quoted/{i}"), IRI("http://a/p"), Literal("said")),
                IRI(f"http://b/{i}"),
            )[i % 4],
        )
        for i in range(start, stop)
    ]


def quads(start: int, stop: int) -> list[Quad]:
    graphs = (DEFAULT_GRAPH, IRI("http://a/g"), BlankNode("g"))
    return [Quad(*triple, graphs[i // 7 % 3]) for i, triple in enumerate(triples(start, stop), start)]


def stream(physical: str = "TRIPLES", **settings: object) -> bytes:
    """Frames with metadata now and then, namespaces that come again and change, and many restart points."""
    options = StreamOptions(
        PhysicalType[physical],
        LogicalType.FLAT_TRIPLES if physical == "TRIPLES" else LogicalType.FLAT_QUADS,
        generalized_statements=True,
        rdf_star=True,
        version=2,
    )
    sink = io.BytesIO()
    statements = triples if physical == "TRIPLES" else quads
    with open_writer(sink, options, restart_every=400, **settings) as writer:  # type: ignore[arg-type]
        for frame in range(60):
            if frame % 10 == 0:
                writer.declare_namespace("a", "http://a/")
                writer.declare_namespace("changes", f"http://b/{frame // 20}/")
            metadata = {"frame": b"%d" % frame} if frame % 3 == 0 else None
            writer.write_frame(statements(frame * 13, frame * 13 + 13), metadata)
    return sink.getvalue()


@functools.cache
def inputs() -> dict[str, bytes]:
    plain = stream()
    return {
        "triples": plain,
        "quads": stream("QUADS"),
        "graphs": stream("GRAPHS"),
        "with an index": stream(index=True),
        "concatenated": plain + stream(index=True) + plain,
        "of other options": plain + small_stream() + plain,
    }


def small_stream() -> bytes:
    sink = io.BytesIO()
    with open_writer(
        sink, StreamOptions.small(stream_name="other", rdf_star=True, generalized_statements=True)
    ) as writer:
        writer.write(triples(0, 50))
    return sink.getvalue()


def content(path: Path) -> list[tuple[object, ...]]:
    """Frame by frame: statements, namespaces, metadata; without the index."""
    with open_reader(path) as reader:
        frames = [(frame.statements(), list(frame.namespaces), frame.metadata) for frame in reader.frames()]
    if read_index(io.BytesIO(path.read_bytes())) is not None:
        frames.pop()
    return frames  # type: ignore[return-value]


def rows_of(frames: list[tuple[object, ...]]) -> list[object]:
    return [row for statements, _namespaces, _metadata in frames for row in statements]  # type: ignore[attr-defined]


# ---- the same as one process ----


@pytest.mark.parametrize("name", list(inputs()))
@pytest.mark.parametrize(
    "options",
    [
        ["--opt.max-name-table-size=16"],
        ["--preset=small", "--index", "--validate-terms"],
        ["--opt.physical-type=QUADS", "--opt.stream-name=other"],
        ["--opt.physical-type=GRAPHS", "--opt.max-name-table-size=50", "--restart-every=300"],
        ["--merge-graphs", "--opt.max-prefix-table-size=0"],
    ],
    ids=" ".join,
)
def test_frames_equal_those_of_one_process(name: str, options: list[str], tmp_path: Path) -> None:
    source, one, many = tmp_path / "in.jelly", tmp_path / "one.jelly", tmp_path / "many.jelly"
    source.write_bytes(inputs()[name])
    if name == "of other options":
        options = [*options, "--concatenated"]
    run("rdf", "transcode", source, "--to", one, *options, "--jobs=1")
    assert run_in_pieces(source, "--to", many, *options) == ""
    assert content(many) == content(one)
    with open_reader(one) as expected, open_reader(many) as found:
        assert found.options == expected.options
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.jelly", "many.jelly", "one.jelly"]
    with open(many, "rb") as file:
        offsets = [point.offset for point in restart_points(file)]
    assert len(offsets) >= len(inputs()[name]) // PIECE_BYTES // 2
    pieces = []
    for span in pairwise([*offsets, many.stat().st_size]):
        with open_reader(many, byte_range=span) as reader:
            pieces += list(reader.statements())
    assert pieces == rows_of(content(one))


def test_frames_by_rows(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(stream())
    run_in_pieces(source, "--to", target, "--rows-per-frame=30")
    frames = content(target)
    assert rows_of(frames) == rows_of(content(source))
    assert max(len(statements) for statements, _namespaces, _metadata in frames) <= 30  # type: ignore[arg-type]
    one = tmp_path / "one.jelly"
    run("rdf", "transcode", source, "--to", one, "--rows-per-frame=30", "--jobs=1")
    with open_reader(one) as expected, open_reader(target) as found:
        assert [batch.namespaces for batch in found.batches()] != []
        assert found.namespaces == {name: iri for batch in expected.batches() for _, name, iri in batch.namespaces}


def test_index_counts_from_the_start_of_the_file(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(stream("QUADS", index=True))
    run_in_pieces(source, "--to", target, "--index", "--opt.max-name-table-size=64", "--restart-every=700")
    with open(target, "rb") as file:
        index = read_index(file)
    assert index is not None
    assert (index.start, index.stop, index.statements) == (0, target.stat().st_size, 60 * 13)
    assert len(index.restarts) > len(source.read_bytes()) // PIECE_BYTES // 2
    for point in index.restarts:
        with open_reader(target, byte_range=(point.offset, None)) as reader:
            assert len(list(reader.statements())) == index.statements - (point.statements or 0)


def test_plain_and_compressed_files_are_joined(tmp_path: Path) -> None:
    from gzip import compress

    parts = [stream(), compress(stream("QUADS")), small_stream(), small_stream(), stream("GRAPHS")]
    paths = [tmp_path / f"{number}.jelly" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(part)
    one, many = tmp_path / "one.jelly", tmp_path / "many.jelly"
    run("rdf", "transcode", *paths, "--to", one, "--jobs=1")
    assert run_in_pieces(*paths, "--to", many) == ""
    assert content(many) == content(one)
    with open(many, "rb") as file:
        assert len(restart_points(file)) > len(paths)


def test_compressed_output(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly.gz"
    source.write_bytes(stream())
    run_in_pieces(source, "--to", target, "--preset=small")
    assert target.read_bytes().startswith(b"\x1f\x8b")
    assert rows_of(content(target)) == rows_of(content(source))


def test_a_large_file_is_split_by_default(tmp_path: Path) -> None:
    source, one, two = tmp_path / "in.jelly", tmp_path / "one.jelly", tmp_path / "two.jelly"
    with open_writer(source, StreamOptions(logical_type=LogicalType.FLAT_TRIPLES)) as writer:
        writer.write(
            Triple(IRI(f"http://a/{i % 300}"), IRI("http://a/p"), Literal(f"{i:05}" + 1000 * "x"))
            for i in range(20_000)
        )
    run("rdf", "transcode", source, "--to", one, "--preset=small", "--jobs", "1")
    run("rdf", "transcode", source, "--to", two, "--preset=small", "-j", "2")
    assert content(two) == content(one)
    with open(two, "rb") as new, open(source, "rb") as old:
        assert len(restart_points(new)) == len(restart_points(old)) == 3


@pytest.mark.parametrize(
    "options",
    [
        ["--restart-every=off"],
        ["--restart-every=16MiB"],
        ["--frames=input"],
        ["--delimited=false"],
        ["--opt.logical-type=GRAPHS"],
    ],
    ids=" ".join,
)
def test_some_options_use_one_process(options: list[str], tmp_path: Path) -> None:
    source, one, many = tmp_path / "in.jelly", tmp_path / "one.jelly", tmp_path / "many.jelly"
    source.write_bytes(stream())
    options = ["--opt.stream-name=other", *options]
    run("rdf", "transcode", source, "--to", one, *options, "--jobs=1")
    assert run_in_pieces(source, "--to", many, *options) == ""
    assert many.read_bytes() == one.read_bytes()


def test_progress_counts_all_processes(tmp_path: Path) -> None:
    source = tmp_path / "in.jelly"
    source.write_bytes(stream())
    ours, theirs = pty.openpty()
    command = in_pieces(source, "--to", tmp_path / "out.jelly", "--preset=small", more=_EVERY_UPDATE_IS_SHOWN)
    with subprocess.Popen(command, stderr=theirs, env=environment()) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert process.returncode == 0, shown
    last = shown.split(b"\r\x1b[K")[-2]
    assert re.match(rb"\[#{12}\] 100 % .* of .*B, 780 statements, ", last), shown


# ---- what goes wrong ----


def test_number_of_processes_is_positive() -> None:
    for number in ("0", "-1", "many"):
        assert "--jobs" in error_of("rdf", "transcode", f"--jobs={number}")


def test_a_bad_frame_gives_the_message_of_one_process(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    data = bytearray(stream())
    at = data.rindex(b"text 600")
    data[at : at + 2] = b"\xff\xff"
    for bad in (bytes(data), bytes(data[:-1])):
        source.write_bytes(bad)
        expected = error_of("rdf", "transcode", source, "--to", target, "--preset=small", "--jobs=1")
        assert f"{source}: frame " in expected
        assert run_in_pieces(source, "--to", target, "--preset=small", code=2) == expected
    source.write_bytes(stream("QUADS"))
    expected = error_of("rdf", "transcode", source, "--to", target, "--opt.physical-type=TRIPLES", "--jobs=1")
    assert "statement 8 is in a named graph" in expected
    assert run_in_pieces(source, "--to", target, "--opt.physical-type=TRIPLES", code=2) == expected
    assert [file.name for file in tmp_path.iterdir()] == ["in.jelly"]


def test_late_namespaces_raise_the_version(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    sink = io.BytesIO()
    with open_writer(sink, StreamOptions(generalized_statements=True, rdf_star=True, version=1)) as writer:
        writer.write(triples(0, 400))
    source.write_bytes(sink.getvalue() + stream())
    one = tmp_path / "one.jelly"
    options = ["--preset=small", "--concatenated"]
    run("rdf", "transcode", source, "--to", one, *options, "--jobs=1")
    run_in_pieces(source, "--to", target, *options)
    assert content(target) == content(one)


def test_options_that_change_at_the_start_of_a_piece_are_found(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(inputs()["of other options"])
    expected = error_of("rdf", "transcode", source, "--to", target, "--preset=small", "--jobs=1")
    assert "the options change inside the stream" in expected
    assert run_in_pieces(source, "--to", target, "--preset=small", code=2) == expected
    # The second part begins a piece, so that each piece is good by itself.
    second = io.BytesIO()
    with open_reader(stream()) as reader, open_writer(second, reader.options.replace(stream_name="other")) as writer:
        for frame in reader.frames():
            writer.write_frame(frame)
    source.write_bytes(stream() + second.getvalue())
    expected = error_of("rdf", "transcode", source, "--to", target, "--preset=small", "--jobs=1")
    assert run_in_pieces(source, "--to", target, "--preset=small", code=2) == expected


def test_a_stream_that_repeats_its_options_is_rewritten(tmp_path: Path) -> None:
    """A stream of another writer: entries from before the repeated options stay valid, in every piece."""
    source, one, many = tmp_path / "in.jelly", tmp_path / "one.jelly", tmp_path / "many.jelly"
    frames = [wire.stream(wire.options(), wire.prefix("http://a/", 1), wire.name("s", 1), wire.name("p", 2))]
    for i in range(300):
        row = wire.triple(wire.iri(1, 1), wire.iri(0, 2), wire.literal(f"text {i}"))
        frames.append(wire.stream(wire.options(), wire.name(f"n{i}", 3 + i % 5), row))
    source.write_bytes(b"".join(frames))
    run("rdf", "transcode", source, "--to", one, "--opt.stream-name=x", "--jobs=1")
    run_in_pieces(source, "--to", many, "--opt.stream-name=x")
    assert rows_of(content(many)) == rows_of(content(one)) == rows_of(content(source))
    assert len(rows_of(content(source))) == 300


def test_a_killed_worker_is_an_error(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(stream())
    kill = (
        "def rewrite(spans, *others):\n"
        "    if spans[0].byte_range[0] > 5000:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return really_rewrite(spans, *others)\n"
        "joining._rewrite = rewrite\n"
    )
    message = run_in_pieces(source, "--to", target, "--preset=small", more=kill, code=2)
    assert message.startswith("jellyframe: error: a worker process ended before it was done")
    assert "fewer jobs need less" in message
    assert message.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["in.jelly"]


@pytest.mark.parametrize(
    ("error", "shown"),
    [("ZeroDivisionError('a bug')", "ZeroDivisionError: a bug"), ("OSError(28, 'No space left')", "No space left")],
)
def test_errors_of_workers_are_reported(error: str, shown: str, tmp_path: Path) -> None:
    """The work is not repeated by one process, which would hide the error."""
    source, target = tmp_path / "in.jelly", tmp_path / "out.jelly"
    source.write_bytes(stream())
    fail = f"def rewrite(*_): raise {error}\njoining._rewrite = rewrite\n"
    assert shown in run_in_pieces(source, "--to", target, "--preset=small", more=fail, code=2)
    assert [file.name for file in tmp_path.iterdir()] == ["in.jelly"]


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command with workers that rewrite without end, and a pipe that they say so in, which closes with the last."""
    (tmp_path / "in.jelly").write_bytes(stream())
    ours, theirs = os.pipe()
    again = (
        "def rewrite(spans, rewriting, declared, output, tally):\n"
        f"    os.write({theirs}, b'.')\n"
        "    while True: really_rewrite(spans, rewriting, dict(declared), io.BytesIO(), tally)\n"
        "joining._rewrite = rewrite\n"
    )
    with subprocess.Popen(
        in_pieces(tmp_path / "in.jelly", "--to", tmp_path / "out.jelly", "--preset=small", more=again),
        stderr=subprocess.PIPE,
        env=environment(),
        pass_fds=[theirs],
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        begun = 0
        while begun < 3:
            begun += len(os.read(ours, 3 - begun)) or 3
        yield process, ours
    os.close(ours)


def test_ctrl_c_leaves_nothing(endless: tuple[subprocess.Popen[bytes], int], tmp_path: Path) -> None:
    process, workers = endless
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert os.read(workers, 1) == b""
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert [file.name for file in tmp_path.iterdir()] == ["in.jelly"]


def test_workers_end_with_the_command(endless: tuple[subprocess.Popen[bytes], int]) -> None:
    process, workers = endless
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert os.read(workers, 1) == b""
