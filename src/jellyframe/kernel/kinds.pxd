# The numbers of kinds.py as C constants, so that a comparison with one costs nothing.

cdef enum:
    KIND_IRI = 1
    KIND_BLANK_NODE = 2
    KIND_LITERAL = 3
    KIND_LANG_LITERAL = 4
    KIND_TYPED_LITERAL = 5
    KIND_QUOTED_TRIPLE = 6
    KIND_DEFAULT_GRAPH = 7
