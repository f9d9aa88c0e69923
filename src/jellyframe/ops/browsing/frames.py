"""Frames after a restart point: their sizes and content, and the lookup tables after one of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jellyframe.errors import ParseError
from jellyframe.kernel.fields import ROW_DATATYPE, ROW_NAME, ROW_PREFIX
from jellyframe.ops.browsing.anchors import Anchors
from jellyframe.ops.browsing.pages import BrowsedFile
from jellyframe.ops.survey import Counts, FrameCounts, StreamSurvey
from jellyframe.storage.sources import ByteSource
from jellyframe.stream.framing import ROW_TAG, RawFrame, read_frames
from jellyframe.wire import BYTES, decode_fields, decode_varint

SAMPLE_BYTES = 12 << 20
_SAMPLE_PLACES = 6
_TABLES = {ROW_NAME: "names", ROW_PREFIX: "prefixes", ROW_DATATYPE: "datatypes"}
# The tags of rows that are lookup entries.
_ENTRY_TAGS = {field << 3 | BYTES: field for field in _TABLES}


class FrameSummary(NamedTuple):
    """A frame: its number after the restart point, its offset, its bytes and its content."""

    number: int
    offset: int
    size: int
    counts: Counts
    metadata: dict[str, bytes]


class FrameList(NamedTuple):
    """Consecutive frames. `has_more` is whether there are more before the next restart point."""

    frames: list[FrameSummary]
    has_more: bool


def raw_frames(file: BrowsedFile, anchor: int) -> Iterator[RawFrame]:
    """Yield the frames from a restart point to the next."""
    after = None if file.anchors is None else file.anchors.after(anchor)
    start, stop = (0, None) if anchor == 0 and after is None else (anchor, after)
    with ByteSource(file.path, file.limits, start=start, stop=stop) as source:
        yield from read_frames(source, file.limits.max_frame_bytes, delimited=file.is_delimited, offset=anchor)


def frame_list(file: BrowsedFile, anchor: int, first: int, count: int) -> FrameList:
    """Return frames after a restart point, starting with the number `first`."""
    found: list[FrameSummary] = []
    raw: RawFrame | None = None

    def add(_survey: StreamSurvey, frame: FrameCounts) -> None:
        if frame.number >= first and raw is not None:
            size = len(raw.prefix) + len(raw.body)
            found.append(FrameSummary(frame.number, raw.offset, size, frame.counts, frame.metadata))

    survey = StreamSurvey(
        limits=file.limits, delimited=file.is_delimited, dialect="released", on_frame=add, keep_metadata=True
    )
    frames = raw_frames(file, anchor)
    for raw in islice(frames, first + count):
        survey.push(raw.prefix + raw.body)
    if not file.is_delimited:
        survey.finish()
    return FrameList(found, next(frames, None) is not None)


def lookup_state(file: BrowsedFile, anchor: int, frame: int) -> dict[str, dict[int, str]]:
    """Return the lookup tables, ids and entries, after a frame, which is counted from a restart point."""
    tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES.values()}
    last = dict.fromkeys(_TABLES, 0)
    count = 0
    for raw in islice(raw_frames(file, anchor), frame + 1):
        count += 1
        for kind, entry in _entries(raw.body):
            fields = {field: value for field, _type, value in decode_fields(entry)}
            given, text = fields.get(1, 0), fields.get(2, b"")
            last[kind] = given if isinstance(given, int) and given else last[kind] + 1
            tables[_TABLES[kind]][last[kind]] = text.decode(errors="replace") if isinstance(text, bytes) else ""
    if count <= frame:
        raise ParseError(f"there is no frame {frame} between this restart point and the next: there are {count}")
    return tables


def _entries(frame: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lookup entries of a frame, each with its kind."""
    at = 0
    while at < len(frame):
        if frame[at] != ROW_TAG:
            # Metadata, and unknown fields.
            for field, _type, value in decode_fields(frame[at:]):
                if field == 1 and isinstance(value, bytes) and value and value[0] in _ENTRY_TAGS:
                    _length, start = decode_varint(value, 1)
                    yield _ENTRY_TAGS[value[0]], value[start:]
            return
        length, start = decode_varint(frame, at + 1)
        at = start + length
        if length and frame[start] in _ENTRY_TAGS:
            _length, content = decode_varint(frame, start + 1)
            yield _ENTRY_TAGS[frame[start]], frame[content:at]


class Sample(NamedTuple):
    """Some of the frames of a file as one stream, and the number of places that they are from."""

    data: bytes
    places: int
    is_all: bool


def sample(file: BrowsedFile, most_bytes: int = SAMPLE_BYTES) -> Sample:
    """Return the start of a file and pieces from all of it, together a stream; or the whole of a small file."""
    anchors = [0]
    if file.anchors is not None:
        size = file.anchors.size
        if size > most_bytes:
            anchors = sorted({file.anchors.at(size * place // _SAMPLE_PLACES) for place in range(_SAMPLE_PLACES)})
        else:
            anchors = list(_each_anchor(file.anchors))
    share = most_bytes if len(anchors) == 1 or (file.size or 0) <= most_bytes else most_bytes // len(anchors)
    pieces: list[bytes] = []
    is_all = True
    for anchor in anchors:
        left = share
        for raw in raw_frames(file, anchor):
            left -= len(raw.body)
            if left < 0 and pieces:
                is_all = False
                break
            pieces += (raw.prefix, raw.body)
    is_all = is_all and (file.anchors is None or file.anchors.size <= most_bytes)
    return Sample(b"".join(pieces), 1 if is_all else len(anchors), is_all)


def _each_anchor(anchors: Anchors) -> Iterator[int]:
    anchor: int | None = 0
    while anchor is not None:
        yield anchor
        anchor = anchors.after(anchor)
