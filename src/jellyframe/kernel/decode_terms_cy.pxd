cimport cython
from jellyframe.kernel.decode_lookups_cy cimport LookupDecoder


cdef class TermDecoder(LookupDecoder):
    cdef int max_nesting_depth
    cdef int[::1] part_kind
    cdef long long[::1] part_start
    cdef long long[::1] part_stop
    cdef int[::1] part_term
    cdef int[::1] part_next
    cdef int[::1] last
    cdef bint forbids_graph
    cdef bint generalized
    cdef bint rdf_star
    cdef long long given_prefix
    cdef long long given_name
    cdef int last_prefix
    cdef int last_name

    cpdef reset_lookups(self, int names, int prefixes, int datatypes, bint generalized, bint rdf_star)
    cpdef forget_terms(self)
    @cython.final
    cdef int reserve_level(self, Py_ssize_t level) except -1
    @cython.final
    cdef int scan(self, Py_ssize_t level, Py_ssize_t pos, Py_ssize_t stop, int shift, int last_field) except -1
    @cython.final
    cdef int term(self, int kind, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int fail_generalized(self, int kind, int position, Py_ssize_t pos) except -1
    @cython.final
    cdef int statement(self, Py_ssize_t pos, Py_ssize_t stop, int width) except -1
    @cython.final
    cdef int fail_graph(self, Py_ssize_t pos) except -1
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
    cdef int plain_quoted(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int enter_quoted(self, Py_ssize_t level, Py_ssize_t start, Py_ssize_t stop, int position) except -1
    @cython.final
    cdef int check_quoted(self, Py_ssize_t level, Py_ssize_t start, int position) except -1
    @cython.final
    cdef int iri(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int iri_if_known(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int explain_unknown_iri(self, Py_ssize_t pos) except -1
    @cython.final
    cdef int literal(self, Py_ssize_t pos, Py_ssize_t stop) except -1
