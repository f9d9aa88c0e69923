"""The files that are served: data files in a folder, and nothing outside of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from jellyframe import formats
from jellyframe.errors import JellyError, StorageError, display_name
from jellyframe.formats import Format
from jellyframe.ops.survey import dialect_of
from jellyframe.options import DialectName
from jellyframe.storage.names import is_hidden
from jellyframe.storage.types import Compression

# Formats that requests may name; tables and documents of other formats can be converted before they are served.
SERVED_FORMATS = (formats.JELLY, formats.NQUADS, formats.NTRIPLES, formats.TRIG, formats.TURTLE)
READ_FORMATS = (*formats.FOLDER_FORMATS, *formats.PATCH_FORMATS)


class FileState(NamedTuple):
    """Identifies a version of a file."""

    size: int
    modified: int
    number: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileState:
        """Return the state from the result of `stat`."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True)
class ServedFile:
    """A data file: its path, its format and its compression, and its state when it was found."""

    path: str
    format: Format
    compression: Compression | None
    state: FileState

    @classmethod
    def at(cls, path: str) -> ServedFile | None:
        """Return a file if its name is that of a data file; otherwise None."""
        found = formats.format_by_path(path, READ_FORMATS)
        try:
            state = os.stat(path)
        except OSError:
            return None
        if found is None or not stat.S_ISREG(state.st_mode):
            return None
        return cls(path, found, formats.split_compression(path)[1], FileState.of(state))

    @cached_property
    def dialect(self) -> DialectName:
        """The dialect of a Jelly file, recognised by its first statements; `released` for other files."""
        if self.format != formats.JELLY:
            return "released"
        try:
            return dialect_of(self.path)
        except (JellyError, OSError):
            # The error is raised when the statements are read, with a better message.
            return "released"

    def can_be_sent_as(self, target: Format) -> bool:
        """Return whether the file can be sent unchanged as a format. Jelly has to be in the released dialect."""
        return self.format == target and self.dialect == "released"

    @property
    def target_formats(self) -> tuple[Format, ...]:
        """The formats in which the file can be requested."""
        return formats.PATCH_FORMATS if self.format.is_patch else SERVED_FORMATS

    def is_unchanged(self) -> bool:
        """Return whether the file has not changed since it was found."""
        try:
            return FileState.of(os.stat(self.path)) == self.state
        except OSError:
            return False


class Root:
    """The folder, or the one file, that is served."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.realpath(path)
        if not os.path.exists(self.path):
            raise StorageError(f"{display_name(path)}: there is no such file or folder")
        self.is_file = not os.path.isdir(self.path)
        if self.is_file and ServedFile.at(self.path) is None:
            known = formats.names(READ_FORMATS)
            raise StorageError(f"{display_name(path)}: the format cannot be recognised by the name ({known})")

    def find(self, raw_path: str) -> str | None:
        """Return the file or folder that the path of a request names; None if there is none, or it is hidden.

        Names that begin with . or _ are hidden. Links are followed if they stay inside.
        """
        names = self._names(raw_path)
        if names is None:
            return None
        if self.is_file:
            return self.path if names in ([], [os.path.basename(self.path)]) else None
        found = self._inside(os.path.join(self.path, *names))
        if found is not None and raw_path.endswith("/") and not os.path.isdir(found):
            return None
        return found

    def _names(self, raw_path: str) -> list[str] | None:
        """Return the names in a path; None if it is invalid. Escaped slashes do not separate names."""
        if not raw_path.startswith("/"):
            return None
        inner = raw_path[1:].removesuffix("/")
        names = []
        for part in inner.split("/") if inner else []:
            name = unquote_to_bytes(part.encode("latin-1"))
            if not name or b"/" in name or b"\\" in name or b"\0" in name or name.startswith((b".", b"_")):
                return None
            names.append(os.fsdecode(name))
        return names

    def _inside(self, path: str) -> str | None:
        try:
            real = os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None
        inner = os.path.relpath(real, self.path)
        if inner == os.pardir or inner.startswith(os.pardir + os.sep) or (inner != os.curdir and is_hidden(inner)):
            return None
        return real

    def entries(self, folder: str) -> Iterator[tuple[str, ServedFile | None]]:
        """Yield the visible entries of a folder: names with their files, folders with None."""
        for name in sorted(os.listdir(folder)):
            path = None if is_hidden(name) else self._inside(os.path.join(folder, name))
            if path is None:
                continue
            if os.path.isdir(path):
                yield name, None
            elif (file := ServedFile.at(path)) is not None:
                yield name, file

    def files_below(self, folder: str) -> list[ServedFile]:
        """Return the data files in a folder and its subfolders, sorted by name, without patches."""
        found: dict[str, ServedFile] = {}
        waiting = [folder]
        seen: set[str] = set()
        while waiting:
            place = waiting.pop(0)
            if place in seen:
                # A link to a folder above.
                continue
            seen.add(place)
            for name, file in self.entries(place):
                if file is None:
                    inner = self._inside(os.path.join(place, name))
                    waiting += [] if inner is None else [inner]
                elif not file.format.is_patch:
                    found[file.path] = file
        return [found[path] for path in sorted(found)]


def all_unchanged(files: Iterable[ServedFile]) -> bool:
    """Return whether no file has changed since it was found."""
    return all(file.is_unchanged() for file in files)
