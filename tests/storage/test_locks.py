"""Locks on folders: held by one process at a time, and released when it dies."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from threading import Event, Thread

import pyarrow.fs
import pytest

from jellyframe.errors import StorageError
from jellyframe.storage import locks
from jellyframe.storage.locks import LOCK_NAME, folder_lock
from jellyframe.storage.stores import Storage, locate


@pytest.fixture(params=["local", "local without locks", "object store"])
def place(request, tmp_path, monkeypatch):
    """A storage, and a folder in it."""
    if request.param == "object store":
        fs = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
        fs.create_dir("folder")
        return Storage("mock://bucket", fs), "folder"
    if request.param == "local without locks":
        monkeypatch.setattr(locks, "fcntl", None)
    return locate(str(tmp_path))


def test_only_one_at_a_time_holds_the_lock(place):
    inside = 0
    most = 0

    def hold():
        nonlocal inside, most
        for _ in range(5):
            with folder_lock(*place) as lock:
                inside += 1
                most = max(most, inside)
                lock.refresh()
                inside -= 1
                # In an object store a lock may be lost to another job; the loser notices, and stops.
                if place[0].is_local:
                    lock.require()

    threads = [Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if place[0].is_local:
        assert most == 1
    assert not place[0].exists(f"{place[1]}/{LOCK_NAME}")


def test_a_held_lock_is_not_granted_again(place):
    entered = Event()

    def hold():
        with folder_lock(*place):
            entered.set()

    with folder_lock(*place):
        thread = Thread(target=hold)
        thread.start()
        assert not entered.wait(0.2)
    thread.join()
    assert entered.is_set()


def test_an_error_releases_the_lock(place):
    with pytest.raises(ZeroDivisionError), folder_lock(*place):
        raise ZeroDivisionError
    with folder_lock(*place) as lock:
        lock.require()


@pytest.mark.skipif(find_spec("fcntl") is None, reason="needs locks of the operating system")
def test_a_process_that_is_killed_releases_its_lock(tmp_path):
    program = f"""
import os, signal
from jellyframe.storage.locks import folder_lock
from jellyframe.storage.stores import locate

with folder_lock(*locate({str(tmp_path)!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode < 0
    assert (tmp_path / LOCK_NAME).exists()
    with folder_lock(*locate(str(tmp_path))) as lock:
        lock.require()
    assert not (tmp_path / LOCK_NAME).exists()


@pytest.fixture
def store(tmp_path):
    fs = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    fs.create_dir("folder")
    return Storage("mock://bucket", fs), "folder"


def test_a_stale_lock_is_taken_over_and_its_holder_notices(store, monkeypatch):
    monkeypatch.setattr(locks, "STALE_AFTER_SECONDS", 0.0)
    with folder_lock(*store) as first:
        first.require()
        with folder_lock(*store) as second:
            second.require()
            with pytest.raises(StorageError, match=r"another job put files into .* so nothing was changed"):
                first.require()
            first.refresh()
            second.require()
    with folder_lock(*store) as third:
        third.require()


def test_a_lock_that_is_refreshed_is_not_stale(store, monkeypatch):
    monkeypatch.setattr(locks, "STALE_AFTER_SECONDS", 0.3)
    monkeypatch.setattr(locks, "_REFRESH_SECONDS", 0.0)
    entered = Event()

    def hold():
        with folder_lock(*store):
            entered.set()

    with folder_lock(*store) as lock:
        thread = Thread(target=hold)
        thread.start()
        for _ in range(40):
            lock.refresh()
            assert not entered.wait(0.02)
        lock.require()
    thread.join()
    assert entered.is_set()
