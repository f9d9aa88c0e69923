"""Pieces of text files, cut anywhere and read line by line: a line belongs to the piece with its first byte."""

from __future__ import annotations

from typing import Any

from jellyframe.errors import TextError
from jellyframe.storage.sources import CHUNK_BYTES
from jellyframe.stream.splits import Piece

# To count lines, the file has to be read from its start; above this size, errors have the offset in bytes instead.
MAX_COUNTED_BYTES = 1 << 30


class LineRange:
    """The lines that begin in a piece, as a file object. The piece may be short, empty, or within one line."""

    def __init__(self, source: Any, piece: Piece) -> None:
        self.name = piece.file.name
        self._source = source
        self._end = piece.end
        self._is_over = False
        # A line begins at the start of the piece if the byte before it ends one.
        self._at = max(piece.start - 1, 0)
        self._waiting = b""
        source.seek(self._at)
        if piece.start:
            self._skip_line()
        self.start = self._at - len(self._waiting)

    def _next(self, size: int) -> bytes:
        data: bytes = self._source.read(size)
        self._at += len(data)
        return data

    def _skip_line(self) -> None:
        """Skip the rest of a line that began before the piece."""
        while data := self._next(CHUNK_BYTES):
            end = data.find(b"\n") + 1
            if end:
                self._waiting = data[end:]
                return

    def read(self, size: int) -> bytes:
        """Return some bytes, about `size`; none only at the end."""
        if self._is_over:
            return b""
        data, self._waiting = self._waiting or self._next(size), b""
        before_end = self._end - (self._at - len(data))
        if before_end <= 0 and self._at - len(data) == self.start:
            # No line begins in the piece.
            self._is_over = True
            return b""
        if len(data) < before_end and data:
            return data
        # The last line may end in a later piece; the one before it may end exactly with this piece.
        end = data.find(b"\n", max(before_end - 1, 0)) + 1
        if end or not data:
            self._is_over = True
            return data[:end]
        return data


class LinePlace:
    """The position of a piece in its file, for errors whose lines are counted from the start of the piece."""

    def __init__(self, piece: Piece, start: int) -> None:
        self._file = piece.file
        self._start = start
        self._lines_before: int | None = None if start else 0

    def in_whole_file(self, error: TextError) -> TextError:
        """Return an error with its position in the whole file."""
        name = self._file.name
        if error.line is None:
            return error.replace(source=name)
        if self._start > MAX_COUNTED_BYTES:
            message = f"{error.message} (line {error.line} from byte {self._start})"
            return error.replace(message=message, source=name, line=None, column=None)
        if self._lines_before is None:
            self._lines_before = self._count_lines()
        return error.replace(source=name, line=error.line + self._lines_before)

    def _count_lines(self) -> int:
        count, left = 0, self._start
        with self._file.open() as source:
            while left and (data := source.read(min(left, CHUNK_BYTES))):
                count += data.count(b"\n")
                left -= len(data)
        return count
