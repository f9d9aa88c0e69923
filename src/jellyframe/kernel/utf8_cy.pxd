cdef bint valid_utf8(const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n) except -1
