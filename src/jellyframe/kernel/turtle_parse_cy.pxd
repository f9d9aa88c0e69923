from jellyframe.kernel.table_cy cimport BatchBuilder
from jellyframe.kernel.turtle_terms_cy cimport TurtleLexer

cdef class TurtleParser(TurtleLexer):
    cdef readonly bint graphs
    cdef Py_ssize_t depth
    cdef int _state
    cdef int _level
    cdef int _s
    cdef int _p
    cdef int _o
    cdef int _graph
    cdef bint _in_graph
    cdef bint _is_label
    cdef object _prefix

    cdef int _tokens(self, BatchBuilder builder, Py_ssize_t max_rows, Py_ssize_t max_bytes) except -1
    cdef int _declare(self, Py_ssize_t start) except -1
    cdef int _act(self, int token, BatchBuilder builder) except -1
    cdef int _verb(self, int token, BatchBuilder builder) except -1
    cdef int _end_list(self, int token, BatchBuilder builder) except -1
    cdef int _close_graph(self, int token) except -1
    cdef int _node(self, int token, BatchBuilder builder) except -1
    cdef int _begin(self, int token) except -1
    cdef int _place_term(self, int term, BatchBuilder builder) except -1
    cdef int _end_collection(self, BatchBuilder builder) except -1
    cdef int _row(self, BatchBuilder builder, int s, int p, int o) except -1
    cdef int _rdf(self, bytes name) except -1
    cdef int _push(self, int level) except -1
    cdef int _pop(self, int term, BatchBuilder builder) except -1
