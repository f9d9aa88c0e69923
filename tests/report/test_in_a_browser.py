"""The page about a stream in a real browser: drawn, in both themes, on wide and narrow screens, nothing fetched."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest

from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple, open_writer
from jellyframe.ops.survey import inspect
from jellyframe.report.history import FrameHistory
from jellyframe.report.stream import stream_page
from support.browsers import assert_well_drawn, find_browser, opened, seen_in


@pytest.fixture(scope="module")
def browser() -> str:
    return find_browser()


@pytest.fixture(scope="module")
def page() -> str:
    options = StreamOptions.small(physical_type=PhysicalType.QUADS, logical_type=LogicalType.DATASETS, rdf_star=True)
    sink = io.BytesIO()
    with open_writer(sink, options) as writer:
        for frame in range(30):
            graph = IRI(f"http://example.org/graph/{frame}")
            for i in range(5 + frame):
                node = BlankNode(f"b{i}")
                about = IRI(f"http://example.org/thing/{frame}-{i}")
                p = [
                    IRI(f"http://example.org/vocabulary/with-a-rather-long-path/{i % 7}#property")
                    for i in range(i, i + 3)
                ]
                writer.write([Quad(about, p[0], node, graph), Quad(node, p[1], Literal("x", language="en"), graph)])
                writer.write([Quad(Triple(about, p[0], node), p[2], Literal(str(i)), graph)])
            writer.end_frame({"number": bytes([frame])})
    history = FrameHistory()
    survey = inspect(sink.getvalue(), content=True, on_frame=history.add)
    return stream_page(survey, history, "things.jelly", len(sink.getvalue()))


@pytest.mark.parametrize("width", [1280, 520])
def test_plots_are_drawn(browser: str, page: str, tmp_path: Path, width: int) -> None:
    seen = seen_in(browser, page, tmp_path, width)
    assert seen["figures"] == [
        "Size against N-Quads",
        "Row mix",
        "Kinds of terms",
        "Predicates",
        "Frame sizes along the stream",
        "Distribution of frame sizes",
        "Lookup entries",
        "Lookup churn along the stream",
        "Stream options",
    ]
    assert_well_drawn(seen, 8)
    assert seen["tables"] > 40


def test_a_picture_can_be_taken(browser: str, page: str, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    opened(browser, page, tmp_path, "--window-size=1280,2400", f"--screenshot={picture}")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1280, 2400)
    # An empty page of that size takes a few kilobytes.
    assert len(data) > 50_000
