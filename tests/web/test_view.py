"""`jellyframe view`: the app asked directly, and the page in a real browser."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from jellyframe.patch import Add, open_patch_writer
from support.browsers import find_browser
from support.chrome import Tab, browsing
from support.command import error_of
from support.web_processes import Answer, Served, ask, serving_process

HOSTILE = '<img src=x onerror="document.title=\'hurt\'"> </script><script>document.title="hurt"</script> \u202e "\n'
COUNT = 3000
NAME = "http://xmlns.com/foaf/0.1/name"


def statements() -> Iterator[Quad]:
    for number in range(COUNT):
        graph = IRI(f"http://e.org/g{number % 3}") if number % 4 else DEFAULT_GRAPH
        yield Quad(IRI(f"http://e.org/s{number % 90}"), IRI(NAME), Literal(f"{number} {HOSTILE}", language="en"), graph)
    yield Quad(IRI('http://e.org/<b onclick="x">'), IRI("http://e.org/p"), Literal("x" * 9000), DEFAULT_GRAPH)
    yield Quad(
        Triple(BlankNode("a"), IRI(NAME), Literal("q")), IRI("http://e.org/p"), IRI("http://e.org/s7"), DEFAULT_GRAPH
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("viewed")
    large, small = folder / "large<i>.jelly", folder / "small.jelly"
    with jellyframe.open_writer(large, restart_every=20_000, index=True) as writer:
        writer.write(statements())
    with jellyframe.open_writer(small) as writer:
        writer.write([Triple(IRI("http://e.org/only"), IRI("http://e.org/p"), Literal("1"))])
    return [large, small]


@pytest.fixture(scope="module")
def served(files: list[Path]) -> Iterator[Served]:
    with serving_process("view", *files, "--no-browser") as running:
        yield running


def token_of(served: Served) -> str:
    return served.url.partition("token=")[2]


def api(served: Served, name: str, **parameters: Any) -> Any:
    answer = ask(served, f"/api/{name}?{urlencode(parameters)}", x_token=token_of(served))
    assert answer.status == 200, answer
    return json.loads(answer.body)


def refused(served: Served, path: str, **headers: str) -> Answer:
    answer = ask(served, path, **headers)
    assert b"e.org" not in answer.body
    return answer


# ---- the app ----


def test_requests_without_the_token_are_refused(served: Served) -> None:
    assert len(token_of(served)) > 20
    for path in (
        "/",
        "/api/files",
        "/api/page",
        "/?token=",
        "/?token=x",
        f"/?token={token_of(served)[:-1]}",
        "/nothing",
    ):
        assert refused(served, path).status == 403
    assert refused(served, "/api/files", x_token="ünknown").status == 403
    good = {"x_token": token_of(served)}
    assert refused(served, "/api/files", host="evil.example", **good).status == 421
    assert refused(served, "/api/files", origin="http://evil.example", **good).status == 403
    assert refused(served, "/nothing", **good).status == 404
    assert ask(served, "/api/files", "POST", **good).status == 405
    page = ask(served, f"/?token={token_of(served)}")
    assert page.status == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe-inline'; connect" not in page.headers["content-security-policy"].split("script-src")[1]
    assert token_of(served).encode() not in page.body


def test_invalid_arguments_are_an_error_of_one_line(served: Served) -> None:
    for query in (
        "file=9",
        "file=x",
        "anchor=12345",
        "at=never",
        "at=number:x",
        "s=%22open",
        "rows=x",
        f"skip={'9' * 40}",
    ):
        answer = ask(served, f"/api/page?{query}", x_token=token_of(served))
        assert answer.status in (400, 404, 422), (query, answer)
        assert answer.body.count(b"\n") == 1
        assert answer.headers["content-type"].startswith("text/plain")
    assert ask(served, "/api/lookups?frame=99999", x_token=token_of(served)).status == 422


def test_pages_frames_and_lookups(served: Served) -> None:
    large, small = api(served, "files")["files"]
    assert (large["statements"], large["indexed"], large["jumps"], small["jumps"]) == (COUNT + 2, True, True, False)
    first = api(served, "page", rows=10)
    assert [row["number"] for row in first["rows"]] == list(range(10))
    assert first["rows"][1]["terms"][1]["value"] == "foaf:name"
    last = api(served, "page", at="last", rows=10)
    assert last["next"] is None
    assert last["rows"][-1]["terms"][0]["kind"] == "triple"
    long = last["rows"][-2]["terms"][2]
    assert (long["cut"], long["text"], len(long["value"])) == (True, None, 301)
    anchor, skip = last["rows"][-2]["place"]
    assert api(served, "term", anchor=anchor, skip=skip, position=2)["text"] == f'"{"x" * 9000}"'
    found = api(served, "page", s="http://e.org/s7", g="default", rows=1000)
    assert {row["number"] for row in found["rows"]} == {n for n in range(COUNT) if n % 90 == 7 and n % 4 == 0}
    middle = api(served, "page", at="number:1500", rows=1)
    assert middle["rows"][0]["number"] == 1500
    frames = api(served, "frames", at=0.5)
    assert frames["anchor"] > 0
    tables = api(served, "lookups", anchor=frames["anchor"], frame=0)
    assert [1, "http://e.org/"] in tables["prefixes"]
    assert "<svg" in api(served, "plots")["figures"]


def test_sources_that_cannot_be_viewed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jelly").write_bytes(b"not jelly")
    (tmp_path / "x.nt").write_bytes(b"")
    assert "this is N-Triples" in error_of("view", tmp_path / "x.nt", "--no-browser", "--listen", "127.0.0.1:0")
    assert "x.jelly" in error_of("view", tmp_path / "x.jelly", "--no-browser", "--listen", "127.0.0.1:0")
    assert "No such file" in error_of("view", tmp_path / "y.jelly", "--no-browser", "--listen", "127.0.0.1:0")
    assert "name a file" in error_of("view", "-", "--no-browser", "--listen", "127.0.0.1:0")
    (tmp_path / "empty.jelly").write_bytes(b"")
    assert "empty.jelly" in error_of("view", tmp_path / "empty.jelly", "--no-browser", "--listen", "127.0.0.1:0")
    (tmp_path / "folder").mkdir()
    assert "no file of data" in error_of("view", tmp_path / "folder", "--no-browser", "--listen", "127.0.0.1:0")
    with jellyframe.open_writer(tmp_path / "draft.jelly", dialect="draft") as writer:
        writer.write([Triple(IRI("http://e.org/s"), IRI("http://e.org/p"), IRI("http://e.org/o"))])
    refused = error_of("view", tmp_path / "draft.jelly", "--no-browser", "--listen", "127.0.0.1:0")
    assert "jellyframe rdf transcode --dialect draft" in refused
    with open_patch_writer(tmp_path / "x.jellyp") as patch:
        patch.write([Add(IRI("http://e.org/s"), IRI("http://e.org/p"), IRI("http://e.org/o"))])
    assert "Jelly-Patch" in error_of("view", tmp_path / "x.jellyp", "--no-browser", "--listen", "127.0.0.1:0")
    assert "can be reached from other machines" in error_of("view", tmp_path, "--no-browser", "--listen", "0.0.0.0:0")


def test_a_file_on_a_web_server(files: list[Path]) -> None:
    with serving_process("http", "serve", files[0].parent) as data:
        address = f"{data.url}/{quote(files[0].name)}"
        with serving_process("view", address, "--no-browser") as served:
            assert api(served, "page", at="last", rows=3)["rows"][-1]["number"] == COUNT + 1
            assert api(served, "page", rows=3)["rows"][0]["number"] == 0
            assert len(api(served, "frames", at=0.5)["frames"]) > 0


# ---- the page ----


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browsing(find_browser(), tmp_path_factory.mktemp("browser")) as opened:
        yield opened
        assert opened.problems == []


ROWS = "[...document.querySelectorAll('#table tbody tr')]"
IDLE = "!/Reading|Searching/.test(document.getElementById('status').textContent)"


def status(tab: Tab, words: str) -> None:
    """Wait until the page has come to rest and says something."""
    text = "document.getElementById('status').textContent.replaceAll('\\u202f', '')"
    tab.wait(f"{IDLE} && {text}.includes({json.dumps(words)})")


def push(tab: Tab, where: str, words: str) -> None:
    """Push the button in some place that has some words on it."""
    buttons = f"[...document.querySelectorAll('{where} button')]"
    tab.run(f"{buttons}.find(one => one.textContent.includes('{words}')).click()")


def keep(tab: Tab, name: str) -> None:
    """Keep a picture where somebody wants to look at it."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        tab.screenshot(Path(folder) / f"{name}.png")


def test_turning_pages_with_the_keyboard(served: Served, tab: Tab) -> None:
    tab.open(served.url)
    status(tab, "1 to 100 of 3002")
    keep(tab, "statements")
    for key, words in (("n", "101 to 200"), ("End", "2903 to 3002"), ("p", "2803 to 2902"), ("Home", "1 to 100")):
        tab.press(key)
        status(tab, words)
    assert tab.run("document.getElementById('previous').disabled") is True
    tab.run("history.back()")
    status(tab, "2803 to 2902")


def test_following_a_term_and_filtering(served: Served, tab: Tab) -> None:
    tab.open(served.url)
    status(tab, "1 to 100")
    tab.run(f"{ROWS}[5].querySelector('.term').click()")
    tab.wait(f"{IDLE} && {ROWS}.length === 34")
    assert tab.run("document.querySelector('#follow b').textContent") == "<http://e.org/s5>"
    keep(tab, "following")
    push(tab, "#follow", "object")
    status(tab, "Nothing found.")
    tab.press("/")
    for letter in "http://e.org/s7":
        tab.press(letter)
    tab.run("document.getElementById('filters').elements.o.value = ''")
    tab.press("Enter")
    tab.wait(f"{IDLE} && {ROWS}.length >= 33 && {ROWS}[0].textContent.includes('s7')")
    tab.run(
        "document.getElementById('filters').elements.s.value = '\"'; document.getElementById('filters').requestSubmit()"
    )
    tab.wait("document.getElementById('status').className === 'error'")
    tab.run("document.getElementById('clear').click()")
    status(tab, "1 to 100")


def test_hostile_terms_are_text(served: Served, tab: Tab) -> None:
    tab.open(served.url)
    status(tab, "1 to 100")
    assert tab.run("document.querySelectorAll('#table img, #table script, #table b, #file i').length") == 0
    assert "<img src=x" in tab.run(f"{ROWS}[0].textContent")
    assert "\\u202e" in tab.run(f"{ROWS}[0].textContent")
    tab.press("End")
    status(tab, "2903 to 3002")
    tab.run("document.querySelector('.more').click()")
    tab.wait("document.getElementById('whole').open && document.querySelector('#whole pre').textContent.length > 9000")
    tab.run("document.getElementById('whole').close()")
    tab.open(
        served.url + "#s=" + quote('"<script>document.title=1</script>"') + "&term=" + quote("<img onerror=x src=y>")
    )
    status(tab, "Nothing found.")
    assert tab.run("document.querySelectorAll('#follow img').length") == 0
    assert "jellyframe view" in tab.run("document.title")


def test_frames_plots_options_and_other_files(served: Served, tab: Tab) -> None:
    tab.open(served.url)
    status(tab, "1 to 100")
    tab.press("2")
    tab.wait("document.querySelectorAll('#frames tbody tr').length > 0")
    tab.run("document.querySelector('#frames tbody button').click()")
    tab.wait("document.querySelectorAll('#lookups tbody tr').length > 5")
    keep(tab, "frames")
    push(tab, "#frames .pager", "Next restart")
    tab.wait("/restart point at byte/.test(document.getElementById('frames-status').textContent)")
    tab.press("3")
    tab.wait("document.querySelectorAll('#plots figure svg').length > 3")
    keep(tab, "plots")
    tab.press("4")
    tab.wait("/QUADS/.test(document.getElementById('options').textContent)")
    tab.run("document.getElementById('file').value = 1")
    tab.run("document.getElementById('file').dispatchEvent(new Event('change'))")
    tab.wait("/TRIPLES/.test(document.getElementById('options').textContent)")
    tab.press("1")
    tab.wait(f"{IDLE} && {ROWS}.length === 1 && {ROWS}[0].textContent.includes('only')")


def test_the_page_is_accessible_and_fits_narrow_screens(served: Served, tab: Tab) -> None:
    tab.open(served.url, width=480)
    status(tab, "1 to 100")
    unnamed = tab.run(
        "[...document.querySelectorAll('button, input, select')].filter(one => !(one.textContent.trim() || "
        "one.getAttribute('aria-label') || (one.labels && one.labels.length))).map(one => one.outerHTML)"
    )
    assert unnamed == []
    assert tab.run("document.documentElement.scrollWidth - innerWidth") <= 0
    assert tab.run("[...document.querySelectorAll('th')].every(one => one.scope === 'col')")
    assert tab.run("document.documentElement.lang") == "en"
    light = tab.run("getComputedStyle(document.body).backgroundColor")
    tab.press("d")
    assert tab.run("getComputedStyle(document.body).backgroundColor") != light
    keep(tab, "narrow")
    tab.press("?")
    tab.wait("document.getElementById('help').open")
    fetched = tab.run("performance.getEntriesByType('resource').map(one => new URL(one.name).origin)")
    assert set(fetched) == {served.url.partition("/?")[0]}
