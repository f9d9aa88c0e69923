"""`jellyframe spark …`, as processes. Most connect to the server of the tests' own session, to start faster."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from contextlib import suppress

import pytest

import jellyframe
from jellyframe import StreamOptions
from support.command import COMMAND, environment, error_of, run
from support.patch_logs import apply_to_set, read_data, read_patches, statement
from support.spark_data import STATEMENTS, write_jelly

pytest.importorskip("grpc_status", reason="needs pyspark[connect]")


@pytest.fixture
def source(tmp_path, nquads):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "one.nq").write_bytes(nquads)
    return folder


@pytest.fixture
def server(spark, connect_port):
    return f"--master=sc://127.0.0.1:{connect_port}"


def statements(folder):
    count = 0
    for path in folder.rglob("*.jelly"):
        with jellyframe.open_reader(path) as reader:
            count += sum(1 for _ in reader.statements())
    return count


def test_jobs_run_one_after_the_other(server, source, tmp_path):
    done = run("spark", "convert", source, "--to", tmp_path / "jelly", "--files=2", "--preset=small", "--json", server)
    summary = json.loads(done.out)
    assert (summary["statements"], summary["files"]) == (len(STATEMENTS), 2)
    assert done.err.startswith(f"jellyframe: convert: {len(STATEMENTS)} statements in 2 files, ")
    assert done.err.count("\n") == 1
    with jellyframe.open_reader(next((tmp_path / "jelly").iterdir())) as reader:
        assert reader.options.max_name_table_size == 128
    done = run(
        "spark", "merge", tmp_path / "jelly", tmp_path / "jelly", "--distinct", "--to", tmp_path / "m", server, "-q"
    )
    assert (done.out, done.err) == (b"", "")
    run("spark", "partition", tmp_path / "m", "--by=graph", "--to", tmp_path / "parts", server)
    assert json.loads((tmp_path / "parts" / "manifest.json").read_text())["by"] == "graph"
    assert statements(tmp_path / "parts") == statements(tmp_path / "m") == len(set(STATEMENTS))
    run("spark", "sample", tmp_path / "m", "--number=5", "--to", tmp_path / "five", server)
    assert statements(tmp_path / "five") == 5


def test_patch_jobs_run_one_after_the_other(server, tmp_path):
    old = [statement(number) for number in range(60)]
    write_jelly(tmp_path / "old.jelly", old)
    write_jelly(tmp_path / "new.jelly", [statement(number) for number in range(20, 90)])
    places = [tmp_path / "old.jelly", tmp_path / "new.jelly"]
    done = run("spark", "diff", *places, "--to", tmp_path / "changes", "--preset=small", "--json", server, code=1)
    assert json.loads(done.out)["statements"] == 50
    run("spark", "diff", places[0], places[0], "--to", tmp_path / "nothing", server)
    run("spark", "apply", places[0], tmp_path / "changes", tmp_path / "nothing", "--to", tmp_path / "now", server)
    assert {*read_data(tmp_path / "now")} == {*read_data(tmp_path / "new.jelly")}
    run("spark", "compact", tmp_path / "changes", "--to", tmp_path / "one", "--files=1", "--index=false", server)
    run("spark", "invert", tmp_path / "one", "--to", tmp_path / "undo", server)
    assert apply_to_set(read_data(tmp_path / "now"), read_patches(tmp_path / "undo")) == {*old}
    made = run("spark", "replicate", places[0], tmp_path / "one", "--to", tmp_path / "replica", server)
    assert "; 1 patches, snapshot 1\n" in made.err
    assert "no new patches; snapshot 1" in run("spark", "replicate", tmp_path / "replica", tmp_path / "one", server).err
    assert {*read_data(tmp_path / "replica" / "current")} == {*read_data(tmp_path / "new.jelly")}
    for arguments, message in [
        (["diff", places[0]], "only one input is named: name the old data, then the new data"),
        (["diff", *places, places[0]], "more than two inputs"),
        (["diff", *places, "--to", tmp_path, "--blank-nodes=match"], "use jellyframe patch diff --blank-nodes match"),
        (["apply", places[0], places[1]], "new.jelly is Jelly, RDF data and not changes to it"),
    ]:
        assert message in error_of("spark", *arguments, "--to", tmp_path / "refused", server)
    assert not (tmp_path / "refused").exists()


def test_tables_and_files_for_neo4j(server, tmp_path):
    source = write_jelly(tmp_path / "source.jelly", [statement(number) for number in range(60)])
    done = run("spark", "neo4j", source, "--to", tmp_path / "graph", "--json", server)
    assert json.loads(done.out)["statements"] == 60
    command = next(line for line in done.err.splitlines() if "neo4j-admin database import full" in line)
    assert f"{tmp_path}/graph/nodes-header.csv,{tmp_path}/graph/nodes-[0-9]+.csv" in command
    header = (tmp_path / "graph" / "relationships-header.csv").read_text()
    assert header == '":START_ID",":END_ID",":TYPE","uri"\n'
    here = jellyframe.write_neo4j(source, tmp_path / "here")
    for kind in ("nodes", "relationships"):
        theirs, ours = (
            sorted(line for path in (tmp_path / name).glob(f"{kind}-[0-9]*") for line in path.read_text().splitlines())
            for name in ("graph", "here")
        )
        assert theirs == ours
    assert here.node_count > 0
    refused = error_of("spark", "neo4j", source, "--to", tmp_path / "graph", server)
    assert refused.rstrip().endswith("there is something already; use --overwrite")
    run("spark", "neo4j", source, "--to", tmp_path / "graph", "--overwrite", server)
    run("spark", "tables", source, "--to", tmp_path / "tables", server)
    assert json.loads((tmp_path / "tables" / "manifest.json").read_text())["by"] == "class"


def test_validate_answers_with_its_exit_code(server, source):
    good = write_jelly(source / "good.jelly", STATEMENTS)
    assert json.loads(run("spark", "validate", source, "--json", server).out)["ok"] is True
    (source / "bad.jelly").write_bytes(good.read_bytes()[:-30])
    done = run("spark", "validate", source, server, code=1)
    assert [line.split()[0] for line in done.out.decode().splitlines() if not line.startswith(" ")] == [
        "BAD",
        "ok",
        "ok",
    ]
    assert "1 of them bad" in done.err


def test_errors_are_one_line(server, source, tmp_path):
    (source / "bad.nt").write_bytes(b"nonsense\n")
    target = tmp_path / "target"
    assert "bad.nt: line 1, column 1: " in error_of("spark", "convert", source, "--to", target, server)
    assert not target.exists()
    for arguments, message in [
        ([source / "missing", "--to", target], "there is no such file or folder"),
        ([source, "--to", source], "there is something already; use --overwrite"),
        ([source, "--to", target, "--layout=flat"], "--layout is for --out-format parquet"),
        ([source, "--to", target, "--opt.physical-type=NONE"], "--opt.physical-type"),
        (["--to", target], "no input is named"),
        ([source, "--to", target, "--conf", "nonsense"], "KEY=VALUE"),
    ]:
        assert message in error_of("spark", "convert", *arguments, server)
    assert "Spark" in error_of("spark", "convert", source, "--to", target, "--master=nonsense")


def test_reported_problems_name_options_of_the_command(server, source, tmp_path):
    write_jelly(source / "large.jelly", STATEMENTS, options=StreamOptions(max_name_table_size=5000))
    arguments = ["spark", "convert", source, "--to", tmp_path / "out", "--mode=permissive", "--json", server]
    done = run(*arguments)
    (problem,) = json.loads(done.out)["problems"]
    assert "large.jelly" in problem
    assert problem.endswith("; raise it with --limit max_name_table_size=… if you trust the input")
    assert problem in done.err
    done = run(*arguments, "--overwrite", "--limit=max_name_table_size=8k")
    assert json.loads(done.out)["problems"] == []


def _on_terminal(*arguments, interrupt_at=None):
    """Run a command whose standard error is a terminal; the exit code, and what was written there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(),
        start_new_session=True,
    )
    os.close(theirs)
    written = b""
    with suppress(OSError):
        while piece := os.read(ours, 65536):
            written += piece
            if interrupt_at is not None and interrupt_at in written:
                os.killpg(process.pid, signal.SIGINT)
                interrupt_at = None
    os.close(ours)
    return process.wait(), written.decode()


def test_a_job_starts_a_session_and_shows_progress_and_a_page(source, tmp_path, nquads):
    (source / "two.nq").write_bytes(nquads + b"nonsense\n")
    # So many small tasks take long enough for the bar to be seen.
    arguments = ["--master=local[2]", "--ui", "--partition-size=1k", "--mode=permissive", "--to", tmp_path / "out"]
    code, written = _on_terminal("spark", "convert", source, *arguments)
    assert code == 0
    assert "starting Spark" in written
    assert "Spark's web pages are at http://" in written
    assert " tasks, 0:" in written
    assert f"two.nq: line {len(STATEMENTS) + 1}, column 1: " in written
    assert "1 bad records left out" in written
    assert "WARN" not in written
    assert statements(tmp_path / "out") == 2 * len(STATEMENTS)


def test_an_interrupt_ends_it_quietly(source, tmp_path):
    code, written = _on_terminal(
        "spark", "convert", source, "--master=local[2]", "--partition-size=300", "--to", tmp_path / "out",
        interrupt_at=b" tasks, ",
    )  # fmt: skip
    assert code == 130
    assert "Traceback" not in written
    assert "jellyframe: " not in written
    assert not (tmp_path / "out").exists()
