"""Publishing and subscribing through a server, by a client that is made from the .proto alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jellyframe import IRI, OptionsError, PhysicalType, Quad, StreamOptions
from jellyframe.grpc.config import ServerLimits, ServerSettings
from support.grpc_server import OpenPublication, PlainClient, Received, RunningServer, frames_of, status, triples


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with RunningServer(topics={"kept": "replay"}) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[PlainClient]:
    with PlainClient(server.address) as plain:
        yield plain


def options(topic: str = "t", **changes: object) -> StreamOptions:
    return StreamOptions.small(stream_name=topic, **changes)  # type: ignore[arg-type]


def test_a_subscriber_gets_the_published_statements(client: PlainClient) -> None:
    subscription = client.subscribe("t")
    statements = triples(20)
    client.publish(frames_of(statements, 4, options()))
    assert Received(subscription.take(5)).statements == statements


def test_frames_are_forwarded_unchanged(client: PlainClient) -> None:
    subscription = client.subscribe("t")
    frames = frames_of(triples(20), 4, options(version=2))
    client.publish(frames)
    assert subscription.take(5) == frames


@pytest.mark.parametrize("retention", ["replay", "log"])
def test_kept_graphs_are_sent_as_quads_unless_asked_for(tmp_path: Path, retention: str) -> None:
    statements = [Quad(*one, IRI("a:g")) for one in triples(20)]
    graphs = PhysicalType.GRAPHS
    where = f"log:{tmp_path / 'log'}" if retention == "log" else retention
    earliest = [("jelly-from", "earliest")]
    with RunningServer(topics={"t": where}) as server, PlainClient(server.address) as client:
        at_once = client.subscribe("t")
        client.publish(frames_of(statements, 4, options(physical_type=graphs)))
        later = client.subscribe("t", metadata=earliest)
        asking = client.subscribe("t", StreamOptions(physical_type=graphs), earliest)
        received = [Received(one.take(5)) for one in (at_once, later, asking)]
    assert [one.statements for one in received] == [statements] * 3
    types = [one.options.physical_type for one in received if one.options]
    assert types == [graphs, PhysicalType.QUADS, graphs]


def test_a_late_subscriber_begins_at_a_restart_point(client: PlainClient) -> None:
    first = client.subscribe("t")
    publication = OpenPublication(client)
    frames = frames_of(triples(40), 4, options())
    publication.send(*frames[:3])
    got = first.take(3)
    late = client.subscribe("t")
    publication.send(*frames[3:])
    publication.finish()
    assert Received(got + first.take(7)).statements == triples(40)
    assert Received(late.take(7)).statements == triples(28, 12)


def test_publishers_are_merged_frame_by_frame(client: PlainClient) -> None:
    subscription = client.subscribe("t")
    ours, theirs = (OpenPublication(client) for _ in range(2))
    a, b = frames_of(triples(12, who="a"), 4, options()), frames_of(triples(12, who="b"), 4, options())
    got = []
    for mine, other in zip(a, b, strict=True):
        ours.send(mine)
        got += subscription.take(1)
        theirs.send(other)
        got += subscription.take(1)
    ours.finish()
    theirs.finish()
    expected = [frame for start in (0, 4, 8) for frame in (triples(4, start, who="a"), triples(4, start, who="b"))]
    assert Received(got).frames == expected


def test_publications_are_sent_one_after_the_other(client: PlainClient) -> None:
    subscription = client.subscribe("t")
    got = []
    for number in range(3):
        client.publish(frames_of(triples(8, number * 8), 4, options()))
        got += subscription.take(2)
    assert Received(got).statements == triples(24)


def test_kept_frames_are_sent_first(client: PlainClient) -> None:
    client.publish(frames_of(triples(8), 4, options("kept")))
    subscription = client.subscribe("kept", metadata=[("jelly-from", "earliest")])
    got = subscription.take(2)
    client.publish(frames_of(triples(8, 8), 4, options("kept")))
    assert Received(got + subscription.take(2)).statements == triples(16)


def test_a_subscriber_resumes_at_an_offset(client: PlainClient) -> None:
    client.publish(frames_of(triples(16), 4, options("kept")))
    asked = [("jelly-from", "earliest"), ("jelly-offsets", "true")]
    first = Received(client.subscribe("kept", metadata=asked).take(2))
    offset = int(first.metadata[1]["jelly-offset"])
    resumed = client.subscribe("kept", metadata=[("jelly-from", str(offset))])
    assert Received(resumed.take(3)).statements == triples(12, 4)


def test_the_index_of_a_file_is_not_passed_on(client: PlainClient, tmp_path: Path) -> None:
    """An index has offsets in its own file."""
    from jellyframe import open_writer
    from jellyframe.stream.framing import split_frames
    from jellyframe.stream.index import INDEX_KEY

    with open_writer(tmp_path / "a.jelly", options(), index=True) as writer:
        writer.write(triples(4))
    frames = split_frames((tmp_path / "a.jelly").read_bytes())
    assert INDEX_KEY.encode() in frames[-1]
    subscription = client.subscribe("t")
    client.publish(frames)
    client.publish(frames)
    got = subscription.take(4)
    assert INDEX_KEY.encode() not in b"".join(got)
    assert Received(got).statements == triples(4) * 2


@pytest.mark.parametrize("retention", ["replay", "log"])
def test_stored_frames_above_the_frame_limit_can_be_read(tmp_path: Path, retention: str) -> None:
    """A stored frame is self-contained: it has all entries of earlier frames that it uses, and its offset."""
    frames = frames_of(triples(60) * 4, 60, StreamOptions.big(stream_name="t", max_name_table_size=9000))
    limits = ServerLimits(max_frame_bytes=max(map(len, frames)), max_name_table_size=10_000)
    settings = ServerSettings(listen="127.0.0.1:0", limits=limits)
    how = retention if retention == "replay" else f"log:{tmp_path}"
    with RunningServer(settings=settings, topics={"t": how}) as server, PlainClient(server.address) as client:
        client.publish(frames)
        subscription = client.subscribe("t", StreamOptions.small(), metadata=[("jelly-from", "earliest")])
        assert Received(subscription.take(4)).statements == triples(60) * 4


def test_an_address_in_use_is_an_error(server: RunningServer) -> None:
    with pytest.raises(OptionsError, match="the address is in use"):
        RunningServer(listen=server.address)


def test_the_topic_in_the_metadata_has_precedence(client: PlainClient) -> None:
    subscription = client.subscribe("日本")
    client.publish(frames_of(triples(4), 4, options("other")), [("jelly-topic-bin", "日本".encode())])
    assert Received(subscription.take(1)).statements == triples(4)


def test_a_bad_frame_is_refused_with_the_message_of_the_codec(client: PlainClient) -> None:
    frames = frames_of(triples(4), 4, options())
    code, details = status(lambda: client.publish_raw(iter([frames[0][:-5]]), timeout=10))
    assert code.name == "INVALID_ARGUMENT"
    assert "frame 0" in details
