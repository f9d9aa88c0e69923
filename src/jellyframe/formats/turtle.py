"""Turtle and TriG as batches, read by the kernel: with the quoted triples and annotations of RDF-star.

Language tags keep their case. `<< s p o >>` has the meaning of RDF-star, not that of RDF 1.2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from secrets import token_hex
from typing import TYPE_CHECKING

from jellyframe.batch import Batch
from jellyframe.errors import locating
from jellyframe.formats.settings import BatchInput, ReadSettings
from jellyframe.formats.text_reading import TextReader
from jellyframe.kernel.turtle_parse_cy import TurtleParser
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import STANDARD_INPUT_NAME, Source
from jellyframe.storage.uris import is_uri

if TYPE_CHECKING:
    from jellyframe.formats.registry import Format


def open_input(source: Source, found: Format, settings: ReadSettings) -> BatchInput:
    """Open Turtle or TriG as batches: an entry of the registry."""
    return _Input(source, found, settings)


class _Input(BatchInput):
    def __init__(self, source: Source, found: Format, settings: ReadSettings) -> None:
        self._file = ByteSource(source, settings.limits)
        self._parser = TurtleParser(
            found.has_graphs,
            base_iri(self._file.name, settings),
            label_prefix(settings).encode(),
            settings.lenient or not settings.resolve_iris,
            settings.limits.max_nesting_depth,
        )
        self._text = TextReader(self._file, self._parser, quads=found.has_graphs)
        self._batch_rows = settings.batch_rows

    def batches(self) -> Iterator[Batch]:
        with locating(self._file.name):
            for builder in self._text.builders(self._batch_rows):
                yield Batch.from_builder(builder)

    def namespaces(self) -> dict[str, str]:
        return dict(self._parser.prefixes)

    def close(self) -> None:
        self._file.close()


def base_iri(name: str | None, settings: ReadSettings) -> str | None:
    """Return the base IRI: that of the settings, or that of the file or folder."""
    if not settings.resolve_iris:
        return None
    if settings.base_iri is not None:
        return settings.base_iri
    return iri_of_file(None if name == STANDARD_INPUT_NAME else name)


def iri_of_file(path: str | None) -> str:
    """Return the IRI of a file, or of the working directory."""
    from pathlib import Path

    if path is None:
        return Path.cwd().as_uri() + "/"
    return path if is_uri(path) else Path(os.path.abspath(path)).as_uri()


def label_prefix(settings: ReadSettings) -> str:
    """Return the prefix for labels of anonymous blank nodes, which no other document has."""
    return f"b{token_hex(8)}-" if settings.label_prefix is None else settings.label_prefix
