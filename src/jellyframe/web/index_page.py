"""The page that lists a folder."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import quote_from_bytes

from jellyframe.errors import display_name
from jellyframe.formats import Format
from jellyframe.report.text import size as size_text
from jellyframe.web.folders import SERVED_FORMATS, ServedFile

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8884; }
td.size { text-align: right; font-variant-numeric: tabular-nums; }
th.size { text-align: right; }
nav a, td a + a { margin-left: .6rem; }
"""


def index_page(name: str, entries: Sequence[tuple[str, ServedFile | None]]) -> str:
    """Return the page of a folder: its folders and files, with links to the files in all formats."""
    title = escape(display_name(name))
    rows = "".join(_row(entry, file) for entry, file in entries)
    above = '<p><a href="../">the folder above</a></p>' if name != "/" else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · jellyframe</title><style>{_STYLE}</style></head>
<body>
<h1>{title}</h1>
{above}
<nav aria-label="all of this folder">All of this folder as{_links("", SERVED_FORMATS)}</nav>
<table><caption hidden>Files and folders</caption>
<thead><tr><th scope="col">name</th><th scope="col">format</th><th scope="col" class="size">size</th>
<th scope="col">as</th></tr></thead>
<tbody>{rows}</tbody></table>
</body></html>
"""


def _row(name: str, file: ServedFile | None) -> str:
    address = quote_from_bytes(name.encode("utf-8", "surrogateescape"))
    shown = escape(display_name(name))
    if file is None:
        return f'<tr><td><a href="{address}/">{shown}/</a></td><td>folder</td><td></td><td></td></tr>\n'
    others = tuple(known for known in file.target_formats if known != file.format)
    return (
        f'<tr><td><a href="{address}">{shown}</a></td><td>{escape(file.format.title)}</td>'
        f'<td class="size">{size_text(file.state.size)}</td><td>{_links(address, others)}</td></tr>\n'
    )


def _links(address: str, known: Sequence[Format]) -> str:
    return "".join(f' <a href="{address}?format={found.name}">{escape(found.title)}</a>' for found in known)
