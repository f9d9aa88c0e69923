from jellyframe.kernel.table_cy cimport StringTable, TermTable


cdef class Fingerprints:
    cdef unsigned long long _key
    cdef unsigned long long _other_key
    cdef const unsigned long long[::1] _details
    cdef const unsigned long long[::1] _languages

    cdef int _hash_new(
        self, TermTable terms, int term, unsigned long long[::1] hashes, unsigned char[::1] known
    ) except -1
    cdef int _hash_plain(self, TermTable terms, int term, int kind, unsigned long long[::1] out) except -1
    cdef object _hash_strings(self, StringTable strings)
    cdef int _collect_quoted(
        self, TermTable terms, int term, unsigned long long[::1] hashes, unsigned long long[::1] parts
    ) except -1
