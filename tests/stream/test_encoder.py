"""The encoder without I/O: its output, the pieces of the output, and its state after an error."""

from __future__ import annotations

import io

import pytest

import jellyframe
from jellyframe import IRI, Batch, EncodeError, Literal, LogicalType, Quad, StreamEncoder, StreamOptions, Triple
from jellyframe.stream.encoder import FramePosition

A, B = IRI("http://example.org/a"), IRI("http://example.org/b")


def triples(count: int) -> list[Triple]:
    return [Triple(A, B, Literal(f"{number} " * 20)) for number in range(count)]


def test_the_encoder_gives_the_bytes_of_a_writer() -> None:
    file = io.BytesIO()
    with jellyframe.open_writer(file, restart_every=5000, index=True) as writer:
        writer.declare_namespace("ex", "http://example.org/")
        writer.write(triples(1000))
        writer.end_frame({"key": b"value"})
    encoder = StreamEncoder(restart_every=5000, index=True)
    encoder.declare_namespace("ex", "http://example.org/")
    assert encoder.encode(Batch.from_statements(triples(1000))) == 1000
    encoder.end_frame({"key": b"value"})
    encoder.finish()
    assert encoder.take() == file.getvalue()
    assert encoder.take() == b""
    assert encoder.statements == 1000


@pytest.mark.parametrize("in_frames", [False, True])
def test_output_is_handed_on_by_bytes(in_frames: bool) -> None:
    # One long literal, in every second row: the batch is small, the stream is not.
    long = Literal("x" * 100_000)
    statements = [Triple(A, B, long if number % 2 else A) for number in range(400)]
    with jellyframe.open_reader(jellyframe.dumps(statements)) as reader:
        (batch,) = reader.batches()
    encoder = StreamEncoder()
    pieces: list[bytes] = []
    position: FramePosition | None = FramePosition()
    row = 0
    while position is not None and row < len(batch):
        if in_frames:
            position = encoder.encode_in_frames(batch, position)
        else:
            row = encoder.encode(batch, row)
        pieces.append(encoder.take())
    encoder.finish()
    pieces.append(encoder.take())
    assert max(map(len, pieces)) < 4_000_000
    assert len(pieces) > 8
    with jellyframe.open_reader(b"".join(pieces)) as read:
        assert list(read.statements()) == statements


def test_frames_for_messages() -> None:
    encoder = StreamEncoder(StreamOptions(logical_type=LogicalType.GRAPHS))
    for size in (3, 0, 5):
        encoder.encode(Batch.from_statements(triples(size), quads=False))
        encoder.end_frame()
    first, second, third = encoder.take_frames()
    # The first one is self-contained; the others depend on it.
    assert jellyframe.loads(first) == triples(3)
    assert second == b""
    assert len(third) < len(first) + 500
    assert encoder.frames == 3


def test_a_bare_stream_refuses_a_second_frame_and_can_be_finished() -> None:
    encoder = StreamEncoder(delimited=False)
    encoder.encode(Batch.from_statements(triples(3)))
    encoder.end_frame()
    for refused in (
        lambda: encoder.encode(Batch.from_statements(triples(1))),
        lambda: encoder.end_frame({"key": b""}),
        lambda: encoder.declare_namespace("a", "b:c"),
    ):
        with pytest.raises(EncodeError, match="one frame"):
            refused()
    encoder.finish()
    (frame,) = encoder.take_frames()
    assert jellyframe.loads(frame) == triples(3)


def test_bytes_that_were_taken_can_be_rewritten_if_the_caller_can() -> None:
    encoder = StreamEncoder(frame_rows=10, restart_every=1000)
    encoder.encode(Batch.from_statements(triples(100)))
    data = bytearray(encoder.take())
    with pytest.raises(EncodeError, match=r"StreamOptions\(version=2\)"):
        encoder.declare_namespace("ex", "http://example.org/")
    encoder.can_rewrite = True
    encoder.declare_namespace("ex", "http://example.org/")
    rewrites = encoder.take_rewrites()
    assert len(rewrites) > 2
    for offset, message in rewrites:
        data[offset : offset + len(message)] = message
    encoder.finish()
    data += encoder.take()
    with jellyframe.open_reader(data) as reader:
        assert list(reader.statements()) == triples(100)
        assert reader.options.version == 2


def test_rows_outside_of_the_batch_are_refused() -> None:
    with pytest.raises(IndexError):
        StreamEncoder().encode(Batch.from_statements(triples(3)), 2, 4)


def test_triples_are_written_to_a_stream_of_quads() -> None:
    encoder = StreamEncoder()
    encoder.encode(Batch.from_statements([Quad(A, B, A, B)]))
    encoder.encode(Batch.from_statements(triples(2)), 1)
    encoder.finish()
    with jellyframe.open_reader(encoder.take()) as reader:
        assert list(reader.statements()) == [Quad(A, B, A, B), Quad(*triples(2)[1], jellyframe.DEFAULT_GRAPH)]
