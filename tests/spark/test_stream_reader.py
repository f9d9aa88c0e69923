"""The reader of the stream source, asked as Spark asks it, without a running Spark."""

from __future__ import annotations

import gzip
import os
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from jellyframe import JellyError, OptionsError
from jellyframe.errors import StorageError
from support.spark_data import SPECIAL, Read, quads, texts
from support.stream_queries import Query, add, counted

limits = pytest.importorskip("pyspark.sql.streaming.datasource", reason="read limits need Spark 4.2")

STATEMENTS = quads(900) + SPECIAL


def test_limits_of_a_batch(tmp_path):
    sizes = [add(tmp_path, f"{i}.jelly", STATEMENTS[i * 100 :][:100], i).stat().st_size for i in range(5)]
    add(tmp_path, "5.jelly", STATEMENTS[500:], 5)
    rest = len(STATEMENTS) - 500
    assert Query(tmp_path, maxfilespertrigger=4).sizes() == [400, 100 + rest]
    # A file is never cut, so one that is too large is a batch by itself.
    assert Query(tmp_path, maxbytespertrigger=2 * max(sizes)).sizes() == [200, 200, 100, rest]
    assert Query(tmp_path, maxbytespertrigger=1).sizes() == [100, 100, 100, 100, 100, rest]
    assert Query(tmp_path, maxfilespertrigger=2).sizes(limits.ReadAllAvailable()) == [len(STATEMENTS)]


def test_available_now_reads_only_the_files_at_the_start(tmp_path):
    add(tmp_path, "a.jelly", STATEMENTS[:10])
    add(tmp_path, "b.jelly", STATEMENTS[:20])
    query = Query(tmp_path, maxfilespertrigger=1)
    query.reader.prepareForTriggerAvailableNow()
    add(tmp_path, "c.jelly", STATEMENTS[:30])
    assert query.sizes() == [10, 20]
    again = Query(tmp_path, query.offset)
    again.reader.prepareForTriggerAvailableNow()
    assert again.sizes() == [30]


def test_an_offset_that_spark_has_not_recorded_is_read_again(tmp_path):
    add(tmp_path, "a.jelly", STATEMENTS[:10])
    query = Query(tmp_path)
    query.next()
    noted = query.offset
    add(tmp_path, "b.jelly", STATEMENTS[:20])
    query.next()
    add(tmp_path, "c.jelly", STATEMENTS[:30])
    assert Query(tmp_path, noted).sizes() == [50]


def test_options_of_the_batch_source_apply(tmp_path):
    many = quads(6000)
    add(tmp_path, "large.jelly", many, restart_every=4000, frame_rows=40)
    add(tmp_path, "packed.jelly.gz", many[:600], compression="gzip")
    pattern = f"{tmp_path}/{{large,packed,none}}.*"
    options: dict[str, Any] = {
        "predicates": "http://example.org/p1",
        "partition_bytes": "5k",
        "columns": "frame,o,file",
    }
    query = Query(pattern, **options)
    assert counted(query.next()) == Read(pattern, **options, layout="ntriples").counted()
    assert len(query.reader.partitions(query.reader.initialOffset(), query.offset)) > 10
    assert Query(f"{tmp_path}/later*.jelly").sizes() == []


def test_modes_raise_drop_or_report_bad_input(tmp_path):
    good = add(tmp_path, "good.jelly", STATEMENTS)
    (tmp_path / "bad.jelly").write_bytes(good.read_bytes()[:-40])
    with pytest.raises(JellyError, match=r"bad\.jelly"):
        Query(tmp_path).next()
    assert len(STATEMENTS) < Query(tmp_path, mode="DROPMALFORMED").next().num_rows < 2 * len(STATEMENTS)
    (report,) = Query(tmp_path, mode="PERMISSIVE").next()["_corrupt_record"].drop_null().to_pylist()
    assert report.startswith(str(tmp_path / "bad.jelly"))


def test_a_file_that_no_longer_exists(tmp_path):
    add(tmp_path, "a.jelly", STATEMENTS[:100])
    add(tmp_path, "b.jelly", STATEMENTS[100:])
    query = Query(tmp_path)
    start = query.offset
    query.next()
    (tmp_path / "a.jelly").unlink()
    with pytest.raises(StorageError, match=r"a\.jelly was found before, but no longer exists"):
        Query(tmp_path).read(start, query.offset)
    again = Query(tmp_path, ignoremissingfiles=True)
    assert counted(again.read(start, query.offset)) == texts(STATEMENTS[100:])


def gzipped(data):
    return gzip.compress(data)[:-9]


BAD_FILES = {
    "empty.jelly": lambda good: b"",
    "cut.jelly": lambda good: good[:-40],
    "text.jelly": lambda good: b"<http://a/s> <http://a/p> <http://a/o> .\n",
    "ones.jelly": lambda good: b"\xff" * 100,
    "cut.jelly.gz": gzipped,
    "empty.jelly.gz": lambda good: b"",
    "text.jelly.zst": lambda good: b"no Zstandard",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_query_continues_after_a_bad_file_in_tolerant_modes(tmp_path, name):
    good = add(tmp_path, "a.jelly", STATEMENTS[:100], 1).read_bytes()
    stopped = Query(tmp_path, maxfilespertrigger=1)
    assert stopped.next().num_rows == 100
    start = stopped.offset
    (tmp_path / name).write_bytes(BAD_FILES[name](good))
    with pytest.raises(JellyError, match=name):
        stopped.next()
    add(tmp_path, "later.jelly", STATEMENTS[100:])
    # The same checkpoint, started again: the offset that failed is read again, and then what came later.
    dropping = Query(tmp_path, start, mode="DROPMALFORMED")
    assert counted(dropping.read(start, stopped.offset)) <= texts(STATEMENTS[:100])
    dropping.offset = stopped.offset
    assert counted(dropping.next()) == texts(STATEMENTS[100:])
    (report,) = (
        Query(tmp_path, start, mode="PERMISSIVE").read(start, stopped.offset)["_corrupt_record"].drop_null().to_pylist()
    )
    assert report.startswith(str(tmp_path / name))


@pytest.mark.parametrize("is_planned", [False, True])
def test_a_file_that_no_longer_exists_in_the_tolerant_modes(tmp_path, is_planned):
    for i in range(3):
        add(tmp_path, f"{i}.jelly", quads(3000)[i * 1000 :][:1000], i, restart_every=4000, frame_rows=40)

    def read(mode):
        query = Query(tmp_path, mode=mode, partition_bytes=5000)
        start = query.offset
        end = query.reader.latestOffset(start, query.reader.getDefaultReadLimit())
        moved = tmp_path / "_moved"
        parts = query.reader.partitions(start, end) if is_planned else None
        (tmp_path / "1.jelly").rename(moved)
        try:
            parts = query.reader.partitions(start, end) if parts is None else parts
            batches = [batch for part in parts for batch in query.reader.read(part)]
        finally:
            moved.rename(tmp_path / "1.jelly")
        return pa.Table.from_batches(batches, query.reader.columns.arrow)

    with pytest.raises(StorageError, match=r"1\.jelly.* no longer exists"):
        read("FAILFAST")
    rest = texts(quads(3000)[:1000] + quads(3000)[2000:])
    assert counted(read("DROPMALFORMED")) == rest
    table = read("PERMISSIVE")
    reports = table["_corrupt_record"].drop_null().to_pylist()
    assert reports
    assert all(report.startswith(f"{tmp_path / '1.jelly'}: the file was found") for report in reports)
    assert counted(table.filter(pc.is_null(table["_corrupt_record"])).drop_columns("_corrupt_record")) == rest


def test_a_log_that_was_not_used_for_a_long_time_is_removed(tmp_path):
    add(tmp_path, "a.jelly", STATEMENTS[:10])
    query, other = Query(tmp_path), Query(tmp_path)
    assert query.sizes() == other.sizes() == [10]
    logs = list(tmp_path.glob("_jelly-arrivals-*"))
    assert len(logs) == 2
    for log in logs:
        for path in (*log.iterdir(), log):
            os.utime(path, (0, 0))
    add(tmp_path, "b.jelly", STATEMENTS[:20])
    # Whoever comes back keeps the own log, and removes the other.
    assert Query(tmp_path, query.offset).sizes() == [20]
    assert [log.exists() for log in logs].count(True) == 1
    with pytest.raises(StorageError, match="this log knows of 0; bring the log back, or start the query with a new"):
        Query(tmp_path, other.offset).next()


def test_the_log_can_be_in_another_place(tmp_path):
    state, folder = tmp_path / "state", tmp_path / "in"
    folder.mkdir()
    add(folder, "a.jelly", STATEMENTS[:100])
    query = Query(folder, statelocation=state)
    assert query.sizes() == [100]
    add(folder, "b.jelly", STATEMENTS[100:])
    again = Query(folder, query.offset, statelocation=f"file://{state}")
    assert again.sizes() == [len(STATEMENTS) - 100]
    assert again.offset == {"files": 2}
    assert sorted(path.name for path in folder.iterdir()) == ["a.jelly", "b.jelly"]
    for file in state.iterdir():
        file.unlink()
    with pytest.raises(StorageError, match="the checkpoint has taken 2 files, and this log knows of 0"):
        Query(folder, again.offset, statelocation=state).next()


def test_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(OptionsError, match="exclude each other"):
        Query(tmp_path, maxfilespertrigger=2, maxbytespertrigger=2)
    with pytest.raises(StorageError, match="there is no such file or folder"):
        Query(tmp_path / "no").next()
    with pytest.raises(OptionsError, match=r"spark\.readStream"):
        Read(tmp_path, maxfilespertrigger=2)
