"""One input of an operation: a path, bytes or a file object, read once, with a count of the bytes read."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from jellyframe.storage.closing import Closeable
from jellyframe.storage.sources import InputFile

if TYPE_CHECKING:
    from jellyframe.options import Limits
    from jellyframe.storage.types import BinarySource, Source

UNNAMED_INPUT = "input"


class CountedSource(Closeable):
    """A source that is read once and counts its bytes. A file object that was passed in is left open.

    `accept` and `limits` are for files on web servers, as in `InputFile`.
    """

    def __init__(self, source: Source, *, accept: str | None = None, limits: Limits | None = None) -> None:
        self._owned: InputFile | None = None
        self.path: str | None = None
        self.total_bytes: int | None = None
        name: object = None
        if isinstance(source, str | os.PathLike):
            self._owned = InputFile(os.fspath(source), accept=accept, limits=limits)
            file: BinarySource = self._owned
            self.total_bytes = self._owned.total_bytes
            self.path = name = self._owned.name
        elif isinstance(source, bytes | bytearray | memoryview):
            file = io.BytesIO(source)
            self.total_bytes = memoryview(source).nbytes
        elif hasattr(source, "read"):
            file = source
            self.total_bytes = getattr(source, "total_bytes", None)
            name = getattr(source, "name", None)
        else:
            raise TypeError(f"a source is a path, bytes or a binary file object, not {type(source).__name__}")
        # read1 returns the bytes that have arrived; read would wait for all that were requested.
        self._read = getattr(file, "read1", file.read)
        self.name = name if isinstance(name, str) else UNNAMED_INPUT
        self.bytes_read = 0

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; no bytes only at the end."""
        data = cast("bytes", self._read(size))
        self.bytes_read += len(data or b"")
        return data

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._owned is not None:
            self._owned.close()


def local_files(sources: Sequence[Source]) -> list[str] | None:
    """Return the paths of sources that are all regular files, which can be read more than once; otherwise None."""
    files = [path for path in map(local_file, sources) if path is not None]
    return files if len(files) == len(sources) else None


def local_file(source: Source) -> str | None:
    """Return the path of a source that is a regular file; otherwise None."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) and os.path.isfile(source) else None
