from jellyframe.kernel.lookup_slots_cy cimport LookupSlots


cdef class LookupWriter:
    cdef readonly LookupSlots slots
    cdef readonly int count
    cdef long long generation
    cdef long long[::1] stamps
    cdef int[::1] _buckets
    cdef int[::1] _chain
    cdef int[::1] _hashes
    cdef int[::1] _older
    cdef int[::1] _newer

    cdef int _set_columns(self, Py_ssize_t capacity) except -1
    cpdef clear(self)
    cdef int find(self, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, long long h) except -1
    cdef int link_newest(self, int slot) except -1
    cdef int insert(
        self, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, long long h, long long stamp
    ) except -1
    cdef int slot_to_evict(self, long long stamp) except -1
    cdef int unchain(self, int slot) except -1
