cdef int copy_bytes(
    unsigned char[::1] dst, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
) except -1
cdef int move_bytes(
    unsigned char[::1] dst, Py_ssize_t at, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
) except -1
cdef bint equal_bytes(
    const unsigned char[::1] a, Py_ssize_t a_start, const unsigned char[::1] b, Py_ssize_t b_start, Py_ssize_t n
) except -1
cdef Py_ssize_t behind_last(
    const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, unsigned char byte
) except -1
cdef long long hash_bytes(
    const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n, unsigned int seed
) except -1
cdef bint valid_utf8(const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n) except -1
