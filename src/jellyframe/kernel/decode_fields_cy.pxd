cimport cython


cdef class FieldDecoder:
    cdef const unsigned char[::1] buf
    cdef Py_ssize_t pos
    cdef long long max_frame_bytes
    cdef public long long base_offset
    cdef public object source_name
    cdef readonly long long frame_number
    cdef readonly long long frame_offset
    cdef readonly long long row_number
    cdef readonly Py_ssize_t needed

    cdef public object reference_advice
    cdef public object reference_hint

    @cython.final
    cdef int fail(self, str message, Py_ssize_t pos) except -1
    @cython.final
    cdef int fail_reference(self, str message, Py_ssize_t pos) except -1
    @cython.final
    cdef int fail_length(self, long long n, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef long long long_varint(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef Py_ssize_t skip(self, long long tag, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int require_utf8(self, Py_ssize_t start, Py_ssize_t stop, object what) except -1
    @cython.final
    cdef long long entry_id(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef Py_ssize_t frame_length(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int check_frame_length(self, long long length, Py_ssize_t pos) except -1
