"""Plan which part of which file each task reads: large files are split at restart points, small ones are combined."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from jellyframe.errors import ParseError
from jellyframe.storage.stores import DataFile
from jellyframe.storage.types import InputHandle
from jellyframe.stream.cutting import cut_offsets
from jellyframe.stream.framing import walk_frames
from jellyframe.stream.kinds import ANY_STATEMENTS, StreamKind

# Cost of opening a file, in bytes that could be read in that time.
OPEN_COST_BYTES = 1 << 20
# Above MANY_PARTITIONS, partitions grow with the data instead, up to LARGE_PARTITION_BYTES: more gains nothing.
DEFAULT_PARTITION_BYTES = 8 << 20
MANY_PARTITIONS = 512
LARGE_PARTITION_BYTES = 64 << 20
# With more partitions than this, Spark spends more time on scheduling them than they spend on data.
MAX_PARTITIONS = 4096
PLANNING_THREADS = 16


@dataclass(frozen=True)
class Piece:
    """A part of a file: from a restart point to another one, or all of it if there is no `stop`."""

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
    files: Sequence[DataFile],
    target_bytes: int | None = None,
    *,
    kind: StreamKind = ANY_STATEMENTS,
    number_frames: bool = False,
) -> list[tuple[Piece, ...]]:
    """Return the pieces that make up each partition, of about `target_bytes`.

    With `number_frames` the pieces have the number of their first frame, for which the files have to be scanned.
    """
    target = target_bytes or default_target(files)
    return pack(cut_files(files, target, kind=kind, number_frames=number_frames), target)


def default_target(files: Sequence[DataFile]) -> int:
    """Return the default size of a partition."""
    total = sum(file.size for file in files)
    usual = max(DEFAULT_PARTITION_BYTES, min(total // MANY_PARTITIONS, LARGE_PARTITION_BYTES))
    return max(usual, total // MAX_PARTITIONS)


def cut_files(
    files: Sequence[DataFile],
    target: int,
    *,
    kind: StreamKind = ANY_STATEMENTS,
    number_frames: bool = False,
    whole: Collection[DataFile] = (),
) -> list[Piece]:
    """Return files of one kind of stream in pieces of about the target size, in order. Those in `whole` stay whole."""
    large = [file for file in files if file.size > target and not file.looks_compressed and file not in whole]
    with ThreadPoolExecutor(PLANNING_THREADS) as pool:
        cuts = dict(zip(large, pool.map(lambda file: _cut(file, target, kind, number_frames), large), strict=True))
    return [piece for file in files for piece in cuts.get(file) or [Piece(file)]]


def pack(pieces: Sequence[Piece], target: int) -> list[tuple[Piece, ...]]:
    """Return consecutive pieces grouped into partitions of up to about the target size, in order."""
    partitions: list[tuple[Piece, ...]] = []
    together: list[Piece] = []
    cost = 0
    for piece in pieces:
        is_alone = piece.file.looks_compressed
        if together and (is_alone or cost + piece.size > target):
            partitions.append(tuple(together))
            together, cost = [], 0
        if is_alone:
            partitions.append((piece,))
            continue
        together.append(piece)
        cost += piece.size + OPEN_COST_BYTES
    if together:
        partitions.append(tuple(together))
    return partitions


def _cut(file: DataFile, target: int, kind: StreamKind, number_frames: bool) -> list[Piece]:
    """Return a large file in pieces of about the target size. If it cannot be opened, its reader reports that."""
    try:
        source = file.open()
    except OSError:
        return [Piece(file)]
    with source:
        starts = list(cut_offsets(source, file.size, target, kind=kind))
        if len(starts) == 1:
            return [Piece(file)]
        frames = frames_before(source, starts) if number_frames else [0] * len(starts)
    stops = [*starts[1:], file.size]
    return [Piece(file, *place) for place in zip(starts, stops, frames, strict=True)]


def frames_before(source: InputHandle, offsets: Sequence[int]) -> list[int]:
    """Return how many frames begin before each offset. The offsets are sorted, and at each a frame begins.

    Frames in a damaged part may not be counted.
    """
    counts: list[int] = []
    start = frames = 0
    for offset in offsets:
        with suppress(ParseError):
            for _frame in walk_frames(source, start, offset):
                frames += 1
        counts.append(frames)
        start = offset
    return counts
