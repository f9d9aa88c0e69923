"""The log of a stream source: the files of a growing folder, numbered in the order in which they were found.

The offset of a stream is a number of files in this log, so it stays small, and a batch that is read again has the same
files. Only the log decides whether a file is new, never a clock: a file that arrives late, with
an old modification time, is found like any other.

The log is a folder of segments. A segment never changes; it is named after the number of its first file. When there are
many segments of one level, they are merged into one of the next level, so that their number stays small.

Logs are hidden in the folder that is read, one for each checkpoint. It is unknown whether a checkpoint still exists, so
a query marks its log as in use whenever it starts, and once a day while it runs. A log that has not been marked for
`ABANDONED_AFTER_SECONDS` is removed when another query starts on the same folder.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from jellyframe.errors import StorageError
from jellyframe.storage.commit import is_unchanged_for
from jellyframe.storage.stores import DataFile, Storage

_SEGMENT_NAME = re.compile(r"(\d{15})-(\d)\.json")
LOG_PREFIX = "_jelly-arrivals-"
_LOG_NAME = re.compile(f"{LOG_PREFIX}[0-9a-f]{{32}}")
_IN_USE = "in-use"
_MARK_EVERY_SECONDS = 24 * 3600
# A query may run once a month. After a longer pause it has to read all files again.
ABANDONED_AFTER_SECONDS = 90 * 24 * 3600
# Number of segments of a level that are merged into one of the next.
SEGMENTS_TO_MERGE = 64


class Arrival(NamedTuple):
    """A file in the log. `storage` is the number of its file system among those that the stream reads."""

    storage: int
    path: str
    size: int


class _Segment(NamedTuple):
    first: int
    level: int
    files: int

    @property
    def name(self) -> str:
        return f"{self.first:015d}-{self.level}.json"


@dataclass
class ArrivalLog:
    """A log, read into memory. One query at a time may add to it; any number may read it."""

    storage: Storage
    folder: str
    arrivals: list[Arrival] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._marked: float | None = None
        self._seen: set[tuple[int, str]] = set()
        self._segments: list[_Segment] = []
        self._load()

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def name(self) -> str:
        return self.storage.display(self.folder)

    def require(self, files: int) -> None:
        """Raise if the log has fewer files than a query has taken from it."""
        if files > len(self.arrivals):
            raise StorageError(
                f"{self.name}: the checkpoint has taken {files} files, and this log knows of {len(self.arrivals)}; "
                "bring the log back, or start the query with a new checkpoint, which reads all files again"
            )

    def add(self, found: Iterable[tuple[int, DataFile]]) -> None:
        """Add the files that are not in the log yet, oldest first."""
        new = [
            (file.modified, Arrival(storage, file.path, file.size))
            for storage, file in found
            if (storage, file.path) not in self._seen
        ]
        if new:
            arrivals = [arrival for _modified, arrival in sorted(new, key=lambda one: (one[0], one[1].path))]
            segment = _Segment(len(self.arrivals), 0, len(arrivals))
            self._write(segment, arrivals)
            self._remember(segment, arrivals)
            self._merge()

    def mark_in_use(self) -> None:
        """Mark the log as used by a running query. Failures are left to `add`, which needs the folder."""
        if self._marked is None or time.monotonic() - self._marked > _MARK_EVERY_SECONDS:
            with suppress(OSError):
                self.storage.fs.create_dir(self.folder, recursive=True)
                with self.storage.fs.open_output_stream(f"{self.folder}/{_IN_USE}") as stream:
                    stream.write(b"")
            self._marked = time.monotonic()

    def _remember(self, segment: _Segment, arrivals: Sequence[Arrival]) -> None:
        self._segments.append(segment)
        self.arrivals += arrivals
        self._seen.update((arrival.storage, arrival.path) for arrival in arrivals)

    def _load(self) -> None:
        names = [_SEGMENT_NAME.fullmatch(info.base_name) for info in self.storage.children(self.folder)]
        found = [_Segment(int(name[1]), int(name[2]), 0) for name in names if name]
        # Of segments with the same first file, the one of the highest level contains the others.
        for segment in sorted(found, key=lambda one: (one.first, -one.level)):
            if segment.first < len(self.arrivals):
                # It has been merged with others, and was not removed.
                continue
            if segment.first > len(self.arrivals):
                raise StorageError(f"{self.name}: the part that begins with file {len(self.arrivals)} is missing")
            arrivals = self._read(segment)
            self._remember(segment._replace(files=len(arrivals)), arrivals)

    def _read(self, segment: _Segment) -> list[Arrival]:
        path = f"{self.folder}/{segment.name}"
        try:
            with self.storage.fs.open_input_stream(path) as stream:
                return [Arrival(*entry) for entry in json.loads(stream.read())]
        except (ValueError, TypeError) as error:
            raise StorageError(f"{self.storage.display(path)} is damaged: {error}") from error

    def _write(self, segment: _Segment, arrivals: Sequence[Arrival]) -> None:
        data = "[\n" + ",\n".join(json.dumps(arrival) for arrival in arrivals) + "\n]\n"
        path = f"{self.folder}/{segment.name}"
        if not self.storage.write_new(path, data.encode()):
            raise StorageError(f"{self.storage.display(path)} exists already: is another run of this query active?")

    def _merge(self) -> None:
        """Merge the last segments while there are enough of one level."""
        while True:
            tail = self._segments[-SEGMENTS_TO_MERGE:]
            level = tail[0].level
            if len(tail) < SEGMENTS_TO_MERGE or any(segment.level != level for segment in tail):
                return
            merged = _Segment(tail[0].first, level + 1, sum(segment.files for segment in tail))
            self._write(merged, self.arrivals[merged.first : merged.first + merged.files])
            self._segments[-SEGMENTS_TO_MERGE:] = [merged]
            for segment in tail:
                self.storage.fs.delete_file(f"{self.folder}/{segment.name}")


def remove_abandoned_logs(storage: Storage, folder: str, kept: str) -> None:
    """Remove the logs in a folder that no query has used for a long time, except the one at the path `kept`."""
    # The query continues even if this fails; another query may be doing the same.
    with suppress(OSError):
        for info in storage.children(folder):
            is_other_log = _LOG_NAME.fullmatch(info.base_name) and info.path != kept
            if is_other_log and is_unchanged_for(storage, info, ABANDONED_AFTER_SECONDS):
                storage.fs.delete_dir(info.path)
