"""Publishing files: all or nothing, and the old data is safe until then."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event, Thread, current_thread
from uuid import uuid4

import pyarrow.fs
import pytest

from jellyframe.errors import StorageError
from jellyframe.storage import locks
from jellyframe.storage.commit import ABANDONED_AFTER_SECONDS, APPEND, ERROR, OVERWRITE, STAGING_PREFIX, Target
from jellyframe.storage.stores import Storage


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


@pytest.mark.parametrize("save", [APPEND, OVERWRITE])
def test_two_files_for_one_place_change_nothing(folder, save):
    target = Target.of(str(folder), "job")
    files = [*stage(target, "a.jelly", attempt=1), *stage(target, "a.jelly", attempt=2)]
    with pytest.raises(StorageError, match=r"two files would go to a\.jelly"):
        target.publish(files, save)
    target.discard()
    assert contents(folder) == OLD


@pytest.mark.parametrize("existed", [True, False])
def test_an_append_adds_only_the_named_files(folder, tmp_path, existed):
    place = folder if existed else tmp_path / "new" / "one"
    target = Target.of(str(place), "job")
    files = stage(target, "a.jelly", attempt=1)
    stage(target, "a.jelly", attempt=2)
    target.publish(files, APPEND)
    assert contents(place) == {**(OLD if existed else {}), "a.jelly": b"new"}
    assert not list(place.glob("_*"))


def test_an_overwrite_replaces_data_and_leaves_the_rest(folder):
    target = Target.of(str(folder), "job")
    target.publish(stage(target, "a.jelly", "b.jelly"), OVERWRITE)
    assert contents(folder) == {"a.jelly": b"new", "b.jelly": b"new", "README": b"not ours"}
    assert not list(folder.glob("_*"))


@pytest.mark.parametrize("save", [OVERWRITE, APPEND])
def test_a_file_that_is_missing_stops_the_commit_before_it_begins(folder, save):
    target = Target.of(str(folder), "job")
    files = stage(target, "a.jelly")
    with pytest.raises(StorageError, match=r"missing\.jelly was written by a task, but is not there"):
        target.publish([*files, f"{folder}/missing.jelly"], save)
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
    fs = FailingMoves(good_moves, 1)
    monkeypatch.setattr("jellyframe.storage.stores._filesystem", lambda _base: fs)
    with pytest.raises(StorageError, match="nothing was changed: the disk is on fire"):
        target.publish(files, OVERWRITE)
    staged = {name: data for name, data in contents(folder).items() if not name.startswith("_")}
    assert staged == OLD
    target.discard()
    assert contents(folder) == OLD
    assert not list(folder.glob("_*"))


def test_old_data_is_kept_even_if_nothing_can_be_undone(folder, monkeypatch):
    target = Target.of(str(folder), "job")
    files = stage(target, "a.jelly", "b.jelly")
    fs = FailingMoves(2, 2)
    monkeypatch.setattr("jellyframe.storage.stores._filesystem", lambda _base: fs)
    with pytest.raises(StorageError, match="could not be moved back"):
        target.publish(files, OVERWRITE)
    target.discard()
    assert contents(folder) == OLD


def test_a_discarded_job_leaves_no_trace(tmp_path):
    target = Target.of(str(tmp_path / "new"), "job")
    stage(target, "a.jelly")
    target.discard()
    assert not (tmp_path / "new").exists()
    Target.of(str(tmp_path), "job").discard()
    assert tmp_path.exists()


def test_a_file_cannot_be_the_target_folder(tmp_path):
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


def publish_one(folder, save=APPEND):
    target = Target.of(str(folder), uuid4().hex)
    target.publish(stage(target, "new.jelly"), save)


LONG_AGO = ABANDONED_AFTER_SECONDS + 3600


@pytest.mark.parametrize("save", [OVERWRITE, APPEND])
def test_old_staging_folders_are_removed_by_the_next_job(folder, save):
    old, recent = leave_behind(folder, LONG_AGO), leave_behind(folder, ABANDONED_AFTER_SECONDS - 3600)
    publish_one(folder, save)
    assert not old.exists()
    assert recent.exists()
    assert (folder / "new.jelly").exists()


def test_one_late_file_shows_that_a_job_is_alive(folder):
    staging = leave_behind(folder, LONG_AGO)
    file = staging / "attempt-1" / "a.jelly"
    os.utime(file)
    publish_one(folder)
    assert file.exists()


@pytest.mark.parametrize("save", [OVERWRITE, APPEND])
def test_old_data_that_a_killed_driver_had_moved_away_is_never_removed(folder, save):
    staging = leave_behind(folder, LONG_AGO, replaced="old.jelly")
    publish_one(folder, save)
    assert (staging / "replaced" / "old.jelly").read_bytes() == b"left"


def test_a_batch_of_a_stream_waits_for_its_query(folder):
    staging = leave_behind(folder, LONG_AGO, job=f"{uuid4()}-12")
    publish_one(folder)
    assert staging.exists()


# ---- several jobs at once ----


def stage_job(folder, name, files=8):
    """A job that is ready to publish."""
    target = Target.of(str(folder), uuid4().hex)
    return target, stage(target, *(f"{name}-{i}.jelly" for i in range(files)))


def whole(name, files=8):
    return {f"{name}-{i}.jelly" for i in range(files)}


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def at_once(*actions):
    """Run actions in threads, and give what each has raised, if it has."""
    together = Barrier(len(actions), timeout=60)

    def run(action):
        together.wait()
        try:
            action()
        except StorageError as error:
            return error
        return None

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


@pytest.mark.parametrize("_round", range(5))
def test_one_of_several_concurrent_overwrites_remains_whole(tmp_path, _round):
    jobs = [stage_job(tmp_path, name) for name in "abcd"]
    errors = at_once(*(partial(target.publish, files, OVERWRITE) for target, files in jobs))
    assert errors == [None] * 4
    assert names_in(tmp_path) in [whole(name) for name in "abcd"]


def test_concurrent_appends_are_all_kept(tmp_path):
    jobs = [stage_job(tmp_path, name) for name in "abcd"]
    assert at_once(*(partial(target.publish, files, APPEND) for target, files in jobs)) == [None] * 4
    assert names_in(tmp_path) == whole("a") | whole("b") | whole("c") | whole("d")


@pytest.mark.parametrize("_round", range(5))
def test_a_concurrent_overwrite_replaces_an_append_whole_or_not_at_all(tmp_path, _round):
    (overwrite, new), (append, more) = stage_job(tmp_path, "a"), stage_job(tmp_path, "b")
    assert at_once(partial(overwrite.publish, new, OVERWRITE), partial(append.publish, more, APPEND)) == [None] * 2
    assert names_in(tmp_path) in [whole("a"), whole("a") | whole("b")]


def test_only_one_job_gets_an_empty_folder(tmp_path):
    jobs = [stage_job(tmp_path, name) for name in "abcd"]
    errors = at_once(*(partial(target.publish, files, ERROR) for target, files in jobs))
    (winner,) = [name for name, error in zip("abcd", errors, strict=True) if error is None]
    assert all("there is something already" in str(error) for error in errors if error is not None)
    for target, _files in jobs:
        target.discard()
    assert names_in(tmp_path) == whole(winner)


class Interrupted(FailingMoves):
    """The local file system; before its n-th move something else happens."""

    def __init__(self, move, happening):
        super().__init__(0, 0)
        self._countdown = move
        self._happening = happening

    def move(self, source, place):
        self._countdown -= 1
        if self._countdown == -1:
            self._happening()
        super().move(source, place)


@pytest.mark.parametrize("move", range(11))
def test_an_overwrite_waits_until_the_other_is_done(folder, monkeypatch, move):
    first, files = stage_job(folder, "a")
    second, others = stage_job(folder, "b")
    waits = Event()
    lock = locks._FileLock.acquire

    def acquire(path):
        if current_thread() is thread:
            waits.set()
        return lock(path)

    def start():
        thread.start()
        assert waits.wait(60)

    thread = Thread(target=lambda: second.publish(others, OVERWRITE))
    monkeypatch.setattr(locks._FileLock, "acquire", acquire)
    fs = Interrupted(move, start) if move < 10 else pyarrow.fs.LocalFileSystem()
    monkeypatch.setattr("jellyframe.storage.stores._filesystem", lambda _base: fs)
    first.publish(files, OVERWRITE)
    if move == 10:
        start()
    thread.join()
    assert names_in(folder) - {"README", "sub"} == whole("b")


@pytest.mark.parametrize("move", range(8))
def test_an_overwrite_in_an_object_store_that_is_overtaken_changes_nothing(tmp_path, monkeypatch, move):
    """Another job considers it dead, takes over its lock, and finishes before it continues."""
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "old.jelly").write_bytes(b"old")
    monkeypatch.setattr(locks, "STALE_AFTER_SECONDS", 0.0)

    def job(fs, name):
        target = Target(Storage("s3://bucket", fs), "bucket", uuid4().hex, True)
        folder = tmp_path / target.attempt_folder(1)
        staged = []
        for i in range(8):
            (folder / f"{name}-{i}.jelly").write_bytes(b"new")
            staged.append(f"{target.staging}/attempt-1/{name}-{i}.jelly")
        return target, staged

    plain = ObjectStore(str(tmp_path), pyarrow.fs.LocalFileSystem())
    second, others = job(plain, "b")
    fs = Interrupted(move, lambda: second.publish(others, OVERWRITE))
    fs._fs = plain
    first, files = job(fs, "a")
    with pytest.raises(StorageError, match=r"another job put files into .* so nothing was changed; run this job again"):
        first.publish(files, OVERWRITE)
    first.discard()
    assert names_in(tmp_path / "bucket") == whole("b")


class ObjectStore(pyarrow.fs.SubTreeFileSystem):
    """Stands in for an object store: another file system than the local one, with a scheme of its own."""


def test_other_file_systems_are_written_and_read(tmp_path, monkeypatch):
    from jellyframe.storage import stores as storage

    monkeypatch.setattr(storage, "_filesystem", lambda _base: ObjectStore(str(tmp_path), pyarrow.fs.LocalFileSystem()))
    remote = storage.Storage("s3://bucket")
    (tmp_path / "bucket").mkdir()
    (tmp_path / "bucket" / "old.jelly").write_bytes(b"old")
    target = Target(remote, "bucket", "job", True)
    staged = f"{target.attempt_folder(1)}/new.jelly"
    with remote.fs.open_output_stream(staged) as sink:
        sink.write(b"0123456789")
    target.publish([staged], OVERWRITE)
    (file,) = remote.data_files("bucket")
    assert (file.name, file.size) == ("s3://bucket/new.jelly", 10)
    with file.open() as source:
        assert source.read(3) == b"012"
        assert source.seek(5) == 5
        assert source.read(10) == b"56789"
        assert source.seek(-2, 2) == 8
        assert source.read(10) == b"89"
    assert contents(tmp_path) == {"bucket/new.jelly": b"0123456789"}
