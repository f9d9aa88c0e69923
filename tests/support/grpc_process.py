"""A server of ours as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Self


class ServerProcess:
    """A server as a process of its own."""

    def __init__(self, *arguments: str, cwd: Path | None = None, before: str = "") -> None:
        """Start it, after another shell command if `before` is one, and wait for its first line."""
        command = [sys.executable, "-m", "jellyframe", "grpc", "serve", *arguments]
        self.process = subprocess.Popen(
            ["bash", "-c", f'{before}\nexec "$@"', "server", *command] if before else command,
            cwd=cwd,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.first_line = self.process.stderr.readline()

    @property
    def address(self) -> str:
        assert self.first_line.startswith("listening on "), self.first_line
        return self.first_line.removeprefix("listening on ").rstrip("\n")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal, and return the exit code and what else was said."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        # What came with the first line is in the buffer of the file object.
        with self.process.stderr as stderr:
            rest = stderr.read()
        return self.process.wait(timeout=30), rest

    def kill(self) -> None:
        """Kill it at once."""
        self.process.kill()
        self.process.communicate(timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.process.poll() is None:
            self.kill()
