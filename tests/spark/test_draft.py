"""The draft dialect on Spark: source, sink, jobs and messages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jellyframe
from jellyframe.errors import OptionsError
from jellyframe.spark import decode_payloads, encode_payloads, jobs
from support.spark_data import STATEMENTS, Read, quads, stream_options, texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("draft")
    with jellyframe.open_writer(folder / "a.jelly", dialect="draft", frame_rows=30, restart_every=1000) as writer:
        writer.write(STATEMENTS)
    return folder


def read(folder: Path) -> Counter[Any]:
    found: list[Any] = []
    for path in folder.rglob("*.jelly"):
        with jellyframe.open_reader(path, dialect="draft") as reader:
            found += reader.statements()
    return texts(found)


def test_the_source_reads_and_splits_draft_files(folder: Path) -> None:
    found = Read(folder / "a.jelly", layout="ntriples", dialect="draft", partition_bytes="1k")
    assert found.counted() == texts(STATEMENTS)


def test_the_error_names_the_option(folder: Path) -> None:
    with pytest.raises(jellyframe.JellyError, match="set dialect='draft'"):
        Read(folder / "a.jelly", layout="ntriples").counted()
    with pytest.raises(OptionsError, match="option dialect = 'old': it must be one of released, draft"):
        Read(folder / "a.jelly", dialect="old").counted()


def test_a_data_frame_goes_to_draft_files_and_back(spark: Any, folder: Path, tmp_path: Path) -> None:
    frame = spark.read.format("jelly").option("layout", "ntriples").option("dialect", "draft").load(str(folder))
    target = tmp_path / "out"
    writer = frame.write.format("jelly").mode("append").option("dialect", "draft").option("use_repeat", "false")
    writer.save(str(target))
    assert read(target) == texts(STATEMENTS)


def test_a_stream_goes_from_draft_files_to_draft_files(spark: Any, folder: Path, tmp_path: Path) -> None:
    reading = stream_options(tmp_path / "state", layout="ntriples", dialect="draft")
    query = (
        spark.readStream.format("jelly")
        .options(**reading)
        .load(str(folder))
        .writeStream.format("jelly")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("dialect", "draft")
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert read(tmp_path / "out") == texts(STATEMENTS)


def test_jobs_read_and_write_the_draft(spark: Any, folder: Path, tmp_path: Path) -> None:
    jobs.convert(spark, folder, tmp_path / "nq", out_format="nq", read_options={"dialect": "draft"})
    jobs.convert(spark, tmp_path / "nq", tmp_path / "again", dialect="draft")
    assert read(tmp_path / "again") == texts(STATEMENTS)
    report = jobs.validate(spark, tmp_path / "again", read_options={"dialect": "draft"})
    assert report.ok
    assert report.statements == len(STATEMENTS)
    assert not jobs.validate(spark, tmp_path / "again").ok
    with pytest.raises(OptionsError, match="dialect: an option of Jelly streams"):
        jobs.convert(spark, folder, tmp_path / "x", out_format="nq", dialect="draft")


def test_patches_in_the_draft_are_refused(spark: Any, tmp_path: Path) -> None:
    rows = [jellyframe.Add(*statement) for statement in STATEMENTS[:5]]
    with jellyframe.open_patch_writer(tmp_path / "a.jellyp") as patch:
        patch.write(rows)
    reader = spark.read.format("jelly-patch").option("dialect", "draft")
    with pytest.raises(Exception, match="option dialect = 'draft': only data can be in it"):
        reader.load(str(tmp_path)).count()
    for job in (jobs.compact, jobs.invert):
        with pytest.raises(OptionsError, match="only data can be in it"):
            job(spark, tmp_path, tmp_path / "out", read_options={"dialect": "draft"})


def test_patches_are_applied_to_data_in_the_draft(spark: Any, folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    with jellyframe.open_patch_writer(log / "1.jellyp") as patch:
        patch.write([jellyframe.Delete(*statement) for statement in STATEMENTS[:5]])
    for out in ("released", "draft"):
        dialects: Any = {"read_options": {"dialect": "draft"}, "dialect": out}
        assert jobs.apply(spark, folder, log, tmp_path / f"{out}-applied", **dialects).statements == len(STATEMENTS) - 5
        replica = tmp_path / out
        assert jobs.replicate(spark, folder, log, to=replica, **dialects).statements == len(STATEMENTS) - 5
        with jellyframe.open_patch_writer(tmp_path / f"{out}.jellyp") as patch:
            patch.write([jellyframe.Delete(*statement) for statement in STATEMENTS[5:8]])
        again = jobs.replicate(spark, folder, [log, tmp_path / f"{out}.jellyp"], to=replica, **dialects)
        assert again.statements == len(STATEMENTS) - 8


def test_messages_are_encoded_and_decoded_in_the_draft(spark: Any, tmp_path: Path) -> None:
    with jellyframe.open_writer(tmp_path / "a.jelly") as writer:
        writer.write(quads(40))
    frame = spark.read.format("jelly").option("layout", "ntriples").load(str(tmp_path / "a.jelly"))
    messages = encode_payloads(frame, rows_per_message=7, dialect="draft").cache()
    values = [bytes(row.value) for row in messages.collect()]
    assert sum(len(jellyframe.loads(value, dialect="draft")) for value in values) == 40
    assert decode_payloads(messages, layout="ntriples", dialect="draft").count() == 40
