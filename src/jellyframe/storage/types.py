"""The types of sources and sinks."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, get_args

if TYPE_CHECKING:
    import pyarrow.fs

# The name of a file: a path, or a URI such as s3://bucket/key.
Path: TypeAlias = str | os.PathLike[str]
# Bytes in memory.
Buffer: TypeAlias = bytes | bytearray | memoryview
Compression: TypeAlias = Literal["gzip", "zstd"]
COMPRESSIONS: Final[tuple[Compression, ...]] = get_args(Compression)
# A file system of pyarrow, or one of fsspec.
FileSystem: TypeAlias = "pyarrow.fs.FileSystem"

# The names of the standard streams in messages.
STANDARD_INPUT_NAME = "standard input"
STANDARD_OUTPUT_NAME = "standard output"


class BinarySource(Protocol):
    """A binary file object to read from. It need not seek."""

    def read(self, size: int, /) -> Buffer | None:
        """Return at most `size` bytes; no bytes only at the end."""


class SeekableSource(BinarySource, Protocol):
    """A binary file object that can be read from any offset."""

    def seek(self, offset: int, whence: int = ..., /) -> int:
        """Move to an offset and return it."""

    def seekable(self) -> bool:
        """Return whether seeking works, which it does not in a pipe."""


class InputHandle(SeekableSource, Protocol):
    """A binary file object that was opened here and has to be closed."""

    def read(self, size: int, /) -> bytes: ...

    def tell(self) -> int: ...

    def close(self) -> None: ...

    def __enter__(self) -> InputHandle: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class BinarySink(Protocol):
    """A binary file object to write to.

    `write` returns the number of bytes written, as raw files do; None means all of them, except in subclasses of
    `io.RawIOBase`, where it means none.
    """

    def write(self, data: Buffer, /) -> int | None:
        """Write some of the `data`."""


class OutputHandle(BinarySink, Protocol):
    """A binary file object that was opened here and has to be closed."""

    def flush(self) -> None: ...

    def close(self) -> None: ...


# The sources of readers and the sinks of writers.
Source: TypeAlias = Path | Buffer | BinarySource
Sink: TypeAlias = Path | BinarySink
