cdef class SimpleTerm:
    cdef str _text


cdef class IRI(SimpleTerm):
    pass


cdef class BlankNode(SimpleTerm):
    pass


cdef class Literal(SimpleTerm):
    cdef str _datatype
    cdef str _language


cdef class DefaultGraph(SimpleTerm):
    pass
