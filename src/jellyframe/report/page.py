"""A page in one file: tiles with the main numbers, and figures, each with a table of its data."""

from __future__ import annotations

from collections.abc import Sequence

from jellyframe.report.style import CSS, SCRIPT
from jellyframe.report.text import escaped


class Page:
    """Collects the parts of a page in order; `html()` returns the page."""

    def __init__(self, title: str, subtitle: str) -> None:
        self._title = title
        self._subtitle = subtitle
        self._tiles: list[str] = []
        self._figures: list[str] = []

    def add_tile(self, name: str, value: str, note: str = "") -> None:
        """Add a main number."""
        small = f"<small>{escaped(note)}</small>" if note else ""
        self._tiles.append(f'<div class="tile"><dt>{escaped(name)}</dt><dd>{escaped(value)}{small}</dd></div>')

    def add_figure(self, title: str, words: str, plot: str, table: str = "", *, wide: bool = False) -> None:
        """Add a figure. `plot` is HTML, as is `table`, which is folded away at first."""
        if table:
            table = f"<details><summary>Numbers</summary>{table}</details>"
        shape = ' class="wide"' if wide else ""
        note = f"<p>{escaped(words)}</p>" if words else ""
        self._figures.append(
            f"<figure{shape}><figcaption><h2>{escaped(title)}</h2>{note}</figcaption>{plot}{table}</figure>"
        )

    def content(self) -> str:
        """Return only the tiles and the figures, for a page that has the style sheet."""
        figures = "\n".join(self._figures)
        return f'<dl class="tiles">{"".join(self._tiles)}</dl>\n<div class="figures">\n{figures}\n</div>\n'

    def html(self) -> str:
        """Return the whole page."""
        # The page loads nothing; the policy makes browsers enforce that.
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="generator" content="jellyframe">\n<link rel="icon" href="data:,">\n'
            f"<title>{escaped(self._title)}</title>\n<style>{CSS}</style>\n</head>\n"
            f'<body>\n<header><div><h1>{escaped(self._title)}</h1><p class="soft">{escaped(self._subtitle)}</p></div>'
            '<button id="theme" type="button">Light / dark</button></header>\n<main>\n'
            f"{self.content()}</main>\n"
            '<footer>Made by jellyframe. Sizes are in powers of 1000.</footer>\n<div id="tip" hidden></div>\n'
            f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )


def table_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column has names."""
    heads = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'


def facts(lines: Sequence[tuple[str, str]]) -> str:
    """Return names and values, in as many columns as fit."""
    pairs = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in lines)
    return f'<dl class="facts">{pairs}</dl>'
