"""Java processes that read and write with Jelly-JVM."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "build" / "jvm"
# What `make interop` goes on without where Maven does not find it.
MAY_BE_MISSING = {
    "patch/classpath": "eu.neverblink.jelly:jelly-core-patch, jelly-jena-patch or jelly-rdf4j-patch",
    "pekko/classpath": "eu.neverblink.jelly:jelly-pekko-grpc_3",
}


def java_command(classpath: str, *words: object) -> list[str]:
    """Return the command that runs a Java class, of those beside a list of what Maven has fetched."""
    listed = BUILD / classpath
    if not listed.exists():
        has_run = classpath in MAY_BE_MISSING and (BUILD / "classpath").exists()
        pytest.skip(
            f"Maven has not found {MAY_BE_MISSING[classpath]}"
            if has_run
            else "there are no classes to run: use `make interop`"
        )
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    return [str(java), "-cp", f"{listed.parent / 'classes'}{os.pathsep}{listed.read_text().strip()}", *map(str, words)]


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
    """The error of a command on the JVM."""
