"""A hash table of records: fingerprints with their numbers."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.kernel.fingerprint_cy import ulong_column

# Flags of an entry: it was added here; the other side has it too; only the other side has it.
PRESENT = cython.declare(cython.uchar, 1)
SHARED = cython.declare(cython.uchar, 2)
FOREIGN = cython.declare(cython.uchar, 4)
# The part of a record is told by bits that choose neither its bucket nor its slot.
PART_SHIFT = cython.declare(cython.int, 8)


@cython.final
@cython.cclass
class FingerprintTable:
    """Records of up to `capacity` fingerprints. Only those of one part of `parts`, a power of two, are used."""

    __slots__ = ("_flags", "_keys", "_mask", "_numbers", "_part", "_parts_mask", "capacity", "count")

    def __init__(self, capacity: int, part: int = 0, parts: int = 1) -> None:
        slots = 16
        while slots * 2 < capacity * 3:
            slots *= 2
        self.capacity = capacity
        self.count = 0
        self._mask = slots - 1
        self._part = part
        self._parts_mask = parts - 1
        self._keys = ulong_column(2 * slots)
        self._numbers = ulong_column(slots)
        self._flags = memoryview(bytearray(slots))

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    def _slot(self, high: cython.ulonglong, low: cython.ulonglong) -> cython.Py_ssize_t:
        """Return the slot of a fingerprint, or the free slot for it; -2 if it belongs to another part."""
        slot: cython.Py_ssize_t
        if ((high >> PART_SHIFT) & self._parts_mask) != self._part:
            return -2
        slot = cython.cast(cython.Py_ssize_t, low & self._mask)
        while self._flags[slot] != 0 and (self._keys[2 * slot] != high or self._keys[2 * slot + 1] != low):
            slot = (slot + 1) & cython.cast(cython.Py_ssize_t, self._mask)
        return slot

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _fill(
        self,
        slot: cython.Py_ssize_t,
        high: cython.ulonglong,
        low: cython.ulonglong,
        number: cython.ulonglong,
        flags: cython.uchar,
    ) -> cython.int:
        if self.count >= self.capacity:
            raise IndexError(f"more than {self.capacity} fingerprints, which is the capacity of the table")
        self._keys[2 * slot] = high
        self._keys[2 * slot + 1] = low
        self._numbers[slot] = number
        self._flags[slot] = flags
        self.count += 1
        return 0

    def add_first(self, records: cython.const[cython.ulonglong][::1]) -> None:
        """Add records; of those with the same fingerprint, the first one counts."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for i in range(0, records.shape[0], 3):
            slot = self._slot(records[i], records[i + 1])
            if slot >= 0 and self._flags[slot] == 0:
                self._fill(slot, records[i], records[i + 1], records[i + 2], PRESENT)

    def add_last(self, records: cython.const[cython.ulonglong][::1]) -> None:
        """Add records; of those with the same fingerprint, the last one counts."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for i in range(0, records.shape[0], 3):
            slot = self._slot(records[i], records[i + 1])
            if slot >= 0:
                if self._flags[slot] == 0:
                    self._fill(slot, records[i], records[i + 1], records[i + 2], PRESENT)
                else:
                    self._numbers[slot] = records[i + 2]

    def compare(self, records: cython.const[cython.ulonglong][::1], bits: cython.uchar[::1]) -> int:
        """Compare with the records of the other side: set the bit of each that is not here, once per fingerprint.

        This and the methods below return the number of bits set.
        """
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for i in range(0, records.shape[0], 3):
            slot = self._slot(records[i], records[i + 1])
            if slot >= 0:
                if self._flags[slot] == 0:
                    self._fill(slot, records[i], records[i + 1], records[i + 2], FOREIGN)
                    count += _set_bit(bits, records[i + 2])
                else:
                    self._flags[slot] |= SHARED
        return count

    def set_unshared(self, bits: cython.uchar[::1]) -> int:
        """Set the bits of the records that were added here and that the other side does not have."""
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for slot in range(self._flags.shape[0]):
            if self._flags[slot] == PRESENT:
                count += _set_bit(bits, self._numbers[slot])
        return count

    def set_last(self, bits: cython.uchar[::1]) -> int:
        """Set the bit of the last row of a patch for each statement."""
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for slot in range(self._flags.shape[0]):
            if self._flags[slot] != 0:
                count += _set_bit(bits, self._numbers[slot] >> 1)
        return count

    def apply(self, records: cython.const[cython.ulonglong][::1], bits: cython.uchar[::1]) -> int:
        """Compare the last operations of a patch with the statements of data: set the bits of the deleted ones."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for i in range(0, records.shape[0], 3):
            slot = self._slot(records[i], records[i + 1])
            if slot >= 0 and self._flags[slot] != 0:
                if self._numbers[slot] & 1:
                    count += _set_bit(bits, records[i + 2])
                else:
                    self._flags[slot] |= SHARED
        return count

    def set_missing(self, bits: cython.uchar[::1]) -> int:
        """Set the bits of the rows of a patch that add statements which the data does not have."""
        slot: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for slot in range(self._flags.shape[0]):
            if self._flags[slot] == PRESENT and not self._numbers[slot] & 1:
                count += _set_bit(bits, self._numbers[slot] >> 1)
        return count


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _set_bit(bits: cython.uchar[::1], number: cython.ulonglong) -> cython.int:
    at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, number >> 3)
    bits[at] = bits[at] | cython.cast(cython.uchar, 1 << (number & 7))
    return 1
