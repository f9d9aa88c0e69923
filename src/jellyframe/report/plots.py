"""Plots as SVG. They are as wide as their container, with text of a fixed size: widths are percentages.

Colours are the classes `series-1` to `series-9`, which the page's style sheet defines for light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

from jellyframe.report.text import clipped, escaped, number, share, short_number

Format = Callable[[float], str]

_ids = count(1)

_BAR_ROW = 44
_STRIP_ROW = 56
_PLOT_HEIGHT = 190
_AXIS_WIDTH = 64
_ABOVE = 12
_BELOW = 26
_LABEL_LETTERS = 44
# A part narrower than this has no room for a label.
_LABEL_PERCENT = 9


class Bar(NamedTuple):
    """A bar: its label, its value, and a note after the value."""

    label: str
    value: float
    note: str = ""
    series: int = 1


class Part(NamedTuple):
    """A part of a whole."""

    label: str
    value: float
    series: int


class Strip(NamedTuple):
    """A whole and its parts."""

    label: str
    parts: Sequence[Part]
    form: Format = number


class Column(NamedTuple):
    """A column of one or more parts, from the bottom up, with a short `label` and a full text as `tip`."""

    label: str
    values: tuple[float, ...]
    tip: str


def bars(title: str, items: Sequence[Bar], form: Format = number) -> str:
    """Return horizontal bars, one below the other, each under its label."""
    largest = max((item.value for item in items), default=0) or 1
    parts = []
    for row, item in enumerate(items):
        y = row * _BAR_ROW
        value = form(item.value) + (f" · {item.note}" if item.note else "")
        parts.append(
            f'<g data-tip="{escaped(f"{item.label}: {value}")}">'
            f'<rect class="hit" x="0" y="{y}" width="100%" height="{_BAR_ROW}"/>'
            f'<svg x="0" y="{y}" width="70%" height="24">'
            f'<text class="label" x="0" y="16">{escaped(clipped(item.label, _LABEL_LETTERS))}</text></svg>'
            f'<text class="value" x="100%" y="{y + 16}" text-anchor="end">{escaped(value)}</text>'
            f'<rect class="track" x="0" y="{y + 24}" width="100%" height="10" rx="5"/>'
            f'<rect class="series-{item.series}" x="0" y="{y + 24}" height="10" rx="5" '
            f'width="{_percent(item.value, largest)}"/></g>'
        )
    return _svg(title, _described((item.label, form(item.value)) for item in items), len(items) * _BAR_ROW, parts)


def strips(title: str, rows: Sequence[Strip]) -> str:
    """Return a strip for each whole, divided into its parts, with one legend for all."""
    drawn: list[str] = []
    words: list[tuple[str, str]] = []
    legend: dict[str, int] = {}
    for row, strip in enumerate(rows):
        whole = sum(part.value for part in strip.parts)
        y = row * _STRIP_ROW
        drawn.append(
            f'<text class="label" x="0" y="{y + 16}">{escaped(strip.label)}</text>'
            f'<text class="value" x="100%" y="{y + 16}" text-anchor="end">{escaped(strip.form(whole))}</text>'
            f'<rect class="track" x="0" y="{y + 24}" width="100%" height="22" rx="4"/>'
        )
        drawn += _strip_parts(strip, whole, y + 24)
        legend |= {part.label: part.series for part in strip.parts if part.value}
        words += [(f"{strip.label}, {part.label}", share(part.value, whole)) for part in strip.parts if part.value]
    return _svg(title, _described(words), len(rows) * _STRIP_ROW, drawn) + legend_of(legend)


def _strip_parts(strip: Strip, whole: float, y: int) -> list[str]:
    drawn = []
    at = 0.0
    for part in strip.parts:
        if not part.value:
            continue
        percent = 100 * part.value / whole
        words = share(part.value, whole)
        tip = f"{strip.label} · {part.label}: {strip.form(part.value)} ({words})"
        drawn.append(
            f'<g data-tip="{escaped(tip)}"><rect class="series-{part.series} parted" x="{at:.3f}%" y="{y}" '
            f'width="{percent:.3f}%" height="22"/>'
        )
        if percent >= _LABEL_PERCENT:
            drawn.append(
                f'<text class="inside on-{part.series}" x="{at + percent / 2:.3f}%" y="{y + 15}" '
                f'text-anchor="middle">{escaped(words)}</text>'
            )
        drawn.append("</g>")
        at += percent
    return drawn


def columns(
    title: str,
    items: Sequence[Column],
    series: Sequence[str],
    *,
    x_title: str,
    y_title: str,
    form: Format = short_number,
    label_all: bool = False,
) -> str:
    """Return vertical columns over an axis; with several series, each column is a stack. `series` has their names."""
    largest = max((sum(item.values) for item in items), default=0)
    ticks = _ticks(largest)
    top = ticks[-1] or 1
    area = _gridlines(ticks, top)
    width = 100 / max(len(items), 1)
    gap = min(width * 0.15, 0.4)
    for place, item in enumerate(items):
        area.append(
            f'<g data-tip="{escaped(item.tip)}"><rect class="hit" x="{place * width:.3f}%" y="{_ABOVE}" '
            f'width="{width:.3f}%" height="{_PLOT_HEIGHT}"/>'
        )
        base = 0.0
        for nr, value in enumerate(item.values, start=1):
            if value:
                area.append(
                    f'<rect class="series-{nr}" x="{place * width + gap / 2:.3f}%" width="{width - gap:.3f}%" '
                    f'y="{_y(base + value, top):.1f}" height="{max(_y(base, top) - _y(base + value, top), 0.5):.1f}"/>'
                )
            base += value
        area.append("</g>")
    area += _column_labels([item.label for item in items], label_all)
    axis = "".join(
        f'<text class="tick" x="{_AXIS_WIDTH - 8}" y="{_y(tick, top) + 4:.1f}" text-anchor="end">'
        f"{escaped(form(tick))}</text>"
        for tick in ticks
    )
    described = _described((item.label or str(place), item.tip) for place, item in enumerate(items[:24]))
    height = _ABOVE + _PLOT_HEIGHT + _BELOW
    legend = legend_of({name: nr for nr, name in enumerate(series, start=1)}) if len(series) > 1 else ""
    return (
        f'<p class="axis-title">{escaped(y_title)}</p><div class="plot">'
        f'<svg class="axis" width="{_AXIS_WIDTH}" height="{height}" aria-hidden="true">{axis}</svg>'
        f"{_svg(title, described, height, area)}</div>"
        f'<p class="axis-title below">{escaped(x_title)}</p>{legend}'
    )


def _gridlines(ticks: Sequence[float], top: float) -> list[str]:
    return [
        f'<line class="{"base" if tick == 0 else "grid"}" x1="0" x2="100%" y1="{_y(tick, top):.1f}" '
        f'y2="{_y(tick, top):.1f}"/>'
        for tick in ticks
    ]


def _column_labels(labels: Sequence[str], label_all: bool) -> list[str]:
    """Return the labels below the columns: all of them, or some, with the first and the last at the edges."""
    y = _ABOVE + _PLOT_HEIGHT + 18
    last = len(labels) - 1
    width = 100 / max(len(labels), 1)
    if label_all:
        return [
            f'<text class="tick" x="{(place + 0.5) * width:.2f}%" y="{y}" text-anchor="middle">{escaped(label)}</text>'
            for place, label in enumerate(labels)
        ]
    places = sorted({round(last * quarter / 4) for quarter in range(5)}) if last > 0 else range(len(labels))
    return [
        f'<text class="tick" x="{_edge(place, last) or f"{(place + 0.5) * width:.2f}%"}" y="{y}" '
        f'text-anchor="{_anchor(place, last)}">{escaped(labels[place])}</text>'
        for place in places
    ]


def _edge(place: int, last: int) -> str:
    return "0" if place == 0 else "100%" if place == last else ""


def _anchor(place: int, last: int) -> str:
    return "start" if place == 0 else "end" if place == last else "middle"


def legend_of(names: dict[str, int]) -> str:
    """Return the legend of the colours."""
    entries = "".join(
        f'<li><svg width="12" height="12" aria-hidden="true"><rect class="series-{series}" width="12" height="12" '
        f'rx="3"/></svg>{escaped(name)}</li>'
        for name, series in names.items()
    )
    return f'<ul class="legend">{entries}</ul>'


def _svg(title: str, description: str, height: int, parts: Sequence[str]) -> str:
    own = f"plot-{next(_ids)}"
    return (
        f'<svg class="area" role="img" width="100%" height="{height}" aria-labelledby="{own}-t {own}-d">'
        f'<title id="{own}-t">{escaped(title)}</title><desc id="{own}-d">{escaped(description)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _described(pairs: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{name}: {words}" for name, words in pairs)


def _percent(value: float, largest: float) -> str:
    return f"{100 * value / largest:.3f}%"


def _y(value: float, top: float) -> float:
    return _ABOVE + _PLOT_HEIGHT * (1 - value / top)


def _ticks(largest: float) -> list[float]:
    """Return ticks from 0 to at least `largest`, in four or five round steps."""
    if largest <= 0:
        return [0.0, 1.0]
    rough = largest / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [step * place for place in range(math.ceil(largest / step - 1e-9) + 1)]
