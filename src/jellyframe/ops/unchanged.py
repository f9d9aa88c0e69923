"""Transcode without changes: check the input in full while it is copied.

A stream is only copied if our writer could have written it: every part that begins with the
options is self-contained, and the restart points are as close as requested. All others are rewritten.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from jellyframe.defaults import DEFAULT_RESTART_EVERY
from jellyframe.errors import JellyError
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import InputFile
from jellyframe.stream.cutting import is_splittable
from jellyframe.stream.index import INDEX_KEY, read_index, restart_points
from jellyframe.stream.reader import open_reader

if TYPE_CHECKING:
    from jellyframe.ops.progress import ProgressMeter
    from jellyframe.options import DialectName, Limits, StreamOptions

# Frames are never cut for a restart point, so their distance may be larger than requested.
_FARTHEST_RESTART = 2 * DEFAULT_RESTART_EVERY


class _OtherwiseError(Exception):
    """Our writer would produce other bytes."""


class _CopiedFile(InputFile):
    """An input file whose bytes are copied to a sink as they are read."""

    def __init__(self, path: str, sink: ByteSink) -> None:
        super().__init__(path)
        self._sink = sink

    def read(self, size: int = -1) -> bytes:
        data = super().read(size)
        self._sink.write(data)
        return data


def copy_checked(
    path: str,
    target: str,
    options: StreamOptions,
    limits: Limits,
    meter: ProgressMeter,
    *,
    index: bool,
    dialect: DialectName,
) -> int | None:
    """Copy a file of a stream with these options, and return the number of its statements.

    Returns None, without a copy, if it has to be rewritten. Every part that begins with the options must be
    self-contained, so that the copy means the same whether or not a reader treats it as several streams.
    """
    statements = 0
    if not _is_as_written(path, options, index=index):
        return None
    try:
        with (
            ByteSink(target) as sink,
            _CopiedFile(path, sink) as source,
            open_reader(source, limits=limits, concatenated=True, self_contained=True, dialect=dialect) as reader,
        ):
            for batch in meter.over(reader.batches(), source):
                if batch.options != options or (not index and _has_index(batch.metadata)):
                    raise _OtherwiseError
                statements += len(batch)
    except (JellyError, _OtherwiseError):
        # The rewriting that follows finds the error, if there is one.
        return None
    return statements


def _is_as_written(path: str, options: StreamOptions, *, index: bool) -> bool:
    """Return whether our writer could have written the start of a file."""
    with open(path, "rb") as file:
        if not is_splittable(file):
            return False
        found = read_index(file)
        if (found is not None) != index or (found is not None and found.start != 0):
            return False
        size = file.seek(0, 2)
        if options.logical_type.is_grouped or size <= _FARTHEST_RESTART:
            return True
        try:
            offsets = [point.offset for point in restart_points(file)]
        except JellyError:
            return False
    return all(after - before <= _FARTHEST_RESTART for before, after in pairwise([*offsets, size]))


def _has_index(metadata: dict[int, dict[str, Any]]) -> bool:
    return any(INDEX_KEY in entries for entries in metadata.values())
