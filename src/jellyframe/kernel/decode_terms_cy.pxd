cimport cython
from jellyframe.kernel.decode_fields_cy cimport FieldDecoder
from jellyframe.kernel.lookup_slots_cy cimport LookupSlots
from jellyframe.kernel.table_cy cimport BatchBuilder, TermTable


cdef class TermDecoder(FieldDecoder):
    cdef int max_nesting_depth
    cdef int[::1] part_kind
    cdef int[::1] part_start
    cdef int[::1] part_stop
    cdef int[::1] part_term
    cdef int[::1] part_next
    cdef int[::1] last
    cdef public bint no_look_back
    cdef LookupSlots names
    cdef LookupSlots prefixes
    cdef LookupSlots datatypes
    cdef bint generalized
    cdef bint rdf_star
    cdef long long generation
    cdef long long given_prefix
    cdef long long given_name
    cdef int last_prefix
    cdef int last_name
    cdef int[::1] memo_term
    cdef long long[::1] memo_prefix
    cdef int[::1] memo_datatype
    cdef TermTable terms

    cpdef reset_lookups(self, int names, int prefixes, int datatypes, bint generalized, bint rdf_star)
    cpdef forget_terms(self)
    @cython.final
    cdef int scan(self, Py_ssize_t level, Py_ssize_t pos, Py_ssize_t stop, int shift, int last_field) except -1
    @cython.final
    cdef int term(self, int kind, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int statement(self, Py_ssize_t pos, Py_ssize_t stop, int width) except -1
    @cython.final
    cdef bint is_ordered(self, int position, Py_ssize_t pos, Py_ssize_t stop, int width) except -1
    @cython.final
    cdef int require_repeatable(self, int absent, Py_ssize_t pos) except -1
    @cython.final
    cdef int unordered_statement(self, Py_ssize_t pos, Py_ssize_t stop, int width) except -1
    @cython.final
    cdef int graph_name(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int quoted(self, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int enter_quoted(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int iri(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int iri_if_known(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int explain_unknown_iri(self, Py_ssize_t pos) except -1
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
