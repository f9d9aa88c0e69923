"""Parts of requests: ranges, quality values, and paths that try to leave the folder."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import formats
from jellyframe.errors import OptionsError
from jellyframe.web.folders import Root
from jellyframe.web.negotiation import choose_encoding, choose_format, quality_values
from jellyframe.web.ranges import NoSuchRangeError, parse_range
from jellyframe.web.server import bind, run

KNOWN = (formats.JELLY, formats.NQUADS, formats.TURTLE)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_ranges_are_those_that_slices_give(size: int, first: int, last: int) -> None:
    try:
        found = parse_range(f"bytes={first}-{last}", size)
    except NoSuchRangeError:
        assert first >= size
        assert first <= last
    else:
        assert found == ((first, min(last + 1, size)) if first <= last else None)


@given(st.text(max_size=40), st.integers(0, 1000))
def test_no_header_makes_a_range_out_of_bounds(header: str, size: int) -> None:
    try:
        found = parse_range(header, size)
    except NoSuchRangeError:
        return
    assert found is None or 0 <= found[0] < found[1] <= size


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, "jelly"),
        ("*/*", "jelly"),
        ("text/turtle", "ttl"),
        ("TEXT/Turtle", "ttl"),
        ("text/*", "ttl"),
        ("application/*;q=0.2, text/turtle;q=0.1", "jelly"),
        ("application/x-jelly-rdf;q=0.1, application/n-quads;q=0.9", "nq"),
        ("application/x-jelly-rdf;q=0, */*;q=0.5", "nq"),
        ("application/n-quads; charset=utf-8; q=0.3, text/html", "nq"),
        ("image/png", None),
        ("text/turtle;q=0", None),
        (";;,,=", None),
    ],
)
def test_the_accept_header_selects_the_format(accept: str | None, expected: str | None) -> None:
    found = choose_format(accept, KNOWN)
    assert (found.name if found else None) == expected


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, None),
        ("", None),
        ("gzip", "gzip"),
        ("gzip, zstd", "zstd"),
        ("gzip;q=1, zstd;q=0.5", "gzip"),
        ("identity, gzip;q=0.5", None),
        ("*", "zstd"),
        ("gzip;q=0", None),
        ("br, deflate", None),
    ],
)
def test_the_accept_encoding_header_selects_the_compression(accept: str | None, expected: str | None) -> None:
    assert choose_encoding(accept, ("zstd", "gzip")) == expected


@given(st.text())
def test_quality_values_are_never_out_of_bounds(header: str) -> None:
    assert all(0 <= quality <= 1 for quality in quality_values(header).values())


@given(
    st.lists(
        st.sampled_from(["..", ".", "in", "x.nt", "out", "", "%2e%2e", "%2f", "%00", "\\", "a%2f..", "etc"]), max_size=8
    )
)
def test_no_path_leads_out_of_the_folder(parts: list[str]) -> None:
    found = ROOT.find("/" + "/".join(parts))
    assert found is None or os.path.realpath(found).startswith(ROOT.path)


@given(st.binary(max_size=12))
def test_no_path_of_any_bytes_leads_out_of_the_folder(name: bytes) -> None:
    found = ROOT.find("/" + quote(name, safe=""))
    assert found is None or os.path.realpath(found).startswith(ROOT.path)


@pytest.fixture(autouse=True, scope="module")
def _root(tmp_path_factory: pytest.TempPathFactory) -> None:
    global ROOT
    outer = tmp_path_factory.mktemp("outer")
    inner = outer / "data"
    (inner / "in").mkdir(parents=True)
    for place in (inner, inner / "in", outer):
        (place / "x.nt").write_bytes(b"")
    (inner / "out").symlink_to(outer)
    ROOT = Root(inner)


ROOT: Root


def test_without_uvicorn_the_error_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(OptionsError, match=r"pip install 'jellyframe\[http\]'"):
        run(None, bind("127.0.0.1:0"), lambda: None)


def test_one_file_is_found_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.nt").write_bytes(b"")
    (tmp_path / "y.nt").write_bytes(b"")
    root = Root(tmp_path / "x.nt")
    assert root.find("/") == root.find("/x.nt") == str(tmp_path / "x.nt")
    assert root.find("/y.nt") is None
