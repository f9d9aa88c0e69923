cdef class Text:
    cdef const unsigned char[::1] data
    cdef int non_ascii
    cdef Py_ssize_t width
    cdef Py_ssize_t reach

    cdef int _require(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t iri_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t string_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t quoted_end(self, Py_ssize_t start, Py_ssize_t stop, int quote) except -1
    cdef Py_ssize_t name_end(self, Py_ssize_t start, Py_ssize_t stop, bint local) except -1
    cdef Py_ssize_t canonical_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t line_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t whole_lines_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t label_end(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef unsigned int _character(self, Py_ssize_t at, Py_ssize_t stop) except 0xFFFFFFFF
    cdef Py_ssize_t _first(self, unsigned char ending, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef Py_ssize_t _first_in_blocks(self, unsigned char ending, Py_ssize_t start, Py_ssize_t stop) except -1
