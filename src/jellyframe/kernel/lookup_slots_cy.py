"""The slots of a lookup table, for reading and for writing: strings under small ids, replaced one by one."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError
from jellyframe.kernel.memory_cy import byte_column, int_column, long_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.runs import copy_bytes
else:
    from jellyframe.kernel.runs import copy_bytes

MAX_ARENA_BYTES = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)
# Ids that a table has room for at first.
FIRST_CAPACITY = cython.declare(cython.int, 63)


@cython.final
@cython.cclass
class LookupSlots:
    """Strings under the ids 1 to `size`, end to end in one arena that is compacted when it is full.

    Memory is taken as it is needed: the columns hold the ids 1 to `capacity`, which is at least that of any string.
    `last_id` is the id that was set last. Each string of a slot has another generation, so that what was derived from
    an earlier one can be recognised as stale. The generation 0 marks a slot that was never set.
    """

    __slots__ = ("_live", "arena", "arena_size", "capacity", "generations", "last_id", "lengths", "size", "starts")

    def __init__(self, size: cython.int):
        self.size = size
        self.last_id = 0
        self.capacity = min(size, FIRST_CAPACITY)
        self.starts = int_column(self.capacity + 1)
        self.lengths = int_column(self.capacity + 1)
        self.generations = long_column(self.capacity + 1)
        self.arena = byte_column(256)
        self.arena_size = 0
        self._live = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def put(
        self,
        slot: cython.int,
        src: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        generation: cython.longlong,
    ) -> cython.int:
        """Set a slot, up to `size`, and return a number that is below 0x80 if and only if the string is ASCII.

        If memory or room in the arena is lacking, this raises and nothing has changed.
        """
        non_ascii: cython.int
        if slot > self.capacity:
            self._grow(slot)
        if self.arena_size + n > self.arena.shape[0]:
            self._make_room(slot, n)
        self._live += n - self.lengths[slot]
        non_ascii = copy_bytes(self.arena, self.arena_size, src, start, n)
        self.starts[slot] = cython.cast(cython.int, self.arena_size)
        self.lengths[slot] = cython.cast(cython.int, n)
        self.generations[slot] = generation
        self.arena_size += n
        return non_ascii

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow(self, slot: cython.Py_ssize_t) -> cython.int:
        """Make room for more ids, `slot` among them."""
        capacity: cython.Py_ssize_t = min(max(2 * cython.cast(cython.Py_ssize_t, self.capacity) + 1, slot), self.size)
        starts: cython.int[::1] = int_column(capacity + 1)
        lengths: cython.int[::1] = int_column(capacity + 1)
        generations: cython.longlong[::1] = long_column(capacity + 1)
        starts[: self.capacity + 1] = self.starts
        lengths[: self.capacity + 1] = self.lengths
        generations[: self.capacity + 1] = self.generations
        self.starts = starts
        self.lengths = lengths
        self.generations = generations
        self.capacity = cython.cast(cython.int, capacity)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(self, replaced: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
        """Copy the live strings, except the one to replace, to a new arena of about twice the size needed."""
        need: cython.Py_ssize_t = self._live - self.lengths[replaced] + n
        old: cython.uchar[::1] = self.arena
        slot: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        if need > MAX_ARENA_BYTES:
            raise LimitError("the strings of one lookup table exceed 2 GiB")
        self.arena = byte_column(min(max(2 * need, 4096), MAX_ARENA_BYTES))
        self._live -= self.lengths[replaced]
        self.lengths[replaced] = 0
        for slot in range(1, self.capacity + 1):
            copy_bytes(self.arena, at, old, self.starts[slot], self.lengths[slot])
            self.starts[slot] = cython.cast(cython.int, at)
            at += self.lengths[slot]
        self.arena_size = at
        return 0

    def clear(self) -> None:
        """Empty all slots."""
        i: cython.Py_ssize_t
        for i in range(self.capacity + 1):
            self.lengths[i] = 0
            self.generations[i] = 0
        self.arena_size = 0
        self._live = 0
        self.last_id = 0
