"""The blocking client against a server made from the .proto alone."""

from __future__ import annotations

import multiprocessing
import threading

import grpc
import pyarrow as pa
import pytest

from jellyframe import Batch, LogicalType, PhysicalType, StreamOptions, open_reader
from jellyframe.errors import EncodeError, OptionsError, RemoteError, UsageError
from jellyframe.grpc import connect
from jellyframe.stream.encoder import StreamEncoder
from support.plain_grpc import PlainServer
from support.rpc_data import quads, triples


@pytest.fixture
def server():
    with PlainServer() as server:
        yield server


@pytest.fixture
def client(server):
    with connect(server.address, connect_timeout=5, reconnect_timeout=5) as client:
        yield client


def table_of(statements):
    return pa.Table.from_batches([Batch.from_statements(statements).to_arrow()])


def raw_frames(statements):
    encoder = StreamEncoder(StreamOptions(stream_name="t"), frame_rows=10)
    encoder.encode(Batch.from_statements(statements))
    encoder.finish()
    return encoder.take_frames()


@pytest.mark.parametrize(
    "form",
    [
        list,
        iter,
        lambda statements: Batch.from_statements(statements),
        lambda statements: [Batch.from_statements(statements[:7]), Batch.from_statements(statements[7:])],
        table_of,
        lambda statements: table_of(statements).to_reader(),
        lambda statements: table_of(statements).to_batches()[0],
        raw_frames,
    ],
    ids=["list", "iterator", "batch", "batches", "table", "reader", "record batch", "raw frames"],
)
def test_statements_published_in_any_form_are_read(client, form):
    statements = triples(1000)
    assert client.publish("t", form(statements), frame_rows=100) > 1
    assert list(client.subscribe("t")) == statements


def test_all_views_of_a_subscription_agree(client, server):
    statements = quads(600)
    client.publish("t", statements)
    assert list(client.subscribe("t").statements()) == statements
    assert [len(frame) for frame in client.subscribe("t").frames()] == [256, 256, 88]
    assert sum(map(len, client.subscribe("t").batches())) == 600
    with client.subscribe("t") as subscription:
        assert subscription.options.physical_type is PhysicalType.QUADS
        table = subscription.record_batches("ntriples").read_all()
    assert table.column_names == ["s", "p", "o", "g"]
    assert table.num_rows == 600
    assert pa.table(client.subscribe("t")).num_rows == 600


def test_a_reader_is_published_with_its_frames_namespaces_and_metadata(client, server, tmp_path):
    from jellyframe import open_writer

    path = tmp_path / "graphs.jelly"
    options = StreamOptions(physical_type=PhysicalType.TRIPLES, logical_type=LogicalType.GRAPHS, version=2)
    with open_writer(path, options) as writer:
        writer.declare_namespace("e", "http://e/")
        writer.write_frame(triples(3), {"key": b"value"})
        writer.write_frame([])
        writer.write_frame(triples(2, 3))
    with open_reader(path) as reader:
        client.publish("t", reader)
    with client.subscribe("t") as subscription:
        frames = list(subscription.frames())
        assert subscription.options.logical_type is LogicalType.GRAPHS
        assert subscription.namespaces == {"e": "http://e/"}
    assert [len(frame) for frame in frames] == [3, 0, 2]
    assert frames[0].metadata == {"key": b"value"}


def test_an_empty_publication_is_one_frame_with_the_options(client, server):
    assert client.publish("nothing", []) == 1
    [frame] = server.topics["nothing"]
    assert [row.WhichOneof("row") for row in frame.rows] == ["options"]
    assert list(client.subscribe("nothing")) == []


@pytest.mark.parametrize("topic", ["", "Zürich/λ", "a b"])
def test_any_text_is_a_topic(client, server, topic):
    client.publish(topic, triples(1))
    assert server.calls[-1][1]["jelly-topic-bin"] == topic.encode()
    assert list(client.subscribe(topic)) == triples(1)


def test_options_are_asked_for_and_used(client, server):
    options = StreamOptions.small(physical_type=PhysicalType.TRIPLES)
    client.publish("t", triples(1), options)
    assert server.topics["t"][0].rows[0].options.max_name_table_size == 128
    list(client.subscribe("t", options))
    assert server.requests[-1].requested_options.max_name_table_size == 128
    list(client.subscribe("t"))
    assert not server.requests[-1].HasField("requested_options")


def test_a_large_publication_is_acknowledged_in_parts(client, server):
    statements = triples(20_000)
    client.publish("t", iter(statements), acknowledge_every=50_000)
    assert len(server.calls) > 3
    # Each part stands by itself, and together they are one stream.
    assert list(client.subscribe("t")) == statements


def test_a_refused_statement_ends_the_publication_after_the_earlier_ones(client, server):
    with pytest.raises(EncodeError, match="statement 3 has a graph"):
        client.publish("t", [*triples(3), *quads(1)], StreamOptions(physical_type=PhysicalType.TRIPLES))
    assert list(client.subscribe("t")) == triples(3)
    assert client.publish("t", triples(1)) == 1


def test_an_error_of_the_callers_iterator_is_raised_as_it_is(client, server):
    def broken():
        yield from triples(300)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        client.publish("t", broken())
    assert list(client.subscribe("t")) == triples(300)


def test_refusals_have_the_message_of_the_server(client, server):
    with pytest.raises(RemoteError, match=r"does not accept this.*the first row is not the options") as caught:
        client.publish("t", [b"\x0a\x04\x4a\x02\x12\x00"])
    assert caught.value.status == "INVALID_ARGUMENT"
    assert caught.value.source == client.address


def test_an_invalid_stream_of_the_server_is_an_error_of_the_codec(client, server):
    client.publish("t", triples(10), frame_rows=5)
    # A statement that refers to what no frame has set.
    del server.topics["t"][0]
    with pytest.raises(Exception, match="options"):
        list(client.subscribe("t"))


def test_a_lost_publication_is_sent_again(client, server):
    failed: list[bool] = []

    def fail_once(context):
        if not failed:
            failed.append(True)
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")

    server.on_published = fail_once
    assert client.publish("t", triples(600)) == 3
    assert list(client.subscribe("t")) == triples(600)
    failed.clear()
    with pytest.raises(RemoteError, match="going away"):
        client.publish("t", triples(1), resend=False)


def test_an_acknowledgement_before_the_end_is_an_error(client, server):
    server.on_frame = lambda _context, number: number == 2
    with pytest.raises(RemoteError, match="before its end"):
        client.publish("t", triples(100_000), frame_rows=100, acknowledge_every=1 << 30)


def test_a_lost_subscription_without_offsets_is_an_error_unless_gaps_are_accepted(client, server):
    client.publish("t", triples(600))
    failed: list[bool] = []

    def fail_once(context, number):
        if number == 1 and not failed:
            failed.append(True)
            context.abort(grpc.StatusCode.UNAVAILABLE, "going away")

    server.on_frame = fail_once
    got = []
    with pytest.raises(RemoteError, match="would leave a gap; set reconnect=always"):
        got += client.subscribe("t")
    failed.clear()
    assert list(client.subscribe("t", reconnect="always")) == triples(256) + triples(600)
    failed.clear()
    with pytest.raises(RemoteError, match="going away"):
        list(client.subscribe("t", reconnect="never"))


def test_a_timeout_ends_the_call(client, server):
    client.publish("t", triples(600))
    hold = threading.Event()
    server.on_frame = lambda _context, number: number and not hold.wait(20)
    subscription = client.subscribe("t", timeout=0.3)
    views = subscription.batches()
    assert len(next(views)) == 256
    with pytest.raises(RemoteError, match="DEADLINE_EXCEEDED"):
        next(views)
    with pytest.raises(RemoteError, match="DEADLINE_EXCEEDED"):
        client.publish("t", triples(600), timeout=0.3)
    hold.set()


def test_views_of_a_closed_subscription_raise(client, server):
    client.publish("t", triples(600))
    subscription = client.subscribe("t")
    views = [subscription.statements(), subscription.batches(), subscription.frames()]
    next(views[0])
    subscription.close()
    for view in views[1:]:
        with pytest.raises(UsageError, match="closed"):
            next(view)
    publisher = client.publisher("t")
    publisher.close()
    with pytest.raises(UsageError, match="the publisher is closed"):
        publisher.write(triples(1))
    other = client.subscribe("t")
    client.close()
    with pytest.raises(UsageError, match="the client is closed"):
        list(other)
    for use in (lambda: client.subscribe("t"), lambda: client.publish("t", []), client.topics):
        with pytest.raises(UsageError, match="the client is closed"):
            use()


def test_a_waiting_view_ends_when_another_thread_cancels(client, server):
    client.publish("t", triples(600))
    hold = threading.Event()
    waits = threading.Event()

    def wait(_context, number):
        if number:
            waits.set()
            hold.wait(20)

    server.on_frame = wait
    subscription = client.subscribe("t")
    errors = []

    def read():
        try:
            list(subscription)
        except UsageError as error:
            errors.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    assert waits.wait(20)
    subscription.cancel()
    thread.join(20)
    hold.set()
    assert errors
    assert "closed" in errors[0]


def test_an_iterator_that_is_dropped_ends_with_the_client(client, server):
    client.publish("t", triples(5000))
    statements = iter(client.subscribe("t"))
    next(statements)
    del statements


def test_received_frames_are_delivered_without_waiting_for_more(client, server):
    client.publish("t", triples(600))
    hold = threading.Event()
    server.on_frame = lambda _context, number: number == 2 and not hold.wait(20)
    batches = client.subscribe("t").batches()
    assert sum(len(next(batches)) for _ in range(1)) >= 256
    hold.set()
    assert 0 < sum(map(len, batches)) <= 473


def test_two_threads_share_a_client_but_no_publisher(client, server):
    def work(number):
        client.publish(f"topic {number}", triples(500, number * 500))
        results[number] = list(client.subscribe(f"topic {number}"))

    results: dict[int, list] = {}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == {number: triples(500, number * 500) for number in range(4)}
    publisher = client.publisher("t")

    def recursive():
        publisher.write(triples(1))
        yield from triples(1)

    with pytest.raises(UsageError, match="in use"):
        publisher.write(recursive())
    publisher.close()


def _use(client, queue):
    try:
        client.publish("t", triples(1))
    except UsageError as error:
        queue.put(str(error))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_is_told_to_connect_itself(server):
    context = multiprocessing.get_context("fork")
    with connect(server.address) as client:
        queue = context.Queue()
        process = context.Process(target=_use, args=(client, queue))
        process.start()
        assert "connect in each process" in queue.get(timeout=20)
        process.join(20)


def test_an_unreachable_server_is_an_error(unused_tcp_port):
    with connect(f"127.0.0.1:{unused_tcp_port}", connect_timeout=0.3) as client:
        for use in (lambda: client.publish("t", []), lambda: list(client.subscribe("t")), client.topics):
            with pytest.raises(RemoteError, match="cannot be reached") as caught:
                use()
            assert caught.value.status == "UNAVAILABLE"


def test_a_server_of_others_has_no_list_of_topics(client):
    with pytest.raises(RemoteError, match="does not offer this"):
        client.topics()


@pytest.mark.parametrize(
    ("address", "settings", "message"),
    [
        ("localhost", {}, "write HOST:PORT"),
        ("localhost:0", {}, "has no port"),
        ("localhost:²", {}, "write HOST:PORT"),
        ("example.org:443", {"token": "t"}, "over TLS only"),
        ("localhost:1", {"token": "two words"}, "the token is not valid"),
        ("localhost:1", {"certificate": "x"}, "certificate and key go together"),
        ("localhost:1", {"keepalive": -1}, "at least 0"),
    ],
)
def test_invalid_settings_are_refused(address, settings, message):
    with pytest.raises(OptionsError, match=message):
        connect(address, **settings)


def test_an_invalid_start_or_reconnect_is_refused(client):
    for start in ("first", -1, True):
        with pytest.raises(OptionsError, match="earliest, latest or an offset"):
            client.subscribe("t", from_=start)
    with pytest.raises(OptionsError, match="resume, always, never"):
        client.subscribe("t", reconnect="sometimes")


def test_tokens_are_not_shown():
    from jellyframe.grpc.client.settings import Connection

    assert "secret" not in repr(Connection("localhost:1", token="secret"))
