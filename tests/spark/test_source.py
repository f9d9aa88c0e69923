"""The data source in a running Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

import jellyframe
from jellyframe.spark import JellyDataSource
from jellyframe.spark.writing import JellyBatchWriter
from jellyframe.terms import GraphName, Quad
from support.spark_data import SPECIAL, quads, texts, write_jelly

STATEMENTS = quads(3000) + SPECIAL


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_jelly(tmp_path_factory.mktemp("source") / "a.jelly", STATEMENTS, restart_every=10_000, index=True)


def read(spark, path, **options):
    return spark.read.format("jelly").options(**options).load(path if isinstance(path, list) else str(path))


def counted(frame):
    return Counter(map(tuple, frame.collect()))


def save(frame, path, mode="append", **options):
    frame.write.format("jelly").mode(mode).options(**options).save(str(path))


def files_in(folder):
    return sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_each_layout_survives_a_round_trip(spark, path, tmp_path, layout):
    frame = read(spark, path, layout=layout, partition_bytes="10k")
    assert frame.rdd.getNumPartitions() > 2
    save(frame, tmp_path / "out")
    assert len(files_in(tmp_path / "out")) == frame.rdd.getNumPartitions()
    assert counted(read(spark, tmp_path / "out", layout="ntriples")) == texts(STATEMENTS)


CONNECT = """
import sys
from jellyframe.spark import session

url, source, target = sys.argv[1:]
spark = session(url)
spark.read.format("jelly").load(source).write.format("jelly").mode("append").save(target)
print(type(spark).__module__, spark.read.format("jelly").load(target).count())
"""


def test_a_client_of_spark_connect(spark, connect_port, path, tmp_path):
    pytest.importorskip("grpc_status", reason="needs pyspark[connect]")
    command = [sys.executable, "-c", CONNECT, f"sc://127.0.0.1:{connect_port}", str(path), str(tmp_path / "out")]
    python_path = os.pathsep.join(place for place in sys.path if place)
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": python_path}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["pyspark.sql.connect.session", str(len(STATEMENTS))]


def test_queries_filter_and_join(spark, path):
    frame = read(spark, path)
    assert frame.where("p.value = 'http://example.org/p3'").count() == 600
    frame.createOrReplaceTempView("statements")
    joined = spark.sql("select a.s from statements a join statements b on a.o = b.o and a.s = b.s where b.g is null")
    left = Counter((q.s, q.o) for q in STATEMENTS)
    right = Counter((q.s, q.o) for q in STATEMENTS if q.g is jellyframe.DEFAULT_GRAPH)
    assert joined.count() == sum(left[key] * n for key, n in right.items())
    assert len(frame.limit(5).collect()) == 5


def test_options_and_schemas_reach_the_reader(spark, path, tmp_path):
    write_jelly(tmp_path / "b.jelly", STATEMENTS[:10])
    one = read(spark, [str(path), str(tmp_path / "*.jelly")], layout="ntriples", predicates="http://example.org/p1")
    assert counted(one) == texts(q for q in STATEMENTS + STATEMENTS[:10] if str(q.p).endswith("/p1>"))
    given = spark.read.schema("o string, frame bigint, metadata map<string, binary>").format("jelly").load(str(path))
    assert given.columns == ["o", "frame", "metadata"]
    assert given.where("frame >= 0 and cardinality(metadata) = 0").count() == len(STATEMENTS)
    assert read(spark, tmp_path / "*.jelly", columns="file").distinct().collect() == [(str(tmp_path / "b.jelly"),)]


def test_an_empty_folder_has_no_rows_and_a_missing_one_is_an_error(spark, tmp_path):
    assert read(spark, tmp_path).count() == 0
    with pytest.raises(Exception, match="there is no such file or folder"):
        read(spark, tmp_path / "no").count()


def test_modes_raise_drop_or_report_bad_input(spark, tmp_path):
    write_jelly(tmp_path / "good.jelly", STATEMENTS)
    (tmp_path / "bad.jelly").write_bytes((tmp_path / "good.jelly").read_bytes()[:-40])
    with pytest.raises(Exception, match=r"bad\.jelly"):
        read(spark, tmp_path).count()
    assert len(STATEMENTS) < read(spark, tmp_path, mode="DROPMALFORMED").count() < 2 * len(STATEMENTS)
    (bad,) = read(spark, tmp_path, mode="PERMISSIVE", columns="file").where("_corrupt_record is not null").collect()
    assert bad.file == str(tmp_path / "bad.jelly")
    assert "the input ends inside a frame" in bad._corrupt_record


def test_append_and_overwrite(spark, path, tmp_path):
    frame = read(spark, path, layout="ntriples")
    save(frame, tmp_path / "out")
    save(frame, tmp_path / "out")
    assert counted(read(spark, tmp_path / "out", layout="ntriples")) == texts(STATEMENTS * 2)
    # What is overwritten may also be what is read.
    save(read(spark, tmp_path / "out").distinct(), tmp_path / "out", "overwrite")
    assert set(counted(read(spark, tmp_path / "out", layout="ntriples")).values()) == {1}
    assert all(os.path.basename(file).startswith("part-") for file in files_in(tmp_path / "out"))


def test_a_task_that_fails_changes_nothing(spark, path, tmp_path):
    frame = read(spark, path, layout="ntriples", partition_bytes="10k")
    save(frame, tmp_path / "out")
    before = files_in(tmp_path / "out")
    broken = frame.selectExpr("s", "p", "if(o like '%1499%', raise_error('stop here'), o) o", "g")
    unwritable = frame.selectExpr("s", "p", "concat(o, ' and more') o", "g")
    for bad, reason, mode in ((broken, "stop here", "overwrite"), (unwritable, "column 'o'", "append")):
        with pytest.raises(Exception, match=reason):
            save(bad, tmp_path / "out", mode)
        assert files_in(tmp_path / "out") == before
    with pytest.raises(Exception, match="stop here"):
        save(broken, tmp_path / "never")
    # A worker that Spark has not ended yet may make its hidden folder after all were removed; later jobs remove it.
    assert [path for path in tmp_path.glob("never/*") if not path.name.startswith(".")] == []


def test_a_commit_that_fails_changes_nothing(spark, path, tmp_path):
    frame = read(spark, path, layout="ntriples", partition_bytes="10k")
    save(frame, tmp_path / "out")
    before = files_in(tmp_path / "out")

    class FailingCommit(JellyDataSource):
        @classmethod
        def name(cls):
            return "jelly_that_fails"

        def writer(self, schema, overwrite):
            writer = super().writer(schema, overwrite)

            class Failing(JellyBatchWriter):
                def commit(self, messages):
                    messages[0].files = (*messages[0].files, "/not/there.jelly")
                    super().commit(messages)

            writer.__class__ = Failing
            return writer

    spark.dataSource.register(FailingCommit)
    with pytest.raises(Exception, match="not/there"):
        frame.write.format("jelly_that_fails").mode("overwrite").save(str(tmp_path / "out"))
    assert files_in(tmp_path / "out") == before


def test_groups_are_written_as_frames(spark, path, tmp_path):
    frame = read(spark, path).where("g is not null")
    save(frame.repartition(2, "g").sortWithinPartitions("g"), tmp_path / "out", group_by="g")
    sizes: Counter[GraphName] = Counter()
    for file in files_in(tmp_path / "out"):
        with jellyframe.open_reader(file) as reader:
            for one in reader.frames():
                (graph,) = {quad.g for quad in one.statements() if isinstance(quad, Quad)}
                assert graph not in sizes
                sizes[graph] = len(one)
    assert sizes == Counter(q.g for q in STATEMENTS if q.g is not jellyframe.DEFAULT_GRAPH)


def test_urls_of_files_are_unquoted(spark, path, tmp_path):
    (tmp_path / "a b%").mkdir()
    url = (tmp_path / "a b%").as_uri()
    assert "a%20b%25" in url
    save(read(spark, path, layout="ntriples"), url)
    assert counted(read(spark, url, layout="ntriples")) == texts(STATEMENTS)
    assert all(file.startswith(str(tmp_path / "a b%")) for file in files_in(tmp_path))


def test_a_frame_whose_folder_was_overwritten_says_so(spark, path, tmp_path):
    save(read(spark, path), tmp_path / "out")
    frame = read(spark, tmp_path / "out")
    assert frame.count() == len(STATEMENTS)
    save(read(spark, path), tmp_path / "out", "overwrite")
    with pytest.raises(Exception, match=r"rewritten|overwritten"):
        frame.count()
    assert read(spark, tmp_path / "out").count() == len(STATEMENTS)
