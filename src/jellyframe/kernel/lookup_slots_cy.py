"""What a lookup table holds on either side, reading or writing: strings under small ids, replaced one by one."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import LimitError
from jellyframe.kernel.memory_cy import byte_column, grown_ints, grown_longs, int_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.runs import copy_bytes
else:
    from jellyframe.kernel.runs import copy_bytes

MAX_ARENA_BYTES = cython.declare(cython.Py_ssize_t, 0x7FFFFFFF)


@cython.final
@cython.cclass
class LookupSlots:
    """Strings under the ids 1 to `size`, end to end in one arena that is packed anew when it fills with dead ones.

    `last_id` is the id that an entry set last. `generations` tells apart the strings that a slot holds one after the
    other, so that what was derived from a slot can be recognised as stale. 0 marks a slot that was never set.
    """

    __slots__ = ("_live", "arena", "arena_size", "generations", "last_id", "lengths", "size", "starts")

    def __init__(self, size: cython.int):
        self.size = size
        self.last_id = 0
        self.starts = int_column(size + 1)
        self.lengths = int_column(size + 1)
        self.generations = memoryview(bytearray(8 * (size + 1))).cast("q")
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
        """Set a slot; the answer is below 0x80 exactly when the string is all ASCII."""
        seen: cython.int
        self._live += n - self.lengths[slot]
        self.lengths[slot] = 0
        if self.arena_size + n > self.arena.shape[0]:
            self._make_room(n)
        seen = copy_bytes(self.arena, self.arena_size, src, start, n)
        self.starts[slot] = cython.cast(cython.int, self.arena_size)
        self.lengths[slot] = cython.cast(cython.int, n)
        self.generations[slot] = generation
        self.arena_size += n
        return seen

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(self, n: cython.Py_ssize_t) -> cython.int:
        """Pack the live strings into a new arena of at least twice their size."""
        capacity: cython.Py_ssize_t = max(2 * (self._live + n), 4096)
        old: cython.uchar[::1] = self.arena
        slot: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        if self._live + n > MAX_ARENA_BYTES:
            raise LimitError("the strings of one lookup table exceed 2 GiB")
        self.arena = byte_column(min(capacity, MAX_ARENA_BYTES))
        for slot in range(1, self.size + 1):
            copy_bytes(self.arena, at, old, self.starts[slot], self.lengths[slot])
            self.starts[slot] = cython.cast(cython.int, at)
            at += self.lengths[slot]
        self.arena_size = at
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, size: cython.int) -> cython.int:
        """Make room for ids up to `size`."""
        used: cython.Py_ssize_t = self.size + 1
        self.starts = grown_ints(self.starts, used, size + 1)
        self.lengths = grown_ints(self.lengths, used, size + 1)
        self.generations = grown_longs(self.generations, used, size + 1)
        self.size = size
        return 0

    def clear(self) -> None:
        """Empty all slots."""
        i: cython.Py_ssize_t
        for i in range(self.size + 1):
            self.lengths[i] = 0
            self.generations[i] = 0
        self.arena_size = 0
        self._live = 0
        self.last_id = 0
