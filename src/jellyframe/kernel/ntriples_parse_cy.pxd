from jellyframe.kernel.ntriples_lines_cy cimport LineParser

cdef class TextParser(LineParser):
    cdef public bint quads
    cdef readonly long long graphs

    cdef int _refuse_version(self) except -1
