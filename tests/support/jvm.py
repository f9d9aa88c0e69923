"""A Java process that reads and writes with Jelly-JVM."""

from __future__ import annotations

import subprocess


class Jvm:
    """A Java process that runs one command after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *words: object) -> None:
        """Run a command; raise what it says where it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().rstrip("\n")
        if answer != "ok":
            raise JvmError(answer.removeprefix("error ") or "the JVM has ended")


class JvmError(Exception):
    """What a command on the JVM failed with."""
