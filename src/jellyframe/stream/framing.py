"""Frames in a file or a stream of bytes: whether they are delimited, where each begins, and what looks like one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jellyframe.errors import Advice, LimitError, ParseError, locating
from jellyframe.kernel import fields
from jellyframe.options import MAX_FRAME_BYTES
from jellyframe.storage.sources import CHUNK_BYTES, ByteSource
from jellyframe.storage.types import Buffer, InputHandle
from jellyframe.wire import BYTES, MAX_VARINT_BYTES, decode_varint

ROW_TAG = fields.FRAME_ROWS << 3 | BYTES
METADATA_TAG = fields.FRAME_METADATA << 3 | BYTES
OPTIONS_TAG = fields.ROW_OPTIONS << 3 | BYTES
# The tags of the fields of RdfStreamRow, all of them messages.
ROW_TAGS = bytes(
    field << 3 | BYTES
    for field in (
        fields.ROW_OPTIONS,
        fields.ROW_TRIPLE,
        fields.ROW_QUAD,
        fields.ROW_GRAPH_START,
        fields.ROW_GRAPH_END,
        fields.ROW_NAMESPACE,
        fields.ROW_NAME,
        fields.ROW_PREFIX,
        fields.ROW_DATATYPE,
    )
)
# Bytes of a frame that tell what its first rows are.
HEAD_BYTES = 4096
# Bytes that tell whether frames are delimited.
SNIFFED_BYTES = 3


class FrameAt(NamedTuple):
    """A delimited frame: the offset of its length, that of its first byte, that after it, and its first bytes."""

    offset: int
    body: int
    stop: int
    head: memoryview


def looks_delimited(head: bytes) -> bool:
    """Return whether a file with these first three bytes has delimited frames, and not one bare frame.

    A bare frame starts with a row (0x0A), its length, and an options row in it (0x0A). A delimited one starts with its
    length and then a row, or metadata (0x7A), unless it is empty.
    """
    if len(head) < SNIFFED_BYTES:
        return len(head) > 0 and not any(head)
    if head[0] != ROW_TAG:
        return True
    return head[2] != OPTIONS_TAG and head[1] in (ROW_TAG, METADATA_TAG)


def walk_frames(
    file: InputHandle,
    start: int,
    stop: int,
    *,
    head_bytes: int = 0,
    read_bytes: int = CHUNK_BYTES,
    only_with_options: bool = False,
) -> Iterator[FrameAt]:
    """Hop from frame to frame of a file, from `start` to `stop`, by the lengths in front of the frames.

    Each frame comes with at least `head_bytes` of its first bytes, as far as it has them. `read_bytes` are read at a
    time: by default many, for files that are far away. With `only_with_options`, frames after the first one are left
    out if they do not begin with an options row. Raises ParseError where a length is not one, and where the last frame
    does not end at `stop`.
    """
    if only_with_options:
        # Few commands need it, and all of them load this module.
        from jellyframe.kernel.hop_cy import next_with_options
    wanted = head_bytes + MAX_VARINT_BYTES
    offset = start
    # What has been read, and where it begins in the file.
    data, data_offset = b"", start
    view = memoryview(data)
    while offset < stop:
        if offset > data_offset + len(data):
            data, data_offset = b"", offset
        at = offset - data_offset
        ahead = data_offset + len(data)
        if len(data) - at < wanted and ahead < stop:
            file.seek(ahead)
            data, data_offset = data[at:] + file.read(min(max(read_bytes, wanted), stop - ahead)), offset
            view = memoryview(data)
            at = 0
        if only_with_options and offset > start:
            is_end = data_offset + len(data) == stop
            offset = data_offset + next_with_options(data, at, len(data) if is_end else len(data) - wanted + 1)
            if offset > data_offset + at:
                continue
        try:
            length, body = decode_varint(data, at)
        except ParseError as error:
            raise ParseError(error.message, offset=offset) from None
        after = data_offset + body + length
        yield FrameAt(offset, data_offset + body, after, view[body : body + length])
        offset = after
    if offset != stop:
        raise ParseError("the input ends inside a frame", offset=stop)


class RawFrame(NamedTuple):
    """A frame of the (uncompressed) stream: its offset, the length in front of it as encoded, and its bytes."""

    offset: int
    prefix: bytes
    body: bytes


class FrameSplitter:
    """Splits a stream of bytes into frames without decoding them: bytes in, whole frames out, no I/O.

    Args:
        max_frame_bytes: the largest frame to accept
        delimited: whether frames are delimited; by default it is detected from the first bytes
        offset: where the bytes begin in the stream, for errors and the offsets of frames
    """

    def __init__(
        self, max_frame_bytes: int = MAX_FRAME_BYTES, *, delimited: bool | None = None, offset: int = 0
    ) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._is_delimited = delimited
        self._offset = offset
        self._number = 0
        self._waiting = bytearray()

    def push(self, data: Buffer) -> Iterator[RawFrame]:
        """Add `data`, and yield the frames that are whole."""
        self._waiting += data
        if self._is_delimited is None:
            if len(self._waiting) < SNIFFED_BYTES:
                return
            self._is_delimited = looks_delimited(bytes(self._waiting[:SNIFFED_BYTES]))
        if not self._is_delimited:
            self._check_size(len(self._waiting))
            return
        at = 0
        try:
            while (found := self._whole_frame(at)) is not None:
                body, stop = found
                frame = RawFrame(self._offset, bytes(self._waiting[at:body]), bytes(self._waiting[body:stop]))
                self._offset += stop - at
                self._number += 1
                at = stop
                yield frame
        finally:
            del self._waiting[:at]

    def finish(self) -> Iterator[RawFrame]:
        """Yield the bare frame, if the stream is one. Raises ParseError if the bytes end inside a delimited frame."""
        if not self._waiting:
            return
        if self._is_delimited is None:
            self._is_delimited = looks_delimited(bytes(self._waiting))
            yield from self.push(b"")
        if not self._is_delimited:
            yield RawFrame(self._offset, b"", bytes(self._waiting))
        elif self._waiting:
            raise ParseError("the input ends inside a frame", frame=self._number, offset=self._offset)

    def _whole_frame(self, at: int) -> tuple[int, int] | None:
        """Return the start and end of the body of the frame at `at`; None if it is not complete."""
        head = self._waiting[at : at + MAX_VARINT_BYTES]
        if len(head) < MAX_VARINT_BYTES and not any(byte < 0x80 for byte in head):
            return None
        try:
            length, size = decode_varint(bytes(head), 0)
        except ParseError as error:
            raise error.replace(frame=self._number, offset=self._offset) from None
        self._check_size(length)
        stop = at + size + length
        return (at + size, stop) if stop <= len(self._waiting) else None

    def _check_size(self, size: int) -> None:
        if size > self._max_frame_bytes:
            raise LimitError(
                f"a frame of {size} bytes or more, above the limit of {self._max_frame_bytes}",
                advice=Advice("limit", "max_frame_bytes"),
                frame=self._number,
                offset=self._offset,
            )


def read_frames(
    source: ByteSource, max_frame_bytes: int, *, delimited: bool | None = None, offset: int = 0
) -> Iterator[RawFrame]:
    """Yield the frames of a source that need not seek; the arguments are those of `FrameSplitter`."""
    with locating(source.name):
        splitter = FrameSplitter(max_frame_bytes, delimited=delimited, offset=offset)
        while data := source.read(CHUNK_BYTES):
            yield from splitter.push(data)
        yield from splitter.finish()


def split_frames(data: bytes) -> list[bytes]:
    """Return the delimited frames in bytes, each without its length, for messages.

    The bytes come from an encoder, so that nothing is checked, unlike in `FrameSplitter`: this runs for every message.
    """
    frames: list[bytes] = []
    at = 0
    while at < len(data):
        size, at = decode_varint(data, at)
        frames.append(data[at : at + size])
        at += size
    return frames


def begins_frame(head: bytes, row_tags: bytes = ROW_TAGS) -> bool:
    """Return whether these bytes begin like a delimited frame: its length, then a whole row header, or metadata.

    The header of a row must be consistent: the row is one known field, with one of the tags, that fills it. Other bytes
    hardly ever are by chance.
    """
    try:
        length, at = decode_varint(head, 0)
        if at >= len(head) or head[at] not in (ROW_TAG, METADATA_TAG):
            return False
        row_length, inside = decode_varint(head, at + 1)
        if inside >= len(head) or inside - at + row_length > length:
            return False
        if head[at] == METADATA_TAG:
            key_length, key = decode_varint(head, inside + 1)
            return head[inside] == 0x0A and key - inside + key_length <= row_length
        field_length, content = decode_varint(head, inside + 1)
    except ParseError:
        return False
    return head[inside] in row_tags and content - inside + field_length == row_length
