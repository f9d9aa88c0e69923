"""Find where a file can be split into pieces that are read separately: at its restart points."""

from __future__ import annotations

from collections.abc import Iterator

from jellyframe.errors import ParseError
from jellyframe.storage.compression import MAGIC_BYTES, sniff_compression
from jellyframe.storage.sources import CHUNK_BYTES
from jellyframe.storage.types import InputHandle
from jellyframe.stream.framing import SNIFFED_BYTES, looks_delimited
from jellyframe.stream.index import each_restart_point, scan_restart_points
from jellyframe.stream.kinds import ANY_STATEMENTS, StreamKind


def is_splittable(file: InputHandle) -> bool:
    """Return whether a file may have restart points: it is not compressed, and its frames are delimited."""
    file.seek(0)
    head = file.read(MAGIC_BYTES)
    return sniff_compression(head) is None and looks_delimited(head[:SNIFFED_BYTES])


def restart_offsets(
    file: InputHandle, size: int, read_bytes: int = CHUNK_BYTES, kind: StreamKind = ANY_STATEMENTS
) -> Iterator[int]:
    """Yield the offsets from which a file may be read, as soon as they are known, the first at 0.

    There are none if it cannot be split. If it is damaged, those after the damage are found by their bytes; the reader
    of the damaged part reports what is wrong.
    """
    if not is_splittable(file):
        return
    last = -1
    points = each_restart_point(file, read_bytes, kind)
    while True:
        try:
            for point in points:
                if point.offset > last:
                    last = point.offset
                    yield last
            return
        except ParseError:
            from jellyframe.stream.recovery import find_restart

            found = find_restart(file, last + 1, size, kind)
        if found is None:
            return
        points = scan_restart_points(file, found, size, read_bytes, kind)


def cut_offsets(
    file: InputHandle,
    size: int,
    at_least: int,
    read_bytes: int = CHUNK_BYTES,
    kind: StreamKind = ANY_STATEMENTS,
) -> Iterator[int]:
    """Yield the offsets at which pieces of a minimum size begin, as soon as they are known, the first at 0."""
    start = 0
    yield start
    for offset in restart_offsets(file, size, read_bytes, kind):
        if offset - start >= at_least:
            start = offset
            yield start
