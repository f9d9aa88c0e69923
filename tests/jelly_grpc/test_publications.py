"""Publications: the content of frames, whenever it is read, and the memory of a frame."""

from __future__ import annotations

from random import Random

import pytest

from jellyframe import IRI, Literal, StreamOptions, Triple
from jellyframe.errors import LimitError, ParseError
from jellyframe.grpc import publications
from jellyframe.grpc.publications import Publication
from jellyframe.options import Limits
from jellyframe.stream.encoder import StreamEncoder
from jellyframe.stream.statements import encode_statements
from support.grpc_server import frames_of, triples


def published(rng: Random) -> tuple[list[bytes], list[tuple[int, list[tuple[str, str]], dict[str, bytes]]]]:
    """A stream with frames of many sizes, and of each: how many statements, which namespaces and metadata."""
    encoder = StreamEncoder(StreamOptions.small(version=2), frame_rows=None, frame_bytes=None)
    held = []
    for number in range(30):
        count = rng.choice((0, 1, 3, 20))
        namespaces = [(f"n{number}", f"http://example.org/{number}/")] if rng.random() < 0.3 else []
        metadata = {"key": b"%d" % number} if rng.random() < 0.3 else {}
        for name, iri in namespaces:
            encoder.declare_namespace(name, iri)
        for _ in encode_statements(encoder, triples(count, 100 * number)):
            pass
        encoder.end_frame(metadata)
        held.append((count, namespaces, metadata))
    return encoder.take_frames(), held


@pytest.mark.parametrize("seed", range(20))
def test_the_content_of_a_frame_is_independent_of_other_frames_decoded(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    monkeypatch.setattr(publications, "_BATCH_ROWS", rng.choice((1, 7, 4096)))
    frames, held = published(rng)
    publication = Publication(Limits())
    for number, (data, (count, namespaces, metadata)) in enumerate(zip(frames, held, strict=True)):
        frame = publication.check(data)
        assert (frame.statements, frame.number, frame.size, frame.data) == (count, number, len(data), data)
        if rng.random() < 0.4:
            content = frame.content
            found = [statement for batch in content.batches for statement in batch.statements()]
            assert (found, content.namespaces, content.metadata) == (
                triples(count, 100 * number),
                namespaces,
                metadata,
            )
            assert frame.content is content
    publication.finish()


def test_a_bad_frame_is_refused_after_frames_that_were_not_decoded() -> None:
    frames, _held = published(Random(1))
    publication = Publication(Limits())
    for data in frames[:5]:
        publication.check(data)
    with pytest.raises(ParseError):
        publication.check(b"\x0a\x05hello")


def test_a_small_frame_cannot_take_much_memory() -> None:
    """Each of its IRIs has the same long prefix, and is kept as a whole while the frame is passed on."""
    long = "http://example.org/" + "p" * 50_000
    statements = [Triple(IRI(f"{long}/{number}"), IRI("a:p"), Literal("o")) for number in range(300)]
    (frame,) = frames_of(statements, 300, StreamOptions.small())
    assert len(frame) < 60_000
    with pytest.raises(LimitError, match="the terms of a frame take more than 1600000 bytes"):
        Publication(Limits(max_frame_bytes=100_000)).check(frame)
    assert Publication(Limits()).check(frame).statements == 300
