"""The inputs of the measurements on one data set, made when first used.

Text and Jelly files are kept between runs, in a folder named after all that they depend on.
"""

import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import datasets, peers, plain_text
from .datasets import Dataset

if TYPE_CHECKING:
    from .registry import Settings


def data_directory(directory: Path) -> Path:
    """Return the folder for files of this generator and this pyjelly."""
    digest = hashlib.sha256(f"pyjelly {importlib.metadata.version('pyjelly')}".encode())
    sources = sorted(Path(datasets.__file__).parent.glob("*.py"))
    for source in (*sources, Path(peers.__file__), Path(plain_text.__file__)):
        digest.update(source.read_bytes())
    folder = directory / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept_file(path: Path, make: Callable[[], Iterable[bytes]]) -> bytes:
    """Return the bytes at `path`, made first if necessary; an interrupted run leaves no partial file."""
    if not path.exists():
        partial = path.with_name(f"{path.name}.partial")
        with partial.open("wb") as file:
            file.writelines(make())
        os.replace(partial, path)
    return path.read_bytes()


def first_lines(text: bytes, lines: int) -> bytes:
    end = -1
    for _ in range(lines):
        end = text.index(b"\n", end + 1)
    return text[: end + 1]


class Workload:
    """One data set as text, as Jelly and as objects: all of it for us, its beginning for the slower peers."""

    def __init__(self, dataset: Dataset, settings: "Settings") -> None:
        self.dataset = dataset
        self.statements_count = settings.statements
        self.peer_count = min(settings.peer_statements, settings.statements)
        self._directory = data_directory(settings.directory)

    @property
    def name(self) -> str:
        return self.dataset.name

    @cached_property
    def text(self) -> bytes:
        return self._text_of(self.statements_count)

    @cached_property
    def jelly(self) -> bytes:
        """The whole data set, as written by pyjelly."""
        return self._jelly_of(self.statements_count)

    @cached_property
    def peer_jelly(self) -> bytes:
        return self._jelly_of(self.peer_count)

    @cached_property
    def peer_statements(self) -> list[Any]:
        return list(peers.parse(self.peer_jelly))

    @property
    def peer_options(self) -> Any:
        return peers.options(quads=self.dataset.quads, rdf_star=self.dataset.rdf_star)

    @cached_property
    def options(self) -> Any:
        """Our stream options, equal to the peer's."""
        from jellyframe import LogicalType, PhysicalType, StreamOptions

        return StreamOptions.big(
            physical_type=PhysicalType.QUADS if self.dataset.quads else PhysicalType.TRIPLES,
            logical_type=LogicalType.FLAT_QUADS if self.dataset.quads else LogicalType.FLAT_TRIPLES,
            rdf_star=self.dataset.rdf_star,
        )

    @cached_property
    def batches(self) -> list[Any]:
        from jellyframe import open_reader

        with open_reader(self.jelly) as reader:
            return list(reader.batches())

    def our_statements(self, most: int | None = None) -> list[Any]:
        from jellyframe import open_reader

        with open_reader(self.jelly) as reader:
            return list(islice(reader.statements(), most))

    def _text_of(self, statements: int) -> bytes:
        path = self._directory / f"{self.name}-{statements}{self.dataset.suffix}"
        return kept_file(path, lambda: self.dataset.chunks(statements))

    def _jelly_of(self, statements: int) -> bytes:
        def make() -> list[bytes]:
            text = first_lines(self.text, statements)
            return [peers.serialize(plain_text.statements(text), self.peer_options)]

        return kept_file(self._directory / f"{self.name}-{statements}.jelly", make)
