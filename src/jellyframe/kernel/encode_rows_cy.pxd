cimport cython
from jellyframe.kernel.table_cy cimport StringTable, TermTable


cdef class RowWriter:
    cdef TermTable terms
    cdef int[::1] step_kind
    cdef int[::1] step_field
    cdef int[::1] step_a
    cdef int[::1] step_b
    cdef Py_ssize_t steps
    cdef int[::1] open_next
    cdef Py_ssize_t row_bytes
    cdef Py_ssize_t row_at
    cdef unsigned char[::1] row
    cdef unsigned char[::1] frame
    cdef Py_ssize_t frame_size
    cdef Py_ssize_t frame_rows
    cdef readonly bint has_content
    cdef Py_ssize_t frame_byte_limit

    @cython.final
    cdef object refusal(self, str message)
    cdef object refusal_by_option(self, str message, str option, str value)
    @cython.final
    cdef int grow_steps(self) except -1
    @cython.final
    cdef Py_ssize_t long_number_before(self, Py_ssize_t at, Py_ssize_t value) except -1
    @cython.final
    cdef int reserve_frame(self, Py_ssize_t n) except -1
    @cython.final
    cdef int grow_frame(self, Py_ssize_t n) except -1
    @cython.final
    cdef Py_ssize_t number_at(self, Py_ssize_t at, Py_ssize_t value) except -1
    @cython.final
    cdef int write_number(self, Py_ssize_t value) except -1
    @cython.final
    cdef int write_entry(
        self, int row_field, int entry_id, StringTable strings, Py_ssize_t start, Py_ssize_t n
    ) except -1
    @cython.final
    cdef Py_ssize_t number_before(self, Py_ssize_t at, Py_ssize_t value) except -1
    @cython.final
    cdef Py_ssize_t string_before(self, Py_ssize_t at, StringTable strings, Py_ssize_t i, int tag) except -1
    @cython.final
    cdef int grow_row(self, Py_ssize_t need) except -1
    @cython.final
    cdef Py_ssize_t write_row(self, int row_field) except -1
    cdef int flush_frame(self, bytes metadata) except -1


cdef Py_ssize_t varint_size(Py_ssize_t value) except -1
