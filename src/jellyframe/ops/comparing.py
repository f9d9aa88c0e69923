"""Compare the statements of two files, as RDF datasets or in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard

from jellyframe import formats
from jellyframe.batch.lines import statement_line
from jellyframe.batch.selection import FrameRange, take_frames
from jellyframe.dialects import dialect_named
from jellyframe.errors import advising, display_name
from jellyframe.formats.settings import ReadSettings
from jellyframe.formats.turtle import iri_of_file
from jellyframe.ops import isomorphism
from jellyframe.ops.isomorphism import normalised
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.ops.sources import CountedSource, local_files
from jellyframe.options import DialectName, Limits
from jellyframe.storage.closing import Closeable
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.storage.sources import total_size
from jellyframe.terms import BlankNode, Quad, Statement, Triple

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.storage.types import Path, Source


class Comparison(NamedTuple):
    """The result of `compare`: lines that describe the `differences`, none if the statements are the same."""

    differences: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Whether there are no differences."""
        return not self.differences


def compare(
    first: Source,
    second: Source,
    *,
    first_format: str | None = None,
    second_format: str | None = None,
    ordered: bool = False,
    frames: tuple[int, int | None] = (0, None),
    concatenated: bool = False,
    limits: Limits | None = None,
    progress: ProgressCallback | None = None,
    dialect: DialectName = "released",
    second_dialect: DialectName | None = None,
) -> Comparison:
    """Compare the statements of two sources and return their differences.

    A source is a path (of a file, of a folder, which means all files of known formats in it, or a pattern), a
    URI, bytes, or a binary file object.

    Without `ordered` both are RDF datasets, held in memory: the order and the repetition of statements do not matter,
    and blank nodes are mapped as needed. With `ordered` the statements are compared one by one in constant memory,
    and the labels of blank nodes may differ, but consistently.

    `first_format` and `second_format` name the formats (`jelly`, `nt`, `nq`, `ttl`, `trig`, `rdfxml`, `jsonld`); by
    default they follow from the file names, and bytes and file objects are Jelly. `frames` restricts the comparison
    to some frames of the first source, from a number to another, without the latter. `progress` is called as the first
    source is read.

    Args:
        first: a path, bytes, or a binary file object
        second: another
        first_format: the format of the first one
        second_format: the format of the second one
        ordered: whether the order of statements matters
        frames: the frames of the first one to compare
        concatenated: whether every options row begins a new stream
        limits: the limits for untrusted input
        progress: a function that is called with a `Progress`
        dialect: the dialect of sources that are Jelly: `released` or `draft`
        second_dialect: the dialect of the second one, if it is another
    """
    one = StatementSource(
        first, first_format, argument="first_format", limits=limits, concatenated=concatenated, dialect=dialect
    )
    with one:
        other = StatementSource(
            second,
            second_format,
            argument="second_format",
            limits=limits,
            concatenated=concatenated,
            dialect=second_dialect or dialect,
            dialect_argument="second_dialect",
        )
        with other:
            first_name = name_of_source(first, "the first input")
            second_name = name_of_source(second, "the second input")
            comparer = comparer_for(other, second_name, ordered=ordered, first_name=first_name)
            batches = one.batches(ProgressMeter(progress, one.total_bytes))
            for batch in take_frames(batches, FrameRange(*frames)):
                comparer.add(batch.statements())
            return Comparison(tuple(comparer.differences()))


class Comparer(Protocol):
    """Compares the statements of one side as they are added, and returns the differences at the end."""

    def add(self, statements: Iterable[Statement]) -> None: ...

    def differences(self) -> list[str]: ...


def comparer_for(
    reference: Iterable[Statement], name: str, *, ordered: bool, first_name: str = "the stream"
) -> Comparer:
    """Return a comparer with the statements of a reference, whose name is used in messages."""
    return (_Ordered if ordered else _Unordered)(reference, name, first_name)


class _Unordered:
    """Compares RDF datasets: no order, no repetition, any labels for blank nodes."""

    def __init__(self, reference: Iterable[Statement], name: str, first_name: str) -> None:
        self._reference = reference
        self._name = name
        self._first_name = first_name
        self._statements: set[Quad] = set()

    def add(self, statements: Iterable[Statement]) -> None:
        self._statements.update(map(normalised, statements))

    def differences(self) -> list[str]:
        difference = isomorphism.compare(self._statements, self._reference)
        if difference is None:
            return []
        return [
            f"not isomorphic to {self._name}: {difference.message} ({difference.first_count} in {self._first_name}, "
            f"{difference.second_count} in {self._name})",
            *(f"extra in {self._first_name}: {line}" for line in difference.extra_in_first),
            *(f"extra in {self._name}: {line}" for line in difference.extra_in_second),
        ]


class _Ordered:
    """Compares statements one by one. Labels of blank nodes may differ, but consistently."""

    def __init__(self, reference: Iterable[Statement], name: str, first_name: str) -> None:
        self._reference = iter(reference)
        self._name = name
        self._first_name = first_name
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
                    f"{self._name} has {self._count - 1} statements, and {self._first_name} goes on: "
                    f"{statement_line(statement)}"
                )
                return
            expected = normalised(expected)
            if not self._are_same(statement, expected):
                self._found += [
                    f"statement {self._count} differs from {self._name}",
                    f"in {self._first_name}: {statement_line(statement)}",
                    f"in {self._name}: {statement_line(expected)}",
                ]
                return

    def differences(self) -> list[str]:
        if not self._found:
            expected = next(self._reference, None)
            if expected is not None:
                self._found.append(
                    f"{self._first_name} has {self._count} statements, and {self._name} goes on: "
                    f"{statement_line(expected)}"
                )
        return self._found

    def _are_same(self, ours: object, theirs: object) -> bool:
        if isinstance(ours, BlankNode) and isinstance(theirs, BlankNode):
            return (
                self._theirs.setdefault(ours.label, theirs.label) == theirs.label
                and self._ours.setdefault(theirs.label, ours.label) == ours.label
            )
        if isinstance(ours, Triple | Quad) and type(ours) is type(theirs):
            return all(map(self._are_same, ours, theirs))
        return bool(ours == theirs)


class StatementSource(Closeable):
    """The statements of a source in any format that we read; a folder or a pattern means all of its files.

    A missing source or an unknown format is raised at once. `argument` is the name of the caller's argument with
    the format, and `dialect_argument` that of the one with the dialect.
    """

    def __init__(
        self,
        source: Source,
        format_name: str | None = None,
        *,
        argument: str,
        limits: Limits | None = None,
        concatenated: bool = False,
        dialect: DialectName = "released",
        dialect_argument: str = "dialect",
    ) -> None:
        dialect_named(dialect)
        known = formats.FORMATS if format_name is None else (formats.format_by_name(format_name),)
        sources: Sequence[Source] = resolve_inputs([source], formats.name_test(known))
        self._sources = [(one, _format_of(one, format_name, argument)) for one in sources]
        self._limits = limits
        self._concatenated = concatenated
        self._dialect: DialectName = dialect
        self._dialect_argument = dialect_argument
        self._opened = self._open(0)
        files = local_files(sources)
        self.total_bytes = self._opened.total_bytes if files is None else total_size(files)

    def _open(self, number: int) -> CountedSource:
        source, known = self._sources[number]
        return CountedSource(source, accept=formats.accept_header((known,)), limits=self._limits)

    def batches(self, meter: ProgressMeter) -> Iterator[Batch]:
        """Yield the batches of each source in turn."""
        for number, (_source, known) in enumerate(self._sources):
            if number:
                self._opened.close()
                self._opened = self._open(number)
            settings = ReadSettings(
                base_iri=iri_of_file(self._opened.path),
                concatenated=self._concatenated,
                limits=self._limits or Limits(),
                dialect=self._dialect,
            )
            with advising(self._dialect_argument, in_place_of="dialect"):
                yield from meter.over(formats.open_input(self._opened, known, settings).batches(), self._opened)

    def __iter__(self) -> Iterator[Statement]:
        for batch in self.batches(ProgressMeter(None, None)):
            yield from batch.statements()

    def close(self) -> None:
        """Close the source."""
        self._opened.close()


def _format_of(source: Source, format_name: str | None, argument: str) -> formats.Format:
    if format_name is None and not _is_path(source):
        return formats.JELLY
    path = os.fspath(source) if _is_path(source) else None
    return formats.input_format(format_name, path, argument=argument)


def _is_path(source: Source) -> TypeGuard[Path]:
    return isinstance(source, str | os.PathLike)


def name_of_source(source: Source, default: str) -> str:
    """Return the name of a source in messages: its path or URI, if it has one."""
    return display_name(source) if _is_path(source) else default
