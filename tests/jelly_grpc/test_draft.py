"""The draft dialect over gRPC: publishers and subscribers of either dialect on one topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from jellyframe import StreamOptions, Triple
from jellyframe.dialects import dialect_named
from jellyframe.grpc.config import ServerSettings
from jellyframe.grpc.protocol import DIALECT_KEY
from jellyframe.options import Limits, LogicalType
from jellyframe.proto import draft_pb2
from jellyframe.stream.decoder import StreamDecoder
from jellyframe.wire import encode_bytes_field
from support.grpc_server import PATIENCE, PlainClient, Received, RunningServer, frames_of, status, triples

DRAFT = ((DIALECT_KEY, "draft"),)
EVERY_TOPIC = pytest.mark.parametrize("topic", ["t", "kept", "logged"])


@pytest.fixture
def server(tmp_path: Any) -> Iterator[RunningServer]:
    with RunningServer(topics={"kept": "replay", "logged": f"log:{tmp_path}/log"}) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[PlainClient]:
    with PlainClient(server.address) as plain:
        yield plain


def subscribe(client: PlainClient, topic: str, options: StreamOptions | None = None, metadata: Any = DRAFT) -> Any:
    request = encode_bytes_field(1, topic.encode())
    if options is not None:
        request += encode_bytes_field(2, dialect_named("draft").options_message(options))
    call = client.subscribe_raw(request, metadata=tuple(metadata), timeout=PATIENCE)
    call.initial_metadata()
    return call


def publish(client: PlainClient, frames: list[bytes], metadata: Any = DRAFT) -> None:
    client.publish_raw(iter(frames), metadata=tuple(metadata), timeout=PATIENCE)


def take(call: Any, count: int) -> tuple[list[bytes], list[Any], StreamOptions]:
    """So many frames, their statements and their options."""
    frames = [next(call) for _ in range(count)]
    decoder = StreamDecoder(dialect="draft")
    for frame in frames:
        decoder.push_frame(frame)
    decoder.finish()
    statements = [statement for batch in decoder.batches() for statement in batch.statements()]
    assert decoder.options is not None
    return frames, statements, decoder.options


@EVERY_TOPIC
def test_both_dialects_are_published_and_subscribed_to(client: PlainClient, topic: str) -> None:
    released, draft = client.subscribe(topic), subscribe(client, topic)
    options = StreamOptions.small(stream_name=topic)
    publish(client, frames_of(triples(8), 4, options, dialect="draft"))
    client.publish(frames_of(triples(8, 8), 4, options))
    assert Received(released.take(4)).statements == triples(16)
    assert take(draft, 4)[1] == triples(16)


def test_kept_frames_are_sent_in_the_dialect_asked_for(client: PlainClient) -> None:
    options = StreamOptions.small(stream_name="kept", max_name_table_size=3)
    publish(client, frames_of(triples(8), 4, options, dialect="draft"))
    begin = (("jelly-from", "earliest"),)
    assert Received(client.subscribe("kept", metadata=begin).take(2)).statements == triples(8)
    assert take(subscribe(client, "kept", metadata=(*DRAFT, *begin)), 2)[1] == triples(8)


@pytest.mark.parametrize("use_repeat", [True, False])
@pytest.mark.parametrize("dialect", ["released", "draft"])
def test_terms_are_repeated_only_if_the_client_sets_use_repeat(
    client: PlainClient, use_repeat: bool, dialect: Any
) -> None:
    statement = triples(1)[0]
    statements = [Triple(statement.s, statement.p, other.o) for other in triples(8)]
    asked = StreamOptions.small(use_repeat=use_repeat, version=1)
    call = subscribe(client, "t", asked)
    publish(
        client,
        frames_of(statements, 4, StreamOptions.small(stream_name="t"), dialect=dialect),
        [(DIALECT_KEY, dialect)],
    )
    frames, got, options = take(call, 2)
    assert got == statements
    assert options.use_repeat is use_repeat
    assert options.max_name_table_size <= asked.max_name_table_size
    rows = [row for frame in frames for row in draft_pb2.RdfStreamFrame.FromString(frame).rows]
    repeated = [row.triple.s.HasField("repeat") for row in rows if row.HasField("triple")]
    assert any(repeated) is use_repeat


def test_a_request_is_read_in_the_dialect_of_the_call(client: PlainClient) -> None:
    """Field 4 is use_repeat here, and rdf_star there: a client that does not set rdf_star gets no quoted triple."""
    call = subscribe(client, "t", StreamOptions.small(use_repeat=True, rdf_star=False, version=1))
    inner = triples(1)[0]
    quoted = [Triple(inner, inner.p, inner.o)]
    publish(client, frames_of(quoted, 4, StreamOptions.small(stream_name="t"), dialect="draft"))
    code, reason = status(lambda: next(call))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "a quoted triple" in reason


def test_a_grouped_stream_goes_to_draft_subscribers(client: PlainClient) -> None:
    call = subscribe(client, "t")
    options = StreamOptions.small(stream_name="t", logical_type=LogicalType.GRAPHS, version=2)
    client.publish(frames_of(triples(8), 4, options))
    client.publish(frames_of(triples(8, 8), 4, StreamOptions.small(stream_name="t")))
    assert take(call, 4)[1] == triples(16)


def test_frames_of_the_other_dialect_and_bad_metadata_are_refused(client: PlainClient) -> None:
    frames = frames_of(triples(4), 4, StreamOptions.small(stream_name="t"))
    code, reason = status(lambda: publish(client, frames))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "the rows look like those of the released dialect" in reason
    draft = frames_of(triples(4), 4, StreamOptions.small(stream_name="t"), dialect="draft")
    code, reason = status(lambda: publish(client, draft, ()))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "the rows look like those of the draft dialect" in reason
    for key, value, word in ((DIALECT_KEY, "old", "must be one of"), ("jelly-offsets", "true", "offsets")):
        call = subscribe(client, "t", metadata=(*DRAFT, (key, value)))
        code, reason = status(call.__next__)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert word in reason


def test_a_server_for_clients_that_cannot_say_their_dialect() -> None:
    settings = ServerSettings(listen="127.0.0.1:0", dialect="draft")
    assert settings.limits.for_streams() == Limits(max_frame_bytes=settings.limits.max_frame_bytes)
    with RunningServer(settings=settings) as running, PlainClient(running.address) as client:
        draft = subscribe(client, "t", metadata=())
        released = client.subscribe("t", metadata=((DIALECT_KEY, "released"),))
        publish(client, frames_of(triples(8), 4, StreamOptions.small(stream_name="t"), dialect="draft"), ())
        assert take(draft, 2)[1] == Received(released.take(2)).statements == triples(8)
