"""The data source `jelly-grpc` in a running Spark, with a server of ours as a process.

Each run of a query reads the available data and ends, so nothing has to wait.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="needs jellyframe[grpc]")

from jellyframe.errors import OptionsError, StorageError
from jellyframe.grpc import connect
from jellyframe.spark.grpc.source import JellyGrpcDataSource
from support.examples import page_programs
from support.grpc_process import ServerProcess
from support.rpc_data import quads, triples
from support.spark_data import texts

LAYOUT = {"layout": "ntriples"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    with ServerProcess("--listen", "127.0.0.1:0", "--default-topic", f"log:{folder}", "--topic", "live=live") as server:
        yield server


@pytest.fixture
def client(server):
    with connect(server.address) as client:
        yield client


class Query:
    """A query from a topic to Spark's own Parquet sink, which is exact, started again and again."""

    def __init__(self, spark, server, topic, folder, **options):
        self.spark = spark
        self.options = {"server": server.address, "topic": topic, **LAYOUT, **options}
        self.checkpoint = folder / "checkpoint"
        self.out = str(folder / "out")

    def run(self):
        frame = self.spark.readStream.format("jelly-grpc").options(**self.options).load()
        query = (
            frame.writeStream.format("parquet")
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start(self.out)
        )
        query.awaitTermination()
        return [progress.numInputRows for progress in query.recentProgress if progress.numInputRows]

    def rows(self):
        return Counter(map(tuple, self.spark.read.parquet(self.out).collect()))

    def forget_last_commit(self):
        """Remove the record of the last batch, as if Spark had died before writing it."""
        for folder in (self.checkpoint / "commits", Path(self.out, "_spark_metadata")):
            last = max(folder.glob("[0-9]*"), key=lambda file: int(file.name))
            last.unlink()
            (folder / f".{last.name}.crc").unlink(missing_ok=True)


def test_a_log_is_read_exactly_once_also_after_a_query_died(spark, server, client, tmp_path):
    query = Query(spark, server, "exact", tmp_path, framesPerPartition="2")
    client.publish("exact", quads(600))
    assert query.run() == [600]
    query.forget_last_commit()
    client.publish("exact", quads(300, 600))
    # The batch that was not recorded has the same frames.
    assert query.run() == [600, 300]
    assert query.rows() == texts(quads(900))


def test_from_one_topic_to_another(spark, server, client, tmp_path):
    options = {"server": server.address, "topic": "written"}
    client.publish("written", quads(500))
    query = (
        spark.readStream.format("jelly-grpc")
        .options(**options, **LAYOUT)
        .load()
        .writeStream.format("jelly-grpc")
        .options(server=server.address, topic="copied")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found: Counter = Counter()
    for batch in client.subscribe("copied", from_="earliest").batches():
        found.update(batch.statements())
        if found.total() >= 500:
            break
    assert found == Counter(quads(500))


def test_the_program_of_the_page_runs(spark, server, client, tmp_path, monkeypatch):
    [program] = [program for program in page_programs("docs/grpc.md") if "spark.readStream" in program]
    client.publish("people", quads(300))
    monkeypatch.chdir(tmp_path)
    program = program.replace("localhost:9090", server.address)
    for folder in ("checkpoint", "table"):
        program = program.replace(f'"{folder}"', f'"{tmp_path / folder}"')
    exec(program, {"spark": spark})
    with pytest.raises(Exception, match="cannot be overwritten"):
        spark.range(1).selectExpr("'<a:s>' s", "'<a:p>' p", "'<a:o>' o").write.format("jelly-grpc").options(
            server=server.address, topic="copy"
        ).mode("overwrite").save()
    copied = spark.read.format("jelly-grpc").options(server=server.address, topic="copy", **LAYOUT).load()
    assert Counter(map(tuple, copied.collect())) == texts(quads(300))


# ---- asked as Spark asks, without a running Spark ----


def stream_reader(server, topic, **options):
    source = JellyGrpcDataSource({"server": server.address, "topic": topic, **LAYOUT, **options})
    return source.streamReader(source.schema())


def read(reader, start, end):

    # Tasks get copies of the reader.
    copy = pickle.loads(pickle.dumps(reader))
    return sum(
        batch.num_rows
        for part in reader.partitions(start, end)
        for batch in copy.read(pickle.loads(pickle.dumps(part)))
    )


def test_starting_offsets_and_limits_apply(server, client):
    frames = client.publish("limited", triples(600))
    reader = stream_reader(server, "limited", maxFramesPerTrigger="2")
    start = reader.initialOffset()
    sizes = []
    while (end := json.loads(json.dumps(reader.latestOffset(start, None)))) != start:
        sizes.append(read(reader, start, end))
        start = end
    assert sum(sizes) == 600
    assert len(sizes) == -(-frames // 2)
    assert stream_reader(server, "limited", startingOffsets="latest").initialOffset() == start
    assert stream_reader(server, "limited", startingOffsets="3").initialOffset() == {"offset": 3}
    with pytest.raises(StorageError, match="it is another topic, or has lost frames"):
        reader.partitions({"offset": 10**9}, start)
    reader.stop()


def test_live_topics_are_refused_unless_loss_is_acceptable(server, client):
    with pytest.raises(OptionsError, match=r"its frames are not kept.*acceptLoss"):
        stream_reader(server, "live").initialOffset()
    reader = stream_reader(server, "live", acceptLoss="true")
    start = reader.initialOffset()
    while not any(topic.name == "live" and topic.subscribers for topic in client.topics()):
        pass
    client.publish("live", triples(100))
    got = 0
    while got < 100:
        end = reader.latestOffset(start, None)
        got += read(reader, start, end)
        reader.commit(end)
        start = end
    assert got == 100
    reader.stop()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topic": "t"}, "the option server is missing"),
        ({"server": "localhost:1"}, "the option topic is missing"),
        ({"server": "localhost:1", "topic": "t", "acceptlos": "true"}, "did you mean acceptLoss"),
        ({"server": "localhost:1", "topic": "t", "columns": "s,file"}, "topics have no column file"),
    ],
)
def test_invalid_options_are_refused(options, message):
    source = JellyGrpcDataSource(options)
    with pytest.raises(OptionsError, match=message):
        source.streamReader(source.schema())
