"""Memory for columns of integers or bytes, which can grow and is reused."""

from __future__ import annotations

import sys
from typing import Any

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.python_api import new_bytearray, reference_count

# Smaller blocks are not kept, as malloc is fast for them. Without the GIL, reference counts are not exact, and none is.
SMALLEST_KEPT = cython.declare(cython.Py_ssize_t, 1 << 15)
MOST_KEPT = cython.declare(cython.Py_ssize_t, 48 << 20)
IS_COUNTING_SAFE = cython.declare(cython.bint, getattr(sys, "_is_gil_enabled", lambda: True)())


def int_column(capacity: int) -> memoryview:
    """Return a zeroed, writable column of 32-bit integers."""
    return memoryview(bytearray(4 * max(capacity, 1))).cast("i")


def long_column(capacity: int) -> memoryview:
    """Return a zeroed, writable column of 64-bit integers."""
    return memoryview(bytearray(8 * max(capacity, 1))).cast("q")


def byte_column(capacity: int) -> memoryview:
    """Return a writable column of bytes whose contents are not set."""
    if cython.compiled:
        return memoryview(new_bytearray(max(capacity, 1)))
    else:
        return memoryview(bytearray(max(capacity, 1)))


@cython.final
@cython.cclass
class Memory:
    """Memory for columns, reused when nothing else holds it.

    The batches of a stream are of about the same size, and fresh memory for each would cost the system much time to
    find and clear. A block is free when only this object refers to it, so that memory which a batch or an Arrow array
    still uses is left alone.
    """

    _blocks: list[bytearray]

    __slots__ = ("_blocks", "_kept")

    def __init__(self) -> None:
        self._blocks = []
        self._kept = 0

    @cython.cfunc
    def unset_bytes(self, capacity: cython.Py_ssize_t) -> Any:
        """Return a column of bytes whose contents are not set."""
        i: cython.Py_ssize_t
        block: bytearray
        capacity = max(capacity, 1)
        if cython.compiled:
            if capacity < SMALLEST_KEPT or not IS_COUNTING_SAFE:
                return memoryview(new_bytearray(capacity))
            for i in range(len(self._blocks)):
                block = self._blocks[i]
                # Only the list and the variable refer to it.
                if reference_count(block) == 2 and capacity <= len(block) <= 4 * capacity:
                    return memoryview(block)
            capacity += capacity // 8
            if self._kept + capacity > MOST_KEPT:
                self._blocks = [block for block in self._blocks if reference_count(block) > 2]
                self._kept = sum([len(block) for block in self._blocks])
            block = new_bytearray(capacity)
            if self._kept + capacity <= MOST_KEPT:
                self._blocks.append(block)
                self._kept += capacity
            return memoryview(block)
        else:
            return memoryview(bytearray(capacity))

    @cython.cfunc
    def unset_ints(self, capacity: cython.Py_ssize_t) -> Any:
        """Return a column of 32-bit integers whose contents are not set."""
        block = self.unset_bytes(4 * max(capacity, 1))
        return block[: len(block) // 4 * 4].cast("i")

    @cython.cfunc
    def more_bytes(self, old: Any, size: cython.Py_ssize_t, capacity: cython.Py_ssize_t) -> Any:
        """Return a larger column that begins with the first `size` bytes of `old`."""
        new = self.unset_bytes(capacity)
        new[:size] = old[:size]
        return new

    @cython.cfunc
    def more_ints(self, old: Any, size: cython.Py_ssize_t, capacity: cython.Py_ssize_t) -> Any:
        """Return a larger column that begins with the first `size` values of `old`."""
        new = self.unset_ints(capacity)
        new[:size] = old[:size]
        return new


def grown_ints(old: Any, size: int, capacity: int) -> memoryview:
    """Return a larger column that begins with the first `size` values of `old`."""
    new = byte_column(4 * max(capacity, 1)).cast("i")
    new[:size] = old[:size]
    return new


def grown_longs(old: Any, size: int, capacity: int) -> memoryview:
    """Return a larger column of 64-bit integers that begins with the first `size` values of `old`."""
    new = byte_column(8 * max(capacity, 1)).cast("q")
    new[:size] = old[:size]
    return new


def grown_bytes(old: Any, size: int, capacity: int) -> memoryview:
    """Return a larger column that begins with the first `size` bytes of `old`."""
    new = byte_column(capacity)
    new[:size] = old[:size]
    return new
