# The function of recency.py for the compiled kernel, inline because it is called for every IRI.

from jellyframe.kernel.lookup_write_cy cimport LookupWriter


cdef inline int touch(LookupWriter table, int slot, long long stamp) except -1:
    cdef int older
    cdef int newer
    cdef int newest = table._older[0]
    table.stamps[slot] = stamp
    if newest == slot:
        return 0
    older = table._older[slot]
    newer = table._newer[slot]
    table._newer[older] = newer
    table._older[newer] = older
    table._newer[newest] = slot
    table._older[slot] = newest
    table._newer[slot] = 0
    table._older[0] = slot
    return 0
