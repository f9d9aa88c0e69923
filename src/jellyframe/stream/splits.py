"""Which part of which file each task reads: large files are cut at restart points, small ones go together."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from jellyframe.storage.stores import DataFile
from jellyframe.stream.cutting import cut_offsets
from jellyframe.wire import decode_varint

# Opening a file costs about as much as reading so many bytes of it.
OPEN_COST_BYTES = 1 << 20
# From so many partitions on they grow with the data, up to a size at which nothing is gained any more.
DEFAULT_PARTITION_BYTES = 8 << 20
MANY_PARTITIONS = 512
LARGE_PARTITION_BYTES = 64 << 20
# With more partitions than this, Spark is busier with them than they are with data.
MAX_PARTITIONS = 4096
PLANNING_THREADS = 16
_HOP_BYTES = 1 << 20
_MAX_VARINT_BYTES = 10


@dataclass(frozen=True)
class Piece:
    """A part of a file: from a restart point to another one, or all of it where there is no `stop`."""

    file: DataFile
    start: int = 0
    stop: int | None = None
    first_frame: int = 0

    @property
    def size(self) -> int:
        return (self.file.size if self.stop is None else self.stop) - self.start

    @property
    def end(self) -> int:
        return self.file.size if self.stop is None else self.stop

    @property
    def byte_range(self) -> tuple[int, int] | None:
        return None if self.stop is None else (self.start, self.stop)


def plan_pieces(
    files: Sequence[DataFile], target_bytes: int | None = None, *, number_frames: bool = False
) -> list[tuple[Piece, ...]]:
    """The pieces that make up each partition, of about `target_bytes`.

    With `number_frames` the pieces know the number of their first frame, for which the files have to be gone through.
    """
    target = target_bytes or default_target(files)
    return pack(cut_files(files, target, number_frames=number_frames), target)


def default_target(files: Sequence[DataFile]) -> int:
    """The size of a partition that nobody has said anything about."""
    total = sum(file.size for file in files)
    usual = max(DEFAULT_PARTITION_BYTES, min(total // MANY_PARTITIONS, LARGE_PARTITION_BYTES))
    return max(usual, total // MAX_PARTITIONS)


def cut_files(files: Sequence[DataFile], target: int, *, number_frames: bool = False) -> list[Piece]:
    """The files in pieces of about the target size, in order."""
    large = [file for file in files if file.size > target and not file.looks_compressed]
    with ThreadPoolExecutor(PLANNING_THREADS) as pool:
        cuts = dict(zip(large, pool.map(lambda file: _cut(file, target, number_frames), large), strict=True))
    return [piece for file in files for piece in cuts.get(file) or [Piece(file)]]


def pack(pieces: Sequence[Piece], target: int) -> list[tuple[Piece, ...]]:
    """Pieces that follow each other put together, up to about the target size."""
    partitions: list[tuple[Piece, ...]] = []
    together: list[Piece] = []
    cost = 0
    for piece in pieces:
        if piece.file.looks_compressed:
            partitions.append((piece,))
            continue
        if together and cost + piece.size > target:
            partitions.append(tuple(together))
            together, cost = [], 0
        together.append(piece)
        cost += piece.size + OPEN_COST_BYTES
    if together:
        partitions.append(tuple(together))
    return partitions


def _cut(file: DataFile, target: int, number_frames: bool) -> list[Piece]:
    """A large file in pieces of about the target size. If it cannot be opened, whoever reads it will say so."""
    try:
        source = file.open()
    except OSError:
        return [Piece(file)]
    with source:
        starts = list(cut_offsets(source, file.size, target))
        if len(starts) == 1:
            return [Piece(file)]
        frames = frames_before(source, starts) if number_frames else [0] * len(starts)
    stops = [*starts[1:], file.size]
    return [Piece(file, *place) for place in zip(starts, stops, frames, strict=True)]


def frames_before(source: Any, offsets: Sequence[int]) -> list[int]:
    """How many frames begin before each of some offsets, which are in order and all beginnings of frames."""
    counts: list[int] = []
    frames = offset = at = 0
    buffer = b""
    source.seek(0)
    for target in offsets:
        while offset < target:
            if len(buffer) - at < _MAX_VARINT_BYTES:
                source.seek(offset)
                buffer, at = source.read(_HOP_BYTES), 0
            length, body = decode_varint(buffer, at)
            offset += body - at + length
            at = min(body + length, len(buffer))
            frames += 1
        counts.append(frames)
    return counts
