"""Servers that share a real Kafka broker: what goes into one comes out of the other, and out of Kafka."""

from __future__ import annotations

from itertools import islice

import confluent_kafka

from jellyframe import loads
from jellyframe.grpc import connect
from support.grpc_server import RunningServer
from support.rpc_data import quads


def test_servers_share_a_broker(kafka_broker: str) -> None:
    store = f"kafka://{kafka_broker}"
    with (
        RunningServer(default_topic=store) as first,
        RunningServer(default_topic=store) as second,
        connect(first.address) as one,
        connect(second.address) as two,
    ):
        frames = one.publish("shared", quads(5_000))
        two.publish("shared", quads(1_000, 5_000))
        for client in (one, two):
            with client.subscribe("shared", from_="earliest") as subscription:
                assert list(islice(subscription.statements(), 6_000)) == quads(6_000)
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka_broker, "group.id": "any", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["shared"])
    records = consumer.consume(frames, 60)
    consumer.close()
    assert [statement for record in records for statement in loads(record.value() or b"")] == quads(5_000)
