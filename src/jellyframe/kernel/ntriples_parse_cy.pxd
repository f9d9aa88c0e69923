from jellyframe.kernel.ntriples_terms_cy cimport TermParser
from jellyframe.kernel.table_cy cimport BatchBuilder

cdef class TextParser(TermParser):
    cdef public bint quads
    cdef readonly long long graphs
    cdef object on_error

    cdef int _lines(self, BatchBuilder builder, Py_ssize_t max_rows, Py_ssize_t max_bytes) except -1
    cdef int _refuse_version(self) except -1
    cdef int _end_line(self) except -1
