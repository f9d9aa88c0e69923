"""The stream sink writes each batch once, whatever fails."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pyarrow as pa
import pytest
from pyspark.sql import Row

from jellyframe import OptionsError, read_table
from jellyframe.spark.options import WriteOptions
from jellyframe.spark.source import JellyDataSource
from jellyframe.spark.stream_sink import record_batches
from support.spark_data import KNOWS_OFFSETS, SPECIAL, STRING, Read, quads, schema, stream_options, texts, write_jelly

STATEMENTS = quads(600) + SPECIAL


# ---- in a running Spark ----


def killing_worker(mark):
    """A function that kills the Python worker of the second task, once."""

    def change(batches):
        from pyspark import TaskContext

        for batch in batches:
            task = TaskContext.get()
            assert task is not None
            if task.partitionId() == 1 and not os.path.exists(mark):
                os.close(os.open(mark, os.O_CREAT))
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    return change


def run(spark, tmp_path, **options):
    """Copy the data of the folder `in` to the folder `out`."""
    reading = stream_options(tmp_path / "state", layout="ntriples", partition_bytes="3k")
    frame = spark.readStream.format("jelly").options(**reading).load(str(tmp_path / "in"))
    query = (
        frame.mapInArrow(killing_worker(str(tmp_path / "mark")), frame.schema)
        .writeStream.format("jelly")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .options(**options)
        .queryName("to_jelly")
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()


def rows(folder):
    return Read(folder, layout="ntriples").counted()


def files_in(folder):
    """All files but notes, hidden ones too."""
    return sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if not place.endswith("_jelly-commits")
    )


def test_each_batch_is_written_once(spark, tmp_path):
    (tmp_path / "in").mkdir()
    write_jelly(tmp_path / "in" / "a.jelly", STATEMENTS[:400], restart_every=3000, frame_rows=20)
    with pytest.raises(Exception, match="Python worker exited unexpectedly"):
        run(spark, tmp_path)
    assert not (tmp_path / "out").exists() or rows(tmp_path / "out") == Counter()
    run(spark, tmp_path, maxRecordsPerFile=100)
    assert rows(tmp_path / "out") == texts(STATEMENTS[:400])
    written = files_in(tmp_path / "out")
    assert all(os.path.basename(file).startswith("part-") for file in written)
    assert len(written) > 4
    # Spark dies before it has noted that the batch is done, and runs it again. New data comes, too.
    for file in (tmp_path / "checkpoint" / "commits").iterdir():
        file.unlink()
    write_jelly(tmp_path / "in" / "b.jelly", STATEMENTS[400:])
    run(spark, tmp_path)
    if not KNOWS_OFFSETS:
        # There, a run that begins with an old batch ends with it.
        run(spark, tmp_path)
    assert set(written) < set(files_in(tmp_path / "out"))
    assert rows(tmp_path / "out") == texts(STATEMENTS)


@pytest.mark.parametrize("layout", ["ntriples", "flat"])
def test_the_layout_can_be_set(spark, tmp_path, layout):
    (tmp_path / "in").mkdir()
    write_jelly(tmp_path / "in" / "a.jelly", STATEMENTS[:50])
    reading = stream_options(tmp_path / "state", layout=layout)
    frame = spark.readStream.format("jelly").options(**reading).load(str(tmp_path / "in"))
    stream = frame.writeStream.format("jelly").option("checkpointLocation", str(tmp_path / "checkpoint"))

    def write(said):
        stream.option("layout", said).trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    with pytest.raises(Exception, match="column 's' is string, and in the layout 'struct' it holds structs"):
        write("struct")
    write(layout)
    assert rows(tmp_path / "out") == texts(STATEMENTS[:50])


# ---- without one ----


def test_rows_are_written_where_spark_passes_no_record_batches(tmp_path):
    arrow = Read(write_jelly(tmp_path / "a.jelly", STATEMENTS)).table.schema
    table = read_table(tmp_path / "a.jelly")
    made = [Row(*(None if term is None else Row(*term.values()) for term in row.values())) for row in table.to_pylist()]
    again = pa.Table.from_batches(record_batches(iter(made), arrow))
    assert again.equals(pa.table(table.columns, schema=arrow))


def test_invalid_arguments_are_refused(tmp_path):
    source = JellyDataSource({"path": str(tmp_path), "checkpointLocation": "x"})
    with pytest.raises(OptionsError, match="outputMode"):
        source.streamWriter(schema(s=STRING, p=STRING, o=STRING), True)
    assert source.streamWriter(schema(s=STRING, p=STRING, o=STRING), False).plan.options == WriteOptions(
        path=str(tmp_path)
    )
