"""Files on web servers of all kinds of behaviour."""

import gzip
import io
import random
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import jellyframe
from jellyframe.errors import LimitError, OptionsError, ParseError, StorageError
from jellyframe.ops.inputs import Inputs
from jellyframe.options import Limits
from jellyframe.storage.compression import zstd_module
from jellyframe.storage.http import HttpFile, http_info
from jellyframe.storage.http_requests import HttpSettings
from jellyframe.storage.sources import ByteSource, InputFile
from jellyframe.stream.index import restart_points
from support.command import error_of, run
from support.web_servers import Site, serving

AT_ONCE = HttpSettings(back_off=0.0, timeout=20.0)
CONTENT = random.Random(5).randbytes(3_000_000)
LINES = "".join(f'<http://e.org/s{n}> <http://e.org/p> "{n}" .\n' for n in range(2000)).encode()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def jelly(folder: Path, **settings: Any) -> bytes:
    """The lines as a Jelly stream."""
    (folder / "lines.nt").write_bytes(LINES)
    jellyframe.convert(folder / "lines.nt", folder / "lines.jelly", **settings)
    return (folder / "lines.jelly").read_bytes()


def read_all(url: str, settings: HttpSettings = AT_ONCE) -> bytes:
    with HttpFile(url, settings=settings) as file:
        return file.read()


# ---- the way there ----


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("announce_length", [False, True])
def test_a_file_is_read(chunked: bool, announce_length: bool) -> None:
    with serving(Site(CONTENT, chunked=chunked, announce_length=announce_length)) as site:
        assert read_all(f"{site.url}/data.jelly") == CONTENT
        assert len(site.requests) == 1


def test_an_empty_file_is_read() -> None:
    with serving(Site(b"")) as site:
        assert read_all(site.url) == b""


def test_redirects_are_followed_and_counted() -> None:
    with serving(Site(b"x", location=lambda path: None if path == "/4" else f"/{int(path[1:]) + 1}")) as site:
        assert read_all(f"{site.url}/0") == b"x"
        with pytest.raises(StorageError, match="more than 3 redirects"):
            read_all(f"{site.url}/0", HttpSettings(max_redirects=3))


@pytest.mark.parametrize(
    ("place", "problem"), [("file:///etc/passwd", "not HTTP"), ("ftp://127.0.0.1/x", "not HTTP"), ("", "Location")]
)
def test_redirects_to_other_schemes_are_refused(place: str, problem: str) -> None:
    with serving(Site(b"x", location=lambda _path: place)) as site, pytest.raises(StorageError, match=problem):
        read_all(site.url)


def test_secrets_stay_with_their_host_and_out_of_messages() -> None:
    with serving(Site(b"x")) as other, serving(Site(location=lambda _path: other.url)) as site:
        name = site.url.replace("http://", "http://me:secret%21@")
        with HttpFile(name, settings=HttpSettings(headers={"X-Key": "k"})) as file:
            assert file.read() == b"x"
            assert "secret" not in file.name
        assert site.asked("authorization") == ["Basic bWU6c2VjcmV0IQ=="]
        assert site.asked("x-key") == ["k"]
        assert other.asked("authorization") == other.asked("x-key") == [None]
    with pytest.raises(StorageError) as caught:
        read_all(name)
    assert "secret" not in str(caught.value)


def test_names_are_escaped() -> None:
    with serving(Site(b"x")) as site:
        assert read_all(f"{site.url}/a b/ä%20?q=a b#part") == b"x"
        assert site.requests[0][1] == "/a%20b/%C3%A4%20?q=a%20b"


@pytest.mark.parametrize("url", ["http://", "http://[", "http:///path", "http://127.0.0.1:99999/x", "http://a b/"])
def test_invalid_urls_are_refused(url: str) -> None:
    with pytest.raises(StorageError, match=r"URL|no connection|answer is not HTTP"):
        read_all(url)


# ---- errors ----


def test_a_status_is_an_error_that_names_it_and_the_address() -> None:
    with serving(Site(statuses=[(404, {})])) as site, pytest.raises(StorageError) as caught:
        read_all(f"{site.url}/gone.jelly")
    assert str(caught.value) == f"{site.url}/gone.jelly: the server answers 404 Not Found"
    assert len(site.requests) == 1


def test_requests_to_busy_servers_are_retried() -> None:
    busy: list[tuple[int, dict[str, str]]] = [(503, {"Retry-After": "0"}), (429, {}), (502, {"Retry-After": "soon"})]
    with serving(Site(b"x", statuses=[*busy])) as site:
        assert read_all(site.url) == b"x"
        assert len(site.requests) == 4
    with serving(Site(b"x", statuses=busy * 3)) as site:
        with pytest.raises(StorageError, match="429 Too Many Requests; gave up after 5 attempts"):
            read_all(site.url)
        assert len(site.requests) == 5


def test_a_refused_connection_is_an_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(StorageError, match="no connection: "):
            read_all(f"http://127.0.0.1:{free.getsockname()[1]}/x")


def test_silent_servers_and_servers_without_http_are_errors() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        with pytest.raises(StorageError, match="did not answer in time; gave up after 2 attempts"):
            read_all(url, HttpSettings(timeout=0.05, attempts=2, back_off=0.0))

    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _address = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-x\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(StorageError, match="the answer is not HTTP"):
            read_all(f"http://127.0.0.1:{server.getsockname()[1]}/x")
        thread.join()


# ---- connections that break ----


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("etag", ["strong", "weak", None])
@pytest.mark.parametrize("ranges", [False, True])
def test_a_broken_connection_is_resumed(chunked: bool, etag: str | None, ranges: bool) -> None:
    site = Site(CONTENT, chunked=chunked, etag=etag, ranges=ranges, cuts=[0, 1_000_000, 700_000, 1, 2_600_000])
    with serving(site):
        assert read_all(site.url) == CONTENT
    assert len(site.requests) >= 3
    if etag == "strong":
        # With a validator, what has been read is not asked for again; a server may send it all the same.
        assert site.asked("range")[2] == "bytes=1000000-"
        assert site.asked("if-range")[2] == site.asked("if-range")[-1]


def test_a_download_is_resumed_by_an_old_last_modified_date() -> None:
    dates = {"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    with serving(Site(CONTENT, etag=None, extra=dates, ranges=False, cuts=[1_000_000])) as site:
        assert read_all(site.url) == CONTENT
        assert site.asked("if-range") == [None, "Wed, 21 Oct 2015 07:28:00 GMT"]


@pytest.mark.parametrize("etag", ["strong", "weak", None])
@pytest.mark.parametrize("ranges", [False, True])
def test_a_file_that_changes_is_an_error_and_never_mixed_data(etag: str | None, ranges: bool) -> None:
    def change(site: Site) -> None:
        site.content = b"x" + CONTENT[1:]

    with serving(Site(CONTENT, etag=etag, ranges=ranges, cuts=[1_000_000], after_request=change)) as site:
        file = HttpFile(site.url, settings=AT_ONCE)
        assert len(b"".join(iter(lambda: file.read(500_000) if file.tell() < 1_000_000 else b"", b""))) == 1_000_000
        with pytest.raises(StorageError, match="changed while it was read"):
            file.read()
        file.close()


def test_a_server_that_stays_down_is_an_error_with_the_position() -> None:
    with serving(Site(CONTENT, cuts=[1_000_000, *[0] * 9])) as site:
        with pytest.raises(StorageError, match=r"broke at byte 1000000: .*; gave up after 5 attempts"):
            read_all(site.url)
        assert len(site.requests) == 5
    with serving(Site(CONTENT, cuts=[1_000_000])) as site:
        file = HttpFile(site.url, settings=AT_ONCE)
        file.read(10)
    with file, pytest.raises(StorageError, match="cannot be reached any more"):
        file.read()


def test_a_wrong_range_is_an_error() -> None:
    with serving(Site(CONTENT, cuts=[100])) as site:
        site.statuses = []
        file = HttpFile(site.url, settings=AT_ONCE)
        assert len(file.read(100)) == 100
        site.statuses = [(206, {"Content-Range": "bytes 50-60/3000000", "ETag": '"x"'})]
        with pytest.raises(StorageError, match=r"changed|bytes from 50"):
            file.read()
        file.close()


# ---- compressed for the way ----


def compressions() -> dict[str, bytes]:
    return {"gzip": gzip.compress(LINES), "x-gzip": gzip.compress(LINES), "zstd": zstd_module().compress(LINES)}


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "zstd"])
def test_content_encodings_are_decoded(encoding: str) -> None:
    body = compressions()[encoding]
    with serving(Site(body, encoding=encoding, cuts=[len(body) // 2])) as site:
        assert read_all(site.url) == LINES
        assert site.asked("accept-encoding") == ["identity, gzip;q=0.5, zstd;q=0.5"] * 2
        assert site.asked("range")[1] == f"bytes={len(body) // 2}-"
        with HttpFile(site.url) as file:
            assert not file.seekable()
            assert file.size is None
            with pytest.raises(StorageError, match="no requests for ranges"):
                file.seek(5)


def test_a_compressed_file_may_have_a_content_encoding() -> None:
    twice = gzip.compress(gzip.compress(LINES))
    with serving(Site(twice, encoding="gzip")) as site, ByteSource(f"{site.url}/data.nt.gz") as source:
        assert b"".join(iter(source.read, b"")) == LINES


def test_unrequested_encodings_and_decompression_bombs_are_refused() -> None:
    with serving(Site(b"x", encoding="br")) as site, pytest.raises(StorageError, match="'br', which was not asked for"):
        read_all(site.url)
    with (
        serving(Site(gzip.compress(bytes(100_000)), encoding="gzip")) as site,
        HttpFile(site.url, limits=Limits(max_inflated_bytes=99_999)) as file,
        pytest.raises(LimitError, match="max_inflated_bytes"),
    ):
        file.read()
    with serving(Site(gzip.compress(LINES)[:-9], encoding="gzip")) as site, pytest.raises(ParseError, match="cut off"):
        read_all(site.url)


# ---- places in a file ----


@pytest.mark.parametrize("announced", [False, True])
def test_seeking_requests_a_range(announced: bool) -> None:
    with serving(Site(CONTENT, announce_ranges=announced)) as site, HttpFile(site.url) as file:
        assert file.seek(1_000_000) == 1_000_000
        assert file.read(5) == CONTENT[1_000_000:1_000_005]
        assert site.asked("range") == ["bytes=1000000-"]
        assert file.seekable()
        assert file.size == len(CONTENT)
        assert file.seek(-5, 2) == len(CONTENT) - 5
        assert file.read() == CONTENT[-5:]
        file.seek(5000)
        assert file.read(10) == CONTENT[5000:5010]
        asked = len(site.requests)
        file.seek(90, 1)
        assert file.read(10) == CONTENT[5100:5110]
        assert len(site.requests) == asked
        file.seek(10**9)
        assert file.read(10) == b""
        assert file.seekable()
        assert file.seek(0, 2) == len(CONTENT)
        assert file.seek(7) == 7
        assert file.read(3) == CONTENT[7:10]


def test_seeking_without_ranges_reads_forward_only() -> None:
    with serving(Site(CONTENT, ranges=False)) as site, HttpFile(site.url, settings=AT_ONCE) as file:
        file.seek(1_000_000)
        # The first request gets everything, and what lies before is read over.
        assert file.read(5) == CONTENT[1_000_000:1_000_005]
        with pytest.raises(StorageError, match="no requests for ranges"):
            file.seek(0)
        assert file.read(5) == CONTENT[1_000_005:1_000_010]


def test_a_file_that_changes_between_two_reads_is_an_error() -> None:
    with serving(Site(CONTENT)) as site, HttpFile(site.url) as file:
        file.seek(1_000_000)
        file.read(5)
        site.content = CONTENT[::-1]
        file.seek(0)
        with pytest.raises(StorageError, match="changed while it was read"):
            file.read(5)


def test_size_media_type_and_ranges_of_a_file_are_known() -> None:
    with serving(Site(CONTENT, media_type="application/n-quads; charset=utf-8")) as site:
        assert http_info(site.url)[::2] == (len(CONTENT), "application/n-quads")
        site.head = False
        assert http_info(site.url).accepts_ranges
        assert [method for method, _path, _headers in site.requests] == ["HEAD", "HEAD", "GET"]


def test_a_closed_file_refuses_reads() -> None:
    with serving(Site(b"x")) as site:
        file = HttpFile(site.url)
        file.close()
        file.close()
        assert file.closed
        with pytest.raises(ValueError, match="closed"):
            file.read()


# ---- readers, tables and commands ----


def test_readers_and_tables_take_urls(tmp_path: Path) -> None:
    data = jelly(tmp_path)
    expected = jellyframe.read_table(data)
    with serving(Site(data, cuts=[3000, 20_000])) as site:
        with jellyframe.open_reader(f"{site.url}/x") as reader:
            assert len(list(reader)) == 2000
            assert reader.source_name == f"{site.url}/x"
        assert str(site.asked("accept")[0]).startswith("application/x-jelly-rdf,")
        assert jellyframe.read_table(f"{site.url}/x").equals(expected)
        with jellyframe.open_reader(HttpFile(f"{site.url}/x", settings=HttpSettings(headers={"X": "y"}))) as reader:
            assert len(list(reader)) == 2000
        assert site.asked("x")[-1] == "y"


def test_a_byte_range_is_read_from_a_restart_point(tmp_path: Path) -> None:
    data = jelly(tmp_path, jelly={"restart_every": 2000, "frame_rows": 50})
    with serving(Site(data)) as site:
        with HttpFile(site.url) as file:
            points = restart_points(file)
        assert points == restart_points(io.BytesIO(data))
        assert len(points) > 5
        with jellyframe.open_reader(site.url, byte_range=(points[3].offset, points[4].offset)) as reader:
            got = list(reader)
    with jellyframe.open_reader(data, byte_range=(points[3].offset, points[4].offset)) as reader:
        assert got == list(reader)


@pytest.mark.parametrize("name", ["data.nt", "data.nt.gz?version=2", "anything"])
def test_convert_and_scan_use_the_name_or_the_media_type(name: str, tmp_path: Path) -> None:
    content = gzip.compress(LINES) if ".gz" in name else LINES
    media_type = "application/n-triples" if name == "anything" else "text/plain"
    with serving(Site(content, media_type=media_type, cuts=[None, 4000])) as site:
        out = tmp_path / "out.nt"
        assert jellyframe.convert(f"{site.url}/{name}", out).statements == 2000
        assert out.read_bytes() == LINES
        assert str(site.asked("accept")[-1]).startswith("application/n-triples, ")
        assert len(jellyframe.scan([f"{site.url}/{name}", f"{site.url}/{name}"]).read_all()) == 2000
        assert len(jellyframe.scan(f"{site.url}/{name}", in_format="nt").read_all()) == 2000


def test_an_unknown_format_is_refused() -> None:
    with serving(Site(LINES, media_type="text/plain")) as site:
        with pytest.raises(OptionsError, match=r"nor by the media type of the server, text/plain .*set in_format="):
            jellyframe.scan(f"{site.url}/data")
        site.statuses = [(404, {})]
        with pytest.raises(StorageError, match="404"):
            jellyframe.scan(f"{site.url}/data")


def test_relative_iris_are_resolved_against_the_url(tmp_path: Path) -> None:
    with serving(Site(b"<#a> <p> <> .", media_type="text/turtle")) as site:
        out = tmp_path / "out.nt"
        jellyframe.convert(f"{site.url}/d/x.ttl", out)
        assert out.read_text() == f"<{site.url}/d/x.ttl#a> <{site.url}/d/p> <{site.url}/d/x.ttl> .\n"


def test_large_files_are_scanned_whole_and_in_pieces() -> None:
    with serving(Site(LINES)) as site:
        inputs = Inputs.find(f"{site.url}/x.nt")
        assert inputs.total_bytes == len(LINES)
        assert len(inputs.pieces(10_000)) == -(-len(LINES) // 10_000)
        site.ranges = False
        assert len(Inputs.find(f"{site.url}/x.nt").pieces(10_000)) == 1


def test_the_command_line_reads_from_the_web(tmp_path: Path) -> None:
    with serving(Site(jelly(tmp_path), cuts=[5000])) as site:
        assert run("rdf", "from-jelly", f"{site.url}/x.jelly", "--out-format", "nt") == (0, LINES, "")
        run("rdf", "validate", f"{site.url}/x.jelly", "--quiet")
        site.statuses = [(404, {})]
        problem = error_of("rdf", "inspect", f"{site.url}/x.jelly")
        assert problem == f"jellyframe: error: {site.url}/x.jelly: the server answers 404 Not Found\n"


def test_input_files_know_their_size() -> None:
    with serving(Site(LINES)) as site, InputFile(f"{site.url}/x.nt") as file:
        assert file.total_bytes == len(LINES)
        assert file.seekable()
        file.read(10)
        assert file.tell() == file.bytes_read
