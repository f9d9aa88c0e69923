"""`jellyframe patch diff`, `apply`, `invert`, `compact` and `log`, as processes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import processes
from support.command import COMMAND, environment, error_of, run

OLD = b'<http://e/a> <http://e/p> "1" .\n<http://e/a> <http://e/p> "2" <http://e/g> .\n_:x <http://e/p> "3" .\n'
NEW = b'_:y <http://e/p> "3" .\n<http://e/a> <http://e/p> "4" <http://e/g> .\n<http://e/a> <http://e/p> "1" .\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old.nq").write_bytes(OLD)
    (tmp_path / "new.nq").write_bytes(NEW)
    return tmp_path


def test_exit_codes_are_those_of_diff(folder: Path):
    assert run("patch", "diff", "old.nq", "old.nq", "--to", "p.jellyp", cwd=folder).err == ""
    assert run("patch", "diff", "old.nq", "new.nq", "--to", "p.jellyp", code=1, cwd=folder).out == b""
    assert "nosuch.nq" in error_of("patch", "diff", "old.nq", "nosuch.nq", "--to", "q.jellyp", cwd=folder)
    assert "--blank-nodes" in error_of("patch", "diff", "old.nq", "new.nq", "--blank-nodes", "refuse", cwd=folder)
    assert "standard input can be read only once" in error_of("patch", "diff", "-", "-", cwd=folder)
    assert "KEY=VALUE" in run("patch", "diff", "old.nq", "new.nq", "--header", "x", code=2, cwd=folder).err
    assert not (folder / "q.jellyp").exists()


def test_changes_are_applied_and_undone_through_files(folder: Path):
    run("patch", "diff", "old.nq", "new.nq", "--to", "p.jellyp", code=1, cwd=folder)
    run("patch", "apply", "old.nq", "p.jellyp", "--to", "out.nq", cwd=folder)
    assert sorted((folder / "out.nq").read_bytes().splitlines()) == sorted(NEW.splitlines())
    run("patch", "invert", "p.jellyp", "--to", "undo.rdfp.gz", cwd=folder)
    run("patch", "apply", "out.nq", "undo.rdfp.gz", "--to", "out.jelly", cwd=folder)
    assert run("patch", "diff", "old.nq", "out.jelly", cwd=folder).code == 0
    run("patch", "compact", "p.jellyp", "undo.rdfp.gz", "--to", "nothing.jellyp", cwd=folder)
    run("patch", "apply", "old.nq", "nothing.jellyp", "--to", "same.nq", cwd=folder)
    assert sorted((folder / "same.nq").read_bytes().splitlines()) == sorted(OLD.splitlines())


def test_changes_are_applied_and_undone_through_pipes(folder: Path):
    patch = run("patch", "diff", "-", "new.nq", "--old-format", "nq", data=OLD, code=1, cwd=folder).out
    done = run("patch", "apply", "old.nq", "-", data=patch, cwd=folder)
    assert sorted(done.out.splitlines()) == sorted(NEW.splitlines())
    undo = run("patch", "invert", data=patch).out
    assert b"<http://e/g>" in run("patch", "compact", "--out-format", "rdfp", data=undo).out
    assert "--in-format" in error_of("patch", "apply", "-", "p.jellyp", data=OLD, cwd=folder)
    done = run("patch", "apply", "-", folder / "p.jellyp", "--in-format", "nq", data=OLD, code=2)
    assert done.out == b""


def test_diff_prints_text_json_and_headers(folder: Path):
    text = run(
        "patch", "diff", "old.nq", "new.nq", "--blank-nodes=match", "--out-format=rdfp",
        "--header", "id=7", "--header", "prev=<urn:6>", "--transaction=false", code=1, cwd=folder,
    ).out.decode()  # fmt: skip
    assert text.splitlines() == [
        'H id "7" .',
        "H prev <urn:6> .",
        'D <http://e/a> <http://e/p> "2" <http://e/g> .',
        'A <http://e/a> <http://e/p> "4" <http://e/g> .',
        "# end of patch",
    ]
    found = json.loads(run("patch", "diff", "old.nq", "new.nq", "--json", code=1, cwd=folder).out)
    assert found == {"equal": False, "added": 2, "deleted": 2, "namespaces_added": 0, "namespaces_deleted": 0}
    (folder / "p.rdfp").write_text(text)
    assert json.loads(run("patch", "invert", "p.rdfp", "--to", "i.jellyp", "--json", cwd=folder).out)["rows"] == 2
    assert json.loads(run("patch", "compact", "p.rdfp", "--json", cwd=folder).out)["added"] == 1
    done = run("patch", "apply", "old.nq", "p.rdfp", "--to", "out.nq", "--json", cwd=folder)
    assert json.loads(done.out)["deleted"] == 1
    assert "--to" in error_of("patch", "apply", "old.nq", "p.rdfp", "--json", cwd=folder)
    entries = json.loads(run("patch", "log", "p.rdfp", "i.jellyp", "--json", cwd=folder).out)
    assert [(entry["file"], entry["added"], entry["id"]) for entry in entries] == [
        ("p.rdfp", 1, "7"),
        ("i.jellyp", 1, None),
    ]
    table = run("patch", "log", "p.rdfp", "i.jellyp", cwd=folder).out.decode().splitlines()
    assert table[0].split()[:2] == ["file", "time"]
    assert len(table) == 4


def test_input_that_is_not_a_patch_is_reported(folder: Path):
    assert "N-Quads" in error_of("patch", "apply", "old.nq", "new.nq", "--to", "out.nq", cwd=folder)
    assert error_of("patch", "invert", data=OLD)
    assert "recognised by the name" in error_of("patch", "diff", "old.nq", "new.nq", "--to", "p.unknown", cwd=folder)
    (folder / "empty").mkdir()
    assert "no file of data" in error_of("patch", "log", "empty", cwd=folder)


def test_a_full_disk_and_a_reader_that_leaves(folder: Path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "patch", "diff", "old.nq", "new.nq"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    lines = "".join(f"<http://e/{n}> <http://e/p> <http://e/o> .\n" for n in range(50_000))
    (folder / "big.nq").write_text(lines)
    with subprocess.Popen(
        [*COMMAND, "patch", "diff", "old.nq", "big.nq", "--out-format", "rdfp"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode != 0


def test_memory_does_not_grow_with_the_data(tmp_path: Path):
    """Ten times the data take about the same memory: well below what its statements are, as fingerprints alone."""
    peaks = {}
    for statements in (40_000, 400_000):
        old, new, patch, out = (str(tmp_path / name) for name in ("old.nt", "new.nt", "p.jellyp", "out.nt"))
        for path, skipped in ((old, 3), (new, 7)):
            with open(path, "w") as file:
                file.writelines(
                    f'<http://example.org/{number}> <http://example.org/p> "value {number}" .\n'
                    for number in range(statements)
                    if number % 10 != skipped
                )
        # The exit code says that there are changes.
        diff = ["sh", "-c", '"$@" || test $? = 1', "sh", *COMMAND, "patch", "diff", old, new, "--to", patch]
        apply = [*COMMAND, "patch", "apply", old, patch, "--to", out]
        peaks[statements] = max(processes.run(command).peak_bytes for command in (diff, apply))
        assert run("patch", "diff", out, new).code == 0
    assert peaks[400_000] - peaks[40_000] < 35 << 20


def test_named_graphs_are_refused_by_formats_of_triples(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<x:s> <x:p> <x:o> .\n")
    (tmp_path / "a.nq").write_text("<x:s> <x:p> <x:o> <x:g> .\n")
    (tmp_path / "a.rdfp").write_text("A <x:s> <x:p> <x:o> <x:g> .\n")
    statement = "<x:s> <x:p> <x:o> <x:g> ."
    for name, holder in (("b.nt", "N-Triples"), ("b.ttl", "Turtle")):
        message = error_of("patch", "apply", "a.nt", "a.rdfp", "--to", name, cwd=tmp_path)
        assert f"a named graph, which {holder} cannot hold; write quads, for instance N-Quads: {statement}" in message
        assert not (tmp_path / name).exists()
    for command in (["diff", "a.nt", "a.nq"], ["compact", "a.rdfp"], ["invert", "a.rdfp"]):
        message = error_of("patch", *command, "--statement-type=triples", "--to", "b.jellyp", cwd=tmp_path)
        assert "has a graph, which a stream of triples cannot hold; set the statement type to quads: " in message
        assert statement in message
        assert not (tmp_path / "b.jellyp").exists()
