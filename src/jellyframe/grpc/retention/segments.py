"""The files of a log: each is a splittable Jelly file whose frames have their offsets in their metadata.

A file is named after the offset of its first frame. When the log is opened, the last file is truncated after its last
valid frame: one that is complete, decodes, and has the next offset.
"""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from jellyframe.batch.frames import frames_of
from jellyframe.errors import JellyError, ParseError
from jellyframe.grpc.protocol import OFFSET_ENTRY, frame_offset
from jellyframe.grpc.publications import CheckedFrame, FrameContent
from jellyframe.grpc.retention.store import Message
from jellyframe.options import Limits, StreamOptions
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.stream.framing import HEAD_BYTES, walk_frames
from jellyframe.stream.index import looks_like_restart

_NAME = re.compile(r"([0-9]{20})\.jelly")


class RestartAt(NamedTuple):
    """A restart point: the offset of its frame, and its position in the file."""

    offset: int
    position: int


class Segment:
    """A file of a log.

    Attributes:
        path: the file
        first_offset: the offset of its first frame
        end: the offset after its last frame, None while it is the last segment
        size: bytes that are on disk and visible, up to the end of a frame
        modified: the time of the last write, in seconds since 1970
    """

    def __init__(self, path: str, first_offset: int, *, size: int = 0, modified: float = 0.0) -> None:
        self.path = path
        self.first_offset = first_offset
        self.end: int | None = None
        self.size = size
        self.modified = modified
        self._restarts: list[RestartAt] | None = None
        self._lock = threading.Lock()

    @classmethod
    def in_folder(cls, folder: str, first_offset: int) -> Segment:
        """Return a segment that has no file yet."""
        segment = cls(os.path.join(folder, f"{first_offset:020d}.jelly"), first_offset)
        segment._restarts = []
        return segment

    def add_restart(self, offset: int, position: int) -> None:
        """Note a restart point of a segment that is being written."""
        with self._lock:
            if self._restarts is not None:
                self._restarts.append(RestartAt(offset, position))

    def restart_before(self, offset: int) -> RestartAt:
        """Return the last restart point that is not after an offset."""
        with self._lock:
            if self._restarts is None:
                self._restarts = self._find_restarts()
            at = bisect_right(self._restarts, offset, key=lambda restart: restart.offset)
            return self._restarts[max(0, at - 1)] if self._restarts else RestartAt(self.first_offset, 0)

    def _find_restarts(self) -> list[RestartAt]:
        with open(self.path, "rb") as file:
            frames = walk_frames(file, 0, self.size, head_bytes=HEAD_BYTES)
            return [
                RestartAt(self.first_offset + number, frame.offset)
                for number, frame in enumerate(frames)
                if looks_like_restart(bytes(frame.head[:HEAD_BYTES]))
            ]


def find_segments(folder: str) -> list[Segment]:
    """Return the segments in a folder, in order."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name is not None:
                status = entry.stat()
                found.append(Segment(entry.path, int(name[1]), size=status.st_size, modified=status.st_mtime))
    found.sort(key=lambda segment: segment.first_offset)
    for segment, following in pairwise(found):
        segment.end = following.first_offset
    return found


class Recovered(NamedTuple):
    """The valid part of a segment after a crash: the number of frames and of bytes."""

    frames: int
    size: int


def recover(segment: Segment, limits: Limits) -> Recovered:
    """Return how much of a segment is valid. The rest was never acknowledged."""
    decoder = StreamDecoder(limits=limits)
    frames = size = 0
    with open(segment.path, "rb") as file:
        try:
            for frame in walk_frames(file, 0, segment.size):
                if frame.stop > segment.size:
                    break
                file.seek(frame.body)
                decoder.push_frame(file.read(frame.stop - frame.body))
                metadata: dict[str, bytes] = {}
                while (batch := decoder.next_batch(partial=True)) is not None:
                    for entries in batch.metadata.values():
                        metadata.update(entries)
                if frame_offset(metadata) != segment.first_offset + frames:
                    break
                frames += 1
                size = frame.stop
        except JellyError:
            # The frame that was being written is incomplete or not a frame.
            pass
    return Recovered(frames, size)


class SegmentReader:
    """Reads the frames of a segment from an offset, up to the last one that is on disk."""

    def __init__(self, segment: Segment, offset: int, limits: Limits) -> None:
        self.segment = segment
        restart = segment.restart_before(offset)
        self._file = open(segment.path, "rb")  # noqa: SIM115  # closed by `close`
        self._position = restart.position
        self._next = restart.offset
        self._wanted = offset
        self._decoder = StreamDecoder(limits=limits, delimited=True, self_contained=True)

    def read(self, max_bytes: int) -> list[Message]:
        """Return the next frames, of about `max_bytes`; none when all frames on disk have been read."""
        while self._position < self.segment.size:
            self._file.seek(self._position)
            data = self._file.read(min(max_bytes, self.segment.size - self._position))
            if not data:
                raise ParseError("the file has become shorter", source=self.segment.path, offset=self._position)
            self._position += len(data)
            self._decoder.push(data)
            messages = [message for message in self._decoded() if self._is_wanted(message.offset)]
            if messages:
                return messages
        return []

    def _is_wanted(self, offset: int) -> bool:
        # Frames after the end could neither be synced nor removed before the next segment was started.
        return offset >= self._wanted and (self.segment.end is None or offset < self.segment.end)

    def _decoded(self) -> Iterator[Message]:
        batches = []
        while (batch := self._decoder.next_batch(partial=True)) is not None:
            batches.append(batch)
        options = self._decoder.options or StreamOptions()
        for frame in frames_of(batches):
            metadata = {key: value for key, value in frame.metadata.items() if key != OFFSET_ENTRY}
            content = [frame.to_batch()] if len(frame) else []
            yield Message(self._next, CheckedFrame(options, FrameContent(content, frame.namespaces, metadata)))
            self._next += 1

    def close(self) -> None:
        self._file.close()
