"""Memory for Arrow columns that is reused after the columns are freed.

The first write to a page of memory costs more than the write itself: the system finds the page, clears it and maps it.
So memory that columns no longer need is kept for the next ones. A little of it is kept as it is; the rest stays mapped
but is marked as free, so that the system reclaims it when memory is needed elsewhere.
"""

from __future__ import annotations

import mmap
import os
from collections import defaultdict
from threading import RLock

import pyarrow as pa

from jellyframe.options import check_number

# Kept as it is: about the memory that a stream of record batches uses.
DEFAULT_KEPT_BYTES = 32 << 20
# Kept, but marked as free.
DEFAULT_MARKED_BYTES = 1 << 30
# Smaller columns come from Python's own memory, which is reused anyway.
_SMALLEST = 32 << 10
# On systems that cannot mark memory as free (Windows), none is kept in this way.
_MARK_FREE: int | None = getattr(mmap, "MADV_FREE", None)
# Not shared with forked processes; systems without this flag never share it.
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class _Block:
    """A block of memory that consists of whole pages."""

    __slots__ = ("address", "is_marked", "pages")

    def __init__(self, size: int) -> None:
        self.pages = mmap.mmap(-1, size, **_PRIVATE)
        self.address = pa.py_buffer(self.pages).address
        self.is_marked = False

    def mark_free(self) -> None:
        """Let the system reclaim the pages. Until it does, a write makes them ours again."""
        if _MARK_FREE is not None:
            self.pages.madvise(_MARK_FREE)
            self.is_marked = True


class _Loan:
    """A reference to a block in use; the block is returned when the last reference goes."""

    __slots__ = ("_memory", "block")

    def __init__(self, memory: ColumnMemory, block: _Block) -> None:
        self._memory = memory
        self.block = block

    def __del__(self) -> None:
        self._memory.take_back(self.block)


class Column:
    """Memory to be filled through `view`, and then passed to Arrow as a buffer."""

    __slots__ = ("_owner", "view")

    def __init__(self, owner: _Loan | bytearray | pa.Buffer) -> None:
        self._owner = owner
        self.view = memoryview(owner.block.pages if isinstance(owner, _Loan) else owner).cast("B")

    def buffer(self, size: int) -> pa.Buffer:
        """Return the first `size` bytes. The memory is reused when there are no references to it."""
        if isinstance(self._owner, _Loan):
            return pa.foreign_buffer(self._owner.block.address, size, base=self._owner)
        return pa.py_buffer(self._owner).slice(0, size)


class ColumnMemory:
    """Lends blocks of memory, and keeps returned ones by their size."""

    def __init__(self, most_kept: int = DEFAULT_KEPT_BYTES, most_marked: int = DEFAULT_MARKED_BYTES) -> None:
        self.most_kept = most_kept
        self.most_marked = most_marked if _MARK_FREE is not None else 0
        self._free: defaultdict[int, list[_Block]] = defaultdict(list)
        self.kept = 0
        self.marked = 0
        self._renew_lock()
        # A process that is forked while another thread holds the lock would wait for it forever.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        # Columns may be freed in any thread, also while this one holds the lock.
        self._lock = RLock()

    def column(self, size: int) -> Column:
        """Return memory of at least `size` bytes with any contents. Do not view it after its buffers are freed."""
        if size < _SMALLEST:
            return Column(bytearray(max(size, 1)))
        if self.most_kept + self.most_marked == 0:
            return Column(pa.allocate_buffer(size))
        size = _rounded(size)
        with self._lock:
            blocks = self._free[size]
            if not blocks:
                return Column(_Loan(self, _Block(size)))
            block = blocks.pop()
            if block.is_marked:
                self.marked -= size
                block.is_marked = False
            else:
                self.kept -= size
        return Column(_Loan(self, block))

    def limit(self, most_kept: int, most_marked: int) -> None:
        """Set how much memory is kept, and release the memory that is kept now."""
        with self._lock:
            self.most_kept = most_kept
            self.most_marked = most_marked if _MARK_FREE is not None else 0
            self._free.clear()
            self.kept = self.marked = 0

    def take_back(self, block: _Block) -> None:
        """Keep an unused block for reuse, or release it."""
        size = len(block.pages)
        with self._lock:
            if self.kept + size <= self.most_kept:
                self.kept += size
            elif self.marked + size <= self.most_marked:
                block.mark_free()
                self.marked += size
            else:
                return
            self._free[size].append(block)


# The memory of all columns of this process.
shared = ColumnMemory()


def new_column(size: int) -> Column:
    """Return memory for a column of an Arrow table."""
    return shared.column(size)


def keep_column_memory(kept_bytes: int = DEFAULT_KEPT_BYTES, marked_bytes: int = DEFAULT_MARKED_BYTES) -> None:
    """Set how much memory of Arrow columns this process keeps for the next columns.

    Args:
        kept_bytes: memory that is kept as it is
        marked_bytes: further memory that is kept, but that the system may reclaim at any time; tools that show
            resident memory count it until then. With 0 for both, columns come from Arrow's own allocator
    """
    for name, value in (("kept_bytes", kept_bytes), ("marked_bytes", marked_bytes)):
        check_number(name, value, 0)
    shared.limit(kept_bytes, marked_bytes)


def _rounded(size: int) -> int:
    """Round a size up to one of the eight steps between two powers of two, so that few sizes occur."""
    step = 1 << max(size.bit_length() - 4, 0)
    return -(-size // step) * step
