"""Topics that are kept in Kafka: librdkafka's own cluster in this process, as brokers that servers share."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import confluent_kafka
import pytest

from jellyframe import dumps, loads
from jellyframe.errors import OptionsError, RemoteError
from jellyframe.grpc import connect
from jellyframe.grpc.retention.kafka_cluster import KafkaAddress, KafkaCluster, record_topic
from support.command import error_of
from support.grpc_process import ServerProcess
from support.grpc_server import RunningServer
from support.rpc_data import quads, triples


@pytest.fixture(scope="module")
def brokers():
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "log_level": 3})
    [broker] = producer.list_topics(timeout=30).brokers.values()
    # Topics of this cluster have four partitions each.
    yield f"{broker.host}:{broker.port}?partition=0"
    del producer


@pytest.fixture
def servers(brokers):
    """Two servers on one cluster."""
    with (
        RunningServer(default_topic=f"kafka://{brokers}") as first,
        RunningServer(default_topic=f"kafka://{brokers}") as second,
    ):
        yield first, second


def take(subscription, count):
    found: list = []
    with subscription:
        for batch in subscription.batches():
            found += batch.statements()
            if len(found) >= count:
                return found
    return found


def records(brokers, topic, count):
    """The values of the first records of a Kafka topic, as any consumer reads them."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": brokers, "group.id": "t", "auto.offset.reset": "earliest"}
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found = [record.value() for record in consumer.consume(count, 30)]
    consumer.close()
    return found


def test_servers_share_topics_through_the_cluster(servers, brokers):
    first, second = servers
    with connect(first.address) as one, connect(second.address) as two:
        frames = one.publish("shared", quads(600))
        assert take(two.subscribe("shared", from_="earliest"), 600) == quads(600)
        # One who is there sees what comes by way of the other.
        live = two.subscribe("shared")
        got: list = []
        reading = threading.Thread(target=lambda: got.extend(take(live, 100)))
        reading.start()
        while not any(topic.subscribers for topic in two.topics()):
            assert reading.is_alive()
        one.publish("shared", quads(100, 600))
        reading.join(30)
        assert got == quads(100, 600)
        [topic] = [topic for topic in two.topics() if topic.name == "shared"]
        assert topic.retention == "kafka"
        assert topic.next_offset - topic.first_offset > frames
    # Each record stands by itself.
    found = records(brokers, "shared", frames)
    assert [statement for value in found for statement in loads(value)] == quads(600)


def test_records_of_other_writers_are_read_and_invalid_ones_skipped(servers, brokers):
    producer = confluent_kafka.Producer({"bootstrap.servers": brokers.partition("?")[0]})
    with connect(servers[0].address) as client:
        client.publish("foreign", triples(2))
        for value in (dumps(triples(1, 2)), b"no jelly", dumps(triples(1, 3))):
            producer.produce("foreign", value, partition=0)
        producer.flush(30)
        assert take(client.subscribe("foreign", from_="earliest"), 4) == triples(4)


def test_a_subscription_resumes_on_another_server(servers):
    first, second = servers
    with connect(first.address) as one, connect(second.address) as two:
        one.publish("resumed", triples(600), frame_rows=100)
        with one.subscribe("resumed", from_="earliest", batch_rows=100) as subscription:
            batches = subscription.batches()
            found = [statement for _ in range(3) for statement in next(batches).statements()]
            offset = subscription.offset
        rest = take(two.subscribe("resumed", from_=offset), 1)
        rest = take(two.subscribe("resumed", from_=offset), 600 - triples(600).index(rest[0]))
        assert set(found) | set(rest) == set(triples(600))
        assert rest == triples(600)[-len(rest) :]
        with pytest.raises(RemoteError, match="no frame at offset 100000 yet"):
            list(two.subscribe("resumed", from_=100_000))


def test_any_topic_has_a_name_in_kafka(servers):
    names = ["", "a b", "Zürich", "plain-name_1.x", ".", "jelly.escaped.61", "x" * 100]
    assert len({record_topic(name) for name in names}) == len(names)
    assert record_topic("plain-name_1.x") == "plain-name_1.x"
    with pytest.raises(OptionsError, match="too long"):
        record_topic("ü" * 200)
    with connect(servers[0].address) as client:
        for number, name in enumerate(names[:3]):
            client.publish(name, triples(1, number))
            assert take(client.subscribe(name, from_="earliest"), 1) == triples(1, number)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("kafka://", "is not a Kafka cluster"),
        ("http://localhost:1", "is not a Kafka cluster"),
        ("kafka://user:secret@localhost:1", "no user and password"),
        ("kafka://localhost:1?acks=0", "acks cannot be changed"),
        ("kafka://localhost:1?partition=x", "is not a number"),
    ],
)
def test_invalid_cluster_addresses_are_refused(url, reason):
    with pytest.raises(OptionsError, match=reason) as caught:
        KafkaAddress.parse(url)
    assert "secret" not in str(caught.value)


def test_settings_of_the_library_are_passed_on():
    address = KafkaAddress.parse("kafka://a:1,b:2?security.protocol=SSL&sasl.password=hidden")
    assert address.settings()["security.protocol"] == "SSL"
    assert address.settings()["bootstrap.servers"] == "a:1,b:2"
    assert "hidden" not in repr(address)


def test_a_topic_of_several_partitions_is_refused(brokers):
    with (
        RunningServer(default_topic=f"kafka://{brokers.partition('?')[0]}") as server,
        connect(server.address) as client,
        pytest.raises(RemoteError, match=r"has 4 partitions.*\?partition=0"),
    ):
        client.publish("four", triples(1))


def test_the_command_serves_from_a_cluster(brokers):
    with ServerProcess("--listen", "127.0.0.1:0", "--store", f"kafka://{brokers}") as server:
        with connect(server.address) as client:
            client.publish("by-command", triples(10))
            assert take(client.subscribe("by-command", from_="earliest"), 10) == triples(10)
        assert server.end() == (0, "")
    assert "exclude each other" in error_of("grpc", "serve", "--store", "kafka://a:1", "--default-topic", "live")
    assert "is not a Kafka cluster" in error_of("grpc", "serve", "--store", "mysql://a:1")


class CreatingClient:
    """A stand-in for the creation of topics, which the mock cluster of librdkafka does by itself."""

    def __init__(self, _settings):
        self.made: Future = Future()
        self.made.set_result(None)

    def create_topics(self, topics, **_settings):
        return {topic.topic: self.made for topic in topics}


@pytest.mark.parametrize("is_known", [True, False])
def test_brokers_need_time_to_know_a_new_topic(brokers, monkeypatch, is_known):
    asked: list = []
    partitions_of = KafkaCluster._partitions

    def partitions_later(self, name):
        asked.append(name)
        return partitions_of(self, name) if is_known and len(asked) > 3 else 0

    monkeypatch.setattr(KafkaCluster, "_partitions", partitions_later)
    monkeypatch.setattr("confluent_kafka.admin.AdminClient", CreatingClient)
    monkeypatch.setattr("jellyframe.grpc.retention.kafka_cluster._PATIENCE", 30 if is_known else 0)
    with RunningServer(default_topic=f"kafka://{brokers}") as server, connect(server.address) as client:
        if is_known:
            client.publish("new", triples(10))
            assert take(client.subscribe("new", from_="earliest"), 10) == triples(10)
        else:
            with pytest.raises(RemoteError, match="was created, but the cluster does not list its partitions"):
                client.publish("unknown", triples(1))


def test_an_unreachable_cluster_is_an_error(unused_tcp_port, monkeypatch):
    monkeypatch.setattr("jellyframe.grpc.retention.kafka_cluster._PATIENCE", 0.5)
    with (
        RunningServer(default_topic=f"kafka://127.0.0.1:{unused_tcp_port}") as server,
        connect(server.address) as client,
        pytest.raises(RemoteError, match=r"the Kafka cluster .* has failed"),
    ):
        client.publish("t", triples(1))
