"""Statements and changes as blobs: Jelly streams in memory, which tasks send to each other."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from jellyframe.batch import Batch
from jellyframe.options import StreamOptions
from jellyframe.patch.journal import NO_LIMITS
from jellyframe.patch.options import PatchOptions, PatchStatementType, PatchStreamType
from jellyframe.patch.reader import open_patch_reader
from jellyframe.patch.writer import PatchWriter, open_patch_writer
from jellyframe.storage.closing import Closeable
from jellyframe.stream.reader import open_reader
from jellyframe.stream.writer import JellyWriter, open_writer

# Added to the side of blobs with headers and namespaces, which are rows of a patch.
OTHER_ROWS = 1 << 8
_BUCKET_BYTES_IN_MEMORY = 128 << 20


class Blob(NamedTuple):
    """A Jelly stream or a patch as bytes. `side` is the number of the job's input that it comes from."""

    side: int
    content: bytes

    def batches(self) -> Iterator[Batch]:
        """Yield the statements."""
        with open_reader(self.content, limits=NO_LIMITS) as reader:
            yield from reader.batches()

    def changes(self) -> Iterator[Batch]:
        """Yield the rows of a patch."""
        with open_patch_reader(self.content, limits=NO_LIMITS) as reader:
            yield from reader.batches()


class OpenBlob:
    """A writer of a stream in memory, of statements or of the rows of a patch."""

    def __init__(self, *, is_patch: bool, has_graph: bool) -> None:
        self._memory = io.BytesIO()
        self.writer: JellyWriter | PatchWriter
        if is_patch:
            kind = PatchStatementType.QUADS if has_graph else PatchStatementType.TRIPLES
            options = PatchOptions(statement_type=kind, stream_type=PatchStreamType.FLAT)
            self.writer = open_patch_writer(self._memory, options, restart_every=None)
        else:
            self.writer = open_writer(self._memory, StreamOptions().resolved(has_graph=has_graph), restart_every=None)

    @property
    def size(self) -> int:
        """The number of bytes written so far."""
        return self._memory.tell()

    def close(self) -> bytes:
        """End the stream and return it."""
        self.writer.close()
        return self._memory.getvalue()


class BucketBlobs(Closeable):
    """The blobs of a bucket, which can be read repeatedly: in memory, or in a file if they are large.

    Args:
        blobs: all blobs of the bucket, in order
    """

    def __init__(self, blobs: Iterable[Blob]) -> None:
        self._file = SpooledTemporaryFile(_BUCKET_BYTES_IN_MEMORY, prefix="jellyframe-")  # noqa: SIM115 - see close
        self._sizes: list[tuple[int, int]] = []
        for blob in blobs:
            self._file.write(blob.content)
            self._sizes.append((blob.side, len(blob.content)))

    def statements(self, side: int) -> Callable[[], Iterator[Batch]]:
        """Return a function that reads the statements of a side, from the start at each call."""
        return lambda: (batch for blob in self._blobs(side) for batch in blob.batches())

    def changes(self, side: int) -> Callable[[], Iterator[Batch]]:
        """Return a function that reads the rows of the patches of a side, from the start at each call."""
        return lambda: (batch for blob in self._blobs(side) for batch in blob.changes())

    def _blobs(self, side: int) -> Iterator[Blob]:
        start = 0
        for number, size in self._sizes:
            if number == side:
                self._file.seek(start)
                yield Blob(side, self._file.read(size))
            start += size

    def close(self) -> None:
        """Release the memory and the file."""
        self._file.close()


def all_batches(blobs: Iterable[Blob]) -> Iterator[Batch]:
    """Yield the statements of blobs unchanged."""
    return (batch for blob in blobs for batch in blob.batches())
