"""Restart points: where a reader may start, and how to find them.

At regular distances our writer begins a frame with the options again, and from there on nothing refers to earlier
frames. The points can be listed in an index frame at the end of the file: a frame with no rows, which other readers
skip, whose metadata holds the index. The last bytes of the file say how long that frame is, so that finding it takes
one small read. Without an index, `scan_restart_points` goes from frame to frame.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from jellyframe.errors import ParseError
from jellyframe.kernel import fields, patch_fields
from jellyframe.storage.sources import CHUNK_BYTES
from jellyframe.storage.types import InputHandle
from jellyframe.stream.framing import HEAD_BYTES, walk_frames
from jellyframe.stream.kinds import ANY_STATEMENTS, StreamKind
from jellyframe.wire import BYTES, decode_fields, decode_varint, encode_metadata, encode_varint

INDEX_KEY = "jellyframe.stream.index"
_INDEX_VERSION = 1
_TRAILER = struct.Struct("<I8s")
_MAGIC = b"JELLYIDX"


class _RowTags(NamedTuple):
    """The tags of rows that tell a restart point, and of those that may come before such a row."""

    entries: tuple[int, ...]
    statements: tuple[int, ...]
    passed: tuple[int, ...]


def _tags(*row_fields: int) -> tuple[int, ...]:
    return tuple(field << 3 | BYTES for field in row_fields)


_RDF_ROWS = _RowTags(
    entries=_tags(fields.ROW_NAME, fields.ROW_PREFIX, fields.ROW_DATATYPE),
    statements=_tags(fields.ROW_TRIPLE, fields.ROW_QUAD, fields.ROW_GRAPH_START),
    passed=(),
)
_PATCH_ROWS = _RowTags(
    entries=_tags(patch_fields.PATCH_NAME, patch_fields.PATCH_PREFIX, patch_fields.PATCH_DATATYPE),
    statements=_tags(patch_fields.PATCH_ADD, patch_fields.PATCH_DELETE),
    # Transactions, punctuation marks and headers need no entry.
    passed=_tags(
        patch_fields.PATCH_TRANSACTION_START,
        patch_fields.PATCH_TRANSACTION_COMMIT,
        patch_fields.PATCH_TRANSACTION_ABORT,
        patch_fields.PATCH_HEADER,
        patch_fields.PATCH_PUNCTUATION,
    ),
)


class RestartPoint(NamedTuple):
    """An offset at which a reader may start; the number of `statements` before it, if an index has it."""

    offset: int
    statements: int | None


class Index(NamedTuple):
    """The index of one stream.

    Attributes:
        restarts: the restart points of the stream
        statements: the number of its statements
        start: its offset in the file
        stop: its end in the file, after the index
    """

    restarts: list[RestartPoint]
    statements: int
    start: int
    stop: int


def encode_index_frame(restarts: list[tuple[int, int]], statements: int, stream_bytes: int) -> bytes:
    """Return the delimited index frame that follows a stream of `stream_bytes` bytes."""
    body = bytearray([_INDEX_VERSION])
    body += encode_varint(stream_bytes) + encode_varint(statements) + encode_varint(len(restarts))
    last_offset = last_statements = 0
    for offset, before in restarts:
        body += encode_varint(offset - last_offset) + encode_varint(before - last_statements)
        last_offset, last_statements = offset, before
    # The trailer holds the size of the whole frame, of which it is the end; its own size does not vary.
    frame = encode_metadata({INDEX_KEY: bytes(body) + bytes(_TRAILER.size)})
    delimited = encode_varint(len(frame)) + frame
    return delimited[: -_TRAILER.size] + _TRAILER.pack(len(delimited), _MAGIC)


def read_index(file: InputHandle, end: int | None = None) -> Index | None:
    """Return the index of the stream that ends at `end` of a `file`, by default at its end; None if it has none."""
    if end is None:
        end = file.seek(0, os.SEEK_END)
    if end < _TRAILER.size:
        return None
    file.seek(end - _TRAILER.size)
    size, magic = _TRAILER.unpack(file.read(_TRAILER.size))
    if magic != _MAGIC or size > end:
        return None
    file.seek(end - size)
    return _decode_index_frame(file.read(size), end)


def _decode_index_frame(frame: bytes, end: int) -> Index | None:
    """Return the index in a frame that ends at `end`; None if it is not one, or one of a later version."""
    try:
        length, at = decode_varint(frame, 0)
        if length != len(frame) - at:
            return None
        metadata = {}
        for field, _wire_type, entry in decode_fields(frame[at:]):
            if field != 15 or not isinstance(entry, bytes):
                return None
            values = {number: value for number, _type, value in decode_fields(entry)}
            metadata[values.get(1)] = values.get(2)
        body = metadata.get(INDEX_KEY.encode())
        if not isinstance(body, bytes) or not body or body[0] != _INDEX_VERSION:
            return None
        stream_bytes, at = decode_varint(body, 1)
        statements, at = decode_varint(body, at)
        count, at = decode_varint(body, at)
        start = end - len(frame) - stream_bytes
        if start < 0 or count > len(body):
            return None
        restarts = []
        offset, before = start, 0
        for _ in range(count):
            step, at = decode_varint(body, at)
            offset += step
            step, at = decode_varint(body, at)
            before += step
            restarts.append(RestartPoint(offset, before))
        return Index(restarts, statements, start, end)
    except ParseError:
        return None


def restart_points(file: InputHandle) -> list[RestartPoint]:
    """Return the restart points of a `file`, its start among them. The file may hold several streams, end to end."""
    return list(each_restart_point(file))


def each_restart_point(
    file: InputHandle, read_bytes: int = CHUNK_BYTES, kind: StreamKind = ANY_STATEMENTS
) -> Iterator[RestartPoint]:
    """Yield the restart points of a file one after the other, as soon as they are known.

    They are read from the indexes, if there are any; what no index covers is scanned, in reads of `read_bytes`: by
    default many, for remote files.
    """
    indexed: list[RestartPoint] = []
    end = file.seek(0, os.SEEK_END)
    while (index := read_index(file, end)) is not None:
        indexed = index.restarts + indexed
        end = index.start
    yield from scan_restart_points(file, 0, end, read_bytes, kind)
    yield from indexed


def scan_restart_points(
    file: InputHandle,
    start: int,
    stop: int,
    read_bytes: int = CHUNK_BYTES,
    kind: StreamKind = ANY_STATEMENTS,
) -> Iterator[RestartPoint]:
    """Yield the frames from `start` to `stop` that are restart points; the first one always counts.

    A frame that begins with the options is taken for one if its first entry states its id, 1, as ours do, and its first
    rows refer to nothing before it: other writers may repeat the options in any frame. If a later row refers back all
    the same, reading it raises, and never returns wrong data.
    """
    frames = walk_frames(file, start, stop, head_bytes=HEAD_BYTES, read_bytes=read_bytes, only_with_options=True)
    for frame in frames:
        if frame.offset == start or _is_restart(bytes(frame.head[:HEAD_BYTES]), kind):
            yield RestartPoint(frame.offset, None)


def _is_restart(head: bytes, kind: StreamKind) -> bool:
    return looks_like_restart(head) and kind.begins_alone(head)


def looks_like_restart(frame: bytes) -> bool:
    """Return whether a frame, of which the first rows are given, begins like a restart point of our writer."""
    try:
        return bool(_begins_anew(frame))
    except ParseError:
        return False


def may_be_restart(frame: bytes) -> bool:
    """Return whether a whole frame can be a restart point.

    In addition to frames that look like one, these are frames with neither lookup entries nor statements, such as the
    start of a transaction: only the frames after it show whether they refer to earlier ones.
    """
    try:
        return _begins_anew(frame) is not False
    except ParseError:
        return False


def _begins_anew(frame: bytes) -> bool | None:
    """Return whether the first entry or statement of a frame needs nothing before the frame; None if it has neither."""
    rows: _RowTags | None = None
    at = 0
    while at < len(frame) and frame[at] == 0x0A:
        length, at = decode_varint(frame, at + 1)
        kind = frame[at] if at < len(frame) else 0
        _size, content = decode_varint(frame, at + 1)
        if rows is None:
            if kind != 0x0A:
                return False
            # The options of a patch stream begin with a number, the statement type.
            rows = _PATCH_ROWS if frame[content : content + 1] == b"\x08" else _RDF_ROWS
        elif kind in rows.entries:
            # A name, prefix or datatype entry whose first field is the id 1; most other rows come after one.
            return frame[content : content + 2] == b"\x08\x01"
        elif kind in rows.statements:
            return _has_no_iri(frame[content : at + length], (1, 5, 9, 13))
        elif kind not in rows.passed or not _has_no_iri(frame[content : at + length], (2, 5)):
            return False
        at += length
    return None if rows is not None and at == len(frame) else False


def _has_no_iri(message: bytes, iri_fields: tuple[int, ...]) -> bool:
    """Return whether a row needs no lookup entry before it, as none of its terms is an IRI."""
    return all(field not in iri_fields for field, _type, _value in decode_fields(message))
