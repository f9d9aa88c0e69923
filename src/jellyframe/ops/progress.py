"""Report the progress of operations to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.storage.types import InputHandle

# How often progress is reported while other processes do the reading.
REPORT_SECONDS = 0.1


class Progress(NamedTuple):
    """The part of its inputs that an operation has read.

    Attributes:
        bytes_read: bytes of the inputs so far
        total_bytes: the size of the inputs, None if it is unknown
        statements: statements so far
    """

    bytes_read: int
    total_bytes: int | None
    statements: int


ProgressCallback: TypeAlias = Callable[[Progress], object]


class CountsBytes(Protocol):
    """An input that knows how many of its bytes have been read."""

    @property
    def bytes_read(self) -> int: ...


class ProgressMeter:
    """Counts the bytes and statements that an operation reads, input after input, and reports them to a callback."""

    def __init__(self, callback: ProgressCallback | None, total_bytes: int | None) -> None:
        self._callback = callback
        self._total = total_bytes
        self._bytes_before = 0
        self._statements = 0

    @property
    def report_seconds(self) -> float | None:
        """Seconds between reports about other processes; None if there is no callback."""
        return None if self._callback is None else REPORT_SECONDS

    def over(self, batches: Iterable[Batch], source: CountsBytes) -> Iterator[Batch]:
        """Yield the batches of one input, and report after each."""
        if self._callback is None:
            yield from batches
            return
        for batch in batches:
            yield batch
            self._statements += len(batch)
            self.report(self._bytes_before + source.bytes_read, self._statements)
        self._bytes_before += source.bytes_read

    def report(self, bytes_read: int, statements: int) -> None:
        """Report the bytes and statements read from all inputs."""
        if self._callback is not None:
            self._callback(Progress(bytes_read, self._total, statements))


class FileMeter(ProgressMeter):
    """Counts the bytes that an operation reads from files, one after the other, by the position in the open file."""

    def __init__(self, callback: ProgressCallback | None, total_bytes: int | None) -> None:
        super().__init__(callback, total_bytes)
        self._file: InputHandle | None = None
        self._bytes_read = 0

    @property
    def bytes_read(self) -> int:
        """The bytes of the current file that have been read."""
        return self._bytes_read if self._file is None else self._file.tell()

    def over_file(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches of one file, and report after each."""
        self._bytes_read = 0
        return self.over(batches, self)

    @contextmanager
    def reading(self, file: InputHandle | None, size: int) -> Iterator[None]:
        """Count the position of an open file inside the block, and its size after it; without a file, only its size."""
        self._file = file
        try:
            yield
        finally:
            self._file = None
            self._bytes_read = size
