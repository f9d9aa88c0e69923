"""File systems: the local one, and the object stores of pyarrow and fsspec."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import pyarrow as pa
import pyarrow.fs

from jellyframe.errors import StorageError, display_name
from jellyframe.storage.closing import Closeable
from jellyframe.storage.http import JELLY_ACCEPT, HttpFile, http_info
from jellyframe.storage.http_requests import HttpError
from jellyframe.storage.names import NameTest, first_glob, is_hidden, is_jelly_name, looks_compressed
from jellyframe.storage.types import Buffer, FileSystem, InputHandle, OutputHandle, Path
from jellyframe.storage.uris import is_file_uri, is_http_uri, is_uri, path_of_file_uri
from jellyframe.storage.writing import write_all

# Object stores have a high latency and a high throughput: read large blocks.
REMOTE_READ_BYTES = 8 << 20

_HADOOP_SCHEMES = re.compile(r"s3[an]://")


@dataclass(frozen=True)
class DataFile:
    """A file to read.

    Attributes:
        storage: the file system
        path: the path in the file system
        size: the size in bytes
        modified: the modification time in nanoseconds
        accept: the media types to request from a web server; Jelly by default
    """

    storage: Storage
    path: str
    size: int
    modified: int = field(default=0, compare=False)
    accept: str | None = None

    @classmethod
    def of(cls, storage: Storage, info: pa.fs.FileInfo) -> DataFile:
        """Return the file in a `storage` that an `info` of pyarrow describes."""
        return cls(storage, info.path, info.size, info.mtime_ns or 0)

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return self.storage.display(self.path)

    @property
    def address(self) -> str:
        """The path or URI under which the file can be opened again."""
        return self.storage.address(self.path)

    @property
    def looks_compressed(self) -> bool:
        """Whether the name has a suffix of a compression."""
        return looks_compressed(self.path.partition("?")[0] if self.storage.is_http else self.path)

    def open(self) -> InputHandle:
        """Open the file for reading, from any offset."""
        return self.storage.open(self.path, self.accept)


@lru_cache(maxsize=64)
def _filesystem(base: str | None) -> pa.fs.FileSystem:
    return pa.fs.LocalFileSystem() if base is None else _from_uri(base)[0]


def _from_uri(uri: str) -> tuple[pa.fs.FileSystem, str]:
    """Return the file system of a URI and the path in it. fsspec is used if pyarrow does not know the scheme."""
    try:
        fs, path = pa.fs.FileSystem.from_uri(uri)
    except (pa.ArrowException, ValueError, OSError) as error:
        with suppress(ImportError, ValueError):
            from fsspec.core import url_to_fs

            found, path = url_to_fs(uri)
            return _arrow_filesystem(found), path
        raise StorageError(f"{uri}: {error}") from None
    return fs, path


def _arrow_filesystem(given: FileSystem) -> pa.fs.FileSystem:
    """Return a file system of pyarrow or fsspec as one of pyarrow."""
    return given if isinstance(given, pa.fs.FileSystem) else pa.fs.PyFileSystem(pa.fs.FSSpecHandler(given))


@dataclass(frozen=True)
class Storage:
    """A file system. It can be sent to other machines, where it is opened again.

    Attributes:
        base: the URI of the file system, or the name of the `given` one; None for the local one
        given: a file system of pyarrow
    """

    base: str | None = None
    given: pa.fs.FileSystem | None = field(default=None, compare=False, repr=False)

    @property
    def fs(self) -> pa.fs.FileSystem:
        """The file system of pyarrow."""
        return _filesystem(self.base) if self.given is None else self.given

    @property
    def is_local(self) -> bool:
        """Whether this is the local file system."""
        return self.base is None

    @property
    def is_http(self) -> bool:
        """Whether this is the web: a path is a URL without its scheme."""
        return self.given is None and is_http_uri(self.base or "")

    def display(self, path: str) -> str:
        """Return the name of the file at a `path` in messages."""
        path = display_name(path)
        return path if self.base is None or self.given is not None else f"{self.base.partition('://')[0]}://{path}"

    def address(self, path: str) -> str:
        """Return the URI of a `path`, with the host and the settings of the file system's own URI.

        In the local file system, and in one that was passed, it is the path.
        """
        if self.base is None or self.given is not None:
            return path
        if self.is_http:
            return f"{self.base}{path}"
        uri, mark, settings = self.base.partition("?")
        return f"{uri.removesuffix(_from_uri(self.base)[1])}{path}{mark}{settings}"

    def open(self, path: str, accept: str | None = None) -> InputHandle:
        """Open the file at a `path` for reading, from any offset. `accept` has the media types for web servers."""
        if self.is_local:
            return open(path, "rb", buffering=0)
        if self.is_http:
            return HttpFile(self.address(path), accept=accept or JELLY_ACCEPT, compressed=False)
        try:
            return _RemoteFile(self.fs.open_input_file(path), self.display(path))
        except (pa.ArrowException, OSError) as error:
            raise StorageError(f"{self.display(path)}: {error}") from error

    def open_output(self, path: str) -> OutputHandle:
        """Open a file for writing, which appears at a `path` when it is closed; `discard` drops it."""
        return _RemoteOutput(self, path)

    def write_new(self, path: str, data: bytes) -> bool:
        """Write `data` to a new file at a `path`, whole or not at all. Return False if it already exists."""
        folder, _, name = path.rpartition("/")
        self.fs.create_dir(folder, recursive=True)
        if not self.is_local:
            # In object stores a file appears when it is complete. If two clients write it, the last one wins.
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

    def info(self, path: str) -> pa.fs.FileInfo:
        """Return the kind of the file or folder at a `path`, if any, its size and its modification time."""
        if self.is_http:
            try:
                found = http_info(self.address(path))
            except HttpError as error:
                if error.status not in (404, 410):
                    raise
                return pa.fs.FileInfo(path, pa.fs.FileType.NotFound)
            return pa.fs.FileInfo(path, pa.fs.FileType.File, size=found.size, mtime_ns=found.modified)
        try:
            return self.fs.get_file_info(path)
        except UnicodeEncodeError:
            raise StorageError(
                f"{self.display(path)}: the name is not UTF-8, and cannot be looked up: rename it"
            ) from None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder at a `path`."""
        return bool(self.info(path).type != pa.fs.FileType.NotFound)

    def children(self, path: str, *, recursive: bool = False) -> list[pa.fs.FileInfo]:
        """Return the files and folders in the folder at a `path`, and below it if `recursive`, sorted by path.

        A local link to a folder that contains it is listed, but not followed.
        """
        found = self._listed(path, recursive=recursive and not self.is_local)
        if recursive and self.is_local:
            found += self._below(found, {os.path.realpath(path)})
        return sorted(found, key=lambda info: info.path)

    def _below(self, infos: list[pa.fs.FileInfo], above: set[str]) -> list[pa.fs.FileInfo]:
        """Return all that is below local folders; `above` are the real paths of the folders that contain them."""
        found: list[pa.fs.FileInfo] = []
        for info in infos:
            if info.type == pa.fs.FileType.Directory and (real := os.path.realpath(info.path)) not in above:
                inside = self._listed(info.path, recursive=False)
                found += inside
                found += self._below(inside, above | {real})
        return found

    def _listed(self, path: str, *, recursive: bool) -> list[pa.fs.FileInfo]:
        selector = pa.fs.FileSelector(path, recursive=recursive, allow_not_found=True)
        try:
            return sorted(self.fs.get_file_info(selector), key=lambda info: info.path)
        except UnicodeDecodeError as error:
            name = display_name(os.fsdecode(error.object))
            raise StorageError(f"{name}: the name is not UTF-8, and its folder cannot be read: rename it") from None

    def data_files(self, folder: str, is_data: NameTest | None = None) -> list[DataFile]:
        """Return the files below a `folder` whose names pass the test `is_data`: by default those of Jelly files.

        Files and folders whose names begin with `_` or `.` are left out.
        """
        is_data = is_data or is_jelly_name
        return [
            DataFile.of(self, info)
            for info in self.children(folder, recursive=True)
            if info.type == pa.fs.FileType.File and is_data(info.base_name) and not is_hidden(info.path[len(folder) :])
        ]


class _RemoteFile(Closeable):
    """A file in an object store, read in large pieces."""

    def __init__(self, file: pa.NativeFile, name: str) -> None:
        self.name = name
        self._file = file
        self._piece = b""
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            offset -= len(self._piece) - self._at
        self._piece, self._at = b"", 0
        return int(self._file.seek(offset, whence))

    def read(self, size: int, /) -> bytes:
        data = self._piece[self._at : self._at + size]
        self._at += len(data)
        if len(data) < size:
            try:
                self._piece = self._file.read(max(size, REMOTE_READ_BYTES))
            except (pa.ArrowException, OSError) as error:
                raise StorageError(f"{self.name}: {error}") from error
            self._at = min(size - len(data), len(self._piece))
            data += self._piece[: self._at]
        return data

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        # Unlike seeking, this keeps what has been read ahead.
        return int(self._file.tell()) - (len(self._piece) - self._at)

    def close(self) -> None:
        self._file.close()


class _RemoteOutput:
    """An output file in an object store, with a hidden name until it is complete.

    A stream to an object store can only be closed, which publishes its content, so it must not have the file's name.
    """

    def __init__(self, storage: Storage, path: str) -> None:
        self._storage = storage
        self._path = path
        folder, slash, name = path.rpartition("/")
        self._part = f"{folder}{slash}.{name}.{secrets.token_hex(8)}.part"
        try:
            self._stream = storage.fs.open_output_stream(self._part)
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def write(self, data: Buffer, /) -> int:
        try:
            write_all(self._stream, data)
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error
        return len(data)

    def flush(self) -> None:
        """Do nothing: in an object store nothing is visible before the file is complete."""

    def close(self) -> None:
        try:
            self._stream.close()
            self._storage.fs.move(self._part, self._path)
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def discard(self) -> None:
        with suppress(pa.ArrowException, OSError):
            self._stream.close()
        with suppress(pa.ArrowException, OSError):
            self._storage.fs.delete_file(self._part)

    def _failure(self, error: Exception) -> StorageError:
        shown = self._storage.display(self._path)
        return StorageError(f"{shown}: {str(error).replace(self._part, self._path)}")


def web_file(url: str, accept: str) -> DataFile:
    """Return a file on a web server, to be requested with these media types.

    A size above 0 means that the file can be read in pieces.
    """
    storage, path = locate(url)
    info = http_info(url, accept)
    return DataFile(storage, path, (info.size or 0) if info.accepts_ranges else 0, info.modified, accept)


def locate(path: Path, filesystem: FileSystem | None = None) -> tuple[Storage, str]:
    """Return the file system of a path or URI, and the path in it. In a `filesystem` that is given, it is the path."""
    path = os.fspath(path)
    if filesystem is not None:
        fs = _arrow_filesystem(filesystem)
        if isinstance(fs, pa.fs.LocalFileSystem):
            return Storage(), os.path.abspath(path)
        return Storage(f"{fs.type_name}-{id(filesystem):x}", fs), path
    path = _HADOOP_SCHEMES.sub("s3://", path, 1)
    if not is_uri(path):
        return Storage(), os.path.abspath(os.path.expanduser(path))
    if is_file_uri(path):
        return Storage(), os.path.abspath(path_of_file_uri(path))
    if is_http_uri(path):
        scheme, mark, rest = path.partition("://")
        return Storage(f"{scheme}{mark}"), rest
    # Glob characters would confuse the parser of URIs.
    glob = first_glob(path.replace("?", "_"))
    fixed = path if glob == len(path) else path[: path.rindex("/", 0, glob)]
    _fs, inner = _from_uri(fixed)
    return Storage(fixed), inner + path[len(fixed) :]
