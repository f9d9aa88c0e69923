"""Frames in a file are found with reads of any size."""

from __future__ import annotations

import io
from itertools import chain

import pytest

from jellyframe.errors import JellyError, LimitError, ParseError
from jellyframe.storage.sources import ByteSource
from jellyframe.stream.framing import FrameSplitter, RawFrame, begins_frame, read_frames, walk_frames
from support import wire

FRAMES = [
    wire.frame(wire.options(), wire.name("a")),
    b"",
    wire.frame(wire.triple(wire.bnode("x" * 5000), wire.iri(0, 1), wire.literal("y" * 300))),
    wire.frame(metadata={"key": b"value" * 40}),
    wire.frame(wire.triple()),
]
DATA = wire.delimited(*FRAMES)


@pytest.mark.parametrize("read_bytes", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("head_bytes", [0, 3, 4096])
def test_all_frames_are_found(read_bytes: int, head_bytes: int) -> None:
    found = list(walk_frames(io.BytesIO(DATA), 0, len(DATA), head_bytes=head_bytes, read_bytes=read_bytes))
    assert [DATA[frame.body : frame.stop] for frame in found] == FRAMES
    assert [frame.offset for frame in found] == [0, *(frame.stop for frame in found[:-1])]
    for frame, expected in zip(found, FRAMES, strict=True):
        head = bytes(frame.head)
        assert expected.startswith(head)
        assert len(head) >= min(head_bytes, len(expected))
    (last,) = walk_frames(io.BytesIO(DATA), found[-1].offset, len(DATA))
    assert last.body == found[-1].body


LONG_OPTIONS = wire.frame(wire.options(name="n" * 300))


@pytest.mark.parametrize("read_bytes", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("head_bytes", [0, 3, 4096])
def test_only_frames_with_options_are_found_on_request(read_bytes: int, head_bytes: int) -> None:
    frames = [*FRAMES, LONG_OPTIONS, FRAMES[2], *FRAMES, FRAMES[0]]
    data = wire.delimited(*frames)
    everything = list(walk_frames(io.BytesIO(data), 0, len(data)))
    # The first frame of a walk is always found.
    start = everything[1].offset
    found = list(
        walk_frames(
            io.BytesIO(data), start, len(data), head_bytes=head_bytes, read_bytes=read_bytes, only_with_options=True
        )
    )
    expected = [everything[1], *(everything[number] for number in (5, 7, 12))]
    assert [frame[:3] for frame in found] == [frame[:3] for frame in expected]
    for bad in (data[:-1], data + b"\x05", data + b"\x80" * 12, data + b"\xff"):
        with pytest.raises(ParseError):
            list(walk_frames(io.BytesIO(bad), 0, len(bad), read_bytes=read_bytes, only_with_options=True))


@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"\x05", DATA + b"\x80" * 12, b"\xff"])
def test_truncated_frames_are_errors_with_an_offset(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        list(walk_frames(io.BytesIO(data), 0, len(data)))
    assert caught.value.offset is not None
    assert caught.value.offset <= len(data)


def test_the_starts_of_frames_are_recognised() -> None:
    for frame in FRAMES:
        assert begins_frame(wire.delimited(frame)[:64]) is bool(frame)
    for head in (b"", b"\x0a", b"<a> <b> <c> .\n", b"\x05\x0a\x03\x12\x02ab"[:3], b"\x09\x0a\x03\x12\x02", bytes(64)):
        assert not begins_frame(head)


@pytest.mark.parametrize("step", [1, 7, 100, 1 << 20])
def test_bytes_in_pieces_give_whole_frames(step: int) -> None:
    splitter = FrameSplitter()
    found = [frame for at in range(0, len(DATA), step) for frame in splitter.push(DATA[at : at + step])]
    found += splitter.finish()
    assert [frame.body for frame in found] == FRAMES
    assert b"".join(frame.prefix + frame.body for frame in found) == DATA
    assert [DATA[frame.offset :][: len(frame.prefix)] for frame in found] == [frame.prefix for frame in found]


@pytest.mark.parametrize("step", [1, 1 << 20])
def test_a_bare_frame_is_one_frame(step: int) -> None:
    data = FRAMES[0]
    with ByteSource(io.BytesIO(data)) as source:
        (frame,) = read_frames(source, len(data))
    assert frame == (0, b"", data)
    splitter = FrameSplitter(len(data) - 1)
    pieces = (data[at : at + step] for at in range(0, len(data), step))
    with pytest.raises(LimitError, match=f"above the limit of {len(data) - 1}"):
        list(chain.from_iterable(map(splitter.push, pieces)))


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (DATA[:-1], ParseError, "^frame 4, byte [0-9]+: the input ends inside a frame$"),
        (DATA + b"\x80", ParseError, "^frame 5, byte [0-9]+: the input ends inside a frame$"),
        (DATA + b"\x80" * 12, ParseError, "^frame 5, byte [0-9]+: a number runs over ten bytes"),
        (DATA + b"\xff\xff\xff\x7f", LimitError, "^frame 5, byte [0-9]+: a frame of 268435455 bytes"),
    ],
)
def test_frames_before_a_bad_one_are_found(data: bytes, kind: type[JellyError], message: str) -> None:
    splitter = FrameSplitter(1 << 20)
    found: list[RawFrame] = []
    with pytest.raises(kind, match=message):
        found.extend(chain(splitter.push(data), splitter.finish()))
    assert [frame.body for frame in found] == FRAMES[: len(found)]
    assert len(found) >= 4
