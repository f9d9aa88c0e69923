"""The jobs keep all statements, and a job that fails changes nothing."""

from __future__ import annotations

import json
import zlib
from collections import Counter

import numpy as np
import pyarrow.parquet
import pytest

import jellyframe
from jellyframe.errors import NamedGraphError, OptionsError, StorageError, TextError
from jellyframe.options import PhysicalType
from jellyframe.spark import jobs
from jellyframe.terms import Quad, Triple
from support.spark_data import STATEMENTS, quads, texts, write_jelly

ALL = texts(STATEMENTS)


@pytest.fixture
def source(tmp_path, nquads):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "one.nq").write_bytes(nquads)
    return folder


def read(folder):
    """The statements in a folder of Jelly files, read without Spark."""
    found: list[Triple | Quad] = []
    for path in sorted(folder.rglob("*.jelly*")):
        with jellyframe.open_reader(path) as reader:
            found += reader.statements()
    return found


def options_of(path):
    with jellyframe.open_reader(path) as reader:
        return reader.options


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_convert_to_jelly_and_back(spark, source, tmp_path, nquads, compression):
    summary = jobs.convert(
        spark, source, tmp_path / "jelly", files=3, compression=compression, max_name_table_size=64, frame_rows=10
    )
    assert texts(read(tmp_path / "jelly")) == ALL
    assert (summary.statements, summary.files) == (len(STATEMENTS), 3)
    files = list((tmp_path / "jelly").iterdir())
    assert summary.bytes == sum(path.stat().st_size for path in files)
    options = options_of(files[0])
    assert (options.max_name_table_size, options.physical_type) == (64, PhysicalType.QUADS)
    jobs.convert(spark, tmp_path / "jelly", tmp_path / "text", out_format="nq", compression=compression, files=1)
    jobs.convert(spark, tmp_path / "text", tmp_path / "again", sort="true")
    assert texts(read(tmp_path / "again")) == ALL
    if compression == "none":
        (text,) = (tmp_path / "text").iterdir()
        assert Counter(text.read_bytes().splitlines()) == Counter(nquads.splitlines())


def test_convert_to_parquet_and_back(spark, source, tmp_path):
    for layout in ("struct", "flat"):
        jobs.convert(spark, source, tmp_path / layout, out_format="parquet", layout=layout, partition_bytes=30_000)
        assert texts(read(_converted(spark, tmp_path / layout))) == ALL
    schema = pyarrow.parquet.read_schema(next((tmp_path / "flat").iterdir()))
    assert "o_kind" in schema.names


def _converted(spark, folder):
    jobs.convert(spark, folder, folder.with_suffix(".jelly"))
    return folder.with_suffix(".jelly")


def test_triples_stay_triples(spark, tmp_path, source):
    (tmp_path / "a.nt").write_bytes(b"<http://a/s> <http://a/p> <http://a/o> .\n")
    jobs.convert(spark, tmp_path / "a.nt", tmp_path / "jelly")
    (file,) = (tmp_path / "jelly").iterdir()
    assert options_of(file).physical_type is PhysicalType.TRIPLES
    with pytest.raises(NamedGraphError, match="a statement in a named graph, where only triples fit"):
        jobs.convert(spark, source, tmp_path / "nt", out_format="nt")
    assert not (tmp_path / "nt").exists()


def test_existing_data_is_refused_replaced_or_appended_to(spark, source, tmp_path):
    target = tmp_path / "target"
    jobs.convert(spark, source, target, files=1)
    before = names(target)
    with pytest.raises(StorageError, match="there is something already"):
        jobs.convert(spark, source, target)
    jobs.convert(spark, source, target, save="append", files=1)
    assert len(names(target)) == 2
    assert set(before) < set(names(target))
    jobs.convert(spark, target, target, save="overwrite", out_format="nq", files=1)
    (name,) = names(target)
    assert name.endswith(".nq")


@pytest.mark.parametrize("job", [jobs.convert, jobs.merge, jobs.partition])
def test_a_job_that_fails_changes_nothing(spark, source, tmp_path, job):
    (source / "two.nt").write_bytes(b"<http://a/s> <http://a/p> <http://a/o> .\nnonsense\n")
    target = write_jelly(tmp_path / "old.jelly", STATEMENTS[:5]).rename(_folder(tmp_path / "target") / "old.jelly")
    before = target.read_bytes()
    options = {"distinct": True} if job is jobs.merge else {}
    with pytest.raises(TextError, match=r"two\.nt: line 2, column 1"):
        job(spark, source, target.parent, save="overwrite", **options)
    assert names(target.parent) == ["old.jelly"]
    assert target.read_bytes() == before
    summary = job(spark, source, target.parent, save="overwrite", mode="PERMISSIVE", **options)
    assert (summary.bad_records, len(summary.problems)) == (1, 1)
    assert "two.nt: line 2" in summary.problems[0]


def _folder(path):
    path.mkdir()
    return path


def test_merge(spark, source, tmp_path):
    write_jelly(source / "two.jelly", STATEMENTS)
    assert jobs.merge(spark, source, tmp_path / "merged").files == 2  # of text and of Jelly
    assert texts(read(tmp_path / "merged")) == ALL + ALL
    summary = jobs.merge(spark, source, tmp_path / "distinct", distinct=True)
    assert texts(read(tmp_path / "distinct")) == Counter(dict.fromkeys(ALL, 1))
    assert summary.statements == len(ALL)
    jobs.merge(spark, source, tmp_path / "sorted", sort=True, files=2)
    in_order = read(tmp_path / "sorted")
    keys = [
        tuple("" if term is jellyframe.DEFAULT_GRAPH else str(term) for term in (quad.g, *quad[:3]))
        for quad in in_order
    ]
    assert keys == sorted(keys)
    assert Counter(keys) == Counter({(g or "", s, p, o): n for (s, p, o, g), n in (ALL + ALL).items()})


@pytest.mark.parametrize(("limit", "value"), [("bucketing.BUCKET_BYTES", 1000), ("merging.MAX_BUCKETS", 0)])
def test_distinct_in_many_buckets_and_by_spark_itself(spark, source, tmp_path, monkeypatch, limit, value):
    monkeypatch.setattr(f"jellyframe.spark.jobs.{limit}", value)
    write_jelly(source / "two.jelly", STATEMENTS[::-1])
    (source / "bad.nt").write_bytes(b"nonsense\n")
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    summary = jobs.merge(spark, source, tmp_path / "distinct", distinct=True, files=3, mode="PERMISSIVE")
    assert texts(read(tmp_path / "distinct")) == Counter(dict.fromkeys(ALL, 1))
    assert (summary.files, summary.bad_records, len(summary.problems)) == (3, 1, 1)
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before


def test_hashes_with_an_equal_half_differ():
    from jellyframe.ops.deduplication import first_of_each

    pairs = np.array([(1, 2), (1, 3), (1, 2), (4, 2), (1, 3), (4, 2)], np.uint64)
    assert first_of_each(pairs).tolist() == [True, True, False, True, False, False]


@pytest.mark.parametrize("by", ["predicate", "graph", "subject"])
def test_partition(spark, source, tmp_path, by):
    target = tmp_path / "parts"
    jobs.partition(spark, source, target, by=by, buckets=4)
    jobs.partition(spark, source, target, by=by, buckets=4, save="overwrite")
    manifest = json.loads((target / "manifest.json").read_text())
    assert texts(read(target)) == ALL
    assert {path.name for path in target.iterdir()} == {
        "manifest.json",
        *(folder["folder"] for folder in manifest["folders"]),
    }
    for folder in manifest["folders"]:
        found = texts(read(target / folder["folder"]))
        assert found.total() == folder["statements"]
        for s, p, _o, g in found:
            key = {"predicate": p, "graph": g, "subject": str(zlib.crc32((s or "").encode()) % 4)}[by]
            assert key == folder["value"]
    assert len({folder["value"] for folder in manifest["folders"]}) == len(manifest["folders"])


def test_sample(spark, source, tmp_path):
    jobs.sample(spark, source, tmp_path / "ten", number=10, seed=3)
    ten = texts(read(tmp_path / "ten"))
    assert ten.total() == 10
    assert ten <= ALL
    jobs.sample(spark, source, tmp_path / "subjects", number=7, whole_subjects=True)
    chosen = {s for s, *_ in texts(read(tmp_path / "subjects"))}
    assert len(chosen) == 7
    assert texts(read(tmp_path / "subjects")) == Counter({row: n for row, n in ALL.items() if row[0] in chosen})
    for whole in (False, True):
        for again in (1, 2):
            jobs.sample(spark, source, tmp_path / f"half{again}", fraction=0.5, whole_subjects=whole, save="overwrite")
        half = texts(read(tmp_path / "half1"))
        assert half == texts(read(tmp_path / "half2"))
        assert 0.3 * len(STATEMENTS) < half.total() < 0.7 * len(STATEMENTS)
    with pytest.raises(OptionsError, match="give either fraction or number"):
        jobs.sample(spark, source, tmp_path / "none")


def test_a_sample_does_not_depend_on_formats_and_files(spark, source, tmp_path):
    """Nor are there many small files, however many tasks there are."""
    write_jelly(tmp_path / "data.jelly", STATEMENTS, restart_every=2000, frame_rows=20)
    for how in ({"fraction": 0.2}, {"number": 50}, {"number": 9, "whole_subjects": True}):
        one = jobs.sample(spark, source, tmp_path / "one", seed=5, save="overwrite", partition_bytes=10_000, **how)
        two = jobs.sample(spark, tmp_path / "data.jelly", tmp_path / "two", seed=5, save="overwrite", **how)
        assert texts(read(tmp_path / "one")) == texts(read(tmp_path / "two"))
        assert (one.files, two.files) == (1, 1)
        assert one.statements > 0
    some = jobs.sample(spark, source, tmp_path / "some", fraction=0.9, files=3, partition_bytes=10_000)
    assert some.files == 3


def test_validate(spark, source, tmp_path, nquads):
    (source / "bad.nq").write_bytes(nquads + b"nonsense\n" * 20)
    write_jelly(source / "good.jelly", quads(2000), frame_rows=100)
    damaged = bytearray((source / "good.jelly").read_bytes())
    (source / "cut.jelly").write_bytes(damaged[: len(damaged) // 2])
    report = jobs.validate(spark, source, partition_bytes=10_000)
    found = {file.file.rpartition("/")[2]: file for file in report.files}
    assert {name: file.ok for name, file in found.items()} == {
        "one.nq": True,
        "bad.nq": False,
        "good.jelly": True,
        "cut.jelly": False,
    }
    assert (found["good.jelly"].statements, found["one.nq"].statements) == (2000, len(STATEMENTS))
    with jellyframe.open_reader(source / "good.jelly") as reader:
        assert found["good.jelly"].frames == len(list(reader.frames()))
    assert (found["bad.nq"].bad_records, len(found["bad.nq"].errors)) == (20, 10)
    assert found["bad.nq"].errors[0].startswith(f"line {len(STATEMENTS) + 1}, column 1: ")
    assert "frame" in found["cut.jelly"].errors[0]
    assert not report.ok
    table = report.as_table()
    assert "10 more bad records" in table
    assert json.loads(report.as_json())["bad_file_count"] == 2


def test_jobs_run_over_spark_connect(spark, connect_port, source, tmp_path):
    from pyspark.sql.connect.session import SparkSession

    remote = SparkSession.builder.remote(f"sc://127.0.0.1:{connect_port}").create()
    try:
        assert jobs.convert(remote, source, tmp_path / "jelly").statements == len(STATEMENTS)
        jobs.merge(remote, tmp_path / "jelly", tmp_path / "merged", distinct=True)
        assert texts(read(tmp_path / "merged")) == Counter(dict.fromkeys(ALL, 1))
        (source / "bad.nt").write_bytes(b"nonsense\n")
        with pytest.raises(TextError, match=r"bad\.nt: line 1, column 1"):
            jobs.convert(remote, source, tmp_path / "bad")
    finally:
        remote.client.close()


def test_public_names():
    from jellyframe.spark import jobs

    assert all(getattr(jobs, name) is not None for name in jobs.__all__)
