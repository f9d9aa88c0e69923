"""Files where Spark jobs find and leave them: on this machine, and in the object stores that pyarrow knows."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.fs

from jellyframe.errors import JellyError

# Object stores answer slowly and send fast: read much at a time.
REMOTE_READ_BYTES = 8 << 20

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(//|/)")
_HADOOP_SCHEMES = re.compile(r"s3[an]://")
_JELLY_NAME = re.compile(r"\.jelly(\.(gz|gzip|zst|zstd))?$", re.IGNORECASE)
_COMPRESSED_NAME = re.compile(r"\.(gz|gzip|zst|zstd)$", re.IGNORECASE)
_GLOB = re.compile(r"[*?\[{]")

# Whether the name of a file says that it holds data.
NameTest = Callable[[str], bool]


class StorageError(JellyError):
    """Files that are not there, or that cannot be reached."""


@dataclass(frozen=True)
class DataFile:
    """A file to read: where it is, how large, and when it was modified (in nanoseconds)."""

    storage: Storage
    path: str
    size: int
    modified: int = field(default=0, compare=False)

    @classmethod
    def of(cls, storage: Storage, info: Any) -> DataFile:
        return cls(storage, info.path, info.size, info.mtime_ns or 0)

    @property
    def name(self) -> str:
        """What users call the file."""
        return self.storage.display(self.path)

    @property
    def looks_compressed(self) -> bool:
        return _COMPRESSED_NAME.search(self.path) is not None

    def open(self) -> Any:
        """The file for reading, from any place in it."""
        return self.storage.open(self.path)


@lru_cache(maxsize=64)
def _filesystem(base: str | None) -> Any:
    if base is None:
        return pa.fs.LocalFileSystem()
    return pa.fs.FileSystem.from_uri(base)[0]


@dataclass(frozen=True)
class Storage:
    """A file system: the local one, or that of a URI. It can be sent to other machines, and is opened there again."""

    base: str | None = None

    @property
    def fs(self) -> Any:
        return _filesystem(self.base)

    @property
    def is_local(self) -> bool:
        return self.base is None

    def display(self, path: str) -> str:
        return path if self.base is None else f"{self.base.partition('://')[0]}://{path}"

    def open(self, path: str) -> Any:
        if self.is_local:
            return open(path, "rb", buffering=0)
        return _RemoteFile(self.fs.open_input_file(path), self.display(path))

    def write_new(self, path: str, data: bytes) -> bool:
        """Make a small file, whole or not at all. False if there is one of this name already."""
        folder, _, name = path.rpartition("/")
        self.fs.create_dir(folder, recursive=True)
        if not self.is_local:
            # Object stores show a file when it is complete. Of two that write the same one, the last wins.
            if self.exists(path):
                return False
            with self.fs.open_output_stream(path) as stream:
                stream.write(data)
            return True
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(temporary, path)
                return True
            return False
        finally:
            os.unlink(temporary)

    def info(self, path: str) -> Any:
        return self.fs.get_file_info(path)

    def exists(self, path: str) -> bool:
        return bool(self.info(path).type != pa.fs.FileType.NotFound)

    def children(self, path: str, *, recursive: bool = False) -> list[Any]:
        """What is in a folder, sorted by path."""
        selector = pa.fs.FileSelector(path, recursive=recursive, allow_not_found=True)
        return sorted(self.fs.get_file_info(selector), key=lambda info: info.path)

    def data_files(self, folder: str, is_data: NameTest | None = None) -> list[DataFile]:
        """The files of data below a folder, Jelly by default. Names that begin with _ or . are hidden, as in Spark."""
        is_data = is_data or is_jelly_name
        return [
            DataFile.of(self, info)
            for info in self.children(folder, recursive=True)
            if info.type == pa.fs.FileType.File and is_data(info.base_name) and not is_hidden(info.path[len(folder) :])
        ]


class _RemoteFile:
    """A file in an object store, read in large pieces."""

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        self._file = file
        self._piece = b""
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._piece, self._at = b"", 0
        return int(self._file.seek(offset, whence))

    def read(self, size: int) -> bytes:
        data = self._piece[self._at : self._at + size]
        self._at += len(data)
        if len(data) < size:
            self._piece = self._file.read(max(size, REMOTE_READ_BYTES))
            self._at = size - len(data)
            data += self._piece[: self._at]
        return data

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> _RemoteFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def is_jelly_name(name: str) -> bool:
    return _JELLY_NAME.search(name) is not None


def is_hidden(path: str) -> bool:
    return any(part.startswith(("_", ".")) for part in path.split("/") if part)


def locate(path: str) -> tuple[Storage, str]:
    """The file system of a path or URI, and the path in it."""
    path = _HADOOP_SCHEMES.sub("s3://", path, 1)
    if not _URI.match(path):
        return Storage(), os.path.abspath(os.path.expanduser(path))
    if path.startswith("file:"):
        return Storage(), re.sub(r"^file:(//)?", "", path)
    # What globs have in them is not for a parser of URIs.
    glob = _GLOB.search(path.replace("?", "_"))
    fixed = path if glob is None else path[: path.rindex("/", 0, glob.start())]
    try:
        _fs, inner = pa.fs.FileSystem.from_uri(fixed)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise StorageError(f"{path}: {error}") from None
    return Storage(fixed), inner + path[len(fixed) :]


def find_files(
    paths: tuple[str, ...], is_data: NameTest | None = None, *, may_be_empty: bool = False
) -> list[DataFile]:
    """The files that paths stand for: files, folders of files of data (Jelly by default), and patterns of either.

    That a pattern stands for nothing is an error, unless `may_be_empty`.
    """
    found: list[DataFile] = []
    for path in paths:
        storage, inner = locate(path)
        info = storage.info(inner.rstrip("/") or "/")
        if info.type != pa.fs.FileType.NotFound:
            infos = [info]
        elif _GLOB.search(inner):
            infos = list(_matches(storage, inner))
            if not infos and not may_be_empty:
                raise StorageError(f"{path}: nothing there has such a name")
        else:
            raise StorageError(f"{path}: there is no such file or folder")
        for info in infos:
            if info.type == pa.fs.FileType.Directory:
                found += storage.data_files(info.path, is_data)
            else:
                found.append(DataFile.of(storage, info))
    # Patterns and lists may name a file twice.
    return list(dict.fromkeys(found))


def _matches(storage: Storage, pattern: str) -> Iterator[Any]:
    """What a pattern stands for: * ? [ab] {a,b} within a name, ** for any folders in between."""
    before = pattern[: pattern.rindex("/", 0, _first_glob(pattern)) + 1]
    wanted = _glob_expression(pattern[len(before) :])
    recursive = "/" in pattern[len(before) :]
    root = before.rstrip("/") or "/"
    folders: list[str] = []
    for info in storage.children(root, recursive=recursive):
        name = info.path[len(before) :]
        if not wanted.fullmatch(name) or is_hidden(name) or any(info.path.startswith(folder) for folder in folders):
            continue
        if info.type == pa.fs.FileType.Directory:
            folders.append(f"{info.path}/")
        yield info


def fixed_folder(storage: Storage, path: str) -> str:
    """The folder in which, or below which, all files are that a path of this storage stands for."""
    if storage.info(path.rstrip("/") or "/").type == pa.fs.FileType.Directory:
        return path.rstrip("/")
    return path[: path.rindex("/", 0, _first_glob(path))]


def _first_glob(pattern: str) -> int:
    found = _GLOB.search(pattern)
    return len(pattern) if found is None else found.start()


def _glob_expression(pattern: str) -> re.Pattern[str]:
    out = ""
    depth = 0
    for part in re.findall(r"\*\*/|\*\*|\[!?[^]]+\]|.", pattern):
        if part == "**/":
            out += "(?:.*/)?"
        elif part == "**":
            out += ".*"
        elif part == "*":
            out += "[^/]*"
        elif part == "?":
            out += "[^/]"
        elif part.startswith("[") and len(part) > 1:
            out += part.replace("[!", "[^", 1).replace("\\", "\\\\")
        elif part == "{":
            depth += 1
            out += "(?:"
        elif part in ",}" and depth:
            out += "|" if part == "," else ")"
            depth -= part == "}"
        else:
            out += re.escape(part)
    return re.compile(out + ")" * depth)
