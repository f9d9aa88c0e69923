"""Make the pages of API docs from docstrings, and check every link of the documentation: `make docs`.

All of it works offline: pages are written to `build/docs`, and links to other sites are left alone.
"""

from __future__ import annotations

import re
import sys
import warnings
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pdoc

PROJECT = Path(__file__).resolve().parents[1]
OUTPUT = PROJECT / "build" / "docs"
# One page for each package or module that users import from.
PUBLIC_MODULES = (
    "jellyframe",
    "jellyframe.arrow",
    "jellyframe.batch",
    "jellyframe.errors",
    "jellyframe.formats",
    "jellyframe.formats.ntriples",
    "jellyframe.grpc",
    "jellyframe.grpc.aio",
    "jellyframe.ops",
    "jellyframe.ops.patches",
    "jellyframe.options",
    "jellyframe.patch",
    "jellyframe.pyoxigraph",
    "jellyframe.rdflib",
    "jellyframe.spark",
    "jellyframe.spark.jobs",
    "jellyframe.storage",
    "jellyframe.stream",
    "jellyframe.terms",
    "jellyframe.web",
)
_MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_MARKDOWN_HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
_CODE = re.compile(r"^(?: {4}|\t).*$|`[^`\n]*`", re.MULTILINE)


def make_pages() -> None:
    """Write the API pages. Warnings of pdoc, such as a name that does not resolve, are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The fields of named tuples have types that exist for type checkers only.
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        # A typed dictionary does not tell from which other one it has a field.
        warnings.filterwarnings("ignore", r"Cannot determine where [\w.]+(Changes|Settings|Options)\.\w+ is taken from")
        for name in PUBLIC_MODULES:
            module = import_module(name)
            # Public names are imported when first used; pdoc looks at those that are there.
            for public in getattr(module, "__all__", ()):
                getattr(module, public)
        pdoc.render.configure(docformat="markdown", show_source=False)
        pdoc.pdoc(*PUBLIC_MODULES, output_directory=OUTPUT)


def broken_links() -> list[str]:
    """Return the links to files and headings that are not there, each with the page that has it."""
    pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "CHANGELOG.md"]
    pages += sorted(PROJECT.glob("docs/*.md")) + sorted(PROJECT.glob("benchmarks/*.md"))
    found = [
        f"{page.relative_to(PROJECT)}: {link}" for page in pages for link in _broken_in(page, _markdown_links(page))
    ]
    for page in sorted(OUTPUT.rglob("*.html")):
        found += [f"{page.relative_to(PROJECT)}: {link}" for link in _broken_in(page, _Page.of(page).links)]
    return found


def _broken_in(page: Path, links: list[str]) -> list[str]:
    return [link for link in links if "://" not in link and not link.startswith("mailto:") and not _leads(page, link)]


def _leads(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page if not name else (page.parent / name).resolve()
    if not target.exists():
        return False
    return not anchor or anchor in _anchors(target)


def _markdown_links(page: Path) -> list[str]:
    return _MARKDOWN_LINK.findall(_CODE.sub("", page.read_text()))


@cache
def _anchors(target: Path) -> set[str]:
    """Return the names of the places in a page that a link can lead to."""
    if target.suffix == ".html":
        return _Page.of(target).anchors
    headings = _MARKDOWN_HEADING.findall(target.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    @classmethod
    def of(cls, path: Path) -> _Page:
        page = cls()
        page.feed(path.read_text())
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "a" and name == "href" and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


def main() -> int:
    make_pages()
    found = broken_links()
    for link in found:
        print(f"broken link: {link}", file=sys.stderr)
    print(f"{OUTPUT.relative_to(PROJECT)}/index.html")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
