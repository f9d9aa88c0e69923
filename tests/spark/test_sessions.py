"""Sessions: in other threads than the main one, several at a time, and without noise in the log."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from jellyframe.spark import activate, register, session
from support.spark_data import SPECIAL, Read, quads, stream_options, texts, write_jelly

STATEMENTS = quads(2000)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_jelly(tmp_path_factory.mktemp("sessions") / "a.jelly", STATEMENTS, restart_every=10_000, index=True)


def in_thread(function):
    """Run a function in a thread of its own, and return what it returns."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def append(spark, path, target):
    frame = spark.read.format("jelly").options(layout="ntriples", partition_bytes="10k").load(str(path))
    frame.write.format("jelly").mode("append").save(str(target))


def counted(folder):
    return Counter(Read(folder, layout="ntriples").rows("s", "p", "o", "g"))


@pytest.mark.parametrize("make_ready", [activate, register, lambda spark: session()])
def test_one_call_lets_a_thread_write(spark, path, tmp_path, make_ready):
    def write():
        make_ready(spark)
        append(spark, path, tmp_path / "out")

    in_thread(write)
    assert counted(tmp_path / "out") == texts(STATEMENTS)


def test_a_thread_starts_a_streaming_query(spark, path, tmp_path):
    def run():
        activate(spark)
        source = spark.readStream.format("jelly").options(**stream_options(tmp_path / "state"))
        writer = source.load(str(path.parent)).writeStream.format("jelly")
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start(str(tmp_path / "out")).awaitTermination()

    in_thread(run)
    assert counted(tmp_path / "out") == texts(STATEMENTS)


def test_the_session_of_the_process_is_returned_unchanged_in_a_thread(spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    same = in_thread(lambda: session(config={"spark.sql.shuffle.partitions": 77}))
    assert same.sparkContext is spark.sparkContext
    assert spark.conf.get("spark.sql.shuffle.partitions") == before


def test_threads_and_sessions_that_write_to_one_folder_at_once(spark, path, tmp_path):
    sessions = [spark, spark, spark.newSession(), spark.newSession()]
    together = Barrier(len(sessions), timeout=60)

    def write(one):
        activate(one)
        together.wait()
        append(one, path, tmp_path / "out")

    try:
        with ThreadPoolExecutor(len(sessions)) as pool:
            list(pool.map(write, sessions))
    finally:
        activate(spark)
    assert counted(tmp_path / "out") == texts(STATEMENTS * len(sessions))
    assert all(name.startswith("part-") for name in os.listdir(tmp_path / "out"))


@pytest.mark.parametrize("kinds", [("overwrite", "overwrite"), ("overwrite", "append")])
def test_overwrites_of_one_folder_at_once_are_never_mixed(spark, tmp_path, kinds):
    """Two sessions, each in a thread of its own, with several files each."""
    results = [quads(300), [*SPECIAL] * 20]
    paths = [write_jelly(tmp_path / f"{i}.jelly", result) for i, result in enumerate(results)]
    together = Barrier(2, timeout=60)

    def write(one, path, mode):
        activate(one)
        frame = one.read.format("jelly").load(str(path)).repartition(4)
        together.wait()
        frame.write.format("jelly").mode(mode).option("maxRecordsPerFile", 10).save(str(tmp_path / "out"))

    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, [spark, spark.newSession()], paths, kinds))
    finally:
        activate(spark)
    expected = [texts(results[0]), texts(results[1] if kinds[1] == "overwrite" else results[0] + results[1])]
    assert counted(tmp_path / "out") in expected
    assert all(name.startswith("part-") for name in os.listdir(tmp_path / "out"))


SHOW = """
import sys
from pyspark.errors import AnalysisException
from jellyframe.spark import session

spark = session("local[1]")
spark.read.format("jelly").option("layout", "ntriples").load(sys.argv[1]).show(3, truncate=False)
for query in (lambda: spark.sql("SELECT nothing FROM range(1)"), lambda: spark.range(1).select("nothing")):
    try:
        query()
    except AnalysisException:
        print("raised")
spark.stop()
"""


def test_queries_that_stop_early_or_fail_print_nothing_of_their_own(tmp_path):
    large = write_jelly(tmp_path / "large.jelly", quads(150_000))
    python_path = os.pathsep.join(place for place in sys.path if place)
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(large)],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("|<http://example.org/s0>") == 3
    assert done.stdout.count("raised") == 2
    for word in ("BrokenPipe", "Traceback", "AnalysisException", "nothing"):
        assert word not in done.stderr
