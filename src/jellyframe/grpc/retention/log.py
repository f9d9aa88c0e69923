"""Frames that are kept on disk: written and synced before they are acknowledged or sent to subscribers."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import suppress
from typing import IO, NamedTuple

from jellyframe.errors import StorageError, display_name
from jellyframe.grpc.config import SEGMENT_BYTES, SEGMENT_SECONDS
from jellyframe.grpc.encoding import FrameEncoder
from jellyframe.grpc.publications import CheckedFrame, Publication
from jellyframe.grpc.retention.segments import Segment, SegmentReader, find_segments, recover
from jellyframe.grpc.retention.standalone import kept_options, limits_of_kept
from jellyframe.grpc.retention.store import Deliver, Message, Store, StoreReader, require_offset
from jellyframe.ops.transcoding import counterpart_logical_type
from jellyframe.options import Limits, LogicalType, PhysicalType, StreamOptions
from jellyframe.storage.atomic import AtomicFile
from jellyframe.storage.locks import LockTakenError, hold_file
from jellyframe.storage.writing import write_all
from jellyframe.wire import encode_bytes_field

LOCK_NAME = ".jelly-log.lock"
# A file with the next offset, for when all others have been removed.
NEXT_NAME = ".jelly-log.next"
# Distance of restart points: small enough to resume quickly, large enough not to cost space.
RESTART_EVERY = 256 << 10
# Bytes that may wait to be written.
_MAX_WAITING = 8 << 20
# Seconds for which frames are collected, unless a publication waits for its acknowledgement.
_GATHER_SECONDS = 0.001
# Seconds between searches for expired files.
_CLEAN_UP_EVERY = 30.0


class LogSettings(NamedTuple):
    """Limits of a log: how much it keeps, and when it starts another file.

    Whole files are removed, so a file holds at most a quarter of the limits.

    Attributes:
        max_bytes: bytes of all files, None for no limit; the current file is never removed
        max_age: seconds after its last frame after which a file is removed, None for no limit
        segment_bytes: bytes after which another file is started
        segment_age: seconds after which another file is started
    """

    max_bytes: int | None = None
    max_age: float | None = None
    segment_bytes: int = SEGMENT_BYTES
    segment_age: float = SEGMENT_SECONDS

    @property
    def roll_bytes(self) -> int:
        """Bytes after which another file is started, in view of `max_bytes`."""
        return self.segment_bytes if self.max_bytes is None else min(self.segment_bytes, self.max_bytes // 4)

    @property
    def roll_age(self) -> float:
        """Seconds after which another file is started, in view of `max_age`."""
        return self.segment_age if self.max_age is None else min(self.segment_age, self.max_age / 4)


class _Waiting(NamedTuple):
    """A frame that waits to be written."""

    message: Message
    data: bytes
    segment: Segment


class _Encoding:
    """The segment that frames are encoded for."""

    def __init__(self, segment: Segment, options: StreamOptions) -> None:
        self.segment = segment
        self.options = options
        # The options of the last stream that fits.
        self._fitting: StreamOptions | None = None
        self.begun = time.monotonic()
        self.size = 0
        self._encoder = FrameEncoder(options, restart_every=RESTART_EVERY, delimited=True)
        self._options_row = encode_bytes_field(1, encode_bytes_field(1, options.to_bytes()))

    def encode(self, frame: CheckedFrame, offset: int) -> bytes:
        data = self._encoder.encode(frame, offset)
        # Restart points begin with the options, after the length of the frame.
        if data.find(self._options_row, 0, len(self._options_row) + 10) >= 0:
            self.segment.add_restart(offset, self.size)
        self.size += len(data)
        return data

    def fits(self, options: StreamOptions) -> bool:
        """Return whether frames of a stream can be kept in this file without loss."""
        if options is not self._fitting and merged_options(self.options, options) == self.options:
            self._fitting = options
        return options is self._fitting


def merged_options(mine: StreamOptions, other: StreamOptions) -> StreamOptions:
    """Return options with which frames of both streams can be kept: mine, if possible.

    Triples are kept as quads. Frames of different logical types have no common type.
    """
    merged = mine.replace(
        physical_type=PhysicalType.QUADS if mine.has_graph or other.has_graph else PhysicalType.TRIPLES,
        generalized_statements=mine.generalized_statements or other.generalized_statements,
        rdf_star=mine.rdf_star or other.rdf_star,
        max_name_table_size=max(mine.max_name_table_size, other.max_name_table_size),
        max_prefix_table_size=max(mine.max_prefix_table_size, other.max_prefix_table_size),
        max_datatype_table_size=max(mine.max_datatype_table_size, other.max_datatype_table_size),
    )
    ours, theirs = (counterpart_logical_type(merged.replace(logical_type=one.logical_type)) for one in (mine, other))
    return merged.replace(logical_type=ours if ours is theirs else LogicalType.UNSPECIFIED)


class LogStore(Store):
    """Keeps frames in the files of a folder, which one server at a time may use.

    Args:
        folder: the folder, which is created if it does not exist
        settings: the limits of the log
        limits: the limits for reading frames
    """

    retention = "log"

    def __init__(self, folder: str, settings: LogSettings | None = None, limits: Limits | None = None) -> None:
        self._folder = folder
        self._settings = settings or LogSettings()
        self._limits = limits_of_kept(limits or Limits())
        self._segments: list[Segment] = []
        self._lock = threading.Lock()
        self._visible = 0
        self._next = 0
        self._encoding: _Encoding | None = None
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0
        # Publications that wait until their frames are on disk.
        self._committing = 0
        self._wake = asyncio.Event()
        self._progress = asyncio.Condition()
        self._writer: asyncio.Task[None] | None = None
        self._file: IO[bytes] | None = None
        self._file_segment: Segment | None = None
        self._file_lock: IO[bytes] | None = None
        self._is_closing = False

    # ---- opening ----

    async def start(self, deliver: Deliver) -> None:
        await super().start(deliver)
        await asyncio.to_thread(self._open)
        self._writer = asyncio.create_task(self._write_all())

    def _open(self) -> None:
        os.makedirs(self._folder, exist_ok=True)
        try:
            self._file_lock = hold_file(os.path.join(self._folder, LOCK_NAME))
        except LockTakenError:
            raise StorageError(f"{display_name(self._folder)}: another server uses this log") from None
        segments = find_segments(self._folder)
        following = _read_number(os.path.join(self._folder, NEXT_NAME))
        while segments:
            last = segments[-1]
            sound = recover(last, self._limits)
            following = max(following, last.first_offset + sound.frames)
            if sound.size < last.size:
                _truncate(last.path, sound.size)
                last.size = sound.size
            if sound.frames:
                break
            os.unlink(last.path)
            segments.pop()
        _sync_folder(self._folder)
        self._segments = segments
        self._next = self._visible = following

    # ---- the interface ----

    @property
    def first_offset(self) -> int:
        with self._lock:
            return self._segments[0].first_offset if self._segments else self._visible

    @property
    def next_offset(self) -> int:
        return self._visible

    @property
    def kept_bytes(self) -> int:
        """Bytes of all files."""
        with self._lock:
            return sum(segment.size for segment in self._segments)

    async def append(self, frame: CheckedFrame) -> None:
        publication = frame.publication
        while self._waiting_bytes > _MAX_WAITING and not _failure(publication):
            async with self._progress:
                await self._progress.wait_for(
                    lambda: self._waiting_bytes <= _MAX_WAITING or _failure(publication) is not None
                )
        _raise_failure(publication)
        encoding = self._encoding_for(frame.options)
        try:
            data = encoding.encode(frame, self._next)
        except BaseException:
            # The encoder has part of the frame.
            self._encoding = None
            raise
        self._waiting.append(_Waiting(Message(self._next, frame), data, encoding.segment))
        self._waiting_bytes += len(data)
        self._next += 1
        self._wake.set()

    async def commit(self, publication: Publication) -> None:
        target = self._next
        self._committing += 1
        try:
            async with self._progress:
                await self._progress.wait_for(
                    lambda: publication.failure is not None or self._visible >= min(target, self._next)
                )
        finally:
            self._committing -= 1
        _raise_failure(publication)

    def reader(self, offset: int) -> StoreReader:
        require_offset(self, offset)
        return _LogReader(self, offset, self._limits)

    def segment_of(self, offset: int) -> Segment | None:
        """Return the segment of a frame; None for the next frame to be written."""
        with self._lock:
            before = [segment for segment in self._segments if segment.first_offset <= offset]
        if not before:
            require_offset(self, offset)
        return before[-1] if before else None

    async def close(self) -> None:
        self._is_closing = True
        self._wake.set()
        if self._writer is not None:
            await self._writer
        await asyncio.to_thread(self._close_files)

    def _close_files(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._file_lock is not None:
            self._file_lock.close()
            self._file_lock = None

    # ---- writing ----

    def _encoding_for(self, options: StreamOptions) -> _Encoding:
        """Return the segment for a frame: the current one, or another one if that is full, old or does not fit."""
        current, settings = self._encoding, self._settings
        if (
            current is not None
            and current.size < settings.roll_bytes
            and time.monotonic() - current.begun < settings.roll_age
            and current.fits(options)
        ):
            return current
        kept = kept_options(options)
        if current is not None and not current.fits(options):
            # Streams of different kinds may alternate: the next file fits frames of all of them.
            kept = merged_options(current.options, kept)
        self._encoding = _Encoding(Segment.in_folder(self._folder, self._next), kept)
        return self._encoding

    async def _write_all(self) -> None:
        """Write all waiting frames together, and repeat until none are left."""
        loop = asyncio.get_running_loop()
        while not (self._is_closing and not self._waiting):
            if not self._waiting:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), _CLEAN_UP_EVERY)
            if not self._committing and not self._is_closing:
                # Wait for more frames, which share the cost of the sync.
                await asyncio.sleep(_GATHER_SECONDS)
            self._wake.clear()
            waiting, self._waiting = self._waiting, []
            if not waiting and self._is_expired():
                self._encoding = None
            written, error = await loop.run_in_executor(None, self._write, waiting)
            for entry in waiting[:written]:
                entry.segment.size += len(entry.data)
                self._visible = entry.message.offset + 1
                self._deliver(entry.message)
            if error is not None:
                await self._give_up(waiting[written:], error)
            self._waiting_bytes = sum(len(entry.data) for entry in self._waiting)
            async with self._progress:
                self._progress.notify_all()

    def _is_expired(self) -> bool:
        """Return whether even the last file has expired."""
        with self._lock:
            last = self._segments[-1] if self._segments else None
        return last is not None and self._is_old(last)

    async def _give_up(self, failed: list[_Waiting], error: Exception) -> None:
        """Drop frames that could not be written, and all after them; their publications fail."""
        failed += self._waiting
        self._waiting = []
        for entry in failed:
            publication = entry.message.frame.publication
            if publication is not None and publication.failure is None:
                publication.failure = error
        self._encoding = None
        self._next = self._visible
        await asyncio.to_thread(self._undo)

    # ---- writing, in a thread ----

    def _write(self, waiting: list[_Waiting]) -> tuple[int, Exception | None]:
        """Write and sync frames. Return how many are on disk, and the error that stopped the others."""
        written = 0
        try:
            while written < len(waiting):
                segment = waiting[written].segment
                stop = written
                while stop < len(waiting) and waiting[stop].segment is segment:
                    stop += 1
                file = self._open_file(segment)
                write_all(file, b"".join(entry.data for entry in waiting[written:stop]))
                os.fsync(file.fileno())
                segment.modified = time.time()
                written = stop
            self._remove_old()
        except Exception as error:
            return written, error
        return written, None

    def _open_file(self, segment: Segment) -> IO[bytes]:
        if self._file is None or self._file_segment is not segment:
            if self._file is not None:
                self._file.close()
                self._file = None
            # Unbuffered, so that frames that were dropped are not written later.
            self._file = open(segment.path, "wb", buffering=0)  # noqa: SIM115  # stays open for the next frames
            self._file_segment = segment
            with self._lock:
                if self._segments:
                    self._segments[-1].end = segment.first_offset
                self._segments.append(segment)
            _sync_folder(self._folder)
        return self._file

    def _undo(self) -> None:
        """Remove a frame that was partly written. Further frames go to another file."""
        if self._file is not None:
            self._file.close()
            self._file = self._file_segment = None
        with self._lock:
            last = self._segments[-1] if self._segments else None
        if last is None:
            return
        if last.size == 0:
            with self._lock:
                self._segments.pop()
        # If even this fails, readers know where the next file starts.
        with suppress(OSError):
            if last.size == 0:
                os.unlink(last.path)
            elif os.path.getsize(last.path) > last.size:
                _truncate(last.path, last.size)

    def _remove_old(self) -> None:
        most = self._settings.max_bytes
        with self._lock:
            total = sum(segment.size for segment in self._segments)
            removed = []
            # The current file is kept.
            for segment in self._segments[: None if self._encoding is None else -1]:
                if not self._is_old(segment) and (most is None or total <= most or segment is self._segments[-1]):
                    break
                removed.append(segment)
                total -= segment.size
            if removed and len(removed) == len(self._segments):
                # Offsets are never reused, even after all their frames have been removed.
                _write_number(os.path.join(self._folder, NEXT_NAME), self._visible)
            del self._segments[: len(removed)]
        for segment in removed:
            os.unlink(segment.path)

    def _is_old(self, segment: Segment) -> bool:
        max_age = self._settings.max_age
        return max_age is not None and time.time() - segment.modified > max_age


class _LogReader(StoreReader):
    """Reads one segment after the other."""

    def __init__(self, store: LogStore, offset: int, limits: Limits) -> None:
        self._store = store
        self._offset = offset
        self._limits = limits
        self._reader: SegmentReader | None = None

    def read(self, max_bytes: int) -> list[Message]:
        while self._offset < self._store.next_offset:
            segment = self._store.segment_of(self._offset)
            if segment is None:
                return []
            if self._reader is None or self._reader.segment is not segment:
                self.close()
                self._reader = SegmentReader(segment, self._offset, self._limits)
            messages = self._reader.read(max_bytes)
            if messages:
                self._offset = messages[-1].offset + 1
                return messages
        return []

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _failure(publication: Publication | None) -> Exception | None:
    return None if publication is None else publication.failure


def _raise_failure(publication: Publication | None) -> None:
    failure = _failure(publication)
    if failure is not None:
        raise failure


def _truncate(path: str, size: int) -> None:
    with open(path, "r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_number(path: str, number: int) -> None:
    file = AtomicFile(path)
    file.file.write(b"%d\n" % number)
    file.commit()


def _read_number(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except FileNotFoundError:
        return 0
