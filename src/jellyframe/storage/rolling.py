"""The files of one task, written one after the other, each with a maximum number of statements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from jellyframe.batch import Batch
from jellyframe.storage.closing import DiscardableOutput
from jellyframe.storage.commit import Target

_NO_LIMIT = 1 << 62


class RollingFiles(DiscardableOutput):
    """Files whose names begin with `prefix`. Without statements there is no file."""

    def __init__(self, target: Target, prefix: str, suffix: str, max_rows: int | None) -> None:
        self._target = target
        self._prefix = prefix
        self._suffix = suffix
        self._max_rows = max_rows or _NO_LIMIT
        self._rows_left = 0
        self._is_open = False
        self._stream: Any = None
        self.paths: list[str] = []
        self.statements = 0

    def write(self, batch: Batch) -> None:
        """Write the statements of a batch, to as many files as necessary."""
        start = 0
        while start < len(batch):
            self._ready()
            stop = min(len(batch), start + self._rows_left)
            self._write(batch, start, stop)
            start = stop

    def declare(self, namespaces: Mapping[str, str]) -> None:
        """Declare namespaces, in files of formats that have them."""

    def _write(self, batch: Batch, start: int, stop: int) -> None:
        self._write_rows(batch, start, stop)
        self._rows_left -= stop - start
        self.statements += stop - start

    def _ready(self) -> None:
        """Open a file, unless one is open that has room for another statement."""
        if self._is_open and self._rows_left <= 0:
            self._end_file()
        if not self._is_open:
            path = f"{self._prefix}-{len(self.paths):03d}{self._suffix}"
            self.paths.append(path)
            storage = self._target.storage
            if not storage.is_local:
                self._stream = storage.fs.open_output_stream(path)
            self._open(path if self._stream is None else self._stream)
            self._is_open = True
            self._rows_left = self._max_rows

    def _end_file(self) -> None:
        if self._is_open:
            self._finish()
            self._is_open = False
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def close(self) -> None:
        """Complete the last file."""
        self._end_file()

    def discard(self) -> None:
        """Discard the current file; those before it are complete."""
        if self._is_open:
            self._discard()

    @abstractmethod
    def _open(self, sink: Any) -> None:
        """Start a file: `sink` is its path, or a binary file object."""

    @abstractmethod
    def _write_rows(self, batch: Batch, start: int, stop: int) -> None:
        """Write some rows of a batch to the file."""

    @abstractmethod
    def _finish(self) -> None:
        """Complete the file."""

    @abstractmethod
    def _discard(self) -> None:
        """Discard the file."""
