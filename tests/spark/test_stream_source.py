"""The stream source in a running Spark. Each run of a query reads the available data and ends, so nothing waits."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from support.spark_data import KNOWS_OFFSETS, SPECIAL, quads, stream_options, texts, write_jelly

STATEMENTS = quads(900) + SPECIAL


class Stream:
    """A query from a growing folder to Spark's own Parquet sink, which is exact, started again and again."""

    def __init__(self, spark, tmp_path):
        self.spark = spark
        self.folder = tmp_path / "in"
        self.folder.mkdir()
        self.checkpoint = tmp_path / "checkpoint"
        self.state = tmp_path / "state"
        self.out = str(tmp_path / "out")

    def add(self, name, statements):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        return write_jelly(path, statements)

    def run(self, **options):
        """Read the available data, and return the number of rows in each batch."""
        options = stream_options(self.state, layout="ntriples", **options)
        frame = self.spark.readStream.format("jelly").options(**options).load(str(self.folder))
        query = (
            frame.writeStream.format("parquet")
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start(self.out)
        )
        query.awaitTermination()
        return [progress.numInputRows for progress in query.recentProgress if progress.numInputRows]

    def take_up(self):
        """Finish a batch that was begun, and take what is there. Before Spark 4.2 the first is a run by itself."""
        return self.run() if KNOWS_OFFSETS else self.run() + self.run()

    def rows(self):
        return Counter(map(tuple, self.spark.read.parquet(self.out).collect()))

    def offsets(self):
        """The offsets in the checkpoint, in order."""
        files = sorted((int(file.name), file) for file in (self.checkpoint / "offsets").glob("[0-9]*"))
        return [json.loads(file.read_text().splitlines()[2]) for _number, file in files]

    def forget_last_commit(self):
        """Remove the record of the last batch, as if Spark had died before writing it."""
        for folder in (self.checkpoint / "commits", Path(self.out, "_spark_metadata")):
            last = max(folder.glob("[0-9]*"), key=lambda file: int(file.name))
            last.unlink()
            (folder / f".{last.name}.crc").unlink(missing_ok=True)


@pytest.fixture
def stream(spark, tmp_path):
    return Stream(spark, tmp_path)


def test_new_files_are_read_once(stream):
    stream.add("b.jelly", STATEMENTS[:300])
    assert stream.run() == [300]
    stream.add("a.jelly", STATEMENTS[300:310])
    # A late file: it is older than all that were read, and its name sorts before theirs.
    os.utime(stream.add("below/0.jelly", STATEMENTS[310:500]), (1, 1))
    stream.add("_not_complete.jelly", STATEMENTS)
    assert stream.run() == [200]
    (stream.folder / "_not_complete.jelly").rename(stream.folder / "c.jelly")
    # A file that is overwritten is not a new file.
    stream.add("b.jelly", STATEMENTS)
    assert stream.run() == [len(STATEMENTS)]
    assert stream.rows() == texts(STATEMENTS[:500] + STATEMENTS)
    offsets = stream.offsets()
    assert [offset["files"] for offset in offsets] == [1, 3, 4]
    assert len({offset.get("log") for offset in offsets}) == 1


def test_a_batch_that_failed_or_was_not_recorded_is_read_again(stream):
    for i in range(4):
        stream.add(f"{i}.jelly", STATEMENTS[i * 100 : i * 100 + 100])
    if KNOWS_OFFSETS:
        assert stream.run(maxFilesPerTrigger=2) == [200, 200]
    else:
        with pytest.raises(Exception, match=r"maxFilesPerTrigger and maxBytesPerTrigger need Spark 4\.2"):
            stream.run(maxFilesPerTrigger=2)
        assert stream.run() == [400]
    stream.forget_last_commit()
    bad = stream.folder / "bad.jelly"
    bad.write_bytes((stream.folder / "0.jelly").read_bytes()[:-40])
    with pytest.raises(Exception, match=r"bad\.jelly.*the input ends inside a frame"):
        stream.take_up()
    write_jelly(bad, STATEMENTS[400:700])
    stream.add("last.jelly", STATEMENTS[700:])
    # The batch that failed has the files that it had, and only these, now that they can be read.
    assert stream.take_up() == [300, len(STATEMENTS) - 700]
    assert stream.rows() == texts(STATEMENTS)


def test_a_query_can_get_past_a_bad_file(spark, tmp_path):
    stream = Stream(spark, tmp_path)
    stream.add("a.jelly", STATEMENTS[:100])
    assert stream.run() == [100]
    (stream.folder / "b.jelly").write_bytes(b"")
    for _attempt in range(2):
        with pytest.raises(StreamingQueryException, match=r"b\.jelly"):
            stream.run()
    stream.add("c.jelly", STATEMENTS[100:])
    # The same checkpoint with a tolerant mode finishes the batch; after that the strict one does again.
    stream.run(mode="DROPMALFORMED")
    stream.add("d.jelly", STATEMENTS[:10])
    stream.run()
    assert stream.rows() == texts([*STATEMENTS, *STATEMENTS[:10]])
