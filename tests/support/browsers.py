"""Pages in a real browser."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

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


def find_browser() -> str:
    """A Chromium, without which the test is skipped."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")


def opened(browser: str, page: str, folder: Path, *flags: str) -> str:
    """Open a page and give what the browser writes; errors that the page logs are not accepted."""
    file = folder / "page.html"
    file.write_text(page)
    return opened_at(browser, file.as_uri(), folder, *flags)


def opened_at(browser: str, address: str, folder: Path, *flags: str) -> str:
    """Open the page at an address and give what the browser writes."""
    as_root = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    done = subprocess.run(
        [browser, *FLAGS, *as_root, f"--user-data-dir={folder / 'profile'}", *flags, address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout


def seen_in(browser: str, page: str, folder: Path, width: int) -> dict[str, Any]:
    """Return the content of a page after rendering in a window of some width."""
    probed = page.replace("</head>", PROBE + "</head>")
    dom = opened(browser, probed, folder, f"--window-size={width},900", "--dump-dom")
    match = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert match is not None, dom[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(match[1]))
    return seen


def assert_well_drawn(seen: dict[str, Any], plots: int) -> None:
    """Plots have a size, shapes and colours; nothing sticks out; tips and themes work; nothing was fetched."""
    assert len(seen["plots"]) == plots
    for plot in seen["plots"]:
        assert plot["size"][0] > 200, plot
        assert plot["size"][1] > 80, plot
        assert plot["shapes"] >= 2, plot
        assert "rgb(0, 0, 0)" not in plot["fills"], plot
    assert seen["overflow"] <= 0
    assert seen["tip"] == seen["tipExpected"]
    assert seen["themes"][0] != seen["themes"][1]
    assert seen["fetched"] == []
