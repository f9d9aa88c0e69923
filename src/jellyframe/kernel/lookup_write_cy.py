"""The writing side of a lookup table: which strings have an id at present, and which is evicted when it is full."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.lookup_slots_cy import LookupSlots
from jellyframe.kernel.memory_cy import int_column, long_column

if cython.compiled:
    from cython.cimports.jellyframe.kernel.lookup_slots_cy import LookupSlots
    from cython.cimports.jellyframe.kernel.runs import equal_bytes
else:
    from jellyframe.kernel.runs import equal_bytes


@cython.final
@cython.cclass
class LookupWriter:
    """The strings of `slots`, found by hash, linked in the order of their last use.

    `stamps[slot]` is the statement that used the slot last: slots that the current one uses must not be evicted.
    """

    __slots__ = ("_buckets", "_chain", "_hashes", "_newer", "_older", "count", "generation", "slots", "stamps")

    def __init__(self, size: cython.int):
        self.slots = LookupSlots(size)
        self.generation = 0
        self.count = 0
        # Slot 0 is the anchor of the ring: its `newer` is the oldest entry, its `older` the newest.
        self._set_columns(self.slots.capacity)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _set_columns(self, capacity: cython.Py_ssize_t) -> cython.int:
        """Make room for `capacity` entries: copy the columns and rebuild the hash buckets."""
        used: cython.Py_ssize_t = self.count + 1 if self.count else 0
        n: cython.Py_ssize_t = 16
        slot: cython.int
        bucket: cython.Py_ssize_t
        while n < 2 * capacity:
            n *= 2
        stamps: cython.longlong[::1] = long_column(capacity + 1)
        buckets: cython.int[::1] = int_column(n)
        chain: cython.int[::1] = int_column(capacity + 1)
        hashes: cython.int[::1] = int_column(capacity + 1)
        older: cython.int[::1] = int_column(capacity + 1)
        newer: cython.int[::1] = int_column(capacity + 1)
        if used > 0:
            stamps[:used] = self.stamps[:used]
            hashes[:used] = self._hashes[:used]
            older[:used] = self._older[:used]
            newer[:used] = self._newer[:used]
            for slot in range(1, self.count + 1):
                bucket = cython.cast(cython.uint, hashes[slot]) & (n - 1)
                chain[slot] = buckets[bucket]
                buckets[bucket] = slot
        self.stamps = stamps
        self._buckets = buckets
        self._chain = chain
        self._hashes = hashes
        self._older = older
        self._newer = newer
        return 0

    @cython.ccall
    def clear(self) -> None:
        """Forget all strings. Generations continue, so that what was derived from them is recognised as stale."""
        i: cython.Py_ssize_t
        for i in range(self._buckets.shape[0]):
            self._buckets[i] = 0
        for i in range(self.count + 1):
            self.stamps[i] = 0
        self._older[0] = 0
        self._newer[0] = 0
        self.slots.clear()
        self.count = 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find(
        self,
        src: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        h: cython.longlong,
    ) -> cython.int:
        """Return the slot of a string, or 0. `h` is the hash of the string."""
        slots: LookupSlots = self.slots
        slot: cython.int = self._buckets[h & (self._buckets.shape[0] - 1)]
        while slot != 0:
            if (
                self._hashes[slot] == cython.cast(cython.int, h)
                and slots.lengths[slot] == n
                and equal_bytes(slots.arena, slots.starts[slot], src, start, n)
            ):
                return slot
            slot = self._chain[slot]
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def link_newest(self, slot: cython.int) -> cython.int:
        newest: cython.int = self._older[0]
        self._newer[newest] = slot
        self._older[slot] = newest
        self._newer[slot] = 0
        self._older[0] = slot
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def insert(
        self,
        src: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        h: cython.longlong,
        stamp: cython.longlong,
    ) -> cython.int:
        """Give a string a slot and return it, evicting another string when the table is full.

        Returns 0 if the current statement uses every slot. An error leaves the table unchanged.
        """
        slot: cython.int
        bucket: cython.Py_ssize_t
        if self.count < self.slots.size:
            slot = self.count + 1
            if slot >= self._chain.shape[0]:
                self._set_columns(min(2 * cython.cast(cython.Py_ssize_t, slot), self.slots.size))
            self.slots.put(slot, src, start, n, self.generation + 1)
            self.count = slot
        else:
            slot = self.slot_to_evict(stamp)
            if slot == 0 or self.stamps[slot] == stamp:
                return 0
            self.slots.put(slot, src, start, n, self.generation + 1)
            self._newer[self._older[slot]] = self._newer[slot]
            self._older[self._newer[slot]] = self._older[slot]
            self.unchain(slot)
        self.generation += 1
        self._hashes[slot] = cython.cast(cython.int, h)
        bucket = h & (self._buckets.shape[0] - 1)
        self._chain[slot] = self._buckets[bucket]
        self._buckets[bucket] = slot
        self.stamps[slot] = stamp
        self.link_newest(slot)
        return slot

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def slot_to_evict(self, stamp: cython.longlong) -> cython.int:
        """Choose the slot to evict: the least recently used, or the one after the last set if hardly more recent.

        An entry in the slot after the last one needs no id, and neither does an IRI with such a name. That is worth
        more than a difference of a few statements, in proportion to the size of the table.
        """
        oldest: cython.int = self._newer[0]
        following: cython.int = self.slots.last_id + 1
        if (
            following <= self.slots.size
            and self.stamps[following] != stamp
            and self.stamps[following] - self.stamps[oldest] <= self.slots.size // 16
        ):
            return following
        return oldest

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def unchain(self, slot: cython.int) -> cython.int:
        """Take a slot out of its hash bucket."""
        bucket: cython.Py_ssize_t = cython.cast(cython.uint, self._hashes[slot]) & (self._buckets.shape[0] - 1)
        at: cython.int = self._buckets[bucket]
        if at == slot:
            self._buckets[bucket] = self._chain[slot]
            return 0
        while self._chain[at] != slot:
            at = self._chain[at]
        self._chain[at] = self._chain[slot]
        return 0
