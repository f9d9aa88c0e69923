from jellyframe.kernel.ntriples_terms_cy cimport TermParser
from jellyframe.kernel.table_cy cimport BatchBuilder

cdef class LineParser(TermParser):
    cdef object on_error

    cdef int read_lines(self, BatchBuilder builder, Py_ssize_t max_rows, Py_ssize_t max_bytes) except -1
    cdef int record_loss(self, BatchBuilder builder) except -1
    cdef int end_line(self) except -1
