cimport cython
from jellyframe.kernel.lookup_slots_cy cimport LookupSlots
from jellyframe.kernel.table_cy cimport BatchBuilder, TermTable


cdef class TermDecoder:
    cdef int max_nesting_depth
    cdef int[::1] part_kind
    cdef int[::1] part_start
    cdef int[::1] part_stop
    cdef int[::1] part_term
    cdef int[::1] part_next
    cdef int[::1] last
    cdef const unsigned char[::1] buf
    cdef Py_ssize_t pos
    cdef public long long base_offset
    cdef readonly long long frame_number
    cdef readonly long long row_number
    cdef public bint no_look_back
    cdef LookupSlots names
    cdef LookupSlots prefixes
    cdef LookupSlots datatypes
    cdef bint generalized
    cdef bint rdf_star
    cdef long long generation
    cdef int last_prefix
    cdef int last_name
    cdef int[::1] memo_term
    cdef long long[::1] memo_prefix
    cdef int[::1] memo_datatype
    cdef TermTable terms

    cpdef reset_lookups(self, int names, int prefixes, int datatypes, bint generalized, bint rdf_star)
    cpdef forget_terms(self)
    @cython.final
    cdef int fail(self, str message, Py_ssize_t pos) except -1
    @cython.final
    cdef long long varint(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef long long long_varint(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef Py_ssize_t length(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef Py_ssize_t skip(self, long long tag, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int require_utf8(self, Py_ssize_t start, Py_ssize_t stop, object what) except -1
    @cython.final
    cdef int scan(self, Py_ssize_t level, Py_ssize_t pos, Py_ssize_t stop, int shift, int last_field) except -1
    @cython.final
    cdef int term(self, Py_ssize_t at, int position) except -1
    @cython.final
    cdef int statement(self, Py_ssize_t pos, Py_ssize_t stop, int width) except -1
    @cython.final
    cdef int graph_name(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int quoted(self, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int enter_quoted(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int iri(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int literal(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int datatype_row(self, long long datatype, Py_ssize_t pos) except -1
    @cython.final
    cdef int entry(self, LookupSlots table, object what, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int name_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int prefix_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int datatype_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
