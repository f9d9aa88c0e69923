"""The decoder without I/O: bytes in any pieces, or whole frames, give the batches of a reader."""

from __future__ import annotations

import gc
import io
import weakref
from types import ModuleType

import pytest

import jellyframe
from jellyframe import JellyError, OptionsError, ParseError, PhysicalType, StreamOptions
from support import wire
from support.patch_streams import options, stream
from support.spark_data import quads

STATEMENTS = quads(400)
LINES = [statement.to_line() for statement in STATEMENTS]


def written() -> bytes:
    file = io.BytesIO()
    with jellyframe.open_writer(file, StreamOptions(PhysicalType.QUADS), frame_rows=15) as writer:
        writer.write(STATEMENTS)
    return file.getvalue()


DATA = written()


def lines(batches: list) -> list[str]:
    return [statement.to_line() for batch in batches for statement in batch.statements()]


@pytest.mark.parametrize("size", [1, 2, 3, 100, 5000, len(DATA)])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_in_any_pieces(twin: ModuleType, size: int, kind: type) -> None:
    decoder = twin.StreamDecoder(batch_rows=50)
    batches = []
    for start in range(0, len(DATA), size):
        decoder.push(kind(DATA[start : start + size]))
        batches += decoder.batches()
        assert not decoder.is_finished
        assert decoder.needed >= 1
    decoder.finish()
    batches += decoder.batches()
    assert decoder.is_finished
    assert decoder.next_batch() is None
    assert lines(batches) == LINES
    assert all(len(batch) <= 50 for batch in batches)
    assert decoder.options == batches[0].options
    assert decoder.is_delimited is True


def test_a_partial_batch_can_be_taken_at_any_time(twin: ModuleType) -> None:
    decoder = twin.StreamDecoder()
    assert decoder.next_batch(partial=True) is None
    decoder.push(DATA[: len(DATA) // 2])
    assert decoder.next_batch() is None
    first = decoder.next_batch(partial=True)
    assert 100 < len(first) < 300
    decoder.push(DATA[len(DATA) // 2 :])
    decoder.finish()
    assert lines([first, *decoder.batches()]) == LINES


def test_whole_frames(twin: ModuleType) -> None:
    rows = [wire.name("a"), wire.triple(*[wire.iri(0, 1)] * 3)]
    decoder = twin.StreamDecoder()
    for frame in (wire.frame(wire.options()), b"", wire.frame(*rows), wire.frame(wire.triple())):
        decoder.push_frame(frame)
    decoder.finish()
    (batch,) = decoder.batches()
    assert [span.stop - span.start for span in batch.frame_spans()] == [0, 0, 1, 1]
    bare = twin.StreamDecoder(delimited=False)
    with pytest.raises(OptionsError, match="bare frame"):
        bare.push_frame(b"")
    bare.push(wire.frame(wire.options(), *rows))
    assert bare.next_batch() is None
    bare.finish()
    assert [len(batch) for batch in bare.batches()] == [1]
    with pytest.raises(OptionsError, match="after the end of the stream"):
        bare.push(b"x")


def test_errors_come_after_the_valid_rows_and_repeat(twin: ModuleType) -> None:
    decoder = twin.StreamDecoder(source_name="connection 7")
    decoder.push(DATA + b"\x03\xff\xff\xff")
    decoder.finish()
    batches = [decoder.next_batch()]
    assert lines(batches) == LINES
    for _ in range(2):
        with pytest.raises(ParseError) as caught:
            decoder.next_batch()
        error = caught.value
        assert (error.source, error.frame, error.offset) == ("connection 7", len(batches[0].frame_ends), len(DATA) + 1)


def test_an_error_of_the_source_comes_after_whole_frames(twin: ModuleType) -> None:
    decoder = twin.StreamDecoder()
    decoder.push(DATA[:-5])
    assert decoder.next_batch() is None
    decoder.abort(JellyError("the connection was lost"))
    kept = decoder.next_batch()
    assert lines([kept]) == LINES[: len(kept)]
    assert len(kept) >= len(LINES) - 15
    with pytest.raises(JellyError, match="connection was lost"):
        decoder.next_batch()


def test_bare_frames_are_bounded(twin: ModuleType) -> None:
    decoder = twin.StreamDecoder(limits=jellyframe.Limits(max_frame_bytes=1000), delimited=False)
    for _ in range(20):
        decoder.push(bytes(50))
        assert decoder.next_batch() is None
    decoder.push(bytes(50))
    with pytest.raises(jellyframe.LimitError, match="above the limit of 1000"):
        decoder.next_batch()


@pytest.mark.parametrize("kind", ["StreamDecoder", "PatchStreamDecoder"])
def test_the_memory_of_an_unreferenced_decoder_is_freed_at_once(twin: ModuleType, kind: str) -> None:
    """Without the garbage collector, which may come late: a journal makes a decoder for each of many large chunks."""
    decoder = getattr(twin, kind)()
    gone = weakref.ref(decoder)
    gc.disable()
    try:
        decoder.push(DATA if kind == "StreamDecoder" else stream(options()))
        decoder.finish()
        list(decoder.batches())
        del decoder
        assert gone() is None
    finally:
        gc.enable()
