"""Frames in a file: whether they are delimited, where each lies, and whether bytes look like the start of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jellyframe.errors import ParseError
from jellyframe.storage.types import InputHandle
from jellyframe.wire import decode_varint

ROW_TAG = 0x0A
METADATA_TAG = 0x7A
OPTIONS_TAG = 0x0A
# The tags of the fields of RdfStreamRow, all of them messages.
ROW_TAGS = bytes(field << 3 | 2 for field in (1, 2, 3, 4, 5, 6, 9, 10, 11))
# Bytes of a frame that tell what its first rows are.
HEAD_BYTES = 4096
READ_BYTES = 1 << 20
_MAX_VARINT_BYTES = 10


class FrameAt(NamedTuple):
    """A delimited frame: the offset of its length, that of its first byte, that behind it, and its first bytes."""

    offset: int
    body: int
    stop: int
    head: memoryview


def looks_delimited(head: bytes) -> bool:
    """Return whether a file with these first three bytes holds frames with their lengths in front, or one bare frame.

    A bare frame starts with a row (0x0A), its length, and an options row in it (0x0A). A delimited one starts with its
    length and then a row, or metadata (0x7A), unless it is empty.
    """
    if len(head) < 3:
        return len(head) > 0 and not any(head)
    if head[0] != ROW_TAG:
        return True
    return head[2] != OPTIONS_TAG and head[1] in (ROW_TAG, METADATA_TAG)


def walk_frames(
    file: InputHandle, start: int, stop: int, *, head_bytes: int = 0, read_bytes: int = READ_BYTES
) -> Iterator[FrameAt]:
    """Hop from frame to frame of a file, from `start` to `stop`, by the lengths in front of the frames.

    Each frame comes with at least `head_bytes` of its first bytes, as far as it has them. `read_bytes` are read at a
    time: by default many, for files that are far away. Raises ParseError where a length is not one, and where the last
    frame does not end at `stop`.
    """
    offset = start
    wanted = head_bytes + _MAX_VARINT_BYTES
    buffer = memoryview(b"")
    at = 0
    while offset < stop:
        if len(buffer) - at < wanted and offset + len(buffer) - at < stop:
            ahead = offset + len(buffer) - at
            file.seek(ahead)
            buffer = memoryview(bytes(buffer[at:]) + file.read(min(max(read_bytes, wanted), stop - ahead)))
            at = 0
        try:
            length, body = decode_varint(buffer, at)
        except ParseError as error:
            raise ParseError(error.message, offset=offset) from None
        after = offset + body - at + length
        yield FrameAt(offset, offset + body - at, after, buffer[body : body + length])
        at = min(body + length, len(buffer))
        if after > offset + len(buffer):
            buffer, at = memoryview(b""), 0
        offset = after
    if offset != stop:
        raise ParseError("the input ends inside a frame", offset=stop)


def split_frames(data: bytes) -> list[bytes]:
    """Return the delimited frames in bytes, each without its length, as messages have them."""
    frames: list[bytes] = []
    at = 0
    while at < len(data):
        size, at = decode_varint(data, at)
        frames.append(data[at : at + size])
        at += size
    return frames


def begins_frame(head: bytes) -> bool:
    """Return whether these bytes begin as a delimited frame does: its length, then a whole row header, or metadata.

    The header of a row has to fit: the row is one known field that fills it. So it hardly ever holds by chance.
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
    return head[inside] in ROW_TAGS and content - inside + field_length == row_length
