"""Statistics as a page with plots, in one file."""

from __future__ import annotations

from jellyframe.ops.stats.result import ESTIMATED, KIND_TITLES, Counts, Statistics
from jellyframe.report import plots
from jellyframe.report.page import Page, table_of
from jellyframe.report.plots import Bar, Part, Strip
from jellyframe.report.text import number, share, short_iri

_KIND_SERIES = {"iri": 1, "literal": 2, "bnode": 3, "triple": 4}
_DEFAULT_GRAPH_SERIES = 6
_OTHERS_SERIES = 8


def statistics_page(statistics: Statistics, title: str, *, top: int) -> str:
    """Return the page of a set of statements. Plots and tables show the first rows of long lists."""
    about = ", distinct subjects, objects and graphs estimated" if statistics.is_approximate else ""
    page = Page(title, f"Statistics of {number(statistics.statements)} statements{about}")
    _add_tiles(page, statistics)
    _add_kinds(page, statistics)
    whole = statistics.statements
    _add_list(page, "Predicates", "statements", _uses(statistics.predicates), whole, top, 1)
    _add_list(page, "Classes", "entities", _distinct(statistics.classes), None, top, 4)
    literals = statistics.uses_by_kind["literal"]
    _add_list(page, "Datatypes", "literals", _uses(statistics.datatypes), literals, top, 2)
    _add_list(page, "Languages", "literals", _uses(statistics.languages), literals, top, 5)
    return page.html()


def _uses(counts: Counts) -> dict[str, int]:
    return {name: count.uses for name, count in counts.items()}


def _distinct(counts: Counts) -> dict[str, int]:
    return dict(sorted(((name, count.distinct) for name, count in counts.items()), key=lambda item: -item[1]))


def _add_tiles(page: Page, statistics: Statistics) -> None:
    page.add_tile("Statements", number(statistics.statements))
    for name, count in statistics.distinct.items():
        estimated = statistics.is_approximate and name in ESTIMATED
        page.add_tile(name.capitalize(), number(count), "distinct, estimated" if estimated else "distinct")


def _add_kinds(page: Page, statistics: Statistics) -> None:
    """Add the kinds of terms at each position, by uses and by distinct terms."""
    positions = {"Subjects": statistics.subjects, "Objects": statistics.objects, "Graphs": statistics.graphs}
    strips, lines = [], []
    for position, counts in positions.items():
        parts = [Part(KIND_TITLES[kind], count.uses, _KIND_SERIES[kind]) for kind, count in counts.items()]
        if position == "Graphs" and statistics.default_graph:
            parts.append(Part("default graph", statistics.default_graph, _DEFAULT_GRAPH_SERIES))
            lines.append((f"{position}, default graph", number(statistics.default_graph), ""))
        if parts:
            strips.append(Strip(position, parts))
        lines += [
            (f"{position}, {KIND_TITLES[kind]}", number(count.uses), number(count.distinct))
            for kind, count in counts.items()
        ]
    if strips:
        page.add_figure(
            "Kinds of terms",
            "The terms at each position of the statements.",
            plots.strips("Kinds of terms by position", strips),
            table_of(("Position and kind", "Uses", "Distinct"), lines),
            wide=True,
        )


def _add_list(
    page: Page, title: str, unit: str, counts: dict[str, int], whole: int | None, top: int, series: int
) -> None:
    """Add the first items of a list, and the rest if the items are parts of a whole."""
    if not counts:
        return
    shown = list(counts.items())[:top]

    def part(count: int) -> str:
        return "" if whole is None else share(count, whole)

    bars = [Bar(short_iri(name), count, part(count), series) for name, count in shown]
    hidden = len(counts) - len(shown)
    if hidden and whole is not None:
        rest = sum(counts.values()) - sum(count for _name, count in shown)
        bars.append(Bar(f"{number(hidden)} others", rest, part(rest), _OTHERS_SERIES))
    head = (title, unit.capitalize()) if whole is None else (title, unit.capitalize(), "Share")
    rows = [(name, number(count)) if whole is None else (name, number(count), part(count)) for name, count in shown]
    words = f"The {number(len(shown))} with the most {unit}, of {number(len(counts))}." if hidden else "All, by number."
    page.add_figure(title, words, plots.bars(title, bars), table_of(head, rows))
