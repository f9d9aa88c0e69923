"""Rows of patches that are collected until their transaction ends: in memory, or in a file if there are many."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Final

from jellyframe.batch import Batch
from jellyframe.options import MAX_FRAME_BYTES, MAX_NESTING_DEPTH, Limits
from jellyframe.patch.decoder import PatchStreamDecoder
from jellyframe.patch.encoder import PatchStreamEncoder
from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.storage.closing import Closeable

# Bytes of terms and rows that are held in memory.
MEMORY_BYTES: Final = 16 << 20
_ROW_BYTES: Final = 20
# No limits: rows that are read back were accepted before.
NO_LIMITS: Final = Limits(max_frame_bytes=MAX_FRAME_BYTES, max_nesting_depth=MAX_NESTING_DEPTH)


class Journal(Closeable):
    """Batches in the order in which they were added, to be read forwards or backwards.

    It holds no rows of transactions and no punctuation marks. The file has no name, so it never remains on disk.

    Args:
        memory_bytes: about how many bytes are held in memory before they are moved to the file
    """

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        self._memory_bytes = memory_bytes
        self._waiting: list[Batch] = []
        self._waiting_bytes = 0
        self._tables: set[int] = set()
        self._chunks: list[tuple[int, int]] = []
        self._file: IO[bytes] | None = None
        self._end = 0
        self.rows = 0

    def append(self, batch: Batch) -> None:
        """Add a batch of adds, deletes, namespaces and headers."""
        if not len(batch):
            return
        # Parts of one batch share its terms.
        is_shared = id(batch.terms) in self._tables
        self._waiting_bytes += _ROW_BYTES * len(batch) + (0 if is_shared else batch.terms.text_bytes())
        self._tables.add(id(batch.terms))
        self._waiting.append(batch)
        self.rows += len(batch)
        if self._waiting_bytes > self._memory_bytes:
            self._write()

    def batches(self) -> Iterator[Batch]:
        """Yield the batches in order."""
        for place in self._chunks:
            yield from self._read(place)
        yield from self._waiting

    def reversed_batches(self) -> Iterator[Batch]:
        """Yield the batches from the last to the first, each with its rows in reverse."""
        for batch in reversed(self._waiting):
            yield _reversed(batch)
        for place in reversed(self._chunks):
            for batch in reversed(list(self._read(place))):
                yield _reversed(batch)

    def clear(self) -> None:
        """Remove all rows."""
        self._waiting.clear()
        self._tables.clear()
        self._chunks.clear()
        self._waiting_bytes = self._end = self.rows = 0
        if self._file is not None:
            self._file.seek(0)
            self._file.truncate()

    def close(self) -> None:
        """Release the memory and the file."""
        self._waiting.clear()
        self._chunks.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self) -> None:
        """Move the batches in memory to the file, each as a separate stream."""
        if self._file is None:
            self._file = TemporaryFile(prefix="jellyframe-")  # noqa: SIM115 - closed by close
        for batch in self._waiting:
            statement_type = PatchStatementType.QUADS if batch.has_graph else PatchStatementType.TRIPLES
            options = PatchOptions.big(statement_type=statement_type, stream_type=PatchStreamType.FLAT)
            encoder = PatchStreamEncoder(options)
            row = size = 0
            self._file.seek(self._end)
            while row < len(batch):
                row = encoder.encode(batch, row)
                size += self._file.write(encoder.take())
            encoder.finish()
            size += self._file.write(encoder.take())
            self._chunks.append((self._end, size))
            self._end += size
        self._waiting.clear()
        self._tables.clear()
        self._waiting_bytes = 0

    def _read(self, place: tuple[int, int]) -> Iterator[Batch]:
        assert self._file is not None
        start, size = place
        self._file.seek(start)
        decoder = PatchStreamDecoder(delimited=True, limits=NO_LIMITS)
        decoder.push(self._file.read(size))
        decoder.finish()
        yield from decoder.batches()


def _reversed(batch: Batch) -> Batch:
    return batch.take(range(len(batch) - 1, -1, -1))
