"""Read text in pieces, and yield the batches that a parser of the kernel makes from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from jellyframe.batch import BATCH_BYTES
from jellyframe.kernel.memory_cy import Memory
from jellyframe.kernel.table_cy import BatchBuilder, TermTable
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource

# The usual length of a line, for the initial size of tables.
USUAL_LINE_BYTES = 100


class Parser(Protocol):
    """A parser of the kernel, which fills builders from text and returns the end position."""

    def parse(
        self,
        builder: BatchBuilder,
        data: bytes | memoryview,
        start: int,
        stop: int,
        final: bool,
        max_rows: int,
        max_bytes: int,
        /,
    ) -> int: ...


class TextReader:
    """Feeds the bytes of a source to a parser. Bytes in memory are not copied."""

    def __init__(self, file: ByteSource, parser: Parser, *, quads: bool) -> None:
        self._parser = parser
        self.quads = quads
        self._file = file
        self._data: bytes | memoryview = file.take_memory()
        self._pos = 0
        self._is_all = len(self._data) > 0
        self._memory = Memory()

    def builders(self, batch_rows: int) -> Iterator[BatchBuilder]:
        """Yield full builders; the last one need not be full, but none is empty."""
        if not self._is_all:
            self._read_on()
        lines = min(batch_rows, len(self._data) // USUAL_LINE_BYTES)
        builder = self._builder(lines, lines, lines * USUAL_LINE_BYTES)
        while True:
            self._fill(builder, batch_rows)
            if builder.rows:
                yield builder
            if self._is_all and self._pos == len(self._data):
                return
            # The next batch will probably be similar to this one.
            builder = self._builder(builder.rows, builder.terms.count * 9 // 8, builder.terms.values.data_size * 9 // 8)

    def _builder(self, rows: int, terms: int, size: int) -> BatchBuilder:
        """Return a builder with room for a number of rows and of terms, and their total size."""
        return BatchBuilder(self.quads, rows, TermTable(terms, size, self._memory), self._memory)

    def _fill(self, builder: BatchBuilder, batch_rows: int) -> None:
        while True:
            self._pos = self._parser.parse(
                builder, self._data, self._pos, len(self._data), self._is_all, batch_rows, BATCH_BYTES
            )
            is_full = builder.rows >= batch_rows or builder.terms.new_text() >= BATCH_BYTES
            if is_full or self._is_all:
                return
            self._read_on()

    def _read_on(self) -> None:
        """Drop the parsed bytes and read at least as many as are left, so that a long line is copied few times."""
        pieces = [self._data[self._pos :]]
        wanted = max(len(pieces[0]), 1)
        while wanted > 0:
            piece = self._file.read(CHUNK_BYTES)
            if not piece:
                self._is_all = True
                break
            pieces.append(piece)
            wanted -= len(piece)
        self._data = b"".join(pieces)
        self._pos = 0
