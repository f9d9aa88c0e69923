"""Files of statements divided into buckets, so that some tasks write them and others read a bucket.

A file has pieces, each a Jelly stream of one bucket, followed by a table with the places of the pieces.
Needs numpy.
"""

from __future__ import annotations

import io
import struct
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from jellyframe.batch import Batch
from jellyframe.errors import StorageError
from jellyframe.ops.deduplication import by_bucket
from jellyframe.options import StreamOptions
from jellyframe.patch.journal import NO_LIMITS
from jellyframe.storage.closing import DiscardableOutput
from jellyframe.storage.stores import Storage
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import JellyWriter, open_writer

# A decoded bucket of this size fits easily into memory.
BUCKET_BYTES = 16 << 20
# The size of a piece. It is smaller if there are so many buckets that their open pieces would use too much memory.
_PIECE_BYTES = 1 << 20
_OPEN_BYTES = 64 << 20
_SMALL_PIECE_BYTES = 64 << 10
# The numbers of a piece in the table: its bucket, its side, where it begins, and its size.
_NUMBERS = 4
_TAIL = struct.Struct("<q")


def buckets_for(jelly_bytes: int, least: int = 1) -> int:
    """Return the number of buckets for data of this size, as Jelly."""
    return max(-(-jelly_bytes // BUCKET_BYTES), least)


class BucketFile(DiscardableOutput):
    """A writer of a file of buckets. Statements are triples: graphs are dropped.

    Args:
        storage: the file system
        path: the path in it
        buckets: the number of buckets
    """

    def __init__(self, storage: Storage, path: str, buckets: int) -> None:
        self._file = storage.fs.open_output_stream(path)
        self._buckets = buckets
        self._piece_bytes = max(_SMALL_PIECE_BYTES, min(_PIECE_BYTES, _OPEN_BYTES // buckets))
        self._open: dict[tuple[int, int], _Piece] = {}
        self._table = array("q")
        self._size = 0
        self._open_bytes = 0

    def add(self, batch: Batch, side: int = 0) -> None:
        """Add statements to the buckets of their subjects. `side` distinguishes kinds of statements."""
        ordered, ends = by_bucket(batch.without_graph(merge=True), self._buckets)
        start = 0
        for bucket, stop in enumerate(ends):
            if stop > start:
                piece = self._open.get((bucket, side))
                if piece is None:
                    piece = self._open[bucket, side] = _Piece()
                self._open_bytes += piece.add(ordered, start, stop)
                if piece.memory.tell() >= self._piece_bytes:
                    self._write(bucket, side, self._open.pop((bucket, side)))
            start = stop
        if self._open_bytes > _OPEN_BYTES:
            self._write_open()

    def _write(self, bucket: int, side: int, piece: _Piece) -> None:
        piece.writer.close()
        content = piece.memory.getbuffer()
        self._file.write(content)
        self._table.extend((bucket, side, self._size, len(content)))
        self._size += len(content)
        self._open_bytes -= len(content)

    def _write_open(self) -> None:
        for (bucket, side), piece in self._open.items():
            self._write(bucket, side, piece)
        self._open.clear()
        self._open_bytes = 0

    def close(self) -> None:
        """Write the remaining batches and the table."""
        self._write_open()
        self._file.write(self._table.tobytes())
        self._file.write(_TAIL.pack(len(self._table)))
        self._file.close()

    def discard(self) -> None:
        """Close the incomplete file, which is removed with its folder."""
        self._file.close()


class _Piece:
    """A Jelly stream in memory."""

    def __init__(self) -> None:
        self.memory = io.BytesIO()
        options = StreamOptions().resolved(has_graph=False)
        self.writer: JellyWriter = open_writer(self.memory, options, restart_every=None)

    def add(self, batch: Batch, start: int, stop: int) -> int:
        """Add some statements, and return the number of bytes added."""
        size = self.memory.tell()
        self.writer.write_batch(batch, start, stop)
        # Writers buffer some output: very much, if there are many writers and terms are long.
        self.writer.flush()
        return self.memory.tell() - size


def read_bucket(storage: Storage, paths: Iterable[str], bucket: int, side: int = 0) -> Iterator[Batch]:
    """Yield the statements of a side of a bucket, from all files, in order."""
    for path in paths:
        with storage.fs.open_input_file(path) as file:
            for start, size in _places(file, path, bucket, side):
                with open_reader(file.read_at(size, start), limits=NO_LIMITS) as reader:
                    yield from reader.batches()


def _places(file: Any, path: str, bucket: int, side: int) -> list[tuple[int, int]]:
    end = file.size() - _TAIL.size
    (count,) = _TAIL.unpack(file.read_at(_TAIL.size, max(end, 0)).rjust(_TAIL.size, b"\xff"))
    table = array("q")
    if not 0 <= count * table.itemsize <= end:
        raise StorageError(f"{path}: that is not a complete file of buckets")
    table.frombytes(file.read_at(count * table.itemsize, end - count * table.itemsize))
    pieces = (table[at : at + _NUMBERS] for at in range(0, count, _NUMBERS))
    return [(start, size) for number, of_side, start, size in pieces if (number, of_side) == (bucket, side)]
