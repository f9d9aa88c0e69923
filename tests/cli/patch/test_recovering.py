"""`patch from-jelly --recover` and `patch transcode --recover`: the readable part of damaged files of patches."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import jellyframe
from jellyframe import IRI, Add, Literal, TransactionCommit, TransactionStart
from support.command import error_of, run

ROWS = 5


@pytest.fixture(scope="module")
def damaged() -> bytes:
    """Two hundred patches, each one transaction, of which some bytes in the middle are missing."""
    file = io.BytesIO()
    with jellyframe.open_patch_writer(file, restart_every=2000, frame_rows=3) as writer:
        for number in range(200):
            node = IRI(f"http://example.org/{number}")
            adds = [Add(node, IRI("http://example.org/p"), Literal(f"row {row} of {number}")) for row in range(ROWS)]
            writer.write([TransactionStart(), *adds, TransactionCommit()])
            writer.end_patch()
    data = file.getvalue()
    return data[: len(data) // 2] + data[len(data) // 2 + 20 :]


def assert_whole_transactions(text: bytes) -> None:
    """Assert that most transactions are there, that all that are committed are whole, and that the ends are there."""
    found = [part.strip().splitlines() for part in text.split(b"TX .\n")[1:]]
    committed = [part for part in found if part[ROWS : ROWS + 1] == [b"TC ."]]
    assert 160 < len(committed) < 200
    assert all(len({line.split()[1] for line in part[:ROWS]}) == 1 for part in committed)
    assert not any(b"TC ." in part for part in found if part not in committed)
    assert (b"row 4 of 0" in text, b"row 4 of 199" in text) == (True, True)


@pytest.mark.parametrize("from_file", [True, False])
def test_damage_is_reported_and_the_rest_converted(damaged: bytes, from_file: bool, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jellyp"
    path.write_bytes(damaged)
    assert run("patch", "from-jelly", str(path), code=2).err
    if from_file:
        done = run("patch", "from-jelly", str(path), "--recover", code=1)
    else:
        with open(path, "rb") as file:
            done = run("patch", "from-jelly", "--recover", data=file, code=1)
    assert_whole_transactions(done.out)
    (warning,) = done.err.splitlines()
    found = re.search(r"warning: (\S+|standard input): bytes (\d+) to (\d+) lost: .+", warning)
    assert found is not None, warning
    assert int(found[2]) <= (len(damaged) + 20) // 2 <= int(found[3]) < len(damaged)


def test_transcode_writes_the_transactions_that_are_left(damaged: bytes, tmp_path: Path) -> None:
    path, rest = tmp_path / "damaged.jellyp", tmp_path / "rest.jellyp"
    path.write_bytes(damaged)
    done = run("patch", "transcode", str(path), "--recover", "--to", str(rest), code=1)
    assert "lost: " in done.err
    assert_whole_transactions(run("patch", "from-jelly", str(rest), "--recover").out)
    # Uncommitted rows have no effect.
    (tmp_path / "empty.nq").write_bytes(b"")
    applied = run("patch", "apply", str(tmp_path / "empty.nq"), str(rest)).out.splitlines()
    assert len(applied) % ROWS == 0
    assert len(applied) > 800


def test_text_is_not_recovered(tmp_path: Path) -> None:
    path = tmp_path / "a.rdfp"
    path.write_text("TX .\nTC .\n")
    message = error_of("patch", "transcode", str(path), "--recover")
    assert "only Jelly-Patch can be read behind damage, and this is RDF Patch" in message
    assert "a.rdfp" in message


@pytest.mark.parametrize("command", [("patch", "from-jelly"), ("patch", "transcode")])
def test_another_kind_of_stream_is_not_damage(command: tuple[str, str]) -> None:
    statements = run("rdf", "to-jelly", "--in-format=nt", data=b"<x:s> <x:p> <x:o> .\n").out
    done = run(*command, "--recover", data=statements, code=2)
    assert not done.out
    assert "this is a stream of RDF statements" in done.err
    assert "lost" not in done.err


def test_a_patch_is_not_damaged_rdf(damaged: bytes) -> None:
    done = run("rdf", "from-jelly", "--recover", data=damaged, code=2)
    assert not done.out
    assert "this is a Jelly-Patch stream" in done.err
    assert "lost" not in done.err
