"""Truncated input, and input above the limits."""

from __future__ import annotations

import gzip
import importlib
import io
import sys
import tracemalloc
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, LimitError, OptionsError, ParseError
from jellyframe.options import Limits
from support import wire
from support.plain import PlainStatement, plain
from support.wire import bnode, iri, literal

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}

NAMES = [wire.name("a"), wire.name("b"), wire.name("é" * 70)]
FRAMES = [
    wire.frame(
        wire.options(physical=2, star=1, version=2, name="stream"),
        *NAMES,
        wire.prefix("http://example.org/"),
        wire.namespace("n", iri(1, 1)),
        wire.quad(iri(1, 1), iri(0, 2), literal("text", lang="en"), wire.DEFAULT_GRAPH),
    ),
    wire.frame(metadata={"key": b"value"}),
    b"",
    wire.frame(wire.datatype("urn:d"), wire.quad(None, None, literal("5", datatype=1), bnode("g"))),
    wire.frame(
        wire.quad(wire.quoted(iri(0, 1), iri(0, 3), literal("x" * 150)), None, bnode("b"), iri(0, 2)),
        metadata={"k": b"\xff" * 20},
    ),
]
WHOLE = wire.delimited(*FRAMES)
ENDS = [len(wire.delimited(*FRAMES[:count])) for count in range(len(FRAMES) + 1)]


def read(twin: ModuleType, source: Any, **arguments: Any) -> list[list[PlainStatement]]:
    with twin.open_reader(source, **arguments) as reader:
        return [plain(frame.statements()) for frame in reader.frames()]


def read_until_error(twin: ModuleType, source: Any) -> tuple[list[list[PlainStatement]], JellyError | None]:
    frames: list[list[PlainStatement]] = []
    try:
        with twin.open_reader(source) as reader:
            for frame in reader.frames():
                frames.append(plain(frame.statements()))
    except JellyError as error:
        return frames, error
    return frames, None


@pytest.mark.parametrize("as_file", [False, True], ids=["bytes", "file"])
def test_a_stream_truncated_at_any_byte_gives_whole_frames_then_an_error(twin: ModuleType, as_file: bool) -> None:
    """Whole frames are read; a frame that is not whole is an error."""
    expected = read(twin, WHOLE)
    assert [len(frame) for frame in expected] == [1, 0, 0, 1, 1]
    for cut in range(3, len(WHOLE)):
        part = WHOLE[:cut]
        frames, error = read_until_error(twin, io.BytesIO(part) if as_file else part)
        complete = sum(end <= cut for end in ENDS) - 1
        assert frames == expected[:complete], cut
        if cut in ENDS:
            assert error is None, cut
        else:
            assert error is not None, cut
            assert error.frame == complete
            assert error.offset is not None
            assert ENDS[complete] <= error.offset <= cut


def test_a_bare_frame_truncated_inside_a_row_is_refused(twin: ModuleType) -> None:
    """Between two rows a truncated bare frame is still valid; inside a row it is not."""
    rows = [wire.options(), *NAMES, wire.triple(*[iri(0, 1)] * 3), wire.triple(bnode("b"))]
    whole = wire.frame(*rows)
    ends = {len(wire.frame(*rows[:count])): count for count in range(len(rows) + 1)}
    for cut in range(3, len(whole)):
        if cut in ends:
            assert len(read(twin, whole[:cut])[0]) == max(0, ends[cut] - 4)
        else:
            with pytest.raises(JellyError) as caught:
                read(twin, whole[:cut])
            assert caught.value.frame == 0
            assert caught.value.row is not None
            assert caught.value.offset is not None


LENGTHS = {
    "just_too_long": wire.varint(300 * 1024 * 1024),
    "two_gigabytes": wire.varint(2**31 - 1),
    "not_32_bits": wire.varint(2**40),
    "negative_as_signed": wire.varint(2**63),
    "largest": wire.varint(2**64 - 1),
    "eleven_bytes": b"\xff" * 10 + b"\x01",
    "without_end": b"\xff\xff\xff",
}


@pytest.mark.parametrize("as_file", [False, True], ids=["bytes", "file"])
@pytest.mark.parametrize("length", [pytest.param(value, id=key) for key, value in LENGTHS.items()])
def test_absurd_frame_lengths_are_refused(twin: ModuleType, length: bytes, as_file: bool) -> None:
    for before in (b"", wire.stream(wire.options())):
        data = before + length + b"\x0a\x0a\x0a\x0a"
        with pytest.raises(JellyError) as caught:
            read(twin, io.BytesIO(data) if as_file else data)
        assert caught.value.frame == bool(before)
        assert caught.value.offset is not None


def test_a_length_takes_no_memory_before_the_bytes_are_there(twin: ModuleType) -> None:
    data = wire.stream(wire.options()) + wire.varint(200 * 1024 * 1024) + b"\x0a" * 100
    tracemalloc.start()
    try:
        with pytest.raises(JellyError):
            read(twin, io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 50 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_the_limit_of_frames_can_be_set(twin: ModuleType) -> None:
    frame = wire.frame(wire.options(), *NAMES, wire.triple(*[iri(0, 3)] * 3))
    for data in (frame, wire.delimited(frame)):
        assert read(twin, data, limits=Limits(max_frame_bytes=len(frame)))
        for source in (data, io.BytesIO(data)):
            with pytest.raises(LimitError) as caught:
                read(twin, source, limits=Limits(max_frame_bytes=len(frame) - 1))
            assert caught.value.frame == 0
            assert caught.value.offset is not None


def nested(depth: int, field: int) -> bytes:
    """A triple row with a quoted triple in a quoted triple and so on, as subject (1) or object (9)."""
    others = wire.spo(None, iri(0, 1), iri(0, 1)) if field == 1 else wire.spo(iri(0, 1), iri(0, 1), None)
    innermost = wire.spo(*[iri(0, 1)] * 3)
    # Headers from the inside out: each wraps all that is inside it and the other two terms.
    headers = []
    size = len(innermost)
    for _ in range(depth):
        headers.append(wire.tag(field + 3, 2) + wire.varint(size))
        size += len(headers[-1]) + len(others)
    if field == 1:
        body = b"".join(reversed(headers)) + innermost + others * depth
    else:
        body = b"".join(others + header for header in reversed(headers)) + innermost
    return wire.block(2, body)


@pytest.mark.parametrize("field", [1, 9], ids=["subject", "object"])
def test_nesting_has_a_limit(twin: ModuleType, field: int) -> None:
    head = [wire.options(star=1), wire.name("a")]
    assert len(read(twin, wire.stream(*head, nested(30, field)))[0]) == 1
    assert len(read(twin, wire.stream(*head, nested(5, field)), limits=Limits(max_nesting_depth=5))[0]) == 1
    for depth, limits in (
        (6, Limits(max_nesting_depth=5)),
        (1, Limits(max_nesting_depth=0)),
        (50_000, Limits()),
    ):
        with pytest.raises(LimitError) as caught:
            read(twin, wire.stream(*head, nested(depth, field)), limits=limits)
        assert (caught.value.frame, caught.value.row) == (0, 2)
        assert caught.value.offset is not None


def test_quoted_triples_side_by_side_are_not_deep(twin: ModuleType) -> None:
    pair = wire.quoted(wire.quoted(*[iri(0, 1)] * 3), iri(0, 1), wire.quoted(*[iri(0, 1)] * 3))
    data = wire.stream(wire.options(star=1), wire.name("a"), *[wire.triple(pair, iri(0, 1), pair)] * 10)
    assert len(read(twin, data, limits=Limits(max_nesting_depth=2))[0]) == 10


@pytest.mark.parametrize("codec", COMPRESS)
def test_compressed_input_is_read(twin: ModuleType, codec: str) -> None:
    compressed = COMPRESS[codec](WHOLE)
    assert read(twin, compressed) == read(twin, io.BytesIO(compressed)) == read(twin, WHOLE)
    # Both formats are made to be concatenated.
    halves = COMPRESS[codec](WHOLE[:100]) + COMPRESS[codec](WHOLE[100:])
    assert read(twin, halves) == read(twin, WHOLE)


@pytest.mark.parametrize("codec", COMPRESS)
def test_broken_compressed_input_is_refused(twin: ModuleType, codec: str) -> None:
    compressed = COMPRESS[codec](WHOLE)
    for cut in range(5, len(compressed), 7):
        with pytest.raises(JellyError):
            read(twin, compressed[:cut])
        with pytest.raises(JellyError):
            read(twin, io.BytesIO(compressed[:cut]))
    middle = len(compressed) // 2
    damaged = compressed[:middle] + bytes([compressed[middle] ^ 0x55]) + compressed[middle + 1 :]
    _, error = read_until_error(twin, damaged)
    assert error is not None or codec == "zstd"  # Zstandard has no checksum unless asked for one


@pytest.mark.parametrize("codec", COMPRESS)
def test_inflated_input_has_a_limit(twin: ModuleType, codec: str) -> None:
    statement = wire.triple(iri(0, 1), iri(0, 1), literal(b"x" * 8_000_000))
    bomb = COMPRESS[codec](wire.stream(wire.options(), wire.name("a"), statement))
    assert len(bomb) < 20_000
    for source in (bomb, io.BytesIO(bomb)):
        with pytest.raises(LimitError):
            read(twin, source, limits=Limits(max_inflated_bytes=1_000_000))
    # Frame after frame, each of them small.
    many = COMPRESS[codec](wire.stream(wire.options()) + bytes(3_000_000))
    with pytest.raises(LimitError):
        read(twin, many, limits=Limits(max_inflated_bytes=10_000))


@pytest.mark.parametrize("codec", COMPRESS)
def test_max_inflated_bytes_limits_the_output(twin: ModuleType, codec: str) -> None:
    data = COMPRESS[codec](WHOLE)
    assert read(twin, data, limits=Limits(max_inflated_bytes=len(WHOLE)))
    with pytest.raises(LimitError):
        read(twin, data, limits=Limits(max_inflated_bytes=len(WHOLE) - 1))


def test_inherited_terms_do_not_count_for_the_batch(twin: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms that the next statement may repeat go over into the next batch, however many and large they are."""
    deep = wire.quoted(wire.quoted(*[bnode("1"), iri(0, 1), bnode("2")]), iri(0, 1), wire.quoted(*[bnode("3")] * 3))
    for object_term in (deep, literal("x" * 5000)):
        rows = [wire.triple(bnode("s0"), iri(0, 1), object_term)]
        rows += [wire.triple(bnode(f"s{number}")) for number in range(1, 10)]
        data = wire.stream(wire.options(star=1, generalized=1), wire.name("a"), *rows)
        expected = read(twin, data)
        assert len(expected[0]) == 10
        assert read(twin, data, batch_rows=1) == expected
        monkeypatch.setattr(importlib.import_module(f"{twin.__name__}.stream.decoder"), "BATCH_BYTES", 1000)
        assert read(twin, data) == expected
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_nesting_depth", 10**9),
        ("max_nesting_depth", 10_001),
        ("max_name_table_size", 2**31 - 1),
        ("max_prefix_table_size", (1 << 24) + 1),
        ("max_datatype_table_size", 2**40),
    ],
)
def test_absurd_limits_are_refused(name: str, value: int) -> None:
    with pytest.raises(OptionsError, match=f"{name} is {value}, and must be at most"):
        Limits(**{name: value})


def test_large_tables_take_memory_when_they_are_used(twin: ModuleType) -> None:
    """A header may ask for all that the limits allow: nothing is allocated for entries that do not come."""
    size = 1 << 24
    limits = Limits(
        max_name_table_size=size, max_prefix_table_size=size, max_datatype_table_size=size, max_nesting_depth=1000
    )
    options = wire.options(names=size, prefixes=size, datatypes=size, star=1)
    rows = [wire.name("a", 1), wire.prefix("p", 9000), wire.name("b", 5000), wire.datatype("d", 4097)]
    rows += [
        wire.triple(wire.iri(9000, 1), wire.iri(9000, 5000), wire.literal("x", datatype=4097)),
        wire.name("c"),
        wire.triple(wire.iri(0, 5001), wire.iri(0, 1), wire.iri(0, 5000)),
    ]
    tracemalloc.start()
    try:
        with twin.open_reader(wire.stream(options, *rows), limits=limits) as reader:
            lines = [statement.to_line() for statement in reader.statements()]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert lines == ['<pa> <pb> "x"^^<d> .', "<pc> <pa> <pb> ."]
    assert peak < 8 << 20
    for row, message in (
        (wire.triple(*[wire.iri(0, 6000)] * 3), "name id 6000 was never set"),
        (wire.triple(*[wire.iri(size, 1)] * 3), f"prefix id {size} was never set"),
        (wire.triple(*[wire.iri(0, size + 1)] * 3), f"name id {size + 1} is above the table's size of {size}"),
        (wire.name("x", size + 1), f"name entry id {size + 1} is above the table's size of {size}"),
    ):
        with (
            pytest.raises(ParseError, match=message),
            twin.open_reader(wire.stream(options, wire.name("a"), row), limits=limits) as reader,
        ):
            list(reader.statements())


@pytest.mark.parametrize("depth", [7, 8, 9, 17, 500])
def test_quoted_triples_above_the_reserved_depth_are_read(twin: ModuleType, depth: int) -> None:
    term = wire.bnode("x")
    for level in range(depth):
        other = wire.bnode(f"b{level}")
        term = wire.quoted(term, wire.iri(0, 1), other) if level % 2 else wire.quoted(other, wire.iri(0, 1), term)
    data = wire.stream(wire.options(star=1), wire.name("p"), wire.triple(term, wire.iri(0, 1), term))
    with twin.open_reader(data, limits=Limits(max_nesting_depth=depth)) as reader:
        (line,) = [statement.to_line() for statement in reader.statements()]
    assert line.count("<<") == 2 * depth
    with (
        pytest.raises(LimitError, match="nested deeper"),
        twin.open_reader(data, limits=Limits(max_nesting_depth=depth - 1)) as reader,
    ):
        list(reader.statements())
