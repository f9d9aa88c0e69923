"""Data and patches that are read more than once, from any source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from jellyframe import formats
from jellyframe.errors import OptionsError
from jellyframe.formats import Format
from jellyframe.formats.patches import open_patch_input, patch_format
from jellyframe.formats.settings import ReadSettings
from jellyframe.formats.turtle import iri_of_file
from jellyframe.ops.comparing import name_of_source
from jellyframe.ops.progress import ProgressMeter
from jellyframe.ops.sources import UNNAMED_INPUT, CountedSource
from jellyframe.options import Limits
from jellyframe.patch.groups import patches_of
from jellyframe.storage.closing import Closeable
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.storage.sources import CHUNK_BYTES, total_size
from jellyframe.stream.writer import open_writer

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.patch import Patch, PatchReader
    from jellyframe.storage.types import Source


class _Sources:
    """Sources that can be read repeatedly. Pipes and the like are first copied to a file without a name."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._copies: dict[int, IO[bytes]] = {}
        self._sources = sources
        paths = [os.fspath(one) for one in sources if isinstance(one, str | os.PathLike)]
        self.total_bytes = total_size(paths) if len(paths) == len(sources) else None

    def open(self, number: int) -> CountedSource:
        """Open one of the sources at its start."""
        source = self._sources[number]
        if isinstance(source, str | os.PathLike | bytes | bytearray | memoryview):
            return CountedSource(source)
        if number not in self._copies:
            copy = self._copies[number] = TemporaryFile(prefix="jellyframe-")  # noqa: SIM115 - closed by close
            counted = CountedSource(source)
            while data := counted.read(CHUNK_BYTES):
                copy.write(data)
        self._copies[number].seek(0)
        return CountedSource(_Named(self._copies[number], getattr(source, "name", None)))

    def replace(self, number: int, copy: IO[bytes]) -> None:
        """Replace a source by a copy."""
        self._copies[number] = copy
        self._sources = [*self._sources[:number], _Named(copy, self.name(number)), *self._sources[number + 1 :]]

    def name(self, number: int) -> str:
        """Return the name of a source in messages."""
        source = self._sources[number]
        known = getattr(source, "name", None)
        return known if isinstance(known, str) else name_of_source(source, UNNAMED_INPUT)

    def path(self, number: int) -> str | None:
        """Return the path of a source, if it has one."""
        source = self._sources[number]
        return os.fspath(source) if isinstance(source, str | os.PathLike) else None

    def __len__(self) -> int:
        return len(self._sources)

    def close(self) -> None:
        for copy in self._copies.values():
            copy.close()


class _Named:
    """A copy with the name of its source."""

    def __init__(self, file: IO[bytes], name: object) -> None:
        self.name = name
        self.read = file.read


class DataSource(Closeable):
    """Statements of any format, or of a folder or pattern of files, which can be read repeatedly.

    Blank nodes without labels get the same ones each time: those of the first file differ from those of the second,
    and are the same in two data sets that have them at the same positions.

    Args:
        source: a path, a URI, bytes, or a binary file object
        format_name: the format; by default that of the file name, or otherwise Jelly
        argument: the name of the caller's argument with the format
        limits: the limits for untrusted input
        concatenated: whether every options row of Jelly begins a new stream
    """

    def __init__(
        self,
        source: Source,
        format_name: str | None = None,
        *,
        argument: str = "in_format",
        limits: Limits | None = None,
        concatenated: bool = False,
    ) -> None:
        known = formats.FORMATS if format_name is None else (formats.format_by_name(format_name),)
        found: Sequence[Source] = resolve_inputs([source], lambda name: formats.format_by_path(name, known) is not None)
        self.formats = [_data_format(one, format_name, argument) for one in found]
        self._sources = _Sources(found)
        self._limits = limits or Limits()
        self._concatenated = concatenated
        # Those in the data read so far.
        self.namespaces: dict[str, str] = {}
        # Opened at once, so that a missing file is reported before anything is done.
        self._sources.open(0).close()

    @property
    def total_bytes(self) -> int | None:
        """The size of the files; None if it is unknown."""
        return self._sources.total_bytes

    @property
    def has_namespaces(self) -> bool:
        """Whether the formats of all files have namespaces."""
        return all(found.has_namespaces for found in self.formats)

    @property
    def name(self) -> str:
        """The name of the data in messages."""
        return self._sources.name(0)

    def has_graph(self) -> bool:
        """Return whether statements may be in named graphs, according to names and headers."""
        for number, found in enumerate(self.formats):
            if found.has_graphs:
                if not found.has_header:
                    return True
                with self._sources.open(number) as file, formats.open_input(file, found, self._settings(number)) as one:
                    if one.has_graph is not False:
                        return True
        return False

    def batches(self, meter: ProgressMeter | None = None) -> Iterator[Batch]:
        """Yield the data from its start."""
        meter = meter or ProgressMeter(None, None)
        for number, found in enumerate(self.formats):
            if not found.has_stable_labels:
                found = self._keep_labels(number, found)
            with self._sources.open(number) as file, formats.open_input(file, found, self._settings(number)) as opened:
                for batch in meter.over(opened.batches(), file):
                    self.namespaces |= opened.namespaces()
                    yield batch
                self.namespaces |= opened.namespaces()

    def close(self) -> None:
        """Close the copies."""
        self._sources.close()

    def _settings(self, number: int) -> ReadSettings:
        return ReadSettings(
            base_iri=iri_of_file(self._sources.path(number)),
            concatenated=self._concatenated,
            limits=self._limits,
            label_prefix=f"f{number}-",
        )

    def _keep_labels(self, number: int, found: Format) -> Format:
        """Copy a file to a Jelly stream, in which blank nodes keep their labels."""
        copy = TemporaryFile(prefix="jellyframe-")  # noqa: SIM115 - closed by close
        with (
            self._sources.open(number) as file,
            formats.open_input(file, found, self._settings(number)) as opened,
            open_writer(copy) as writer,
        ):
            for batch in opened.batches():
                writer.write_batch(batch.with_graph() if not batch.has_graph else batch)
            self.namespaces |= opened.namespaces()
        self._sources.replace(number, copy)
        self.formats[number] = formats.JELLY
        return formats.JELLY


def _data_format(source: Source, format_name: str | None, argument: str) -> Format:
    if format_name is None and not isinstance(source, str | os.PathLike):
        return formats.JELLY
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    return formats.input_format(format_name, path, argument=argument)


class PatchSources(Closeable):
    """Patches of any format, one after the other, which can be read repeatedly.

    Args:
        patches: paths, folders and patterns, bytes, or binary file objects; a folder means the patches in it, in
            the order of their names
        patch_format_name: the format of all; by default that of the file name, or otherwise Jelly-Patch
        limits: the limits for untrusted input
        strict: as in `open_patch_reader`
        concatenated: whether every options row of Jelly-Patch begins a new stream
    """

    def __init__(
        self,
        patches: Source | Sequence[Source],
        patch_format_name: str | None = None,
        *,
        limits: Limits | None = None,
        strict: bool = True,
        concatenated: bool = False,
    ) -> None:
        given = [patches] if not isinstance(patches, list | tuple) else list(patches)
        found: list[Any] = resolve_inputs(given, is_patch_name)
        if not found:
            raise OptionsError("there is no patch: name at least one input")
        self._formats = [patch_format(patch_format_name, one, "patch_format") for one in found]
        self._sources = _Sources(found)
        self._settings: dict[str, Any] = {"limits": limits, "strict": strict, "concatenated": concatenated}
        for number in range(len(found)):
            if isinstance(found[number], str | os.PathLike):
                self._sources.open(number).close()

    @property
    def total_bytes(self) -> int | None:
        """The size of the files; None if it is unknown."""
        return self._sources.total_bytes

    def __len__(self) -> int:
        return len(self._sources)

    def name(self, number: int) -> str:
        """Return the name of one of the patches in messages."""
        return self._sources.name(number)

    def path(self, number: int) -> str | None:
        """Return the path of one of the patches, if it has one."""
        return self._sources.path(number)

    def batches(self, meter: ProgressMeter | None = None) -> Iterator[Batch]:
        """Yield the rows of all patches from the start."""
        for number in range(len(self)):
            with self._sources.open(number) as file, self._open(file, number) as reader:
                yield from _metered(reader, file, meter)

    def patches(self, meter: ProgressMeter | None = None) -> Iterator[Patch]:
        """Yield the patches from the start, each read as its rows are iterated."""
        for number in range(len(self)):
            yield from self.patches_of(number, meter)

    def patches_of(self, number: int, meter: ProgressMeter | None = None) -> Iterator[Patch]:
        """Yield the patches of one of the sources, each read as its rows are iterated."""
        with self._sources.open(number) as file, self._open(file, number) as reader:
            yield from patches_of(_metered(reader, file, meter), reader.options.stream_type)

    def has_graph(self) -> bool:
        """Return whether one of the streams has quads."""
        for number in range(len(self)):
            with self._sources.open(number) as file, self._open(file, number) as reader:
                if reader.options.has_graph:
                    return True
        return False

    def _open(self, file: CountedSource, number: int) -> PatchReader:
        return open_patch_input(file, self._formats[number], **self._settings)

    def close(self) -> None:
        """Close the copies."""
        self._sources.close()


def _metered(reader: PatchReader, file: CountedSource, meter: ProgressMeter | None) -> Iterator[Batch]:
    return (meter or ProgressMeter(None, None)).over(reader.batches(), file)


def is_patch_name(name: str) -> bool:
    """Return whether the name of a file is that of a patch."""
    return formats.format_by_path(name, formats.PATCH_FORMATS) is not None
