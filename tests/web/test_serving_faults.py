"""`jellyframe http serve` while clients leave, files change and the server ends."""

import http.client
import os
import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import jellyframe
from jellyframe.errors import StorageError
from jellyframe.storage import HttpFile, HttpSettings
from support.command import error_of
from support.web_processes import Served, ask, serving_process

LINES = "".join(f'<http://e.org/s{n}> <http://e.org/p> "{n}" .\n' for n in range(3000)).encode()
LARGE_BYTES = 30_000_000
SOON = HttpSettings(back_off=0.2, attempts=12)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "people.nt").write_bytes(LINES)
    jellyframe.convert(folder / "people.nt", folder / "people.jelly")
    (folder / "cut.nt").write_bytes(LINES * 100 + b"<http://e.org/s> <http://e.org/p> oops .\n")
    (folder / "bad.nt").write_bytes(b"oops\n")
    (folder / "large.nt").write_bytes(b"# padding\n" * (LARGE_BYTES // 10))
    return folder


@pytest.fixture(scope="module")
def served(data: Path) -> Iterator[Served]:
    with serving_process("http", "serve", data) as running:
        yield running


def test_clients_that_leave_or_read_slowly_do_no_harm(served: Served) -> None:
    request = f"GET /large.nt HTTP/1.1\r\nHost: {served.url[7:]}\r\n\r\n".encode()
    slow = socket.create_connection(served.address, timeout=30)
    slow.sendall(request)
    slow.recv(10)
    for path in ("/large.nt", "/people.jelly?format=ttl", "/cut.nt?format=jelly"):
        for _ in range(5):
            with socket.create_connection(served.address, timeout=30) as leaving:
                leaving.sendall(request.replace(b"/large.nt", path.encode()))
                leaving.recv(10)
                # A reset, not a polite end.
                leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert ask(served, "/people.nt").body == LINES
    received = 10
    while received < LARGE_BYTES:
        data = slow.recv(1 << 20)
        assert data
        received += len(data)
    slow.close()


def test_a_response_that_fails_late_is_cut_off(served: Served) -> None:
    connection = http.client.HTTPConnection(*served.address, timeout=30)
    connection.request("GET", "/cut.nt?format=jelly")
    response = connection.getresponse()
    assert response.status == 200
    with pytest.raises(http.client.IncompleteRead):
        response.read()
    connection.close()
    with (
        HttpFile(f"{served.url}/cut.nt", settings=HttpSettings(back_off=0.0, attempts=2)) as file,
        jellyframe.open_reader(file) as reader,
        pytest.raises(StorageError, match=r"the connection broke|changed while it was read"),
    ):
        list(reader)
    early = ask(served, "/bad.nt?format=jelly")
    assert early.status == 500
    assert str(served.url) not in early.body.decode()


@pytest.mark.parametrize("change", ["truncate", "overwrite", "replace"])
def test_a_file_that_changes_while_it_is_sent_is_never_mixed(change: str, tmp_path: Path) -> None:
    first, second = b"# first 1\n" * 3_000_000, b"# second2\n" * 3_000_000
    file = tmp_path / "x.nt"
    file.write_bytes(first)
    with serving_process("http", "serve", file) as served:
        connection = http.client.HTTPConnection(*served.address, timeout=30)
        connection.request("GET", "/x.nt")
        response = connection.getresponse()
        start = response.read(10)
        if change == "truncate":
            os.truncate(file, 100)
        elif change == "overwrite":
            with file.open("r+b") as opened:
                opened.write(second)
        else:
            (tmp_path / "new").write_bytes(second)
            os.replace(tmp_path / "new", file)
        try:
            body = start + response.read()
        except http.client.IncompleteRead:
            assert change != "replace"
        else:
            # The old file, which is still open, was sent to its end.
            assert change == "replace"
            assert body == first
        connection.close()
        assert ask(served, "/x.nt", range="bytes=0-9").body == file.read_bytes()[:10]


def test_a_deleted_file_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "x.nt").write_bytes(LINES)
    (tmp_path / "y.nt").write_bytes(LINES)
    with serving_process("http", "serve", tmp_path) as served:
        assert ask(served, "/x.nt").status == 200
        (tmp_path / "x.nt").unlink()
        assert ask(served, "/x.nt").status == 404
        assert ask(served, "/", accept="application/n-triples").body == LINES


def test_a_response_is_finished_when_the_server_is_asked_to_end(data: Path) -> None:
    with serving_process("http", "serve", data) as served:
        connection = http.client.HTTPConnection(*served.address, timeout=30)
        connection.request("GET", "/large.nt")
        response = connection.getresponse()
        start = response.read(1000)
        served.process.send_signal(signal.SIGTERM)
        assert len(start + response.read()) == LARGE_BYTES
        connection.close()
        assert served.process.wait(30) == 0


def test_sources_and_addresses_that_cannot_be_served_are_refused(tmp_path: Path) -> None:
    listen = ("--listen", "127.0.0.1:0")
    assert "there is no such file or folder" in error_of("http", "serve", tmp_path / "nothing", *listen)
    (tmp_path / "x.pdf").write_bytes(b"")
    assert "the format cannot be recognised by the name" in error_of("http", "serve", tmp_path / "x.pdf", *listen)
    for address in ("8080", "127.0.0.1:", "127.0.0.1:99999", ":80", "localhost:http"):
        assert "write HOST:PORT" in error_of("http", "serve", tmp_path, "--listen", address)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        problem = error_of("http", "serve", tmp_path, "--listen", address)
        assert f"cannot listen on {address}: Address already in use" in problem


def test_a_server_that_dies_is_an_error_and_one_that_comes_back_is_resumed(data: Path) -> None:
    with (
        serving_process("http", "serve", data) as served,
        HttpFile(f"{served.url}/large.nt", accept="*/*", settings=SOON, compressed=False) as file,
    ):
        start = file.read(1000)
        served.process.kill()
        served.process.wait()
        with pytest.raises(StorageError, match="no connection"):
            HttpFile(f"{served.url}/people.nt").read()
        port = served.address[1]
        with serving_process("http", "serve", data, port=port):
            rest = file.read()
        assert len(start) + len(rest) == LARGE_BYTES
