cimport cython
from jellyframe.kernel.encode_terms_cy cimport TermEncoder
from jellyframe.kernel.table_cy cimport TermTable


cdef class FrameEncoder(TermEncoder):
    cdef bytes options
    cdef Py_ssize_t frame_row_limit
    cdef Py_ssize_t frame_byte_soft_limit
    cdef bint delimited
    cdef long long restart_every
    cdef Py_ssize_t output_limit
    cdef unsigned char[::1] out
    cdef Py_ssize_t out_size
    cdef bint restart_due
    cdef long long restart_offset
    cdef bint has_options_row
    cdef bint is_broken
    cdef readonly list restarts
    cdef readonly list option_offsets
    cdef readonly long long bytes_taken
    cdef readonly long long frames
    cdef readonly long long statements

    cdef int require_open(self) except -1
    cdef int begin_frame(self) except -1
    cdef bint is_restart_near(self) except -1
    cdef int restart(self) except -1
    cdef int end_frame_with(self, bytes metadata) except -1
    cdef int leave_graph(self) except -1
    cdef int withdraw_graph(self) except -1
    cdef bint may_restart(self) except -1
    @cython.final
    cdef int begin_rows(self, TermTable terms, Py_ssize_t start, Py_ssize_t stop) except -1
    @cython.final
    cdef bint undo_row(self) except -1
    cdef Py_ssize_t options_header(self) except -1
