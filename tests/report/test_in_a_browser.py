"""The page about a stream in a real browser: drawn, in both themes, on wide and narrow screens, nothing fetched."""

from __future__ import annotations

import html
import io
import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jellyframe import IRI, BlankNode, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple, open_writer
from jellyframe.report.history import FrameHistory
from jellyframe.report.stream import stream_page
from jellyframe.survey import survey_stream

FLAGS = (
    "--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --hide-scrollbars --enable-logging=stderr"
).split()

# Looks at the page from inside, once it is drawn, and leaves what it saw in an element.
PROBE = """
<script>
addEventListener("load", () => {
  const box = element => { const {width, height} = element.getBoundingClientRect(); return [width, height]; };
  const colour = () => getComputedStyle(document.body).backgroundColor;
  const before = colour();
  document.getElementById("theme").click();
  const after = colour();
  const marked = document.querySelector("[data-tip]");
  marked.querySelector("rect").dispatchEvent(
    new PointerEvent("pointermove", {bubbles: true, clientX: 200, clientY: 200}));
  const tip = document.getElementById("tip");
  const seen = {
    plots: [...document.querySelectorAll("figure svg.area")].map(svg => ({
      title: svg.querySelector("title").textContent,
      size: box(svg),
      shapes: [...svg.querySelectorAll("rect[class^=series]")].filter(r => box(r)[0] > 0 && box(r)[1] > 0).length,
      fills: [...new Set([...svg.querySelectorAll("rect[class^=series]")].map(r => getComputedStyle(r).fill))],
    })),
    figures: [...document.querySelectorAll("figure h2")].map(title => title.textContent),
    tables: document.querySelectorAll("figure table tbody tr").length,
    overflow: document.documentElement.scrollWidth - innerWidth,
    tip: tip.hidden ? null : tip.textContent,
    tipExpected: marked.dataset.tip,
    themes: [before, after],
    fetched: performance.getEntriesByType("resource").map(entry => entry.name),
  };
  const element = document.createElement("pre");
  element.id = "seen";
  element.textContent = JSON.stringify(seen);
  document.body.append(element);
});
</script>
"""


@pytest.fixture(scope="module")
def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")


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
    survey = survey_stream(sink.getvalue(), content=True, on_frame=history.add)
    return stream_page(survey, history, "things.jelly", len(sink.getvalue()))


def opened(browser: str, page: str, folder: Path, *flags: str) -> str:
    """Open a page and give what the browser writes; errors that the page logs are not accepted."""
    file = folder / "page.html"
    file.write_text(page)
    as_root = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    done = subprocess.run(
        [browser, *FLAGS, *as_root, f"--user-data-dir={folder / 'profile'}", *flags, file.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout


@pytest.mark.parametrize("width", [1280, 520])
def test_plots_are_drawn(browser: str, page: str, tmp_path: Path, width: int) -> None:
    dom = opened(
        browser, page.replace("</head>", PROBE + "</head>"), tmp_path, f"--window-size={width},900", "--dump-dom"
    )
    match = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert match is not None, dom[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(match[1]))
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
    assert len(seen["plots"]) == 8
    for plot in seen["plots"]:
        assert plot["size"][0] > 200, plot
        assert plot["size"][1] > 80, plot
        assert plot["shapes"] >= 2, plot
        assert "rgb(0, 0, 0)" not in plot["fills"], plot
    assert seen["tables"] > 40
    assert seen["overflow"] <= 0
    assert seen["tip"] == seen["tipExpected"]
    assert seen["themes"][0] != seen["themes"][1]
    assert seen["fetched"] == []


def test_a_picture_can_be_taken(browser: str, page: str, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    opened(browser, page, tmp_path, "--window-size=1280,2400", f"--screenshot={picture}")
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1280, 2400)
    # An empty page of that size takes a few kilobytes.
    assert len(data) > 50_000
