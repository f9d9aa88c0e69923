"""Serves a folder of data over HTTP and reads it back as Jelly, as N-Quads and as a list of files.

python -m examples.http.serve_and_read
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import jellyframe
from jellyframe import IRI, Literal, LogicalType, PhysicalType, Quad, StreamOptions
from jellyframe.web import HttpClient

DATA_SETS = 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_data_sets(Path(folder) / "nanopubs.jelly")
        command = [sys.executable, "-m", "jellyframe", "http", "serve", folder, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            read_everything(server.stderr.readline().removeprefix("listening on ").strip())
            server.terminate()


def write_data_sets(path: Path) -> None:
    """Write many small data sets, one a frame."""
    options = StreamOptions(PhysicalType.QUADS, LogicalType.DATASETS)
    with jellyframe.open_writer(path, options) as writer:
        for number in range(DATA_SETS):
            name = f"http://example.org/np{number}"
            claim = Quad(
                IRI(f"{name}#subject"), IRI("http://example.org/says"), Literal(str(number)), IRI(f"{name}#claim")
            )
            writer.write_frame([claim])


def read_everything(address: str) -> None:
    """Read what is served in three ways."""
    client = HttpClient(address)
    for entry in client.entries():
        print(f"{entry.name}: {entry.format}, {entry.size} bytes")
    with jellyframe.open_reader(f"{address}/nanopubs.jelly") as reader:
        print(f"{sum(1 for _frame in reader.frames())} data sets in one response")
    with client.open_bytes("nanopubs.jelly", "nq") as file:
        print(file.read().decode().splitlines()[0])


if __name__ == "__main__":
    main()
