"""Valid and hostile requests to a process of `jellyframe http serve`."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.errors import StorageError
from jellyframe.options import DialectName
from jellyframe.patch import Add, Delete, open_patch_reader, open_patch_writer
from jellyframe.storage.compression import zstd_module
from jellyframe.web import HttpClient
from support.command import canonical
from support.web_processes import Served, ask, raw_answer, serving_process

LINES = "".join(f'<http://e.org/s{n}> <http://e.org/p> "{n}" .\n' for n in range(3000)).encode()
QUADS = b"<http://e.org/s> <http://e.org/p> _:b <http://e.org/g> .\n_:b <http://e.org/p> <http://e.org/s> .\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "data"
    (folder / "inner" / "deep").mkdir(parents=True)
    (folder / "people.nt").write_bytes(LINES)
    jellyframe.convert(folder / "people.nt", folder / "people.jelly")
    (folder / "packed.nt.gz").write_bytes(gzip.compress(LINES))
    (folder / "inner" / "graphs.nq").write_bytes(QUADS)
    (folder / "inner" / "deep" / "b ä.ttl").write_text("<#x> <http://e.org/p> 1 .")
    (folder / "notes.txt").write_text("not data")
    (folder / ".hidden.nt").write_bytes(LINES)
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "x.nt").write_bytes(LINES)
    (folder.parent / "secret.nt").write_bytes(b"<http://e.org/secret> <http://e.org/p> 1 .")
    (folder / "link.nt").symlink_to("people.nt")
    (folder / "out.nt").symlink_to(folder.parent / "secret.nt")
    (folder / "outside").symlink_to(folder.parent)
    (folder / "loop").symlink_to(folder)
    return folder


@pytest.fixture(scope="module")
def served(data: Path) -> Iterator[Served]:
    with serving_process("http", "serve", data) as running:
        yield running


# ---- formats ----


def test_a_file_is_served_unchanged(served: Served, data: Path) -> None:
    for name, media_type in (("people.jelly", "application/x-jelly-rdf"), ("people.nt", "application/n-triples")):
        for accept in ({}, {"accept": "*/*"}, {"accept": media_type}):
            answer = ask(served, f"/{name}", **accept)
            assert answer.status == 200
            assert answer.body == (data / name).read_bytes()
            assert answer.headers["content-type"].startswith(media_type)
            assert answer.headers["content-length"] == str(len(answer.body))
            assert "accept" in answer.headers["vary"].lower()


@pytest.mark.parametrize(
    "media_type",
    ["application/x-jelly-rdf", "application/n-triples", "application/n-quads", "text/turtle", "application/trig"],
)
@pytest.mark.parametrize("name", ["people.nt", "people.jelly", "packed.nt.gz"])
def test_a_file_is_served_in_another_format(served: Served, name: str, media_type: str, tmp_path: Path) -> None:
    answer = ask(served, f"/{name}", accept=f"{media_type}, text/html;q=0.5")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith(media_type)
    file = tmp_path / {"text/turtle": "x.ttl", "application/trig": "x.trig"}.get(media_type, "x.nt")
    if media_type.endswith("jelly-rdf"):
        file = tmp_path / "x.jelly"
    file.write_bytes(answer.body)
    jellyframe.convert(file, tmp_path / "out.nt")
    assert (tmp_path / "out.nt").read_bytes() == LINES


def test_a_folder_is_one_stream(served: Served) -> None:
    answer = ask(served, "/inner/deep", accept="application/n-quads")
    expected = (
        b'<file:///x> <http://e.org/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'  # relative to the file
    )
    assert answer.status == 200
    assert answer.body.endswith(expected[expected.index(b"x> ") :])
    with HttpClient(f"{served.url}/inner/deep").open() as reader:
        assert len(list(reader)) == 1


def test_the_query_selects_the_format(served: Served) -> None:
    assert ask(served, "/people.jelly?format=nt", accept="text/html").body == LINES
    answer = ask(served, "/people.jelly?format=pdf")
    assert (answer.status, answer.body[:15]) == (400, b"the format 'pdf")


def test_a_file_in_the_draft_dialect_is_served_in_the_released_one(tmp_path: Path) -> None:
    triples = [Triple(IRI("http://e.org/s"), IRI("http://e.org/p"), Literal(str(number))) for number in range(50)]
    dialects: list[DialectName] = ["draft", "released", "draft"]
    for number, dialect in enumerate(dialects):
        with jellyframe.open_writer(tmp_path / f"{number}.jelly", dialect=dialect) as writer:
            writer.write(triples[number * 10 : number * 10 + 10])
    (tmp_path / "old").mkdir()
    with jellyframe.open_writer(tmp_path / "old" / "3.jelly.gz", compression="gzip", dialect="draft") as writer:
        writer.write(triples[30:40])
    with serving_process("http", "serve", tmp_path) as served:
        for path, first, last in (("/0.jelly", 0, 10), ("/old/3.jelly.gz", 30, 40), ("/old/", 30, 40), ("/", 0, 40)):
            expected = "".join(f"{line} .\n" for line in (" ".join(map(str, triple)) for triple in triples[first:last]))
            assert ask(served, path, accept="application/n-triples").body == expected.encode()
            with jellyframe.open_reader(ask(served, path, accept="application/x-jelly-rdf").body) as reader:
                assert list(reader) == triples[first:last]
        answer = ask(served, "/0.jelly")
        assert answer.headers["accept-ranges"] == "none"
        assert answer.headers["etag"].startswith("W/")


def test_patches_are_served(tmp_path: Path) -> None:
    triple = Triple(IRI("http://e.org/s"), IRI("http://e.org/p"), Literal("1"))
    with open_patch_writer(tmp_path / "a.jellyp") as writer:
        writer.write([Add(*triple)])
    (tmp_path / "b.rdfp").write_bytes(b'D <http://e.org/s> <http://e.org/p> "1" .\n')
    with serving_process("http", "serve", tmp_path) as served:
        answer = ask(served, "/a.jellyp")
        assert answer.headers["content-type"] == "application/x-jelly-rdf-patch"
        assert answer.body == (tmp_path / "a.jellyp").read_bytes()
        assert ask(served, "/a.jellyp", range="bytes=2-5").body == answer.body[2:6]
        text = ask(served, "/a.jellyp", accept="application/rdf-patch")
        assert text.headers["content-type"].startswith("application/rdf-patch")
        assert text.body.splitlines()[0] == b'A <http://e.org/s> <http://e.org/p> "1" .'
        assert ask(served, "/b.rdfp").body == (tmp_path / "b.rdfp").read_bytes()
        with open_patch_reader(f"{served.url}/b.rdfp?format=jelly-patch") as reader:
            assert [row for row in reader if isinstance(row, Delete)] == [Delete(*triple, DEFAULT_GRAPH)]
        assert ask(served, "/a.jellyp", accept="application/n-triples").status == 406
        # Changes are no data: a folder as a stream leaves them out.
        assert ask(served, "/", accept="application/n-triples").status == 404
        page = ask(served, "/", accept="text/html").body.decode()
        assert 'href="a.jellyp?format=rdfp"' in page
        assert [entry.format for entry in HttpClient(served.url).entries()] == ["jelly-patch", "rdfp"]


def test_media_types_that_are_not_available_are_refused(served: Served) -> None:
    answer = ask(served, "/people.jelly", accept="image/png, application/x-jelly-rdf;q=0, */json")
    assert answer.status == 406
    assert b"application/n-quads" in answer.body
    answer = ask(served, "/inner/graphs.nq", accept="application/n-triples")
    assert answer.status == 406
    assert b"in a named graph, which N-Triples cannot hold" in answer.body
    assert canonical(ask(served, "/inner/graphs.nq", accept="application/n-quads").body) == canonical(QUADS)


def test_other_methods_are_refused(served: Served) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = ask(served, "/people.nt", method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


# ---- ranges, versions, compression ----


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=100-", 100, None),
        ("bytes=-7", -7, None),
        ("bytes=5-99999999999", 5, None),
        ("Bytes = 3 - 5", 3, 6),
        ("bytes=-99999999", 0, None),
    ],
)
def test_ranges_are_served(served: Served, asked: str, start: int, stop: int | None) -> None:
    answer = ask(served, "/people.nt", range=asked)
    assert answer.status == 206
    assert answer.body == LINES[start:stop]
    first = start % len(LINES)
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(answer.body) - 1}/{len(LINES)}"


@pytest.mark.parametrize(
    "asked", ["bytes=5-3", "bytes=-", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6", "", "bytes=" + "9" * 5000 + "-"]
)
def test_invalid_ranges_are_ignored(served: Served, asked: str) -> None:
    answer = ask(served, "/people.nt", range=asked)
    assert (answer.status, answer.body) == (200, LINES)


@pytest.mark.parametrize("asked", [f"bytes={len(LINES)}-", "bytes=99999999-", "bytes=-0"])
def test_ranges_after_the_end_are_refused(served: Served, asked: str) -> None:
    answer = ask(served, "/people.nt", range=asked)
    assert (answer.status, answer.headers["content-range"]) == (416, f"bytes */{len(LINES)}")


def test_conditional_requests_compare_versions(served: Served) -> None:
    first = ask(served, "/people.nt")
    etag = first.headers["etag"]
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        answer = ask(served, "/people.nt", if_none_match=known)
        assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", etag)
    assert ask(served, "/people.nt", if_none_match='"other"').status == 200
    assert ask(served, "/people.nt", if_modified_since=first.headers["last-modified"]).status == 304
    assert ask(served, "/people.nt", if_modified_since="Wed, 21 Oct 2015 07:28:00 GMT").status == 200
    assert ask(served, "/people.nt", if_modified_since="when?").status == 200
    assert ask(served, "/people.nt", range="bytes=0-9", if_range=etag).status == 206
    assert ask(served, "/people.nt", range="bytes=0-9", if_range='"other"').status == 200
    converted = ask(served, "/people.nt", accept="text/turtle")
    assert converted.headers["etag"].startswith("W/")
    assert converted.headers["accept-ranges"] == "none"
    assert ask(served, "/people.nt", accept="text/turtle", if_none_match=converted.headers["etag"]).status == 304
    assert ask(served, "/people.nt", accept="text/turtle", range="bytes=0-9").status == 200


def test_head_has_the_headers_of_get(served: Served) -> None:
    for headers in ({}, {"accept": "text/turtle"}, {"if_none_match": "*"}):
        whole, head = ask(served, "/people.nt", **headers), ask(served, "/people.nt", "HEAD", **headers)
        assert head.body == b""
        assert head.status == whole.status
        dates = {"date": ""}
        assert {**head.headers, **dates, "transfer-encoding": ""} == {**whole.headers, **dates, "transfer-encoding": ""}
    # RFC 9110: ranges are for GET.
    head = ask(served, "/people.nt", "HEAD", range="bytes=0-9")
    assert (head.status, head.headers["content-length"]) == (200, str(len(LINES)))


@pytest.mark.parametrize("name", ["people.nt", "people.jelly", "packed.nt.gz"])
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_responses_are_compressed_on_request(served: Served, name: str, encoding: str) -> None:
    answer = ask(served, f"/{name}?format=nt", accept_encoding=f"{encoding};q=0.5, br")
    assert answer.headers["content-encoding"] == encoding
    inflate = gzip.decompress if encoding == "gzip" else zstd_module().decompress
    assert inflate(answer.body) == LINES
    as_it_is = ask(served, f"/{name}?format=nt", accept_encoding=f"identity, {encoding};q=0.5")
    if name != "packed.nt.gz":
        assert "content-encoding" not in as_it_is.headers
    assert ask(served, f"/{name}?format=nt", accept_encoding="br").body == LINES


def test_a_compressed_file_keeps_its_ranges(served: Served, data: Path) -> None:
    packed = (data / "packed.nt.gz").read_bytes()
    answer = ask(served, "/packed.nt.gz", accept_encoding="gzip", range="bytes=10-")
    assert (answer.status, answer.headers["content-encoding"], answer.body) == (206, "gzip", packed[10:])


# ---- places ----


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.nt",
        "/inner/../../secret.nt",
        "/..%2fsecret.nt",
        "/%2e%2e/secret.nt",
        "/inner%2f..%2f..%2fsecret.nt",
        "/inner%2fgraphs.nq",
        "/inner\\graphs.nq",
        "/inner%5cgraphs.nq",
        "/people.nt%00",
        "/people.nt%00.jelly",
        "/%00",
        "//people.nt/x",
        "/./people.nt",
        "/people.nt/",
        "/people.nt/people.nt",
        "/out.nt",
        "/outside/secret.nt",
        "/notes.txt",
        "/.hidden.nt",
        "/_temporary/x.nt",
        "/etc/passwd",
        "/" + "a" * 5000,
        "/" + "a/" * 3000,
        "/%ff%fe",
        "/people.nt%0d%0aX: y",
        "http://127.0.0.1/people.nt",
    ],
)
def test_nothing_outside_is_served(served: Served, path: str) -> None:
    request = f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: {served.url[7:]}\r\nConnection: close\r\n\r\n"
    answer = raw_answer(served, request.encode())
    head = answer.partition(b"\r\n")[0]
    assert head.split()[1] in (b"400", b"404", b"414"), answer[:300]
    assert b"secret" not in answer.partition(b"\r\n\r\n")[2]


def test_links_inside_are_followed(served: Served) -> None:
    assert ask(served, "/link.nt").body == LINES
    assert ask(served, "/loop/loop/people.nt").body == LINES
    assert ask(served, "/inner/deep/b%20%C3%A4.ttl").status == 200


def test_a_page_lists_a_folder(served: Served) -> None:
    for accept in ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "*/*"):
        answer = ask(served, "/", accept=accept)
        assert answer.headers["content-type"].startswith("text/html")
        page = answer.body.decode()
        assert 'href="people.jelly"' in page
        assert 'href="inner/"' in page
        assert "notes.txt" not in page
        assert "secret" not in page
        assert "hidden" not in page.replace("caption hidden", "")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    answer = ask(served, "/inner", accept="text/html")
    assert (answer.status, answer.headers["location"]) == (308, "/inner/")
    assert "b%20%C3%A4.ttl" in ask(served, "/inner/deep/", accept="text/html").body.decode()


def test_other_names_and_pages_of_other_sites_are_refused(served: Served) -> None:
    port = served.address[1]
    assert ask(served, "/people.nt", host="evil.example").status == 421
    assert ask(served, "/people.nt", host=f"evil.example:{port}").status == 421
    assert ask(served, "/people.nt", host=f"localhost:{port}").status == 200
    assert ask(served, "/people.nt", origin="https://evil.example").status == 403
    assert ask(served, "/people.nt", origin="null").status == 403
    assert ask(served, "/people.nt", origin=served.url).status == 200


def test_malformed_requests_are_refused(served: Served) -> None:
    for garbage in (
        b"\0" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n",
    ):
        assert b" 200 " not in raw_answer(served, garbage).partition(b"\r\n")[0]
    assert ask(served, "/people.nt").status == 200
    many = "&".join(f"a{n}=1" for n in range(100))
    assert ask(served, f"/people.nt?{many}").status == 400


# ---- clients of ours ----


def test_readers_and_the_client_read_from_the_server(served: Served, data: Path) -> None:
    with jellyframe.open_reader(f"{served.url}/people.nt") as reader:
        assert len(list(reader)) == 3000
    client = HttpClient(served.url)
    assert client.read_table("people.jelly").equals(jellyframe.read_table(data / "people.jelly"))
    with client.open("people.nt", batch_rows=1000) as reader:
        assert [len(batch) for batch in reader.batches()] == [1000] * 3
    with client.open_bytes("people.jelly", "nt") as file:
        assert file.read() == LINES
    found = {entry.name: entry for entry in client.entries()}
    assert found["inner"].is_folder
    assert found["people.jelly"][1:] == (False, "jelly", (data / "people.jelly").stat().st_size)
    assert [entry.name for entry in client.entries("inner/deep")] == ["b ä.ttl"]
    with pytest.raises(StorageError, match="404 Not Found: there is no such file"):
        client.read_table("nothing.jelly")
    with pytest.raises(StorageError, match="406 Not Acceptable"):
        client.entries("people.jelly")


def test_many_small_data_sets_in_one_response(tmp_path: Path) -> None:
    path = tmp_path / "nanopubs.jelly"
    options = StreamOptions(physical_type=PhysicalType.QUADS, logical_type=LogicalType.DATASETS)
    with jellyframe.open_writer(path, options) as writer:
        for number in range(2000):
            name = f"http://e.org/np{number}"
            writer.write([Quad(IRI(f"{name}#s"), IRI("http://e.org/p"), Literal(str(number)), IRI(f"{name}#a"))])
            writer.end_frame()
    with serving_process("http", "serve", tmp_path) as served:
        for address in (f"{served.url}/nanopubs.jelly", served.url):
            with jellyframe.open_reader(address) as reader:
                frames = [list(frame) for frame in reader.frames()]
            assert len(frames) == 2000
            assert frames[7][0].o == Literal("7")


def test_triples_stay_triples(served: Served) -> None:
    with jellyframe.open_reader(f"{served.url}/people.nt") as reader:
        assert isinstance(next(iter(reader)), Triple)
