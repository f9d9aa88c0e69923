cdef class FingerprintTable:
    cdef unsigned long long[::1] _keys
    cdef unsigned long long[::1] _numbers
    cdef unsigned char[::1] _flags
    cdef unsigned long long _mask
    cdef unsigned long long _part
    cdef unsigned long long _parts_mask
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t capacity

    cdef Py_ssize_t _slot(self, unsigned long long high, unsigned long long low) except -1
    cdef int _fill(
        self, Py_ssize_t slot, unsigned long long high, unsigned long long low, unsigned long long number,
        unsigned char flags,
    ) except -1


cdef int _set_bit(unsigned char[::1] bits, unsigned long long number) except -1
