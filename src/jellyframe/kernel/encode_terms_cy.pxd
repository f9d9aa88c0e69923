cimport cython
from jellyframe.kernel.encode_rows_cy cimport RowWriter
from jellyframe.kernel.lookup_write_cy cimport LookupWriter
from jellyframe.kernel.table_cy cimport StringTable, TermTable


cdef class TermEncoder(RowWriter):
    cdef LookupWriter names
    cdef LookupWriter prefixes
    cdef LookupWriter datatypes
    cdef bint generalized
    cdef bint rdf_star
    cdef int name_row
    cdef int prefix_row
    cdef int datatype_row
    cdef bint explicit_ids
    cdef int deepest_nesting
    cdef int last_prefix
    cdef int last_name
    cdef int latest_prefix
    cdef long long stamp
    cdef bint whole_iris
    cdef bint is_prefix_table_too_small
    cdef int[::1] previous
    cdef TermTable previous_terms
    cdef int[::1] undo_previous
    cdef TermTable undo_terms
    cdef long long undo_stamp
    cdef int undo_prefix
    cdef int undo_name
    cdef int[::1] memo
    cdef int[::1] memo_datatype
    cdef int[::1] open_term

    @cython.final
    cdef use_terms(self, TermTable terms)
    @cython.final
    cdef int begin_statement(self) except -1
    @cython.final
    cdef int undo_statement(self) except -1
    @cython.final
    cdef int plan_statement(self, int s, int p, int o, int g, bint has_graph) except -1
    @cython.final
    cdef int change_previous_terms(self) except -1
    @cython.final
    cdef int plan_graph(self, int graph) except -1
    @cython.final
    cdef int plan_position(self, int position, int term) except -1
    @cython.final
    cdef bint is_repeated(self, int before, int term) except -1
    @cython.final
    cdef bint has_ids_of(self, int before, Py_ssize_t at) except -1
    @cython.final
    cdef int step(self, int kind, int field, int a, int b) except -1
    @cython.final
    cdef int plan(self, int term, int position) except -1
    @cython.final
    cdef int open_triple(self, int term, int position, int depth) except -1
    @cython.final
    cdef int plan_plain(self, int term, int position) except -1
    @cython.final
    cdef int plan_iri(self, int term, int field, int before) except -1
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
