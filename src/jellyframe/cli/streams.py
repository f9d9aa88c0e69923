"""Where the commands read from and write to: files, and the standard streams when none is named."""

from __future__ import annotations

import errno
import glob
import io
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from jellyframe.cli.arguments import STANDARD_STREAM
from jellyframe.cli.console import Console, UsageError

if TYPE_CHECKING:
    from jellyframe.batch import Batch

STANDARD_INPUT_NAME = "standard input"


class InputFile:
    """A file that is read once, and knows how much of it has been. None is standard input."""

    def __init__(self, path: str | None) -> None:
        if path is None and sys.stdin is None:
            raise UsageError("there is no standard input: name a file")
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


class ProgressOfInputs:
    """Shows how far a command has got with its inputs, which it reads one after the other."""

    def __init__(self, console: Console, total_bytes: int | None) -> None:
        self._progress = console.progress(total_bytes)
        self._console = console
        self._bytes_before = 0
        self._statements = 0

    def over(self, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """The same batches, counted as they pass."""
        if self._progress is None:
            yield from batches
            return
        for batch in batches:
            yield batch
            self._statements += len(batch)
            self._progress.update(self._bytes_before + source.bytes_read, self._statements)
        self._bytes_before += source.bytes_read

    @property
    def refresh_seconds(self) -> float | None:
        """How often `show` is of use; None where nobody sees it."""
        if self._progress is None:
            return None
        from jellyframe.cli.progress import REFRESH_SECONDS

        return REFRESH_SECONDS

    def show(self, bytes_read: int, statements: int) -> None:
        """Say how much of all inputs has been read, where others do the reading."""
        if self._progress is not None:
            self._progress.update(bytes_read, statements)


def expand_inputs(names: list[str]) -> list[str | None]:
    """The inputs that were named, patterns resolved, None for standard input, which is also what no name stands for."""
    paths: list[str | None] = []
    for name in names or [STANDARD_STREAM]:
        if name == STANDARD_STREAM:
            if None in paths:
                raise UsageError("standard input can be read only once")
            paths.append(None)
        elif glob.has_magic(name) and not os.path.lexists(name):
            # Shells resolve patterns, but not in quotes, and not everywhere.
            found = sorted(glob.glob(name, recursive=True))
            if not found:
                raise UsageError(f"{name}: no file has such a name")
            paths += found
        else:
            paths.append(name)
    return paths


def total_size(paths: Iterable[str | None]) -> int | None:
    """How many bytes the files have; None where one cannot tell."""
    total = 0
    for path in paths:
        if path is None or not os.path.isfile(path):
            return None
        total += os.path.getsize(path)
    return total or None


def output_sink(path: str | None, *, is_binary: bool, force: bool = False) -> Any:
    """What to give to a writer: the path, or standard output, which is no terminal if the data is binary."""
    if path is not None:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return path
    if is_binary and not force and sys.stdout.isatty():
        raise UsageError("binary data would fill your terminal: name a file with --to, or use --force")
    return sys.stdout.buffer


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
