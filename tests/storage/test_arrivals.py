"""The log of a stream source, without a running Spark."""

from __future__ import annotations

import os
import random
import shutil
import time

import pytest

from jellyframe.errors import StorageError
from jellyframe.storage.arrivals import (
    ABANDONED_AFTER_SECONDS,
    LOG_PREFIX,
    SEGMENTS_TO_MERGE,
    ArrivalLog,
    remove_abandoned_logs,
)
from jellyframe.storage.stores import DataFile, Storage

STORAGE = Storage()


def opened(folder):
    return ArrivalLog(STORAGE, str(folder))


def file(name, modified=0):
    return 0, DataFile(STORAGE, name, 7, modified)


def names(log):
    return [arrival.path for arrival in log.arrivals]


def test_files_keep_their_numbers(tmp_path):
    chance = random.Random(5)
    log = opened(tmp_path / "log")
    expected: list[str] = []
    for i in range(2 * SEGMENTS_TO_MERGE + 5):
        old = [file(name) for name in chance.sample(expected, min(3, len(expected)))]
        log.add([*old, file(f"{i}/b", 1), file(f"{i}/a", 2)])
        expected += [f"{i}/b", f"{i}/a"]
        if i % 10 == 0:
            log = opened(tmp_path / "log")
        assert names(log) == expected
    assert names(opened(tmp_path / "log")) == expected
    assert len(list((tmp_path / "log").iterdir())) == 2 + 5


def test_an_interrupted_merge_loses_nothing(tmp_path):
    log = opened(tmp_path / "log")
    for i in range(SEGMENTS_TO_MERGE - 1):
        log.add([file(str(i))])
    shutil.copytree(tmp_path / "log", tmp_path / "before")
    log.add([file("last")])
    # The merged segment is there, and those that it was made of, too.
    shutil.copytree(tmp_path / "before", tmp_path / "log", dirs_exist_ok=True)
    again = opened(tmp_path / "log")
    assert names(again) == names(log)
    again.add([file("one more"), file("last")])
    assert names(opened(tmp_path / "log")) == [*names(log), "one more"]


def test_a_second_writer_of_a_log_is_refused(tmp_path):
    first, second = opened(tmp_path / "log"), opened(tmp_path / "log")
    first.add([file("a")])
    with pytest.raises(StorageError, match="is another run of this query active"):
        second.add([file("b")])


def test_a_damaged_log_is_refused(tmp_path):
    log = opened(tmp_path / "log")
    log.add([file("a")])
    log.add([file("b")])
    first, second = sorted((tmp_path / "log").iterdir())
    second.write_text("[\n")
    with pytest.raises(StorageError, match="is damaged"):
        opened(tmp_path / "log")
    first.unlink()
    with pytest.raises(StorageError, match="begins with file 0 is missing"):
        opened(tmp_path / "log")
    assert len(opened(tmp_path / "no")) == 0
    with pytest.raises(StorageError, match="taken 3 files, and this log knows of 2"):
        log.require(3)


def age(folder, seconds):
    """Make a folder and all that is in it as old as that."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (time.time() - seconds,) * 2)


def test_logs_that_no_query_uses_any_more_are_removed(tmp_path):
    logs = [tmp_path / f"{LOG_PREFIX}{i:032x}" for i in range(4)]
    other = tmp_path / f"{LOG_PREFIX}mine"
    for folder in (*logs, other):
        opened(folder).add([file("a")])
        age(folder, ABANDONED_AFTER_SECONDS + 60)
    _abandoned, own, marked, recent = logs
    opened(marked).mark_in_use()
    age(recent, ABANDONED_AFTER_SECONDS - 3600)
    remove_abandoned_logs(STORAGE, str(tmp_path), str(own))
    assert sorted(tmp_path.iterdir()) == sorted([own, marked, recent, other])
    assert names(opened(marked)) == ["a"]
    remove_abandoned_logs(STORAGE, str(tmp_path / "none"), str(own))


def test_marking_a_log_ignores_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    opened(tmp_path / "log").mark_in_use()
    ArrivalLog(STORAGE, str(tmp_path / "file" / "log")).mark_in_use()
