from jellyframe.kernel.cursor_cy cimport TextCursor
from jellyframe.kernel.scan_cy cimport Text
from jellyframe.kernel.table_cy cimport TermTable

cdef class TermParser(TextCursor):
    cdef bint generalized
    cdef Py_ssize_t max_depth
    cdef TermTable table
    cdef long long[::1] memo
    cdef int last_predicate
    cdef Py_ssize_t next_datatype
    cdef int[::1] stack

    cdef int begin(self, Text text, TermTable table, Py_ssize_t start, Py_ssize_t limit) except -1
    cdef int subject(self) except -1
    cdef int predicate(self) except -1
    cdef int graph(self) except -1
    cdef int term(self, int place) except -1
    cdef int _recall(self, Py_ssize_t slot) except -1
    cdef int _remember(self, Py_ssize_t slot, Py_ssize_t start, int term) except -1
    cdef int _plain_term(self, int place) except -1
    cdef int _quoted_term(self) except -1
    cdef int refuse_triple_term(self) except -1
    cdef int _iri(self) except -1
    cdef int iri_span(self) except -1
    cdef bint is_absolute(self) except -1
    cdef int _blank_node(self) except -1
    cdef int _blank_node_in_hex(self, Py_ssize_t start, Py_ssize_t end) except -1
    cdef int _literal(self) except -1
    cdef int _language(self) except -1
    cdef int _datatype(self) except -1
    cdef int _datatype_row(self) except -1
