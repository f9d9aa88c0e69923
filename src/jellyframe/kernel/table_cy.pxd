from jellyframe.kernel.memory_cy cimport Memory


cdef class StringTable:
    cdef Memory _memory
    cdef Py_ssize_t _max_bytes
    cdef int[::1] offsets
    cdef unsigned char[::1] data
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t data_size

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int append(self, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n) except -1
    cdef int find(self, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n) except -1


cdef class TermTable:
    cdef Memory _memory
    cdef readonly int count
    cdef readonly int non_ascii
    cdef unsigned char[::1] kinds
    cdef int[::1] details
    cdef readonly StringTable values
    cdef readonly StringTable datatypes
    cdef readonly StringTable languages
    cdef int[::1] quoted
    cdef readonly Py_ssize_t quoted_count
    cdef long long[::1] _quoted_texts
    cdef long long quoted_text
    cdef long long longest_detail
    cdef long long _inherited_text
    cdef int _default_graph
    cdef long long[::1] _slots
    cdef dict _index

    cdef int _new_term(self, int kind, int detail) except -1
    cdef int add_iri(
        self,
        const unsigned char[::1] prefix, Py_ssize_t prefix_start, Py_ssize_t prefix_length,
        const unsigned char[::1] name, Py_ssize_t name_start, Py_ssize_t name_length,
    ) except -1
    cdef int intern(
        self, int kind, int detail, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
    ) except -1
    cdef int _rehash(self) except -1
    cdef int add_quoted(self, int s, int p, int o) except -1
    cdef object _grown_sizes(self, Py_ssize_t capacity)
    cpdef long long text_size(self, int term) except -1
    cpdef long long text_bytes(self) except -1
    cpdef long long new_text(self) except -1
    cdef int default_graph(self) except -1
    cdef int intern_small(
        self, StringTable table, const unsigned char[::1] src, Py_ssize_t start, Py_ssize_t n
    ) except -1
    cdef int _adopt_plain(self, TermTable source, int term) except -1


cdef class BatchBuilder:
    cdef Memory _memory
    cdef Py_ssize_t _capacity
    cdef readonly bint has_graph
    cdef readonly Py_ssize_t rows
    cdef readonly TermTable terms
    cdef int[::1] s
    cdef int[::1] p
    cdef int[::1] o
    cdef int[::1] g

    cdef int add_row(self, int s, int p, int o, int g) except -1
    cdef int _grow_rows(self) except -1
