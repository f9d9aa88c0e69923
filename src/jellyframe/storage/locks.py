"""Locks on folders: only one job at a time publishes files in a folder.

On local file systems the operating system holds the lock (`flock`) and releases it when its process ends, however that
happens. Elsewhere the lock is a small object. If two clients create an object at the same time, the last one wins. So a
holder checks before its last step whether the lock is still its own, and gives up if it is not. A
lock that has not changed for `STALE_AFTER_SECONDS` belongs to a dead job and may be taken over; if its holder is
alive after all, it notices at that step.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Protocol
from uuid import uuid4

from jellyframe.errors import StorageError
from jellyframe.storage.stores import Storage

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "_jelly-publishing"
STALE_AFTER_SECONDS = 120.0
_REFRESH_SECONDS = 20.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
_NOT_SUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class LockTakenError(Exception):
    """A lock that another process holds."""


def hold_file(path: str) -> IO[bytes]:
    """Lock a file, creating it if necessary, and return it: the lock is held until it is closed or the process ends.

    Raises LockTakenError if it is already held. If the system has no locks, the file is not locked.
    """
    file = open(path, "ab")  # noqa: SIM115  # the lock is held while it is open
    try:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NOT_SUPPORTED:
            return file
        file.close()
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise LockTakenError(path) from None
        raise
    return file


class FolderLock(Protocol):
    """A lock that is held."""

    def refresh(self) -> None:
        """Show other jobs that the holder is alive. Call it now and then during long work."""

    def require(self) -> None:
        """Raise unless the lock is still held."""


@contextmanager
def folder_lock(storage: Storage, folder: str) -> Iterator[FolderLock]:
    """Wait for the lock of a folder, which must exist, and hold it."""
    path = f"{folder}/{LOCK_NAME}"
    held: _FileLock | _ObjectLock | None = _FileLock.acquire(path) if storage.is_local else None
    if held is None:
        held = _ObjectLock(storage, path)
        held.acquire()
    try:
        yield held
    finally:
        held.release()


class _FileLock:
    """A lock of the operating system, on a file that exists while it is held or waited for."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: str) -> _FileLock | None:
        """Wait for the lock and return it, or None if the file system has no locks."""
        if fcntl is None:
            return None
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if _is_at(path, descriptor):
                    return cls(path, descriptor)
            except OSError as error:
                os.close(descriptor)
                if error.errno in _NOT_SUPPORTED:
                    os.unlink(path)
                    return None
                raise
            # The previous holder has removed the file: no other process will use this lock.
            os.close(descriptor)

    def refresh(self) -> None:
        """Do nothing: the operating system knows which processes are alive."""

    def require(self) -> None:
        """Do nothing: the lock cannot be lost."""

    def release(self) -> None:
        assert fcntl is not None
        with suppress(OSError):
            os.unlink(self._path)
        # A child process may have inherited the descriptor, so closing it would not be enough.
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


class _ObjectLock:
    """A small object that names its holder."""

    def __init__(self, storage: Storage, path: str) -> None:
        self._storage = storage
        self._path = path
        self._token = uuid4().hex
        self._refreshes = 0
        self._refreshed = 0.0

    def acquire(self) -> None:
        holder, since = self._holder(), time.monotonic()
        pause = _FIRST_PAUSE_SECONDS
        while True:
            if holder is not None and time.monotonic() - since >= STALE_AFTER_SECONDS:
                self._remove()
                holder = None
            if holder is None:
                self._refreshed = time.monotonic()
                if self._storage.write_new(self._path, self._content) and self._is_ours():
                    return
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            now = self._holder()
            if now != holder:
                holder, since = now, time.monotonic()

    def refresh(self) -> None:
        if time.monotonic() - self._refreshed >= _REFRESH_SECONDS and self._is_ours():
            self._refreshes += 1
            self._refreshed = time.monotonic()
            with self._storage.fs.open_output_stream(self._path) as stream:
                stream.write(self._content)

    def require(self) -> None:
        if not self._is_ours():
            folder = self._storage.display(self._path.rpartition("/")[0])
            raise StorageError(
                f"another job put files into {folder} at the same time, so nothing was changed; run this job again"
            )

    def release(self) -> None:
        if self._is_ours():
            self._remove()

    @property
    def _content(self) -> bytes:
        return f"{self._token} {self._refreshes}".encode()

    def _is_ours(self) -> bool:
        return self._holder() == self._content

    def _holder(self) -> bytes | None:
        try:
            with self._storage.fs.open_input_stream(self._path) as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def _remove(self) -> None:
        with suppress(OSError):
            self._storage.fs.delete_file(self._path)
