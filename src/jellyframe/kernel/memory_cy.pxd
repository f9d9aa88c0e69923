cdef class Memory:
    cdef list _blocks
    cdef Py_ssize_t _kept

    cdef object unset_bytes(self, Py_ssize_t capacity)
    cdef object unset_ints(self, Py_ssize_t capacity)
    cdef object more_bytes(self, object old, Py_ssize_t size, Py_ssize_t capacity)
    cdef object more_ints(self, object old, Py_ssize_t size, Py_ssize_t capacity)
