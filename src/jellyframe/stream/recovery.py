"""Read on after damage: find the next restart point by its bytes, and report the bytes in between as lost.

Missing or extra bytes shift all that follows, so that the lengths of frames no longer lead to the next frame. A restart
point of our writer begins with the options row, whose bytes are known from the start of the stream. Each place where
they occur is tried: the frame there must have a matching length in front of it, decode without any reference to earlier
frames, and be followed by another frame or the end.

Rows are returned only when they are confirmed: a frame that decodes may still end in a row that swallowed what follows,
so the last frame before damage counts only if the next one begins as frames do. Damage that leaves a valid stream,
such as whole frames that are missing, cannot be detected.
"""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jellyframe.batch import Batch
from jellyframe.errors import BAD_INPUT, Advice, JellyError, ParseError, StreamKindError
from jellyframe.options import Limits, TableOptions
from jellyframe.storage.sources import CHUNK_BYTES, is_seekable, open_input
from jellyframe.stream.decoder import AnyStreamDecoder
from jellyframe.stream.framing import HEAD_BYTES, begins_frame, walk_frames
from jellyframe.stream.index import may_be_restart
from jellyframe.stream.kinds import StreamKind
from jellyframe.wire import decode_varint, encode_bytes_field

if TYPE_CHECKING:
    from jellyframe.storage.types import FileSystem, InputHandle, Source
    from jellyframe.stream.source_batches import SourceBatches

_MAX_LENGTH_BYTES = 5
# Batches without rows confirm nothing. At most this many of them wait with the rows before them.
_MAX_WAITING_BATCHES = 64
_OptionsT = TypeVar("_OptionsT", bound=TableOptions)


@dataclass(frozen=True)
class Damage:
    """A part of the input that was lost: the bytes from `start` to `stop`, and the `error` that says why.

    `stop` is None if the rest of the input is lost and its length is not known, as in compressed input. All statements
    of the whole frames before `start` were returned.
    """

    start: int
    stop: int | None
    error: JellyError

    def describe(self, wording: Callable[[Advice], str] = str) -> str:
        """Return a text that says what was lost and why.

        Args:
            wording: puts advice into the words of a user interface
        """
        place = f"{self.error.source}: " if self.error.source else ""
        lost = f"all from byte {self.start} on" if self.stop is None else f"bytes {self.start} to {self.stop}"
        return f"{place}{lost} lost: {self.error.reason(wording)}"

    def __str__(self) -> str:
        return self.describe()


class RecoveringBatches(Generic[_OptionsT]):
    """The batches of a source, without the parts that cannot be read.

    `open_at(offset, frame)` opens the source again at an offset, where the frame of that number begins;
    `place` reads the bytes at any offset. Subclasses may change the rows around a loss.
    """

    def __init__(
        self,
        place: RandomAccess,
        batches: SourceBatches[_OptionsT],
        open_at: Callable[[int, int], SourceBatches[_OptionsT]],
        *,
        on_damage: Callable[[Damage], object],
        limits: Limits,
        concatenated: bool,
        kind: StreamKind,
    ) -> None:
        self._kind = kind
        self._batches = batches
        self._open_at = open_at
        self._on_damage = on_damage
        self._limits = limits
        self._any_options = concatenated
        self._place = place
        self._ready: deque[Batch] = deque()
        self._held: deque[Batch] = deque()
        self._options_rows: list[bytes] = []
        self._options: _OptionsT | None = None
        self._is_finished = False

    @property
    def options(self) -> _OptionsT | None:
        """The options of the first stream that could be read."""
        return self._options if self._options is not None else self._batches.decoder.options

    @property
    def is_delimited(self) -> bool | None:
        """Whether the frames have their lengths in front; None until the first bytes have been read."""
        return self._batches.decoder.is_delimited

    def next_batch(self) -> Batch | None:
        """Return the next batch of rows that are confirmed, or None at the end."""
        while not self._ready and not self._is_finished:
            try:
                batch = self._batches.next_batch()
            except BAD_INPUT as error:
                if error.advice is not None and error.advice.name == "dialect":
                    # All of the stream would be lost, though nothing is damaged.
                    raise
                self._recover(error)
                continue
            if batch is None:
                self._release_held()
                self._on_end()
            else:
                self._hold(batch)
        return self._ready.popleft() if self._ready else None

    def close(self) -> None:
        self._batches.close()

    def _hold(self, batch: Batch) -> None:
        """Keep a batch until a row of a later frame has been decoded."""
        if self._held and (len(self._held) > _MAX_WAITING_BATCHES or _has_rows_after(batch, self._held[-1].last_frame)):
            self._release_held()
        self._held.append(batch)

    def _release_held(self) -> None:
        for batch in self._held:
            self._release(batch)
        self._held.clear()

    def _release(self, batch: Batch) -> None:
        """Pass on the rows of a batch, which are confirmed."""
        self._ready.append(batch)

    def _on_loss(self) -> None:
        """Insert rows where rows are lost; for subclasses."""

    def _on_end(self) -> None:
        """Finish, and in subclasses insert rows at the end."""
        self._is_finished = True

    def _recover(self, error: JellyError) -> None:
        decoder = self._batches.decoder
        self._options = self.options
        frame, start, head = decoder.unfinished_frame()
        next_frame = frame + 1
        suspect = decoder.last_frame_with_rows()
        if suspect is not None and not error.row and not begins_frame(head, self._kind.row_tags):
            frame, start = suspect
        self._release_before(frame)
        self._remember_options(decoder)
        self._batches.close()
        restart: int | None = None
        stop: int | None = None
        with self._place.opened() as reading:
            if reading is not None:
                # Streams that were concatenated may each have their own options.
                known = [] if self._any_options else self._options_rows
                restart = _find_restart(reading, start + 1, known, self._limits, self._kind)
                stop = reading.stop if restart is None else restart
                if restart is not None:
                    # If the damage has changed no length, the lengths tell how many frames there are.
                    next_frame = frame + (reading.count_frames(start, restart) or next_frame - frame)
        if restart is None and isinstance(error, StreamKindError) and not self._options_rows:
            # All of the stream would be lost, though nothing is damaged.
            raise error
        self._on_damage(Damage(start, stop, error))
        self._on_loss()
        if restart is None:
            self._on_end()
        else:
            self._batches = self._open_at(restart, next_frame)

    def _release_before(self, frame: int) -> None:
        for batch in self._held:
            kept = batch if batch.last_frame < frame else _frames_before(batch, frame)
            if kept is not None:
                self._release(kept)
        self._held.clear()

    def _remember_options(self, decoder: AnyStreamDecoder[_OptionsT]) -> None:
        message = decoder.options_message()
        if message is not None:
            row = encode_bytes_field(1, encode_bytes_field(1, message))
            if row not in self._options_rows:
                self._options_rows.append(row)


def _has_rows_after(batch: Batch, frame: int) -> bool:
    """Return whether a batch has rows of frames after the given one."""
    return any(span.number > frame and span.stop > span.start for span in batch.frame_spans())


def _frames_before(batch: Batch, frame: int) -> Batch | None:
    """Return the frames of a batch before the given one; None if there are none."""
    if frame <= batch.first_frame or batch.frame_ends is None:
        return None
    ends = batch.frame_ends[: frame - batch.first_frame]
    # A slice by rows leaves out empty frames at its end, which also come before the frame.
    return batch.slice(0, ends[-1]).replace(
        first_frame=batch.first_frame,
        frame_ends=ends,
        last_frame_open=False,
        metadata={number: entries for number, entries in batch.metadata.items() if number < frame},
        namespaces=[declaration for declaration in batch.namespaces if declaration.frame < frame],
    )


# ---- random access ----------------------------------------------------------------------------------------


class _Reading:
    """A file that can be read at any offset before `stop`."""

    def __init__(self, file: InputHandle, origin: int, stop: int | None) -> None:
        self._file = file
        self._origin = origin
        size = file.seek(0, os.SEEK_END) - origin
        self.stop = size if stop is None else min(stop, size)

    def at(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from an offset on; fewer at the end only."""
        size = min(size, self.stop - offset)
        if size <= 0:
            return b""
        self._file.seek(self._origin + offset)
        data = self._file.read(size)
        while len(data) < size:
            more = self._file.read(size - len(data))
            if not more:
                break
            data += more
        return data

    def count_frames(self, start: int, stop: int) -> int | None:
        """Return how many frames are between two offsets; None if their lengths do not lead from one to the other."""
        try:
            return sum(1 for _frame in walk_frames(self._file, self._origin + start, self._origin + stop))
        except ParseError:
            return None


class RandomAccess:
    """The bytes of a source at any offset, where the source allows it.

    The offset 0 is at `origin` in the source; `stop` is the offset at which to end, or None.
    """

    def __init__(
        self, source: Source, is_compressed: bool, origin: int, stop: int | None, filesystem: FileSystem | None
    ) -> None:
        self._source = source
        self._is_compressed = is_compressed
        self._origin = origin
        self._stop = stop
        self._filesystem = filesystem

    @contextmanager
    def opened(self) -> Iterator[_Reading | None]:
        """Open the source; None if it cannot seek or its bytes are compressed."""
        source = self._source
        file: Any
        if self._is_compressed:
            yield None
        elif isinstance(source, str | os.PathLike):
            with open_input(source, self._filesystem) as file:
                yield self._reading(file)
        else:
            file = io.BytesIO(source) if isinstance(source, bytes | bytearray | memoryview) else source
            yield self._reading(file)

    def _reading(self, file: Any) -> _Reading | None:
        return _Reading(file, self._origin, self._stop) if is_seekable(file) else None


# ---- the search for a restart point -----------------------------------------------------------------------


def find_restart(
    file: InputHandle, start: int, stop: int, kind: StreamKind, limits: Limits | None = None
) -> int | None:
    """Return the offset of the first restart point of a file from `start` on and before `stop`, or None.

    It is found by its bytes, so that what comes before it may be damaged.
    """
    return _find_restart(_Reading(file, 0, stop), start, [], limits or Limits(), kind)


def _find_restart(
    reading: _Reading, start: int, options_rows: list[bytes], limits: Limits, kind: StreamKind
) -> int | None:
    """Return the offset of the first restart point of a kind of stream from `start` on, or None.

    It begins with one of `options_rows`; if none is known, with any plausible options row.
    """
    pattern = re.compile(b"|".join(map(re.escape, options_rows)) or kind.options_row(), re.DOTALL)
    overlap = max(map(len, options_rows), default=8) - 1
    offset = start
    before = b""
    while data := reading.at(offset, CHUNK_BYTES):
        text = before + data
        base = offset - len(before)
        for match in pattern.finditer(text):
            found = _restart_with(reading, base + match.start(), start, limits, kind)
            if found is not None:
                return found
        offset += len(data)
        before = text[-overlap:]
    return None


def _restart_with(reading: _Reading, body: int, start: int, limits: Limits, kind: StreamKind) -> int | None:
    """Return the offset of the restart point whose first row is at `body`, or None if there is none."""
    lengths = reading.at(max(start, body - _MAX_LENGTH_BYTES), body - max(start, body - _MAX_LENGTH_BYTES))
    for width in range(1, len(lengths) + 1):
        encoded = lengths[-width:]
        if encoded[-1] > 0x7F or any(byte < 0x80 for byte in encoded[:-1]):
            return None
        length, _at = decode_varint(encoded, 0)
        stop = body + length
        if (
            length <= limits.max_frame_bytes
            and stop <= reading.stop
            and (stop == reading.stop or begins_frame(reading.at(stop, HEAD_BYTES), kind.row_tags))
            and may_be_restart(frame := reading.at(body, length))
            and kind.decodes(frame, limits)
        ):
            return body - width
    return None
