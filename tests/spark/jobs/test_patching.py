"""Jobs on patches: what they leave behind is what a set would be, transactions and order included."""

from __future__ import annotations

import pytest

from jellyframe import Add, Delete, TransactionCommit, TransactionStart
from jellyframe.errors import ParseError
from jellyframe.patch import PatchRow
from jellyframe.spark import jobs
from jellyframe.stream.framing import walk_frames
from support.patch_logs import apply_to_set, random_rows, read_data, read_patches, statement, write_patch
from support.spark_data import write_jelly


@pytest.fixture(scope="module")
def old():
    return [statement(number) for number in range(400)]


@pytest.fixture(scope="module")
def data(old, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_jelly(folder / "one.jelly", old[:250])
    write_jelly(folder / "two.jelly", old[250:])
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Patches whose order matters: files that are cut into several pieces, and a compressed one between."""
    folder = tmp_path_factory.mktemp("log")
    rows = [random_rows(seed, 700) for seed in range(3)]
    write_patch(folder / "a.jellyp", rows[0], restart_every=1000, frame_rows=10)
    write_patch(folder / "b.jellyp.gz", rows[1], compression="gzip", restart_every=None)
    write_patch(folder / "c.jellyp", rows[2], restart_every=1000, frame_rows=10, index=True)
    return folder, [row for some in rows for row in some]


def test_apply_leaves_behind_what_a_set_would(spark, data, log, old, tmp_path):
    folder, rows = log
    summary = jobs.apply(spark, data, folder, tmp_path / "new", files=3, partition_bytes=1500)
    found = read_data(tmp_path / "new")
    assert set(found) == apply_to_set(old, rows)
    assert len(found) == len(set(found)) == summary.statements
    assert (summary.job, summary.input_files) == ("apply", 5)


def test_diff_and_apply_are_inverse(spark, data, log, old, tmp_path):
    _folder, rows = log
    new = apply_to_set(old, rows)
    write_jelly(tmp_path / "new.jelly", sorted(new, key=str))
    summary = jobs.diff(spark, data, tmp_path / "new.jelly", tmp_path / "patch", files=2, restart_every=500)
    changes = read_patches(tmp_path / "patch")
    assert {row.statement for row in changes if isinstance(row, Add)} == new - set(old)
    assert {row.statement for row in changes if isinstance(row, Delete)} == set(old) - new
    assert len(changes) == summary.statements == len(new ^ set(old))
    jobs.apply(spark, data, tmp_path / "patch", tmp_path / "again")
    assert set(read_data(tmp_path / "again")) == new


def test_a_transaction_that_is_not_finished_is_refused_or_left_out(spark, data, old, tmp_path):
    rows: list[PatchRow] = [Delete(*old[0]), TransactionStart(), Add(*statement(500)), TransactionCommit()]
    path = tmp_path / "cut.jellyp"
    write_patch(path, rows, frame_rows=1, restart_every=None)
    with open(path, "rb+") as file:
        *_frames, last = walk_frames(file, 0, path.stat().st_size)
        file.truncate(last.offset)
    with pytest.raises(ParseError, match=r"cut\.jellyp.*transaction"):
        jobs.apply(spark, data, path, tmp_path / "strict")
    assert not (tmp_path / "strict").exists()
    jobs.apply(spark, data, path, tmp_path / "new", strict=False)
    assert set(read_data(tmp_path / "new")) == set(old[1:])
    summary = jobs.apply(spark, data, path, tmp_path / "tolerant", mode="PERMISSIVE")
    assert (summary.bad_records, set(read_data(tmp_path / "tolerant"))) == (1, set(old[1:]))
