"""The JVM that reads and writes with Jelly-JVM; `make interop` builds what it runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.jvm import Jvm

BUILD = Path(__file__).parents[2] / "build" / "jvm"


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    classpath = BUILD / "classpath"
    if not classpath.exists():
        pytest.skip("there are no classes to run: use `make interop`")
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    command = [str(java), "-cp", f"{BUILD / 'classes'}{os.pathsep}{classpath.read_text().strip()}", "interop.Main"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        yield Jvm(process)
        assert process.stdin is not None
        process.stdin.close()
        # A server that a test has started runs on its own threads.
        process.terminate()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files that go back and forth; session-wide, so that property tests may use it."""
    return tmp_path_factory.mktemp("jvm")
