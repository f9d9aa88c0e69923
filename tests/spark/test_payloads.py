"""Messages in DataFrames of a running Spark, and through a broker."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import functions

import jellyframe
from jellyframe import OptionsError
from jellyframe.spark import decode_payloads, encode_payloads, from_jelly, to_jelly
from support.spark_data import SPECIAL, quads, texts, write_jelly

STATEMENTS = quads(300) + SPECIAL
CHUNKS = [STATEMENTS[:100], [], STATEMENTS[100:200], STATEMENTS[200:]]


@pytest.fixture(scope="module")
def messages(spark):
    rows = [(f"k{i}", bytearray(jellyframe.dumps(chunk))) for i, chunk in enumerate(CHUNKS)]
    return spark.createDataFrame([*rows, ("null", None)], "key string, value binary").coalesce(1).cache()


@pytest.fixture(scope="module")
def damaged(messages):
    cut = functions.expr("if(key = 'k2', substring(value, 1, length(value) - 3), value) value")
    return messages.select("key", cut)


def counted(frame):
    return Counter(map(tuple, frame.collect()))


def loaded(rows):
    """Return the statements of messages, each read on its own."""
    return texts(statement for row in rows for statement in jellyframe.loads(bytes(row.value)))


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_functions_decode_and_encode_messages(messages, layout):
    arrays = messages.select("key", from_jelly("value", layout=layout).alias("statements"))
    again = arrays.select("key", to_jelly("statements").alias("value"))
    found = {row.key: row.value for row in again.collect()}
    assert found.pop("null") is None
    assert [texts(jellyframe.loads(bytes(found[f"k{i}"]))) for i in range(4)] == [texts(chunk) for chunk in CHUNKS]


def test_functions_with_other_functions(messages):
    statements = messages.select(functions.inline(from_jelly(messages.value, layout="ntriples")))
    assert counted(statements) == texts(STATEMENTS)
    one_each = statements.select(to_jelly("s", "p", "o", "g").alias("value")).collect()
    assert len(one_each) == len(STATEMENTS)
    assert loaded(one_each) == texts(STATEMENTS)
    grouped = statements.groupBy("p").agg(
        to_jelly(functions.collect_list(functions.struct("s", "p", "o"))).alias("value")
    )
    assert loaded(grouped.collect()) == texts(statement[:3] for statement in STATEMENTS)


def test_functions_work_without_arrow_functions(messages, monkeypatch):
    monkeypatch.delattr(functions, "arrow_udf", raising=False)
    arrays = messages.select(from_jelly("value").alias("statements"))
    assert loaded(arrays.select(to_jelly("statements").alias("value")).dropna().collect()) == texts(STATEMENTS)


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_data_frames_decode_and_encode_messages(spark, messages, layout):
    decoded = decode_payloads(messages, layout=layout, keep=["key"])
    assert decoded.groupBy("key").count().count() == 3
    by_key = encode_payloads(decoded, group_by="key").collect()
    assert {row.key: texts(jellyframe.loads(bytes(row.value))) for row in by_key} == {
        f"k{i}": texts(chunk) for i, chunk in enumerate(CHUNKS) if chunk
    }
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 30)
    try:
        small = encode_payloads(decoded, rows_per_message=40).collect()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert [len(jellyframe.loads(bytes(row.value))) for row in small] == [40] * 7 + [25]
    assert loaded(small) == texts(STATEMENTS)


def test_groups_are_cut_into_messages(messages):
    decoded = decode_payloads(messages, layout="ntriples")
    rows = encode_payloads(decoded, group_by=["g", "p"], rows_per_message=4).collect()
    assert loaded(rows) == texts(STATEMENTS)
    for row in rows:
        found = jellyframe.loads(bytes(row.value))
        assert len(found) <= 4
        assert {(one[3], one[1]) for one in texts(found)} == {(row.g, row.p)}
    assert len({(row.g, row.p) for row in rows}) == len({(one[3], one[1]) for one in texts(STATEMENTS)})


def test_bad_messages_are_raised_dropped_or_reported(damaged):
    with pytest.raises(Exception, match="message 2 of an Arrow batch"):
        decode_payloads(damaged).count()
    rest = texts(CHUNKS[0] + CHUNKS[3])
    small = decode_payloads(damaged, layout="ntriples", mode="dropmalformed")  # type: ignore[arg-type]
    assert counted(small) == rest
    reported = decode_payloads(damaged, layout="ntriples", mode="PERMISSIVE", keep=["key"])
    (bad,) = reported.where("_corrupt_record is not null").collect()
    assert (bad.key, bad.s, bad.g) == ("k2", None, None)
    assert counted(reported.where("_corrupt_record is null").select("s", "p", "o", "g")) == rest
    arrays = damaged.select("key", from_jelly("value", mode="PERMISSIVE").alias("statements"))
    assert {row.key for row in arrays.where("statements is null").collect()} == {"k2", "null"}
    with pytest.raises(Exception, match="message 2 of an Arrow batch"):
        damaged.select(from_jelly("value")).collect()


def test_invalid_arguments_are_refused(messages):
    with pytest.raises(OptionsError, match="DROPMALFORMED"):
        from_jelly("value", mode="DROPMALFORMED")
    with pytest.raises(OptionsError, match="mode is 'x'"):
        decode_payloads(messages, mode="x")  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="it takes one, of arrays"):
        to_jelly("s", "p")
    with pytest.raises(OptionsError, match="needs group_by, rows_per_message or both"):
        encode_payloads(messages)
    with pytest.raises(OptionsError, match="rename it"):
        decode_payloads(messages.withColumnRenamed("key", "s"), keep=["s"])


def test_messages_pass_through_a_broker(spark, tmp_path):
    """Spark's own Kafka source is a JAR that is not here, so the driver carries the messages to the broker and back."""
    kafka = pytest.importorskip("confluent_kafka", reason="needs confluent-kafka")
    write_jelly(tmp_path / "a.jelly", STATEMENTS)
    frame = spark.read.format("jelly").load(str(tmp_path))
    producer = kafka.Producer({"test.mock.num.brokers": 1})
    (address,) = {f"{broker.host}:{broker.port}" for broker in producer.list_topics(timeout=20).brokers.values()}
    sent = encode_payloads(frame, group_by="s", rows_per_message=10).collect()
    for row in sent:
        producer.produce("statements", key=row.s.value, value=bytes(row.value))
    assert producer.flush(30) == 0

    consumer = kafka.Consumer(
        {"bootstrap.servers": address, "group.id": "test", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe(["statements"])
    received: list[tuple[str, bytearray]] = []
    try:
        while len(received) < len(sent):
            found = consumer.consume(len(sent) - len(received), timeout=60)
            assert found, "messages are missing"
            assert not any(message.error() for message in found)
            received += [(message.key().decode(), bytearray(message.value())) for message in found]
    finally:
        consumer.close()
    arrived = spark.createDataFrame(received, "key string, value binary")
    by_subject = decode_payloads(arrived, keep=["key"])
    assert by_subject.where("key != s.value").count() == 0
    assert counted(arrived.select(functions.inline(from_jelly("value", layout="ntriples")))) == texts(STATEMENTS)


def test_a_column_of_text_is_refused(spark):
    text = spark.createDataFrame([("b3Bz",)], "value string")
    with pytest.raises(OptionsError, match="'value' is string, and messages are binary; unbase64"):
        decode_payloads(text)
    with pytest.raises(OptionsError, match="there is no column 'payload'; there are value"):
        decode_payloads(text, "payload")
    with pytest.raises(Exception, match="the column is string, and messages are binary"):
        text.select(from_jelly("value")).collect()


def test_columns_of_any_type_are_kept(spark):
    kinds = {
        "timestamp": "timestamp '2024-02-03 04:05:06'",
        "local": "timestamp_ntz '2024-02-03 04:05:06'",
        "day": "date '2024-02-03'",
        "price": "1.50",
        "headers": "array(named_struct('key', 'a', 'value', X'00'))",
    }
    messages = encode_payloads(
        spark.createDataFrame([("<a:s>", "<a:p>", "<a:o>")], "s: string, p: string, o: string"), rows_per_message=1
    )
    frame = messages.selectExpr("value", *(f"{value} AS `{name}`" for name, value in kinds.items()))
    decoded = decode_payloads(frame, layout="ntriples", keep=list(kinds))
    assert [tuple(row) for row in decoded.collect()] == [
        (*row, "<a:s>", "<a:p>", "<a:o>", None) for row in frame.drop("value").collect()
    ]
