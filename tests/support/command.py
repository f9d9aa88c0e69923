"""Runs the real command, as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyoxigraph

COMMAND = (sys.executable, "-m", "jellyframe")


class Outcome(NamedTuple):
    code: int
    out: bytes
    err: str


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    return {**kept, "TERM": "xterm", **changes}


def run(*arguments: str | Path, data: bytes | BinaryIO = b"", code: int = 0, cwd: Path | None = None) -> Outcome:
    """Run `jellyframe` with these arguments and standard input (a pipe, or a file), and expect an exit code."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=data if isinstance(data, bytes) else None,
        stdin=None if isinstance(data, bytes) else data,
        capture_output=True,
        cwd=cwd,
        env=environment(),
        check=False,
    )
    outcome = Outcome(done.returncode, done.stdout, done.stderr.decode())
    assert outcome.code == code, outcome
    return outcome


def error_of(*arguments: str | Path, data: bytes = b"", cwd: Path | None = None) -> str:
    """The one line that a command complains with."""
    outcome = run(*arguments, data=data, code=2, cwd=cwd)
    assert outcome.err.startswith("jellyframe: error: "), outcome
    assert outcome.err.count("\n") == 1, outcome
    return outcome.err


def canonical(quads: bytes | str) -> list[str]:
    """The statements of some N-Quads, sorted, with blank nodes named by what they are connected to."""
    dataset = pyoxigraph.Dataset(pyoxigraph.parse(quads, pyoxigraph.RdfFormat.N_QUADS))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, dataset))
