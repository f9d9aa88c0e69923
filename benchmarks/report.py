"""The results as a table, and as JSON."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from .registry import Measurement, Row

GEOMEAN = "geomean"


def geometric_means(measurements: Iterable[Measurement]) -> dict[Row, Measurement]:
    """Return the geometric mean of each row over its data sets; rows with a failure have none."""
    by_row: dict[Row, list[Measurement]] = {}
    for item in measurements:
        by_row.setdefault(item.row, []).append(item)
    means = {}
    for row, items in by_row.items():
        ours = [item.ours for item in items if item.ours]
        peer = [item.peer for item in items if item.peer]
        if len(ours) == len(peer) == len(items):
            means[row] = Measurement(row, GEOMEAN, geometric_mean(ours), geometric_mean(peer))
    return means


def table(measurements: Sequence[Measurement]) -> str:
    """Return a line per row: the ratio on each data set, their geometric mean, the bar and the verdict."""
    means = geometric_means(measurements)
    names = list(dict.fromkeys(item.dataset for item in measurements))
    ratios = {(item.row, item.dataset): item.ratio for item in measurements}
    lines = [["work", "against", *names, GEOMEAN, "bar", ""]]
    for row in dict.fromkeys(item.row for item in measurements):
        mean = means[row].ratio if row in means else None
        lines.append(
            [
                row.work,
                row.against,
                *(_ratio_text(row, ratios.get((row, name), 0.0)) for name in names),
                _ratio_text(row, mean),
                _bar_text(row),
                _verdict(row, mean),
            ]
        )
    return _aligned(lines)


def verdicts(measurements: Iterable[Measurement]) -> dict[str, str]:
    return {row.name: _verdict(row, mean.ratio) for row, mean in geometric_means(measurements).items()}


def progress_line(item: Measurement) -> str:
    sides = f"ours {_quantity(item.ours):>8}  peer {_quantity(item.peer):>8} {item.row.unit:<12}"
    outcome = f"failed: {item.error}" if item.error else f"{_ratio_text(item.row, item.ratio)} ×"
    return f"{item.dataset:<9} {item.row.name:<24} {sides} {outcome}"


def write_json(path: Path, measurements: Sequence[Measurement]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [_entry(item) for item in (*measurements, *geometric_means(measurements).values())]
    path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def _entry(item: Measurement) -> dict[str, Any]:
    entry = {
        "name": item.row.name,
        "dataset": item.dataset,
        "ratio": item.ratio,
        "ours": item.ours,
        "peer": item.peer,
        "unit": item.row.unit,
        "work": item.row.work,
        "against": item.row.against,
    }
    if item.row.bar is not None:
        entry["at_most" if item.row.at_most else "at_least"] = item.row.bar
    if item.error:
        entry["error"] = item.error
    return entry


def _verdict(row: Row, mean: float | None) -> str:
    if mean is None:
        return "FAILED"
    if row.bar is None:
        return ""
    return "pass" if row.passes(mean) else "MISS"


def _ratio_text(row: Row, ratio: float | None) -> str:
    if ratio is None:
        return "failed"
    if ratio == 0:
        return "·"
    return f"{ratio:.3f}" if row.at_most or row.bar is None else f"{ratio:.2f}"


def _bar_text(row: Row) -> str:
    if row.bar is None:
        return ""
    return f"≤ {row.bar:g}" if row.at_most else f"≥ {row.bar:g}"


def _quantity(value: float | None) -> str:
    if value is None:
        return "–"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines with aligned columns: the first two to the left, figures to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rendered = [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([rendered[0], "─" * max(map(len, rendered)), *rendered[1:]])
