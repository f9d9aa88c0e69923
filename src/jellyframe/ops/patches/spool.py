"""Records of statements, and a bit for each row, of streams of any length in bounded memory.

Both are in memory while they are small, otherwise in files without names.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Any

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints, bucket_records, mask_of_bits
from jellyframe.storage.closing import Closeable

BUCKET_BITS = 7
_RECORD_BYTES = 24
# Bytes that a bucket buffers before they are written to the file: 128 MiB for all, or about five million records.
_BUFFER_BYTES = 1 << 20
# Bits of more bytes than this are in a file.
_BITS_IN_MEMORY = 64 << 20
# Records that a table holds at a time: about 50 MiB.
TABLE_RECORDS = 1 << 20


class RecordSpool(Closeable):
    """The records of the statements of a stream, in buckets by their fingerprints."""

    def __init__(self, fingerprints: Fingerprints) -> None:
        self._fingerprints = fingerprints
        self._buffers = [bytearray() for _ in range(1 << BUCKET_BITS)]
        self._extents: list[list[tuple[int, int]]] = [[] for _ in self._buffers]
        self._file: IO[bytes] | None = None
        self._size = 0
        self.rows = 0

    def add(self, batch: Batch) -> None:
        """Add the statements of a batch, which may be adds and deletes of a patch."""
        prints = self._fingerprints.of_statements(batch.columns, batch.terms)
        records, ends = bucket_records(prints, batch.op, self.rows, BUCKET_BITS)
        self.rows += len(batch)
        data = records.cast("B")
        start = 0
        for bucket, end in enumerate(ends):
            if end > start:
                buffer = self._buffers[bucket]
                buffer += data[_RECORD_BYTES * start : _RECORD_BYTES * end]
                if len(buffer) >= _BUFFER_BYTES:
                    self._flush(bucket)
                start = end

    def _flush(self, bucket: int) -> None:
        if self._file is None:
            self._file = TemporaryFile(prefix="jellyframe-")  # noqa: SIM115 - closed by close
        buffer = self._buffers[bucket]
        self._file.seek(self._size)
        self._file.write(buffer)
        self._extents[bucket].append((self._size, len(buffer)))
        self._size += len(buffer)
        self._buffers[bucket] = bytearray()

    def records(self, bucket: int) -> int:
        """Return the number of records of a bucket."""
        return (sum(size for _start, size in self._extents[bucket]) + len(self._buffers[bucket])) // _RECORD_BYTES

    def chunks(self, bucket: int) -> Iterator[memoryview]:
        """Return the records of a bucket, in the order of the stream."""
        for start, size in self._extents[bucket]:
            assert self._file is not None
            self._file.seek(start)
            yield memoryview(self._file.read(size)).cast("Q")
        if self._buffers[bucket]:
            yield memoryview(self._buffers[bucket]).cast("Q")

    def all_chunks(self) -> Iterator[memoryview]:
        """Return all records; those of one statement in the order of the stream."""
        for bucket in range(len(self._buffers)):
            yield from self.chunks(bucket)

    def close(self) -> None:
        """Release the memory and the file."""
        self._buffers = []
        if self._file is not None:
            self._file.close()


class RowBits(Closeable):
    """A bit for each row of a stream, and the number of bits that are set."""

    def __init__(self, rows: int) -> None:
        size = rows // 8 + 1
        self._map: mmap.mmap | None = None
        self.count = 0
        if size <= _BITS_IN_MEMORY:
            self.data: Any = bytearray(size)
        else:
            with TemporaryFile(prefix="jellyframe-") as file:
                file.truncate(size)
                self.data = self._map = mmap.mmap(file.fileno(), size)

    def mask(self, start: int, rows: int) -> bytearray | None:
        """Return a mask of some rows; None if no bit is set."""
        mask: bytearray | None = mask_of_bits(self.data, start, rows)
        return mask

    def close(self) -> None:
        """Close the file."""
        if self._map is not None:
            self._map.close()


def chosen_rows(batches: Iterator[Batch], bits: RowBits) -> Iterator[Batch]:
    """Yield the rows of a stream whose bits are set, and stop after the last of them."""
    start = found = 0
    if bits.count == 0:
        return
    for batch in batches:
        mask = bits.mask(start, len(batch))
        start += len(batch)
        if mask is not None:
            chosen = batch.filter(mask)
            found += len(chosen)
            yield chosen
            if found == bits.count:
                return


def parts_of(records: int) -> int:
    """Return the number of parts, a power of two, to divide records into so that a table holds one part."""
    parts = 1
    while records > parts * TABLE_RECORDS:
        parts *= 2
    return parts
