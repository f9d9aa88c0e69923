from jellyframe.kernel.scan_cy cimport Text
from jellyframe.kernel.table_cy cimport StringTable, TermTable


cdef class TermWriter:
    cdef StringTable out
    cdef StringTable after_lang
    cdef StringTable after_typed
    cdef unsigned char[::1] has_text
    cdef int _plain_kinds
    cdef TermTable _table
    cdef Text _text

    cdef int put_term(self, int term) except -1
    cdef bint _has_text(self, int term) except -1
    cdef bint _is_plain(self, int term) except -1
    cdef int put_text(self, int term) except -1
    cdef int _put_iri(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int _put_between(self, unsigned char before, Py_ssize_t start, Py_ssize_t stop, unsigned char after) except -1
    cdef int put_escaped(self, Py_ssize_t start, Py_ssize_t stop, bint is_iri) except -1
    cdef int _put_label(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int _put_language(self, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int _put_quoted(self, Py_ssize_t at) except -1
    cdef int put_string(self, StringTable strings, Py_ssize_t i) except -1
    cdef int put_bytes(self, bytes piece) except -1
    cdef int put_byte(self, unsigned char c) except -1
    cdef int _end_string(self) except -1
