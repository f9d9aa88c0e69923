"""Files that appear whole or not at all.

A file is written under a hidden name in the same folder, `.NAME.….part`, and renamed when it is complete. Its writer
holds a lock on it (`flock`). A part without a lock was left by a killed process; the next writer
of the same file removes it. If the file system has no locks nothing is removed, since a part may still be written.
"""

from __future__ import annotations

import errno
import os
import stat
import time
import warnings
import weakref
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from jellyframe.errors import display_name

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed
    fcntl = None  # type: ignore[assignment]

PART_SUFFIX = ".part"
# Locks may not work across machines that share a folder, so parts of other machines also have to be old.
OTHER_HOST_STALE_SECONDS = 7 * 24 * 3600
_MAX_NAME_BYTES = 255
_TOKEN_BYTES = 8
_HOST_LENGTH = 8


class AtomicFile:
    """A file that appears at its path when `commit` is called.

    A file that is neither committed nor discarded is discarded when it is garbage collected, and at the end of the
    process, with a `ResourceWarning`.
    """

    def __init__(self, path: str, mode: int | None = None) -> None:
        """Create the file under a temporary name. `mode` has its permissions, by default those of any new file."""
        self._path = path
        folder, name = os.path.split(path)
        self._folder = folder or "."
        self._prefix = _part_prefix(name)
        try:
            self._remove_stale_parts()
            descriptor, self._part = self._create()
            if mode is not None:
                with suppress(OSError):
                    os.chmod(self._part, stat.S_IMODE(mode))
        except OSError as error:
            raise _with_name(error, path) from None
        self.file: IO[bytes] = open(descriptor, "wb")  # noqa: SIM115
        self._finalizer = weakref.finalize(self, _discard_forgotten, self.file, self._part, path, os.getpid())

    def commit(self) -> None:
        """Move the file to its path."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            if fcntl is None:
                self.file.close()
            # The lock is held until the file has its name, so that no other writer removes the part as stale.
            os.replace(self._part, self._path)
            self._finalizer.detach()
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise _with_name(error, self._path) from None
            raise
        self.file.close()

    def discard(self) -> None:
        """Remove the file. Does nothing after `commit`."""
        if self._finalizer.detach() is not None:
            _discard(self.file, self._part)

    def _create(self) -> tuple[int, str]:
        while True:
            part = f"{self._prefix}{os.urandom(_TOKEN_BYTES).hex()}{PART_SUFFIX}"
            part = os.path.join(self._folder, part)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            try:
                descriptor = os.open(part, flags, 0o666)
            except FileExistsError:
                continue
            if _lock(descriptor) is not False and os.fstat(descriptor).st_nlink > 0:
                return descriptor, part
            # Another writer found the file before it was locked, and removes it as stale.
            os.close(descriptor)

    def _remove_stale_parts(self) -> None:
        for part in self._other_parts():
            with suppress(OSError):
                _remove_if_stale(part)

    def _other_parts(self) -> Iterator[str]:
        with suppress(OSError), os.scandir(self._folder) as entries:
            stem = self._prefix[: -_HOST_LENGTH - 1]
            length = len(self._prefix) + 2 * _TOKEN_BYTES + len(PART_SUFFIX)
            for entry in entries:
                name = entry.name
                if name.startswith(stem) and name.endswith(PART_SUFFIX) and len(name) == length:
                    yield entry.path


def _part_prefix(name: str) -> str:
    """Return the prefix of the names of a file's parts: its own name, if that is not too long, and the host's."""
    room = _MAX_NAME_BYTES - len(f"..{'h' * _HOST_LENGTH}-{'t' * 2 * _TOKEN_BYTES}{PART_SUFFIX}")
    if len(os.fsencode(name)) > room:
        import hashlib

        digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
        # A character takes at most four bytes.
        name = f"{name[: (room - len(digest)) // 4]}{digest}"
    return f".{name}.{_host()}-"


def _host() -> str:
    return f"{zlib.crc32(_node().encode('utf-8', 'replace')):0{_HOST_LENGTH}x}"


def _node() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform

    return platform.node()


def _lock(descriptor: int) -> bool | None:
    """Lock a file for this process. Returns False if another process has locked it, None if there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES) else None
    return True


def _remove_if_stale(part: str) -> None:
    """Remove a part whose writer is dead."""
    if fcntl is None:
        os.unlink(part)
        return
    descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        is_ours = f".{_host()}-" in os.path.basename(part)
        is_old = is_ours or status.st_mtime < time.time() - OTHER_HOST_STALE_SECONDS
        if stat.S_ISREG(status.st_mode) and is_old and _lock(descriptor):
            os.unlink(part)
    finally:
        os.close(descriptor)


def _discard(file: IO[bytes], part: str) -> None:
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        os.unlink(part)


def _discard_forgotten(file: IO[bytes], part: str, path: str, owner: int) -> None:
    # A forked process has a copy of this object, but must not remove the file.
    if os.getpid() == owner:
        _discard(file, part)
        warnings.warn(f"{display_name(path)} was not closed, so it was not written", ResourceWarning, stacklevel=2)


def _with_name(error: OSError, name: str) -> OSError:
    """Return the error with the name of the file instead of the temporary name."""
    return type(error)(error.errno, error.strerror or str(error), name)
