"""Pages of statements are the same, however they are reached."""

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

import jellyframe
from jellyframe import IRI, Literal, Triple
from jellyframe.errors import OptionsError, ParseError
from jellyframe.ops.browsing import pages
from jellyframe.ops.browsing.frames import frame_list, lookup_state, sample
from jellyframe.ops.browsing.pages import BrowsedFile, Place
from jellyframe.ops.survey import inspect

COUNT = 5000
STATEMENTS = [
    Triple(IRI(f"http://e.org/s{number % 700}"), IRI(f"http://e.org/p{number % 7}"), Literal(str(number)))
    for number in range(COUNT)
]


def written(folder: Path, kind: str) -> Path:
    path = folder / "data.jelly"
    settings: dict[str, Any] = {"frame_rows": 40}
    if kind in ("indexed", "restarts"):
        settings |= {"restart_every": 3000, "index": kind == "indexed"}
    else:
        settings |= {"restart_every": None}
    with jellyframe.open_writer(path, **settings) as writer:
        writer.write(STATEMENTS)
    if kind == "gzip":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


KINDS = ["indexed", "restarts", "plain", "gzip"]


@pytest.fixture(scope="module", params=KINDS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    opened = BrowsedFile(str(written(tmp_path_factory.mktemp("browsed"), request.param)))
    yield opened
    opened.close()


def test_a_file_that_cannot_be_browsed_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def fail(file: Any, _limits: object) -> None:
        opened.append(file)
        raise OSError("no")

    monkeypatch.setattr(pages, "Anchors", fail)
    with pytest.raises(OSError, match="no"):
        BrowsedFile(str(written(tmp_path, "plain")))
    assert [file.closed for file in opened] == [True]


def test_pages_forward_are_the_whole_file(file: BrowsedFile) -> None:
    seen, place = [], Place()
    while place is not None:
        page = file.page(place, rows=333)
        seen += [row.statement for row in page.rows]
        assert page.is_full
        place = page.next  # type: ignore[assignment]
    assert seen == STATEMENTS
    assert page.reached == 1.0


def test_pages_backward_are_the_whole_file(file: BrowsedFile) -> None:
    page = file.page(file.last_place(), rows=50)
    assert page.next is None
    seen = [row.statement for row in page.rows]
    while page.previous is not None:
        before = page.rows[0].place
        page = file.page(page.previous, rows=50)
        fresh = [row.statement for row in page.rows if row.place < before]
        seen = fresh + seen
    assert seen == STATEMENTS


def test_every_row_can_be_found_again_by_its_place(file: BrowsedFile) -> None:
    for place in (Place(), file.place_at(0.4), file.place_at(1.0), file.last_place()):
        for row in file.page(place, rows=5).rows:
            assert file.statement_at(row.place) == row.statement
            if row.number is not None:
                assert STATEMENTS[row.number] == row.statement


def test_filters(file: BrowsedFile) -> None:
    wanted = [one for one in STATEMENTS if one.s == IRI("http://e.org/s5") and one.p == IRI("http://e.org/p5")]
    page = file.page(None, {"s": ["http://e.org/s5"], "p": ["<http://e.org/p5>"]}, rows=1000, seconds=60)
    assert [row.statement for row in page.rows] == wanted
    assert page.next is None
    assert file.page(None, {"o": ['"4999"']}, seconds=60).rows[0].statement == STATEMENTS[-1]
    assert file.page(None, {"g": ["default"]}, rows=3).rows[0].statement == STATEMENTS[0]
    assert not file.page(None, {"g": ["http://e.org/g"]}, seconds=60).rows


def test_a_slow_search_continues_from_where_it_stopped(file: BrowsedFile) -> None:
    seen, place, steps = [], Place(), 0
    while place is not None:
        page = file.page(place, {"o": ['"4321"']}, rows=10, seconds=0.0 if steps % 2 else 60)
        seen += page.rows
        steps += 1
        place = page.next  # type: ignore[assignment]
        if steps % 2 == 0:
            assert not page.is_full
    assert [row.statement for row in seen] == [STATEMENTS[4321]]


def test_row_numbers_need_an_index(tmp_path: Path) -> None:
    for kind in KINDS:
        (tmp_path / kind).mkdir()
        file = BrowsedFile(str(written(tmp_path / kind, kind)))
        if kind == "indexed":
            assert file.statements == COUNT
            for number in random.Random(2).sample(range(COUNT), 20):
                assert file.page(file.place_of(number), rows=1).rows[0][1:] == (
                    number,
                    file.page(file.place_of(number), rows=1).rows[0].frame,
                    STATEMENTS[number],
                )
            assert file.page(file.place_of(10**9), rows=1).rows[0].number == COUNT - 1
        else:
            with pytest.raises(OptionsError, match="only in files with an index"):
                file.place_of(3)
        file.close()


def test_places_are_found_by_their_fraction_of_the_file(file: BrowsedFile) -> None:
    places = [file.place_at(part / 10) for part in range(-1, 12)]
    assert places == sorted(places)
    assert places[0] == Place()
    if file.anchors is not None and file.anchors.after(0) is not None:
        assert len(set(places)) > 5
        assert file.anchors.last() == places[-1].anchor


def test_frames_and_lookup_tables(file: BrowsedFile) -> None:
    place = file.place_at(0.5)
    listed = frame_list(file, place.anchor, 1, 3)
    assert [frame.number for frame in listed.frames] == [1, 2, 3]
    assert listed.has_more
    data = file.path
    if file.compression is None:
        raw = Path(data).read_bytes()
        for frame in listed.frames:
            inside = frame_list(file, place.anchor, frame.number, 1).frames[0]
            assert inside[:3] == frame[:3]
            assert frame.offset + frame.size <= len(raw)
    tables = lookup_state(file, place.anchor, 3)
    assert "http://e.org/" in tables["prefixes"].values()
    assert {name for name in tables["names"].values() if name.startswith("p")} == {f"p{number}" for number in range(7)}
    with pytest.raises(ParseError, match="there is no frame 100000"):
        lookup_state(file, place.anchor, 100_000)


def test_a_sample_is_a_stream(file: BrowsedFile) -> None:
    whole = sample(file)
    assert whole.is_all
    assert inspect(whole.data).counts.statements == COUNT
    some = sample(file, 9000)
    assert not some.is_all
    assert 0 < inspect(some.data).counts.statements < COUNT
    assert len(some.data) < 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_without_statements_has_one_empty_page(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.jelly"
    with jellyframe.open_writer(path, jellyframe.StreamOptions(), index=kind == "indexed") as writer:
        writer.write([])
    file = BrowsedFile(str(path))
    assert file.page().rows == []
    assert file.page(file.last_place()).rows == []
    file.close()


def test_a_file_that_is_not_jelly_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jelly"
    path.write_bytes(b"not jelly at all")
    with pytest.raises(jellyframe.JellyError):
        BrowsedFile(str(path))
