"""`grpc publish` and `grpc subscribe` as processes, against a server made from the .proto alone."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import threading
from typing import NamedTuple

import grpc
import pyarrow.parquet as pq
import pytest

from jellyframe import Batch, StreamOptions, open_reader, open_writer
from jellyframe.cli.main import main
from jellyframe.errors import NamedGraphError
from jellyframe.formats import NTRIPLES, ntriples
from jellyframe.grpc import connect
from jellyframe.grpc.client.saving import Saver, Saving
from jellyframe.grpc.client.uploading import Pace
from support.command import COMMAND, canonical, environment, error_of, run
from support.grpc_process import ServerProcess
from support.plain_grpc import PlainServer
from support.rpc_data import quads, triples


@pytest.fixture
def server():
    with PlainServer() as server:
        yield server


class Told(NamedTuple):
    out: bytes
    err: str


@pytest.fixture
def command(server, capfdbinary):
    """Run a client's command in this process, which is the sooner way, and expect an exit code."""

    def command(name, *arguments, code=0):
        capfdbinary.readouterr()
        done = main(["grpc", name, "--server", server.address, *map(str, arguments)])
        told = Told(*(part if i == 0 else part.decode() for i, part in enumerate(capfdbinary.readouterr())))
        assert done == code, told
        if code == 2:
            assert told.err.startswith("jellyframe: error: "), told
            assert told.err.count("\n") == 1, told
        return told

    return command


def write(path, statements, options=None):
    with open_writer(path, options, restart_every=None) as writer:
        writer.write(statements)
    return path


def lines(statements):
    return canonical(ntriples.write(Batch.from_statements(statements)))


def test_files_of_any_format_go_to_a_topic_and_back(command, server, tmp_path):
    nq = tmp_path / "some.nq"
    write(tmp_path / "a.jelly", quads(300))
    nq.write_bytes(ntriples.write(Batch.from_statements(quads(300))))
    told = command("publish", "--topic", "t", nq, tmp_path / "a.jelly")
    assert "published: 600 statements" in told.err
    # The same statements twice.
    assert canonical(command("subscribe", "t", "--out-format", "nq").out) == lines(quads(300))
    # Standard input.
    there = ("--server", server.address)
    run("grpc", "publish", *there, "--topic", "in", "--in-format", "nq", data=nq.read_bytes())
    assert canonical(run("grpc", "subscribe", *there, "in").out) == lines(quads(300))


def test_outputs_of_any_format(command, server, tmp_path):
    command("publish", "--topic", "t", write(tmp_path / "a.jelly", triples(300)))
    command("subscribe", "t", "--to", tmp_path / "out.parquet", "--layout", "ntriples")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 300
    command("subscribe", "t", "--to", tmp_path / "out.jelly.gz")
    with open_reader(tmp_path / "out.jelly.gz") as reader:
        assert list(reader) == triples(300)
    command("subscribe", "t", "--to", tmp_path / "out.ttl")
    assert len((tmp_path / "out.ttl").read_text()) > 300
    assert len(command("subscribe", "t", "--take", "7").out.splitlines()) == 7
    short = command("subscribe", "t", "--take", "301", code=1)
    assert "ended after 300 of 301 statements" in short.err
    command("subscribe", "nothing", "--to", tmp_path / "empty.nq", code=0)


def test_a_series_of_files_is_written(command, server, tmp_path):
    command("publish", "--topic", "t", write(tmp_path / "a.jelly", triples(300)))
    command(
        "subscribe", "t", "--to", tmp_path / "series", "--roll-rows", "120", "--out-format", "nt", "--compress", "gzip"
    )
    files = sorted((tmp_path / "series").iterdir())
    assert [len(gzip.decompress(one.read_bytes()).splitlines()) for one in files] == [120, 120, 60]
    assert all(one.name.endswith(".nt.gz") for one in files)
    assert "need a folder" in command("subscribe", "t", "--roll-rows", "3", code=2).err


def test_a_file_of_a_series_appears_on_time_without_new_statements(tmp_path):
    folder, resume = tmp_path / "series", tmp_path / "resume.json"
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay") as ours:
        words = ["--server", ours.address, "t", "--from", "earliest", "--to", folder, "--out-format", "nt"]
        rolling = ["--roll-seconds", "0.1", "--resume", resume]
        command = [*COMMAND, "grpc", "subscribe", *map(str, [*words, *rolling])]
        with subprocess.Popen(command, env=environment()) as process, connect(ours.address) as client:
            for run_number in range(2):
                client.publish("t", triples(10, 10 * run_number))
                while len(list(folder.glob("*.nt"))) <= run_number:
                    assert process.poll() is None
            expected = client.topics()[0].next_offset
            while json.loads(resume.read_text())["offset"] < expected:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
    assert [canonical(one.read_bytes()) for one in sorted(folder.iterdir())] == [
        lines(triples(10)),
        lines(triples(10, 10)),
    ]


def test_a_file_that_cannot_be_completed_on_time_ends_the_subscription(tmp_path):
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay") as ours, connect(ours.address) as client:
        client.publish("t", triples(10))
        saver = Saver(client.subscribe("t", from_="earliest"), tmp_path / "series", Saving(NTRIPLES, roll_seconds=0.1))
        with pytest.raises(OSError, match="series"):
            saver.save(on_batch=lambda _saver: shutil.rmtree(tmp_path / "series"))


def test_a_resume_file_continues_the_subscription(command, server, tmp_path):
    server.has_offsets = True
    with connect(server.address) as client:
        client.publish("t", triples(300), StreamOptions(version=2), acknowledge_every=1)
    resume = tmp_path / "resume.json"
    first = command("subscribe", "t", "--resume", resume).out
    assert canonical(first) == lines(triples(300))
    assert json.loads(resume.read_text())["offset"] == len(server.topics["t"])
    with connect(server.address) as client:
        client.publish("t", triples(10, 300), StreamOptions(version=2))
    assert canonical(command("subscribe", "t", "--resume", resume, "--from", "earliest").out) == lines(triples(10, 300))
    assert command("subscribe", "t", "--resume", resume).out == b""
    assert "not hold an offset of the topic 'u'" in command("subscribe", "u", "--resume", resume, code=2).err


@pytest.mark.parametrize("series", [True, False])
def test_a_kill_before_the_first_file_is_complete_loses_nothing(tmp_path, series):
    target = tmp_path / ("out" if series else "out.nt")
    rolling = ["--roll-rows", "1000"] if series else []
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", "replay") as ours:
        words = ["--server", ours.address, "t", "--resume", tmp_path / "resume.json", "--out-format", "nt"]
        command = [*COMMAND, "grpc", "subscribe", *map(str, words), "--to", str(target), *rolling]
        with subprocess.Popen(command, env=environment()) as process, connect(ours.address) as client:
            while client.topics() == [] or not client.topics()[0].subscribers:
                assert process.poll() is None
            client.publish("t", triples(10))
            while not list(tmp_path.rglob("*.nt.*.part")):
                assert process.poll() is None
            process.kill()
            process.wait()
            client.publish("t", triples(10, 10))
        assert not list(tmp_path.rglob("[!.]*.nt"))
        # It would begin with the latest frame if it did not know where it was.
        taken = run(*command[3:], "--take", "20", "--timeout", "30")
    assert taken.code == 0
    (written,) = tmp_path.rglob("[!.]*.nt")
    assert canonical(written.read_bytes()) == lines(triples(20))


@pytest.mark.parametrize("ends_with", [KeyboardInterrupt, RuntimeError])
def test_received_statements_are_kept_whatever_ends_the_subscription(server, tmp_path, ends_with):
    def stop(saver):
        raise ends_with

    with connect(server.address) as client:
        client.publish("t", triples(300))
        saver = Saver(client.subscribe("t"), tmp_path / "out.nt", Saving(NTRIPLES))
        with pytest.raises(ends_with):
            saver.save(on_batch=stop)
        assert len((tmp_path / "out.nt").read_text().splitlines()) == saver.statements > 0
        # Unless the output cannot hold it: then there is no output.
        client.publish("q", quads(3))
        with pytest.raises(NamedGraphError):
            Saver(client.subscribe("q"), tmp_path / "graphs.nt", Saving(NTRIPLES)).save()
    assert [path.name for path in tmp_path.iterdir()] == ["out.nt"]


def test_a_folder_is_followed(server, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "a.jelly", triples(10))
    published = threading.Semaphore(0)
    server.on_published = lambda _context: published.release()
    command = [*COMMAND, "grpc", "publish", "--server", server.address, "--topic", "t", "--follow", str(folder)]
    resume = tmp_path / "published.json"

    def start():
        return subprocess.Popen(
            [*command, "--resume", str(resume), "--poll", "0.05"], env=environment(), stderr=subprocess.PIPE
        )

    process = start()
    assert published.acquire(timeout=30)
    write(tmp_path / "hidden", triples(10, 10)).rename(folder / "b.jelly")
    assert published.acquire(timeout=30)
    while not resume.exists() or len(json.loads(resume.read_text())["published"]) < 2:
        assert process.poll() is None
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM
    write(tmp_path / "hidden", triples(10, 20)).rename(folder / "c.jelly")
    process = start()
    assert published.acquire(timeout=30)
    process.terminate()
    process.communicate(timeout=30)
    with connect(server.address) as client:
        assert set(client.subscribe("t")) == set(triples(30))
        assert len(list(client.subscribe("t"))) == 30


def test_errors_are_one_line(command, server, unused_tcp_port, tmp_path):
    assert "cannot be reached" in error_of(
        "grpc", "subscribe", "--server", f"127.0.0.1:{unused_tcp_port}", "t", "--connect-timeout", "0.2"
    )

    def error(*arguments):
        return command(*arguments, code=2).err

    assert "write HOST:PORT" in error("topics", "--server", "nowhere")
    assert "does not offer this" in error("topics")
    assert "no-such-file" in error("publish", "--topic", "t", "no-such-file.nt")
    assert "--follow needs folders" in error("publish", "--topic", "t", "--follow")
    assert "earliest, latest or an offset" in error("subscribe", "t", "--from", "first")
    assert "No such file" in error("topics", "--ca", tmp_path / "none.pem")
    server.on_published = lambda context: context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "the topic is full")
    assert "the topic is full" in error("publish", "--topic", "t", write(tmp_path / "a.jelly", triples(1)))


def test_a_rate_is_kept_on_average():
    now = 0.0

    def sleep(seconds):
        nonlocal now
        now += seconds

    pace = Pace(100.0, clock=lambda: now, sleep=sleep)
    for _ in range(50):
        pace.wait(10)
    assert now == pytest.approx(4.9)
    # After a break, at most the statements of a second are sent at once.
    now += 60
    for _ in range(50):
        pace.wait(10)
    assert now == pytest.approx(4.9 + 60 + 3.9, abs=0.11)


def test_a_rate_makes_small_frames(command, server, tmp_path):
    command("publish", "--topic", "t", "--rate", "5000", write(tmp_path / "a.jelly", triples(300)))
    (tmp_path / "a.nt").write_bytes(ntriples.write(Batch.from_statements(triples(300))))
    command("publish", "--topic", "n", "--rate", "5000", tmp_path / "a.nt")
    for topic in "tn":
        with connect(server.address) as client:
            assert list(client.subscribe(topic)) == triples(300)
