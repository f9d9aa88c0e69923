"""Input of bytes: from paths, URIs, bytes and file objects, plain or compressed."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from jellyframe.errors import JellyError, OptionsError, display_name, locating
from jellyframe.options import DEFAULT_LIMITS, Limits
from jellyframe.storage.closing import Closeable
from jellyframe.storage.compression import MAGIC_BYTES, Inflater, sniff_compression
from jellyframe.storage.types import STANDARD_INPUT_NAME, Buffer, Compression, FileSystem, InputHandle, Path, Source
from jellyframe.storage.uris import is_http_uri, is_uri

CHUNK_BYTES = 1 << 20
# Local files are read in blocks of this size: larger ones fall out of the cache before they are parsed, and malloc gets
# them from the system and returns them each time.
_LOCAL_CHUNK_BYTES = 1 << 18


def open_input(
    path: Path, filesystem: FileSystem | None = None, *, accept: str | None = None, limits: Limits | None = None
) -> InputHandle:
    """Open a file for reading, from any offset: a local path, or a URI such as s3://bucket/key or file:///a%20b.

    With a `filesystem`, of pyarrow or fsspec, the path is in it. For web servers, `accept` has the media types, by
    default Jelly, and `limits` are for a response that is compressed for transport.
    """
    if filesystem is None and not is_uri(path):
        return open(path, "rb", buffering=0)
    if filesystem is None and is_http_uri(path):
        from jellyframe.storage.http import JELLY_ACCEPT, HttpFile

        return HttpFile(os.fspath(path), accept=accept or JELLY_ACCEPT, limits=limits)
    from jellyframe.storage.stores import locate

    storage, inner = locate(path, filesystem)
    return storage.open(inner)


class ByteSource(Closeable):
    """Reads bytes from a path, a URI, bytes in memory or a file object; gzip and Zstandard are inflated.

    `name` is the name in errors. A file object that was passed in is left open.

    Args:
        source: a path, a URI, bytes, or a binary file object, which need not seek
        limits: the limits for inflating compressed input
        start: the offset to read from
        stop: the offset to read to; by default the end. With either, nothing is inflated
        filesystem: a file system of pyarrow or fsspec, if the source is a path in it
    """

    def __init__(
        self,
        source: Source,
        limits: Limits | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
        filesystem: FileSystem | None = None,
    ) -> None:
        self._limits = limits or DEFAULT_LIMITS
        self._owned: InputHandle | None = None
        self.name: str | None = None
        self.compression: Compression | None = None
        self._memory = self._whole = memoryview(b"")
        self._left = None if stop is None else stop - start
        self._at_a_time = sys.maxsize
        # None for bytes in memory: a method of this object would keep it, and the bytes, until garbage is collected.
        self._read_raw: Callable[[int], Buffer | None] | None = None
        if isinstance(source, str | os.PathLike):
            self.name = display_name(source)
            self._owned = open_input(source, filesystem, limits=self._limits)
            self._read_raw = self._owned.read
            self._at_a_time = _most_at_a_time(self._owned)
            if start:
                self._owned.seek(start)
        elif isinstance(source, bytes | bytearray | memoryview):
            self._memory = self._whole = memoryview(source).cast("B")[start:stop]
        elif hasattr(source, "read"):
            name = getattr(source, "name", None)
            self.name = display_name(name) if isinstance(name, str) else None
            # read1 returns the bytes that have arrived; read would wait for all that were requested.
            self._read_raw = getattr(source, "read1", source.read)
            if start:
                seek: Any = getattr(source, "seek", None)
                if seek is None:
                    raise TypeError("the file object cannot seek, and is to be read from a place in the middle")
                seek(start)
        else:
            raise TypeError(f"a source is a path, bytes or a binary file object, not {type(source).__name__}")
        self._head = b""
        self._inflater: Inflater | None = None
        if start == 0 and stop is None:
            try:
                self._detect_compression()
            except BaseException:
                self.close()
                raise

    def _detect_compression(self) -> None:
        while len(self._head) < MAGIC_BYTES:
            data = self._read_some(MAGIC_BYTES - len(self._head))
            if not data:
                break
            self._head += data
        self.compression = sniff_compression(self._head)
        if self.compression is not None:
            self._inflater = Inflater(self.compression, self._limits)

    def _read_memory(self, size: int) -> bytes:
        piece, self._memory = self._memory[:size], self._memory[size:]
        return bytes(piece)

    def take_memory(self) -> memoryview:
        """Return the rest without a copy, if the source is uncompressed bytes in memory; otherwise nothing."""
        if self._inflater is not None or not self._memory:
            return memoryview(b"")
        memory, self._memory = self._memory, memoryview(b"")
        if self._head:
            # The head is at the start of the same memory.
            memory = self._whole
            self._head = b""
        return memory

    def _read_some(self, size: int) -> bytes:
        size = min(size, self._at_a_time)
        if self._left is not None:
            size = min(size, self._left)
        data = (self._read_raw or self._read_memory)(size) if size else b""
        if data is None:
            raise JellyError("the file object has no data now and does not wait for any: make it blocking")
        if isinstance(data, str):
            raise TypeError("the file object gives text: open it in binary mode")
        if self._left is not None:
            self._left -= len(data)
        return bytes(data)

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """Return some bytes, about `size` of them; none only at the end."""
        if self._inflater is None:
            return self._read_on(size)
        with locating(self.name):
            return self._inflater.read(size, lambda: self._read_on(size))

    def _read_on(self, size: int) -> bytes:
        head, self._head = self._head, b""
        return head or self._read_some(size)

    def close(self) -> None:
        """Close the file if it was opened here."""
        if self._owned is not None:
            self._owned.close()


class InputFile(Closeable):
    """An input file that counts the bytes read. None is standard input.

    `accept` and `limits` are for files on web servers, as in `open_input`.
    """

    def __init__(self, path: str | None, *, accept: str | None = None, limits: Limits | None = None) -> None:
        if path is None and sys.stdin is None:
            raise OptionsError("there is no standard input: name a file")
        self.path = path
        self.name = STANDARD_INPUT_NAME if path is None else display_name(path)
        self._file: InputHandle = (
            open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
            if path is None
            else open_input(path, accept=accept, limits=limits)
        )
        self._at_a_time = _most_at_a_time(self._file)
        # Standard input may be a file of which another process has read a part.
        self._position = self._file.seek(0, os.SEEK_CUR) if path is None and self._file.seekable() else 0
        self.bytes_read = 0
        # A web server sends it with its response, which also shows at once whether the file exists.
        self.total_bytes: int | None = (
            getattr(self._file, "size", None) if is_http_uri(path or "") else total_size([path])
        )

    def read(self, size: int = -1) -> bytes:
        """Return some bytes, at most `size`; none only at the end."""
        data = self._file.read(min(size, self._at_a_time))
        self._position += len(data)
        self.bytes_read = max(self.bytes_read, self._position)
        return data

    def seekable(self) -> bool:
        """Return whether the file can be read from any offset, which a pipe cannot."""
        return self._file.seekable()

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset and return it."""
        self._position = self._file.seek(offset, whence)
        return self._position

    def close(self) -> None:
        self._file.close()


def position_of(source: Source) -> int:
    """Return the position of a seekable file object; 0 for any other source."""
    file: Any = source
    return int(file.tell()) if is_seekable(file) else 0


def is_seekable(file: Any) -> bool:
    """Return whether an object is a seekable file object."""
    seekable = getattr(file, "seekable", None)
    return seekable is not None and bool(seekable())


def _most_at_a_time(file: InputHandle) -> int:
    return _LOCAL_CHUNK_BYTES if isinstance(file, io.FileIO) else sys.maxsize


def total_size(paths: Iterable[str | None]) -> int | None:
    """Return the total size of files in bytes; None if it is unknown, as for pipes and URLs."""
    total = 0
    for path in paths:
        if path is None:
            try:
                total += os.fstat(0).st_size
            except OSError:
                return None
        elif is_http_uri(path):
            return None
        elif is_uri(path):
            from jellyframe.storage.stores import locate

            storage, inner = locate(path)
            total += storage.info(inner).size or 0
        elif os.path.isfile(path):
            total += os.path.getsize(path)
        else:
            return None
    return total or None
