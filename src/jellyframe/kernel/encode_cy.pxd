cimport cython
from jellyframe.kernel.encode_frames_cy cimport FrameEncoder
from jellyframe.kernel.table_cy cimport TermTable


cdef class Encoder(FrameEncoder):
    cdef int physical_type
    cdef int graph
    cdef TermTable graph_terms
    cdef bint graph_is_empty
    cdef long long graph_frame
    cdef Py_ssize_t graph_row_end
    cdef Py_ssize_t graph_row_size
    cdef int graph_undo_prefix
    cdef int graph_undo_name
    cdef bint graph_undo_content

    @cython.final
    cdef int encode_range(
        self,
        const int[::1] s,
        const int[::1] p,
        const int[::1] o,
        object g,
        TermTable terms,
        Py_ssize_t start,
        Py_ssize_t stop,
    ) except -1
    cdef bint encode_rows(
        self,
        const int[::1] s,
        const int[::1] p,
        const int[::1] o,
        const int[::1] g,
        Py_ssize_t stop,
    ) except -1
    @cython.final
    cdef int enter_graph(self, int term) except -1
    cdef Py_ssize_t write_graph_start(self, int term) except -1
