cimport cython
from jellyframe.kernel.decode_terms_cy cimport TermDecoder
from jellyframe.kernel.memory_cy cimport Memory
from jellyframe.kernel.table_cy cimport BatchBuilder, TermTable


cdef class FrameDecoder(TermDecoder):
    cdef object read_options
    cdef Py_ssize_t batch_rows
    cdef Py_ssize_t batch_bytes
    cdef bint concatenated
    cdef int row_fields
    cdef int name_field
    cdef int prefix_field
    cdef int datatype_field
    cdef int statement_fields
    cdef int statement_width
    cdef int graph
    cdef str stream_name
    cdef readonly object options_message
    cdef bint has_options
    cdef Memory memory
    cdef BatchBuilder builder
    cdef Py_ssize_t frame_left
    cdef int[::1] frame_ends
    cdef Py_ssize_t frames_ended
    cdef long long first_frame
    cdef dict metadata
    cdef Py_ssize_t metadata_bytes
    cdef list namespaces
    cdef long long inherited_text
    cdef bint must_break
    cdef Py_ssize_t safe_rows
    cdef Py_ssize_t safe_frames
    cdef Py_ssize_t unknown_fields
    cdef readonly long long rows_frame
    cdef readonly long long rows_frame_offset
    cdef Py_ssize_t field_start
    cdef Py_ssize_t field_stop

    cdef int read_row(self, int field, Py_ssize_t pos, Py_ssize_t stop) except -1
    cdef bint begin_stream(self, object settings) except -1
    cdef int require_stream_end(self, Py_ssize_t pos) except -1
    cdef int check_frame_end(self) except -1
    cdef int adopt_terms(self, TermTable terms) except -1
    @cython.final
    cdef begin_batch(self, BatchBuilder builder)
    @cython.final
    cdef Py_ssize_t read_frame(self, Py_ssize_t pos) except -1
    @cython.final
    cdef int end_frame(self) except -1
    @cython.final
    cdef long long new_text(self) except -1
    cpdef bint is_batch_full(self) except -1
    @cython.final
    cdef Py_ssize_t read_rows(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int find_row_field(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef bint options_row(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef Py_ssize_t other_frame_field(self, long long tag, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int metadata_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
