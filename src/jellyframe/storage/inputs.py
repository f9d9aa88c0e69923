"""Files that a command or an operation reads once, and byte sinks as file objects."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import Any

from jellyframe.errors import OptionsError

STANDARD_INPUT_NAME = "standard input"


class InputFile:
    """A file that is read once, and knows how much of it has been. None is standard input."""

    def __init__(self, path: str | None) -> None:
        if path is None and sys.stdin is None:
            raise OptionsError("there is no standard input: name a file")
        self.path = path
        self.name = STANDARD_INPUT_NAME if path is None else path
        self._file = open(0 if path is None else path, "rb", buffering=0, closefd=path is not None)  # noqa: SIM115
        self.bytes_read = 0
        status = os.fstat(self._file.fileno())
        # Pipes and devices have no size that would tell anything.
        self.total_bytes = status.st_size or None

    def read(self, size: int = -1) -> bytes:
        """Some bytes, at most `size`; none only at the end."""
        data = self._file.read(size)
        self.bytes_read += len(data)
        return data

    def seek(self, offset: int) -> None:
        """Begin elsewhere than at the start."""
        self._file.seek(offset)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def total_size(paths: Iterable[str | None]) -> int | None:
    """How many bytes the files have; None where one cannot tell."""
    total = 0
    for path in paths:
        if path is None or not os.path.isfile(path):
            return None
        total += os.path.getsize(path)
    return total or None


class SinkFile(io.RawIOBase):
    """A byte sink as a file object, for libraries that write to one."""

    def __init__(self, sink: Any) -> None:
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
