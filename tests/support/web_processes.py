"""Commands that serve, as processes; and requests to them, byte by byte where that matters."""

from __future__ import annotations

import http.client
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from support.command import COMMAND, environment


class Served(NamedTuple):
    """A process that serves, and where."""

    process: subprocess.Popen[str]
    url: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port


class Answer(NamedTuple):
    """The response of a server. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@contextmanager
def serving_process(*arguments: str | Path, cwd: Path | None = None, port: int = 0) -> Iterator[Served]:
    """Run a command that serves, wait until it is ready, and end it as a user would, unless the test has killed it."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), "--listen", f"127.0.0.1:{port}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line + process.stderr.read()
        yield Served(process, line.removeprefix("listening on ").strip())
        if process.poll() is None:
            process.terminate()
            assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def ask(served: Served, path: str, method: str = "GET", **headers: str) -> Answer:
    """Send one request, with the path as it is, and read the whole answer. `accept_encoding` is `Accept-Encoding`."""
    connection = http.client.HTTPConnection(*served.address, timeout=30)
    try:
        connection.putrequest(method, path, skip_host="host" in headers, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()


def raw_answer(served: Served, request: bytes) -> bytes:
    """Send bytes and return all that comes back until the connection is closed."""
    with socket.create_connection(served.address, timeout=30) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        return b""
