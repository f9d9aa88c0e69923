from jellyframe.kernel.scan_cy cimport Text

cdef class TextCursor:
    cdef bint any_iri
    cdef bint strict_escapes
    cdef Text text
    cdef Py_ssize_t pos
    cdef Py_ssize_t limit
    cdef long long line
    cdef Py_ssize_t line_start
    cdef long long base
    cdef long long columns_before
    cdef unsigned char[::1] scratch
    cdef Py_ssize_t scratch_size
    cdef bint in_scratch
    cdef Py_ssize_t span_start
    cdef Py_ssize_t span_stop

    cdef int byte_at(self, Py_ssize_t at) except -1
    cdef int skip_blanks(self) except -1
    cdef int unescape(self, Py_ssize_t end, bint is_iri) except -1
    cdef Py_ssize_t _escape(self, Py_ssize_t at, bint is_iri) except -1
    cdef Py_ssize_t _numeric_escape(self, Py_ssize_t at, int digits, bint is_iri) except -1
    cdef int _put(self, unsigned int c) except -1
    cdef int _reserve(self, Py_ssize_t n) except -1
    cdef int require_utf8(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int expected(self, Py_ssize_t at, str what) except -1
    cdef int fail(self, Py_ssize_t at, str message) except -1
