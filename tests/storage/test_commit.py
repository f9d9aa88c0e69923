"""Putting files in place: all or nothing, and the old data safe until then."""

from __future__ import annotations

import os
import time
from uuid import uuid4

import pyarrow.fs
import pytest

from jellyframe.errors import StorageError
from jellyframe.storage.commit import ABANDONED_AFTER_SECONDS, STAGING_PREFIX, Target


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "target"
    (target / "sub").mkdir(parents=True)
    (target / "old.jelly").write_bytes(b"old")
    (target / "sub" / "older.jelly.gz").write_bytes(b"older")
    (target / "README").write_bytes(b"not ours")
    return target


def stage(target, *names, attempt=1):
    folder = target.attempt_folder(attempt)
    paths = [f"{folder}/{name}" for name in names]
    for path in paths:
        with open(path, "wb") as file:
            file.write(b"new")
    return paths


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OLD = {"old.jelly": b"old", "sub/older.jelly.gz": b"older", "README": b"not ours"}


@pytest.mark.parametrize("existed", [True, False])
def test_an_append_adds_what_was_named_and_nothing_else(folder, tmp_path, existed):
    place = folder if existed else tmp_path / "new" / "one"
    target = Target.of(str(place), "job")
    files = stage(target, "a.jelly", attempt=1)
    stage(target, "a.jelly", attempt=2)
    target.publish(files, overwrite=False)
    assert contents(place) == {**(OLD if existed else {}), "a.jelly": b"new"}
    assert not list(place.glob("_*"))


def test_an_overwrite_replaces_data_and_leaves_the_rest(folder):
    target = Target.of(str(folder), "job")
    target.publish(stage(target, "a.jelly", "b.jelly"), overwrite=True)
    assert contents(folder) == {"a.jelly": b"new", "b.jelly": b"new", "README": b"not ours"}
    assert not list(folder.glob("_*"))


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_file_that_is_missing_stops_the_commit_before_it_begins(folder, overwrite):
    target = Target.of(str(folder), "job")
    files = stage(target, "a.jelly")
    with pytest.raises(StorageError, match=r"missing\.jelly was written by a task, but is not there"):
        target.publish([*files, f"{folder}/missing.jelly"], overwrite=overwrite)
    target.discard()
    assert contents(folder) == OLD


class FailingMoves:
    """The local file system, whose moves fail from the n-th on; until it works again, if it does."""

    def __init__(self, good_moves, bad_moves):
        self._fs = pyarrow.fs.LocalFileSystem()
        self._good_moves = good_moves
        self._bad_moves = bad_moves

    def move(self, source, place):
        self._good_moves -= 1
        if self._good_moves < 0 and self._bad_moves > 0:
            self._bad_moves -= 1
            raise OSError("the disk is on fire")
        self._fs.move(source, place)

    def __getattr__(self, name):
        return getattr(self._fs, name)


@pytest.mark.parametrize("good_moves", range(4))
def test_a_commit_that_fails_changes_nothing(folder, monkeypatch, good_moves):
    target = Target.of(str(folder), "job")
    files = stage(target, "a.jelly", "b.jelly")
    monkeypatch.setattr("jellyframe.storage.stores._filesystem", lambda _base: fs)
    fs = FailingMoves(good_moves, 1)
    with pytest.raises(StorageError, match="nothing was changed: the disk is on fire"):
        target.publish(files, overwrite=True)
    staged = {name: data for name, data in contents(folder).items() if not name.startswith("_")}
    assert staged == OLD
    target.discard()
    assert contents(folder) == OLD
    assert not list(folder.glob("_*"))


def test_old_data_is_kept_even_if_nothing_can_be_undone(folder, monkeypatch):
    target = Target.of(str(folder), "job")
    files = stage(target, "a.jelly", "b.jelly")
    monkeypatch.setattr("jellyframe.storage.stores._filesystem", lambda _base: fs)
    fs = FailingMoves(2, 2)
    with pytest.raises(StorageError, match="could not be moved back"):
        target.publish(files, overwrite=True)
    target.discard()
    assert contents(folder) == OLD


def test_a_job_that_is_given_up_leaves_no_trace(tmp_path):
    target = Target.of(str(tmp_path / "new"), "job")
    stage(target, "a.jelly")
    target.discard()
    assert not (tmp_path / "new").exists()
    Target.of(str(tmp_path), "job").discard()
    assert tmp_path.exists()


def test_a_file_is_no_place_for_a_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="that is a file"):
        Target.of(str(tmp_path / "file"), "job")


# ---- what killed drivers leave behind ----


def leave_behind(folder, age, job=None, **places):
    """The staging folder of a job that wrote its last byte `age` seconds ago."""
    staging = folder / f"{STAGING_PREFIX}{job or uuid4().hex}"
    for place, name in (places or {"attempt-1": "a.jelly"}).items():
        (staging / place).mkdir(parents=True)
        (staging / place / name).write_bytes(b"left")
    for path in (staging, *staging.rglob("*")):
        os.utime(path, (time.time() - age,) * 2)
    return staging


def publish_one(folder, overwrite=False):
    target = Target.of(str(folder), uuid4().hex)
    target.publish(stage(target, "new.jelly"), overwrite=overwrite)


LONG_AGO = ABANDONED_AFTER_SECONDS + 3600


@pytest.mark.parametrize("overwrite", [True, False])
def test_what_was_left_long_ago_goes_with_the_next_job(folder, overwrite):
    old, recent = leave_behind(folder, LONG_AGO), leave_behind(folder, ABANDONED_AFTER_SECONDS - 3600)
    publish_one(folder, overwrite)
    assert not old.exists()
    assert recent.exists()
    assert (folder / "new.jelly").exists()


def test_one_late_file_shows_that_a_job_is_alive(folder):
    staging = leave_behind(folder, LONG_AGO)
    file = staging / "attempt-1" / "a.jelly"
    os.utime(file)
    publish_one(folder)
    assert file.exists()


@pytest.mark.parametrize("overwrite", [True, False])
def test_old_data_that_a_killed_driver_had_moved_away_is_never_removed(folder, overwrite):
    staging = leave_behind(folder, LONG_AGO, replaced="old.jelly")
    publish_one(folder, overwrite)
    assert (staging / "replaced" / "old.jelly").read_bytes() == b"left"


def test_a_batch_of_a_stream_waits_for_its_query(folder):
    staging = leave_behind(folder, LONG_AGO, job=f"{uuid4()}-12")
    publish_one(folder)
    assert staging.exists()


class ObjectStore(pyarrow.fs.SubTreeFileSystem):
    """Stands in for an object store: another file system than the local one, with a scheme of its own."""


def test_other_file_systems_are_written_to_and_read(tmp_path, monkeypatch):
    from jellyframe.storage import stores as storage

    monkeypatch.setattr(storage, "_filesystem", lambda _base: ObjectStore(str(tmp_path), pyarrow.fs.LocalFileSystem()))
    remote = storage.Storage("s3://bucket")
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "old.jelly").write_bytes(b"old")
    target = Target(remote, "bucket", "job", True)
    staged = f"{target.attempt_folder(1)}/new.jelly"
    with remote.fs.open_output_stream(staged) as sink:
        sink.write(b"0123456789")
    target.publish([staged], overwrite=True)
    (file,) = remote.data_files("bucket")
    assert (file.name, file.size) == ("s3://bucket/new.jelly", 10)
    with file.open() as source:
        assert source.read(3) == b"012"
        assert source.seek(5) == 5
        assert source.read(10) == b"56789"
        assert source.seek(-2, 2) == 8
        assert source.read(10) == b"89"
    assert contents(tmp_path) == {"bucket/new.jelly": b"0123456789"}
