"""Write every byte to a file object of any kind: raw, buffered, non-blocking, or of another library."""

from __future__ import annotations

import io
import os
import select

from jellyframe.errors import StorageError
from jellyframe.storage.types import BinarySink, Buffer

# Operating systems write less than 2 GiB at a time.
_MOST_BYTES_AT_A_TIME = 1 << 30
# How long to wait for a pipe before looking again whether its reader is still there.
_WAIT_SECONDS = 60.0


def write_all(sink: BinarySink, data: Buffer) -> None:
    """Write all of the data to a file object, which may accept only a part, or nothing now.

    Waits for a non-blocking pipe or socket until it accepts more. Raises OSError if the file object accepts no more.
    """
    left = len(data)
    piece: Buffer = data if left <= _MOST_BYTES_AT_A_TIME else memoryview(data)[:_MOST_BYTES_AT_A_TIME]
    while left:
        try:
            written = sink.write(piece)
        except BlockingIOError as error:
            # The error of a buffered file.
            written = error.characters_written
            if written < len(piece):
                _wait_until_writable(sink)
        else:
            if written is None:
                if not isinstance(sink, io.RawIOBase) and not _is_nonblocking(sink):
                    # Many file objects return None and accept all.
                    written = len(piece)
                else:
                    _wait_until_writable(sink)
                    written = 0
            elif not isinstance(written, int) or not 0 < written <= len(piece):
                raise StorageError(f"the file object took {written!r} of {len(piece)} bytes")
        left -= written
        if left:
            start = len(data) - left
            piece = memoryview(data)[start : start + _MOST_BYTES_AT_A_TIME]


def flush_all(sink: BinarySink) -> None:
    """Flush a file object, if it can be flushed; wait for a non-blocking one."""
    flush = getattr(sink, "flush", None)
    while flush is not None:
        try:
            flush()
        except BlockingIOError:
            _wait_until_writable(sink)
        else:
            return


def _descriptor(sink: BinarySink) -> int | None:
    try:
        number = sink.fileno()  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None
    return number if isinstance(number, int) else None


def _is_nonblocking(sink: BinarySink) -> bool:
    descriptor = _descriptor(sink)
    if descriptor is None or os.name == "nt":
        return False
    try:
        return not os.get_blocking(descriptor)
    except OSError:
        return False


def _wait_until_writable(sink: BinarySink) -> None:
    descriptor = _descriptor(sink)
    if descriptor is None:
        raise StorageError("the file object takes no data now, and cannot be waited for: make it blocking")
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        poll.poll(_WAIT_SECONDS * 1000)
    else:
        select.select([], [descriptor], [], _WAIT_SECONDS)
