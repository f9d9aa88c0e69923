"""Plots and pages as text: their content and their layout."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from jellyframe.report import plots, text
from jellyframe.report.history import MAX_STEPS, FrameHistory
from jellyframe.report.page import Page, facts, table_of
from jellyframe.report.plots import Bar, Column, Part, Strip

AWKWARD = "<b>&\"'</svg>"


def parsed(html: str) -> ET.Element:
    """The pieces are well-formed XML, so any XML parser can look at them."""
    return ET.fromstring(f"<div>{html}</div>")


def widths(root: ET.Element, series: str) -> list[float]:
    return [float(rect.get("width", "").rstrip("%")) for rect in root.iter("rect") if series in rect.get("class", "")]


def test_bars_are_in_proportion() -> None:
    root = parsed(plots.bars("Title", [Bar(AWKWARD, 50, "half"), Bar("b", 100, series=2), Bar("c", 0)]))
    assert widths(root, "series-1") == [50, 0]
    assert widths(root, "series-2") == [100]
    words = "".join(root.itertext())
    assert AWKWARD in words
    assert "50 · half" in words


def test_strips_fill_their_width() -> None:
    rows = [
        Strip("One", [Part("a", 1, 1), Part("b", 2, 2), Part("c", 0, 3)]),
        Strip("None", [Part("a", 0, 1)], text.size),
    ]
    root = parsed(plots.strips("Title", rows))
    assert sum(widths(root, "parted")) == pytest.approx(100, abs=0.01)
    assert [item.find("svg").tail for item in root.iter("li")] == ["a", "b"]  # type: ignore[union-attr]
    assert "33.3\u202f%" in "".join(root.itertext())


def test_columns_stay_inside_and_are_described() -> None:
    items = [Column(str(i), (i, 1.5), f"tip {i}") for i in range(10)]
    root = parsed(plots.columns("Title", items, ("first", "second"), x_title="frame", y_title="bytes"))
    area = next(svg for svg in root.iter("svg") if svg.get("role") == "img")
    bottom = max(float(line.get("y1", "")) for line in area.iter("line"))
    stacks = [rect for rect in area.iter("rect") if rect.get("class", "").startswith("series")]
    assert len(stacks) == 19
    for rect in stacks:
        y, height = float(rect.get("y", "")), float(rect.get("height", ""))
        assert 0 <= y <= y + height <= bottom + 0.2
        assert float(rect.get("x", "").rstrip("%")) + float(rect.get("width", "").rstrip("%")) <= 100.001
    title, description = (area.find(name) for name in ("title", "desc"))
    assert title is not None
    assert title.text == "Title"
    assert description is not None
    assert area.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert "9: tip 9" in (description.text or "")


def test_empty_plots_are_drawn() -> None:
    parsed(plots.bars("Title", []) + plots.strips("Title", []) + plots.columns("T", [], (), x_title="x", y_title="y"))
    parsed(plots.columns("T", [Column("only", (0,), "tip")], ("a",), x_title="x", y_title="y", label_all=True))


@pytest.mark.parametrize("largest", [0.003, 1, 7, 99, 1000, 123456])
def test_ticks_are_few_and_cover_all(largest: float) -> None:
    ticks = plots._ticks(largest)
    assert 4 <= len(ticks) <= 6
    assert ticks[0] == 0
    assert ticks[-2] < largest <= ticks[-1] * (1 + 1e-9)


def test_numbers_and_sizes_are_formatted() -> None:
    space = text.NARROW_SPACE
    assert text.number(1234567.4) == f"1{space}234{space}567"
    assert [text.size(n) for n in (0, 999, 1500, 52443472)] == [
        f"0{space}B",
        f"999{space}B",
        f"1.50{space}kB",
        f"52.4{space}MB",
    ]
    assert [text.short_number(n) for n in (5, 2500, 3e13)] == ["5", f"2.50{space}k", f"30{space}T"]
    assert [text.share(*n) for n in ((1, 0), (1, 3), (1, 10**6), (5, 5), (99999, 100000))] == [
        "–",
        f"33.3{space}%",
        f"<0.1{space}%",
        f"100.0{space}%",
        f"99.9{space}%",
    ]
    assert text.clipped("http://example.org/vocabulary#name", 20) == "http://…abulary#name"


def test_pages_escape_their_content() -> None:
    page = Page(AWKWARD, AWKWARD)
    page.add_tile(AWKWARD, AWKWARD, AWKWARD)
    page.add_figure(AWKWARD, AWKWARD, facts([(AWKWARD, AWKWARD)]), table_of([AWKWARD], [[AWKWARD]]))
    html = page.html()
    assert AWKWARD not in html
    assert html.count(text.escaped(AWKWARD)) == 12
    assert "http://" not in html
    assert "https://" not in html


def test_history_stays_small_and_loses_nothing() -> None:
    history = FrameHistory()
    for number in range(5 * MAX_STEPS + 3):
        counts = SimpleNamespace(frame_bytes=number, statements=2, rows=lambda table: 1)
        history.add(None, SimpleNamespace(number=number, counts=counts))  # type: ignore[arg-type]
    assert len(history.steps) <= MAX_STEPS
    assert sum(step.frames for step in history.steps) == 5 * MAX_STEPS + 3
    assert sum(step.statements for step in history.steps) == 2 * (5 * MAX_STEPS + 3)
    assert sum(history.frames_by_bits.values()) == 5 * MAX_STEPS + 3
    firsts = [step.first_frame for step in history.steps]
    assert firsts == list(range(0, 5 * MAX_STEPS + 3, 8))
    assert [(step.smallest, step.largest) for step in history.steps[:2]] == [(0, 7), (8, 15)]
