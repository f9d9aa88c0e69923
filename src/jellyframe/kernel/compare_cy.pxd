from jellyframe.kernel.table_cy cimport StringTable, TermTable

cdef bint same_term(TermTable a, int x, TermTable b, int y) except -1
cdef bint same_plain_term(TermTable a, int x, TermTable b, int y) except -1
cdef bint same_string(StringTable a, int x, StringTable b, int y) except -1
