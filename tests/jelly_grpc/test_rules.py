"""Every rule of the protocol's specification, on a server of ours, by a client made from the .proto alone.

docs/grpc.md has the table of the rules and the test of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from jellyframe import DEFAULT_GRAPH, IRI, Literal, LogicalType, PhysicalType, Quad, StreamOptions, Triple
from jellyframe.proto import grpc_pb2
from support.grpc_server import PlainClient, Received, RunningServer, frames_of, status, triples
from support.wire import block, number

INVALID = grpc.StatusCode.INVALID_ARGUMENT
QUOTED = Triple(IRI("a:s"), IRI("a:p"), Triple(IRI("a:x"), IRI("a:y"), IRI("a:z")))
GENERALIZED = Triple(Literal("s"), IRI("a:p"), IRI("a:o"))


@pytest.fixture(scope="module")
def client() -> Iterator[PlainClient]:
    with RunningServer(default_topic="replay") as server, PlainClient(server.address) as plain:
        yield plain


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


def publish(client: PlainClient, topic: str, statements: Any, **options: Any) -> Any:
    return client.publish(frames_of(statements, 4, StreamOptions.small(stream_name=topic, **options)))


def asked(**options: Any) -> StreamOptions:
    """Options as a client asks for them that says as little as it can."""
    none: dict[str, Any] = {
        "generalized_statements": False,
        "rdf_star": False,
        "max_name_table_size": 0,
        "max_prefix_table_size": 0,
        "max_datatype_table_size": 0,
    }
    return StreamOptions(**{**none, **options})


def response(client: PlainClient, topic: str, options: StreamOptions | None, frames: int = 1) -> Received:
    return Received(client.subscribe(topic, options, metadata=[("jelly-from", "earliest")]).take(frames))


def refusal(client: PlainClient, topic: str, options: StreamOptions | None) -> str:
    error = client.subscribe(topic, options, metadata=[("jelly-from", "earliest")]).error()
    assert error.code() is INVALID
    return str(error.details())


# ---- versions ----


@pytest.mark.parametrize("version", [1, 2])
def test_rpcs_of_every_release_with_the_same_major_version_are_answered(
    client: PlainClient, topic: str, version: int
) -> None:
    publish(client, topic, triples(4), version=version)
    got = response(client, topic, asked(version=version))
    assert got.statements == triples(4)
    assert got.options is not None
    assert got.options.version <= version


def test_a_request_of_a_later_release_gets_the_version_that_we_know(client: PlainClient, topic: str) -> None:
    publish(client, topic, triples(4))
    got = response(client, topic, asked(version=3))
    assert got.options is not None
    assert got.options.version == 2


def test_a_publication_of_a_later_release_is_refused(client: PlainClient, topic: str) -> None:
    (frame,) = frames_of(triples(4), 4, StreamOptions.small(stream_name=topic, version=2))
    later = frame.replace(b"\x78\x02", b"\x78\x03", 1)
    code, reason = status(lambda: client.publish([later]))
    assert code is INVALID
    assert "version tag 3 is not supported" in reason


# ---- topics ----


@pytest.mark.parametrize("name", ["", "a", "sensors/室温 ☃", "x" * 3000, "a\nb\x00c", "../..", "*", "a=b"])
def test_any_utf8_string_is_a_topic(client: PlainClient, name: str) -> None:
    publish(client, name, triples(4))
    assert response(client, name, None).statements == triples(4)


def test_a_topic_that_is_not_utf8_is_refused(client: PlainClient) -> None:
    code, reason = status(lambda: next(client.subscribe_raw(block(1, b"\xff\xfe"), timeout=10)))
    assert code is INVALID
    assert reason == "the topic is not valid UTF-8"
    metadata = (("jelly-topic-bin", b"\xff\xfe"),)
    code, reason = status(lambda: client.publish_raw(iter(frames_of(triples(1))), metadata=metadata, timeout=10))
    assert code is INVALID


def test_an_unset_topic_is_the_empty_string(client: PlainClient) -> None:
    publish(client, "", triples(4))
    call = client.subscribe_raw(b"", metadata=(("jelly-from", "earliest"),), timeout=10)
    assert Received([next(call)]).statements == triples(4)
    call.cancel()


# ---- subscribing ----


def test_without_options_the_server_chooses(client: PlainClient, topic: str) -> None:
    publish(client, topic, [*triples(3), QUOTED])
    for options in (None, asked()):
        got = response(client, topic, options)
        assert got.statements == [*triples(3), QUOTED]


def test_a_subscription_is_answered_with_frames_or_an_error(client: PlainClient, topic: str) -> None:
    publish(client, topic, triples(4))
    assert response(client, topic, None).statements == triples(4)
    assert "does not go with" in refusal(
        client, topic, asked(physical_type=PhysicalType.TRIPLES, logical_type=LogicalType.DATASETS)
    )


def test_a_request_that_cannot_be_met_is_invalid_argument(client: PlainClient, topic: str) -> None:
    publish(client, topic, [QUOTED])
    reason = refusal(client, topic, asked(physical_type=PhysicalType.TRIPLES))
    assert "rdf_star" in reason


# ---- the table of options, row by row ----


def test_stream_name_is_the_one_that_is_asked_for(client: PlainClient, topic: str) -> None:
    publish(client, topic, triples(1))
    for wanted, expected in (("mine", "mine"), ("", topic)):
        got = response(client, topic, asked(stream_name=wanted, version=1))
        assert got.options is not None
        assert got.options.stream_name == expected


@pytest.mark.parametrize("published", [PhysicalType.TRIPLES, PhysicalType.QUADS, PhysicalType.GRAPHS])
@pytest.mark.parametrize("wanted", [PhysicalType.TRIPLES, PhysicalType.QUADS, PhysicalType.GRAPHS])
def test_physical_type_is_the_one_that_is_asked_for(
    client: PlainClient, topic: str, published: PhysicalType, wanted: PhysicalType
) -> None:
    statements: list[Any] = list(triples(4))
    if published is not PhysicalType.TRIPLES:
        statements = [Quad(*statement, DEFAULT_GRAPH) for statement in triples(4)]
    publish(client, topic, statements, physical_type=published)
    got = response(client, topic, asked(physical_type=wanted))
    assert got.options is not None
    assert got.options.physical_type is wanted
    assert [tuple(statement)[:3] for statement in got.statements] == [tuple(one) for one in triples(4)]


def test_physical_type_that_would_lose_graphs_is_refused(client: PlainClient, topic: str) -> None:
    publish(client, topic, [Quad(*triples(1)[0], IRI("a:g"))])
    assert "named graph" in refusal(client, topic, asked(physical_type=PhysicalType.TRIPLES))


@pytest.mark.parametrize(("flag", "statement"), [("generalized_statements", GENERALIZED), ("rdf_star", QUOTED)])
def test_flags_are_those_asked_for_or_false(client: PlainClient, topic: str, flag: str, statement: Triple) -> None:
    publish(client, topic, triples(4))
    for wanted in (True, False):
        got = response(client, topic, asked(version=2, **{flag: wanted}))
        assert got.options is not None
        assert getattr(got.options, flag) <= wanted
    publish(client, f"{topic}-used", [statement])
    assert response(client, f"{topic}-used", asked(**{flag: True})).statements == [statement]
    assert flag in refusal(client, f"{topic}-used", asked(version=2))


def test_use_repeat_is_no_option_of_the_released_format(client: PlainClient, topic: str) -> None:
    publish(client, topic, triples(4))
    request = grpc_pb2.RdfStreamSubscribe(topic=topic)
    # Unknown fields are skipped, even if another dialect has an option there.
    data = request.SerializeToString() + block(2, number(5, 1) + number(2, 1))
    call = client.subscribe_raw(data, metadata=(("jelly-from", "earliest"),), timeout=10)
    assert Received([next(call)]).statements == triples(4)
    call.cancel()


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ("max_name_table_size", 8),
        ("max_name_table_size", 1 << 20),
        ("max_prefix_table_size", 1),
        ("max_prefix_table_size", 4096),
        ("max_datatype_table_size", 1),
        ("max_datatype_table_size", 64),
    ],
)
def test_tables_are_at_most_as_large_as_asked_for(client: PlainClient, topic: str, table: str, wanted: int) -> None:
    statements = triples(50)
    client.publish(frames_of(statements, 50, StreamOptions.big(stream_name=topic)))
    got = response(client, topic, asked(**{table: wanted, "max_datatype_table_size": wanted}))
    assert got.options is not None
    assert getattr(got.options, table) <= wanted
    assert got.statements == statements


def test_a_name_table_below_eight_entries_is_refused(client: PlainClient, topic: str) -> None:
    assert "at least 8" in refusal(client, topic, asked(max_name_table_size=7))


def test_version_is_at_most_the_one_that_is_asked_for(client: PlainClient, topic: str) -> None:
    publish(client, topic, triples(4), version=2)
    got = response(client, topic, asked(version=1))
    assert got.options is not None
    assert got.options.version == 1
    assert got.statements == triples(4)


# ---- logical types, by the four cases ----


def logical(client: PlainClient, topic: str, published: LogicalType, wanted: LogicalType) -> LogicalType:
    publish(client, topic, triples(4), physical_type=PhysicalType.TRIPLES, logical_type=published)
    got = response(client, topic, asked(logical_type=wanted))
    assert got.options is not None
    assert got.statements == triples(4)
    return got.options.logical_type


@pytest.mark.parametrize("kind", [LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS, LogicalType.SUBJECT_GRAPHS])
def test_logical_type_case_1_the_same_type(client: PlainClient, topic: str, kind: LogicalType) -> None:
    assert logical(client, topic, kind, kind) is kind


def test_logical_type_case_1_a_flat_type_for_frames_that_mean_something(client: PlainClient, topic: str) -> None:
    assert logical(client, topic, LogicalType.GRAPHS, LogicalType.FLAT_TRIPLES) is LogicalType.FLAT_TRIPLES


def test_logical_type_case_2_a_subtype(client: PlainClient, topic: str) -> None:
    assert logical(client, topic, LogicalType.SUBJECT_GRAPHS, LogicalType.GRAPHS) is LogicalType.SUBJECT_GRAPHS


@pytest.mark.parametrize("published", [LogicalType.FLAT_TRIPLES, LogicalType.UNSPECIFIED])
def test_logical_type_case_3_the_type_of_the_data(client: PlainClient, topic: str, published: LogicalType) -> None:
    assert logical(client, topic, published, LogicalType.GRAPHS) is published


def test_logical_type_case_4_one_that_does_not_go_with_the_physical_type(client: PlainClient, topic: str) -> None:
    for physical, kind in (
        (PhysicalType.TRIPLES, LogicalType.FLAT_QUADS),
        (PhysicalType.QUADS, LogicalType.SUBJECT_GRAPHS),
        (PhysicalType.GRAPHS, LogicalType.FLAT_TRIPLES),
    ):
        assert "does not go with" in refusal(client, topic, asked(physical_type=physical, logical_type=kind))


# ---- publishing ----


def test_a_publication_has_at_least_one_message(client: PlainClient) -> None:
    code, reason = status(lambda: client.publish([]))
    assert code is INVALID
    assert reason == "the publication has no frames, and must have at least one"


@pytest.mark.parametrize("first", [b"", block(15, block(1, b"k") + block(2, b"v"))])
def test_the_first_frame_begins_with_the_options(client: PlainClient, topic: str, first: bytes) -> None:
    frames = frames_of(triples(8), 4, StreamOptions.small(stream_name=topic))
    for wrong in ([first, *frames], frames[1:]):
        code, reason = status(lambda wrong=wrong: client.publish_raw(iter(wrong), timeout=10))  # type: ignore[misc]
        assert code is INVALID
        assert "options row" in reason


def test_a_publication_that_succeeds_is_answered_with_received(client: PlainClient, topic: str) -> None:
    assert publish(client, topic, triples(4)) == grpc_pb2.RdfStreamReceived()


@pytest.mark.parametrize("table", ["max_name_table_size", "max_prefix_table_size", "max_datatype_table_size"])
def test_options_that_the_server_cannot_handle_are_invalid_argument(
    client: PlainClient, topic: str, table: str
) -> None:
    code, reason = status(lambda: publish(client, topic, triples(4), **{table: 5000}))
    assert code is INVALID
    assert f"{table} is 5000, above the limit of 4096; limits.{table} in the settings of the server" in reason
    assert "Limits." not in reason


def test_options_that_make_no_sense_are_invalid_argument(client: PlainClient, topic: str) -> None:
    (frame,) = frames_of(triples(4), 4, StreamOptions.small(stream_name=topic, physical_type=PhysicalType.TRIPLES))
    wrong = frame.replace(b"\x10\x01", b"\x10\x00", 1)
    code, reason = status(lambda: client.publish_raw(iter([wrong]), timeout=10))
    assert code is INVALID
    assert "the physical type is unspecified" in reason
