cimport cython
from jellyframe.kernel.decode_fields_cy cimport FieldDecoder
from jellyframe.kernel.lookup_slots_cy cimport LookupSlots
from jellyframe.kernel.table_cy cimport TermTable


cdef class LookupDecoder(FieldDecoder):
    cdef public bint no_look_back
    cdef public bint looked_back
    cdef LookupSlots names
    cdef LookupSlots prefixes
    cdef LookupSlots datatypes
    cdef long long generation
    cdef int[::1] memo_term
    cdef long long[::1] memo_prefix
    cdef int[::1] memo_datatype
    cdef TermTable terms
    cdef long long[::1] entry_counts

    @cython.final
    cdef int set_tables(self, int names, int prefixes, int datatypes) except -1
    @cython.final
    cdef int forget_entries(self) except -1
    @cython.final
    cdef int datatype_row(self, long long datatype, Py_ssize_t pos) except -1
    @cython.final
    cdef int fail_unset(self, LookupSlots table, object what, long long entry_id, Py_ssize_t pos) except -1
    @cython.final
    cdef int grow_memo(self) except -1
    @cython.final
    cdef int entry(self, LookupSlots table, int number, object what, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int name_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int prefix_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
    @cython.final
    cdef int datatype_entry(self, Py_ssize_t pos, Py_ssize_t stop) except -1
