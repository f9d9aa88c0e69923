from jellyframe.kernel.ntriples_terms_cy cimport TermParser

cdef class TurtleLexer(TermParser):
    cdef public object base_iri
    cdef readonly dict prefixes
    cdef int found
    cdef bint final
    cdef bint touches_end
    cdef bytes _label_prefix
    cdef long long _labels
    cdef dict _names
    cdef dict _datatype_rows

    cdef int forget_names(self) except -1
    cdef int at(self, Py_ssize_t i) except -1
    cdef bint is_cut(self) except -1
    cdef int skip_space(self) except -1
    cdef int new_blank_node(self) except -1
    cdef int token(self) except -1
    cdef int _closing(self, int c) except -1
    cdef int _bracket(self) except -1
    cdef int _directive(self) except -1
    cdef int _name(self) except -1
    cdef str prefix_name(self)
    cdef int _iri_token(self) except -1
    cdef int _label(self) except -1
    cdef int _typed(self, Py_ssize_t start, Py_ssize_t end, bytes datatype) except -1
    cdef Py_ssize_t _digits_end(self, Py_ssize_t start) except -1
    cdef int _number(self) except -1
    cdef int _literal_token(self, int quote) except -1
    cdef int _string(self, int quote) except -1
    cdef int _keep_run(self, Py_ssize_t start, Py_ssize_t end) except -1
    cdef int _turtle_datatype(self) except -1
