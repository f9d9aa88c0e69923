cdef class LookupSlots:
    cdef readonly int size
    cdef readonly int capacity
    cdef int last_id
    cdef int[::1] starts
    cdef int[::1] lengths
    cdef long long[::1] generations
    cdef unsigned char[::1] arena
    cdef Py_ssize_t arena_size
    cdef Py_ssize_t _live

    cdef int put(
        self, int slot, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, long long generation
    ) except -1
    cdef int _grow(self, Py_ssize_t slot) except -1
    cdef int _make_room(self, Py_ssize_t replaced, Py_ssize_t n) except -1
