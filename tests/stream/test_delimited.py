"""Delimited or bare: detected by the first three bytes, and by trying if they are ambiguous."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError
from support import wire
from support.plain import PlainStatement, plain
from support.sources import Pipe

TEN_BYTES = wire.frame(wire.options(names=8, prefixes=0, datatypes=0))
OPTIONS_ROW_OF_TEN = wire.frame(wire.options(names=8, prefixes=0, datatypes=0, logical=1))
ROWS = [wire.name("a"), wire.triple(*[wire.iri(0, 1)] * 3)]
MORE = wire.frame(*ROWS)
STATEMENT = (("iri", "a"),) * 3
ORDINARY = wire.frame(wire.options(), *ROWS)
METADATA_OF_TEN = wire.frame(metadata={"kk": b"vv"})


def _path(data: bytes, folder: Path) -> Path:
    path = folder / "stream.jelly"
    path.write_bytes(data)
    return path


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "bytes": lambda data, _: data,
    "memoryview": lambda data, _: memoryview(data),
    "file_object": lambda data, _: io.BytesIO(data),
    "pipe": lambda data, _: Pipe(data),
    "path": _path,
    "text_path": lambda data, folder: str(_path(data, folder)),
    "gzip": lambda data, _: gzip.compress(data),
}


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], Any]:
    return lambda data: SOURCES[request.param](data, tmp_path)


def read(twin: ModuleType, source: Any, delimited: bool | None = None) -> list[list[PlainStatement]]:
    with twin.open_reader(source, delimited=delimited) as reader:
        return [plain(frame.statements()) for frame in reader.frames()]


def test_the_examples_begin_with_ambiguous_bytes() -> None:
    assert len(TEN_BYTES) == len(METADATA_OF_TEN) == 10
    assert OPTIONS_ROW_OF_TEN[:3] == b"\x0a\x0a\x0a"
    assert wire.delimited(TEN_BYTES)[:3] == b"\x0a\x0a\x08"
    assert wire.delimited(METADATA_OF_TEN)[:3] == b"\x0a\x7a\x08"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ORDINARY, [[STATEMENT]], id="bare"),
        pytest.param(wire.delimited(ORDINARY), [[STATEMENT]], id="delimited"),
        pytest.param(wire.delimited(ORDINARY, MORE), [[STATEMENT]] * 2, id="two_frames"),
        pytest.param(wire.delimited(TEN_BYTES), [[]], id="delimited_of_ten_bytes"),
        pytest.param(wire.delimited(TEN_BYTES, MORE), [[], [STATEMENT]], id="delimited_of_ten_bytes_and_more"),
        pytest.param(TEN_BYTES, [[]], id="bare_of_ten_bytes"),
        pytest.param(OPTIONS_ROW_OF_TEN, [[]], id="bare_with_options_row_of_ten_bytes"),
        pytest.param(OPTIONS_ROW_OF_TEN + MORE, [[STATEMENT]], id="bare_with_options_row_of_ten_bytes_and_more"),
        pytest.param(
            wire.delimited(OPTIONS_ROW_OF_TEN, MORE),
            [[], [STATEMENT]],
            id="delimited_with_options_row_of_ten",
        ),
        pytest.param(wire.delimited(b"", ORDINARY), [[], [STATEMENT]], id="empty_frame_first"),
        pytest.param(
            wire.delimited(b"", b"", b"", b"", ORDINARY, b""), [[]] * 4 + [[STATEMENT], []], id="empty_frames"
        ),
        pytest.param(wire.delimited(b"", TEN_BYTES, MORE), [[], [], [STATEMENT]], id="empty_frame_then_ten_bytes"),
        pytest.param(
            wire.varint(10, 2) + TEN_BYTES + wire.delimited(MORE),
            [[], [STATEMENT]],
            id="long_spelling_of_ten",
        ),
        pytest.param(wire.varint(len(ORDINARY), 5) + ORDINARY, [[STATEMENT]], id="long_spelling_of_a_length"),
        pytest.param(wire.delimited(METADATA_OF_TEN, ORDINARY), [[], [STATEMENT]], id="metadata_of_ten_bytes"),
        pytest.param(
            wire.delimited(METADATA_OF_TEN, ORDINARY, *[MORE] * 20),
            [[]] + [[STATEMENT]] * 21,
            id="metadata_of_ten_bytes_in_a_longer_file",
        ),
        pytest.param(wire.delimited(METADATA_OF_TEN), [[]], id="only_metadata_of_ten_bytes"),
        pytest.param(b"\x00", [[]], id="one_empty_frame"),
        pytest.param(b"\x00\x00", [[], []], id="two_empty_frames"),
        pytest.param(b"\x00\x00\x00", [[], [], []], id="three_empty_frames"),
    ],
)
def test_delimited_and_bare_input_are_told_apart(
    twin: ModuleType, source: Callable[[bytes], Any], data: bytes, expected: list[list[PlainStatement]]
) -> None:
    assert read(twin, source(data)) == expected


def test_metadata_is_kept_after_a_wrong_guess(twin: ModuleType) -> None:
    with twin.open_reader(wire.delimited(METADATA_OF_TEN, ORDINARY)) as reader:
        assert [frame.metadata for frame in reader.frames()] == [{"kk": b"vv"}, {}]


@pytest.mark.parametrize(
    "data", [ORDINARY, TEN_BYTES, OPTIONS_ROW_OF_TEN, wire.frame(wire.options(), metadata={"k": b""})]
)
def test_the_caller_can_set_delimited(twin: ModuleType, data: bytes) -> None:
    expected = read(twin, data, delimited=False)
    assert len(expected) == 1
    assert read(twin, wire.delimited(data), delimited=True) == expected
    with pytest.raises(JellyError):
        read(twin, data, delimited=True)
    with pytest.raises(JellyError):
        read(twin, wire.delimited(data), delimited=False)


def test_a_bare_frame_may_begin_with_metadata_if_the_caller_says_so(twin: ModuleType) -> None:
    metadata = METADATA_OF_TEN
    assert read(twin, metadata + ORDINARY, delimited=False) == [[STATEMENT]]


def test_empty_input_has_no_statements(twin: ModuleType, source: Callable[[bytes], Any]) -> None:
    """Whether empty input is a stream is not specified, so an error is accepted, too."""
    try:
        frames = read(twin, source(b""))
    except JellyError:
        return
    assert not any(frames)


@pytest.mark.parametrize(
    "data", [b"\x0a", b"\x05", b"\x0a\x05", b"\x00\x0a", b"\x0a\x0a", b"\xff", b"\xff\xff", b"\x80"]
)
def test_one_or_two_bytes_are_refused(twin: ModuleType, source: Callable[[bytes], Any], data: bytes) -> None:
    with pytest.raises(JellyError):
        read(twin, source(data))


@pytest.mark.parametrize("data", [b"\x0a\x0a\x05", b"\x0a\x05\x00", b"\x05\x0a\x03", b"not jelly", b"<a> <b> <c> .\n"])
def test_other_input_is_refused(twin: ModuleType, source: Callable[[bytes], Any], data: bytes) -> None:
    with pytest.raises(JellyError):
        read(twin, source(data))
