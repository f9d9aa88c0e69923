"""Output of bytes: to paths, URIs and file objects, plain or compressed."""

from __future__ import annotations

import io
import os
import re
import stat
from typing import Any

from jellyframe.errors import StorageError, display_name
from jellyframe.storage.atomic import AtomicFile
from jellyframe.storage.closing import DiscardableOutput
from jellyframe.storage.compression import new_deflater
from jellyframe.storage.types import STANDARD_OUTPUT_NAME, BinarySink, Buffer, FileSystem, OutputHandle, Sink
from jellyframe.storage.uris import is_uri
from jellyframe.storage.writing import flush_all, write_all

_DESCRIPTOR_PATH = re.compile(r"/(?:dev|proc/(self|thread-self|\d+))/fd/(\d+)")
_STANDARD_PATHS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_MOST_LINKS = 40


class ByteSink(DiscardableOutput):
    """Writes bytes to a path, a URI or a file object, plain or compressed.

    The file appears at a path when `close` is called, whole, and never after `discard` or a failed write. A file object
    that was passed in is left open, but flushed.

    Args:
        sink: a path, a URI, or a binary file object
        compression: `gzip`, `zstd` or None
        filesystem: a file system of pyarrow or fsspec, if the sink is a path in it
    """

    def __init__(self, sink: Sink, compression: str | None = None, *, filesystem: FileSystem | None = None) -> None:
        self._deflater = new_deflater(compression)
        self._atomic: AtomicFile | None = None
        self._owned: OutputHandle | None = None
        self._failure: OSError | None = None
        self._is_closed = False
        self.name: str | None = None
        self._raw: BinarySink
        if isinstance(sink, str | os.PathLike):
            self.name = display_name(sink)
            if filesystem is not None or is_uri(sink):
                self._open_store(sink, filesystem)
            else:
                self._open_path(os.fspath(sink))
        elif hasattr(sink, "write"):
            self._raw = sink
            name = getattr(sink, "name", None)
            if isinstance(name, str):
                self.name = STANDARD_OUTPUT_NAME if name == "<stdout>" else display_name(name)
        else:
            raise TypeError(f"a sink is a path or a binary file object, not {type(sink).__name__}")

    def _open_path(self, path: str) -> None:
        descriptor = descriptor_of(path)
        if descriptor is not None:
            # The descriptor's own offset is used, so that output of others to the same file is not overwritten.
            self._raw = self._owned = open(_duplicate(descriptor, path), "wb")  # noqa: SIM115
            return
        path = os.path.realpath(path)
        try:
            mode: int | None = os.stat(path).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            # A device or a named pipe cannot be replaced, only written to.
            self._raw = self._owned = open(path, "wb")  # noqa: SIM115
            return
        self._atomic = AtomicFile(path, mode)
        self._raw = self._atomic.file

    def _open_store(self, path: str | os.PathLike[str], filesystem: FileSystem | None) -> None:
        from jellyframe.storage.stores import locate

        storage, inner = locate(path, filesystem)
        if storage.is_local:
            self._open_path(inner)
        else:
            self._raw = self._owned = storage.open_output(inner)

    def write(self, data: Buffer) -> None:
        """Write all of the `data`, or raise."""
        if self._deflater is not None:
            data = self._deflater.compress(bytes(data))
        self._write_raw(data)

    def write_text(self, text: str) -> None:
        """Write `text` in UTF-8; lone surrogates, as in file names that are not UTF-8, become escapes."""
        self.write(text.encode("utf-8", "backslashreplace"))

    def _write_raw(self, data: Buffer) -> None:
        if self._failure is not None:
            raise StorageError("an earlier write has failed", source=self.name) from self._failure
        try:
            write_all(self._raw, data)
        except OSError as error:
            self._failure = error
            raise self._named(error) from None

    @property
    def can_rewrite(self) -> bool:
        """Whether `rewrite` works: for an uncompressed file that has not appeared yet."""
        return self._atomic is not None and self._deflater is None

    def rewrite(self, offset: int, data: Buffer) -> None:
        """Replace bytes that have been written with `data`, from an `offset`."""
        if self._atomic is None or self._deflater is not None:
            raise StorageError("what has been written cannot be changed", source=self.name)
        file = self._atomic.file
        try:
            end = file.seek(0, os.SEEK_END)
            file.seek(offset)
            write_all(file, data)
            file.seek(end)
        except OSError as error:
            self._failure = error
            raise self._named(error) from None

    def flush(self) -> None:
        """Flush what has been written, as far as compression allows."""
        try:
            flush_all(self._raw)
        except OSError as error:
            self._failure = error
            raise self._named(error) from None

    def sync(self) -> None:
        """Wait until a file that will appear at a path is on the disk, as far as it has been written.

        `close` does this anyway. A caller that has nothing else to do meanwhile shortens it.
        """
        self.flush()
        if self._atomic is not None:
            try:
                os.fsync(self._atomic.file.fileno())
            except OSError as error:
                self._failure = error
                raise self._named(error) from None

    def close(self) -> None:
        """Finish, and put the file in its place. If that fails, nothing appears there."""
        if self._is_closed:
            return
        try:
            if self._deflater is not None:
                self._write_raw(self._deflater.flush())
                self._deflater = None
            elif self._failure is not None:
                self._write_raw(b"")
            self.flush()
            if self._atomic is not None:
                self._atomic.commit()
            elif self._owned is not None:
                self._owned.close()
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise self._named(error) from None
            raise
        self._is_closed = True

    def discard(self) -> None:
        """Discard the output: nothing appears at the path. Does nothing after `close`."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._atomic is not None:
            self._atomic.discard()
        elif self._owned is not None:
            try:
                discard = getattr(self._owned, "discard", self._owned.close)
                discard()
            except OSError:
                # The output failed before, which is why it is discarded.
                pass

    def _named(self, error: OSError) -> OSError:
        """Return the error with the name of the sink instead of a temporary one."""
        if isinstance(error, StorageError):
            return error.located(source=self.name)
        if self.name is not None:
            error.filename = self.name
        return error


def descriptor_of(path: str) -> int | None:
    """Return the file descriptor of this process that a path such as /dev/stdout or /dev/fd/3 names."""
    for _ in range(_MOST_LINKS):
        if path in _STANDARD_PATHS:
            return _STANDARD_PATHS[path]
        found = _DESCRIPTOR_PATH.fullmatch(path)
        if found is not None:
            return int(found[2]) if found[1] in (None, "self", "thread-self", str(os.getpid())) else None
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except OSError:
            return None
    return None


def _duplicate(descriptor: int, path: str) -> int:
    try:
        return os.dup(descriptor)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None


class SinkFile(io.RawIOBase):
    """A byte sink as a file object, for libraries that write to one."""

    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink
        self.bytes_written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._sink.write(piece)
        self.bytes_written += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self.bytes_written
