cimport cython
from jellyframe.kernel.lookup_write_cy cimport LookupWriter
from jellyframe.kernel.table_cy cimport StringTable, TermTable


cdef class TermEncoder:
    cdef LookupWriter names
    cdef LookupWriter prefixes
    cdef LookupWriter datatypes
    cdef bint generalized
    cdef bint rdf_star
    cdef int last_prefix
    cdef int last_name
    cdef int latest_prefix
    cdef long long stamp
    cdef bint whole_iris
    cdef bint is_prefix_table_too_small
    cdef TermTable terms
    cdef int[::1] previous
    cdef TermTable previous_terms
    cdef int[::1] undo_previous
    cdef int undo_prefix
    cdef int undo_name
    cdef int[::1] memo
    cdef int[::1] memo_datatype
    cdef int[::1] step_kind
    cdef int[::1] step_field
    cdef int[::1] step_a
    cdef int[::1] step_b
    cdef Py_ssize_t steps
    cdef int[::1] open_term
    cdef int[::1] open_next
    cdef Py_ssize_t row_bytes
    cdef unsigned char[::1] row
    cdef unsigned char[::1] frame
    cdef Py_ssize_t frame_size
    cdef readonly Py_ssize_t frame_rows

    @cython.final
    cdef use_terms(self, TermTable terms)
    @cython.final
    cdef int begin_statement(self) except -1
    @cython.final
    cdef int undo_statement(self) except -1
    @cython.final
    cdef int plan_position(self, int position, int term) except -1
    @cython.final
    cdef Py_ssize_t long_number_before(self, Py_ssize_t at, Py_ssize_t value) except -1
    @cython.final
    cdef int step(self, int kind, int field, int a, int b) except -1
    @cython.final
    cdef int plan(self, int term, int position) except -1
    @cython.final
    cdef int open_triple(self, int term, int position, int depth) except -1
    @cython.final
    cdef int plan_plain(self, int term, int position) except -1
    @cython.final
    cdef int plan_iri(self, int term, int field) except -1
    @cython.final
    cdef int find_iri(self, int term) except -1
    @cython.final
    cdef int prefix_slot(self, Py_ssize_t start, Py_ssize_t n) except -1
    @cython.final
    cdef int datatype_slot(self, int detail) except -1
    @cython.final
    cdef int slot(
        self, LookupWriter table, int row_field, object what, StringTable strings, Py_ssize_t start, Py_ssize_t n
    ) except -1
    @cython.final
    cdef int reserve_frame(self, Py_ssize_t n) except -1
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
    cdef int write_row(self, int row_field) except -1
    cdef int make_room(self, Py_ssize_t n) except -1


cdef Py_ssize_t varint_size(Py_ssize_t value) except -1
