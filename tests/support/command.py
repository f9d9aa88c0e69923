"""Runs the real command, as a process."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyoxigraph

from jellyframe import IRI, Literal, Triple, dumps
from jellyframe.wire import encode_varint

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


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a terminal: ours, and the one for a process."""
    ours, theirs = pty.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        with suppress(OSError):
            os.close(theirs)


@contextmanager
def command_at_work(
    ours: int, theirs: int, *arguments: str | Path, before: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `jellyframe rdf from-jelly`, which has begun its output and waits for more input.

    The ends of a terminal are `ours` and `theirs`: the progress there tells when the command is at work. `before` are
    words in front of the command.
    """
    # More than one batch, but no end.
    frame = dumps(Triple(IRI("http://a/s"), IRI("http://a/p"), Literal(f"{i}")) for i in range(100_000))
    with subprocess.Popen(
        [*before, *COMMAND, "rdf", "from-jelly", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(encode_varint(len(frame)) + frame)
        process.stdin.flush()
        seen = b""
        while b"statements" not in seen:
            seen += os.read(ours, 65536)
        yield process
        with suppress(BrokenPipeError):
            process.stdin.close()


def error_of(*arguments: str | Path, data: bytes = b"", cwd: Path | None = None) -> str:
    """Return the one line of a command that fails."""
    outcome = run(*arguments, data=data, code=2, cwd=cwd)
    assert outcome.err.startswith("jellyframe: error: "), outcome
    assert outcome.err.count("\n") == 1, outcome
    return outcome.err


def canonical(quads: bytes | str) -> list[str]:
    """The statements of some N-Quads, sorted, with blank nodes named by what they are connected to."""
    dataset = pyoxigraph.Dataset(pyoxigraph.parse(quads, pyoxigraph.RdfFormat.N_QUADS))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, dataset))
