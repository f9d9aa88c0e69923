"""The kinds of RDF term, as the small numbers that term tables hold.

`kinds.pxd` repeats them as C constants for the compiled kernel; a test keeps the two files equal.
"""

KIND_IRI = 1
KIND_BLANK_NODE = 2
KIND_LITERAL = 3
KIND_LANG_LITERAL = 4
KIND_TYPED_LITERAL = 5
KIND_QUOTED_TRIPLE = 6
KIND_DEFAULT_GRAPH = 7
