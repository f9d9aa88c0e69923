"""Comparing the statements of a stream to those of another file, as sets or in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from jellyframe import formats
from jellyframe.ops.isomorphism import compare, normalised
from jellyframe.storage.sources import InputFile
from jellyframe.terms import BlankNode, Quad, Statement, Triple

if TYPE_CHECKING:
    from jellyframe.batch import Batch

REFERENCE_FORMATS = (*formats.TEXT_FORMATS, formats.JELLY)


class Comparison(Protocol):
    """Takes the statements of the stream as they come, and says in the end what is different."""

    def add(self, statements: Iterable[Statement]) -> None: ...

    def differences(self) -> list[str]: ...


class Unordered:
    """Both as RDF datasets: no order, no repetition, any labels for blank nodes."""

    def __init__(self, reference: Iterable[Statement], name: str) -> None:
        self._reference = reference
        self._name = name
        self._statements: set[Quad] = set()

    def add(self, statements: Iterable[Statement]) -> None:
        self._statements.update(map(normalised, statements))

    def differences(self) -> list[str]:
        difference = compare(self._statements, self._reference)
        if difference is None:
            return []
        return [
            f"not isomorphic to {self._name}: {difference.message} ({difference.first_count} in the stream, "
            f"{difference.second_count} in {self._name})",
            *(f"extra in the stream: {line}" for line in difference.extra_in_first),
            *(f"extra in {self._name}: {line}" for line in difference.extra_in_second),
        ]


class Ordered:
    """One statement after the other. Blank nodes may have other labels, but always the same other one."""

    def __init__(self, reference: Iterable[Statement], name: str) -> None:
        self._reference = iter(reference)
        self._name = name
        self._count = 0
        self._found: list[str] = []
        self._theirs: dict[str, str] = {}
        self._ours: dict[str, str] = {}

    def add(self, statements: Iterable[Statement]) -> None:
        if self._found:
            return
        for statement in map(normalised, statements):
            expected = next(self._reference, None)
            self._count += 1
            if expected is None:
                self._found.append(
                    f"{self._name} has {self._count - 1} statements, and the stream goes on: {statement.to_line()}"
                )
                return
            expected = normalised(expected)
            if not self._are_same(statement, expected):
                self._found += [
                    f"statement {self._count} differs from {self._name}",
                    f"in the stream: {statement.to_line()}",
                    f"in {self._name}: {expected.to_line()}",
                ]
                return

    def differences(self) -> list[str]:
        if not self._found:
            expected = next(self._reference, None)
            if expected is not None:
                self._found.append(
                    f"the stream has {self._count} statements, and {self._name} goes on: {expected.to_line()}"
                )
        return self._found

    def _are_same(self, ours: Any, theirs: Any) -> bool:
        if isinstance(ours, BlankNode) and isinstance(theirs, BlankNode):
            return (
                self._theirs.setdefault(ours.label, theirs.label) == theirs.label
                and self._ours.setdefault(theirs.label, ours.label) == ours.label
            )
        if isinstance(ours, Triple | Quad) and type(ours) is type(theirs):
            return all(map(self._are_same, ours, theirs))
        return bool(ours == theirs)


def reference_statements(path: str, format_name: str | None) -> Iterator[Statement]:
    """The statements of the file to compare to. Whether it can be opened shows at once."""
    known = formats.input_format(format_name, path, REFERENCE_FORMATS, "--compare-to-format")
    source = InputFile(path)
    return _statements(source, known)


def _statements(source: InputFile, known: formats.Format) -> Iterator[Statement]:
    with source:
        for batch in _batches(source, known):
            yield from batch.statements()


def _batches(source: InputFile, known: formats.Format) -> Iterator[Batch]:
    if known is formats.JELLY:
        from jellyframe.stream.reader import open_reader

        return open_reader(source).batches()
    if known in (formats.NTRIPLES, formats.NQUADS):
        from jellyframe.formats import ntriples

        return ntriples.read(source, quads=known.has_graphs, generalized=True)
    from jellyframe.formats.oxigraph import OxigraphInput, iri_of_input

    return OxigraphInput(source, known, base_iri=iri_of_input(source.path), strict=False).batches()
