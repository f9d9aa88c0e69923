# The functions of Python's C API that the kernel calls itself.

from cpython.object cimport PyObject, PyTypeObject

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(object op)


cdef inline object new_statement(type kind, tuple terms):
    # tuple.__new__(kind, terms), without attribute lookup and argument parsing.
    cdef tuple arguments = (terms,)
    made = (<PyTypeObject*> tuple).tp_new(kind, <PyObject*> arguments, NULL)
    # Terms hold only strings, and statements only terms, so none can be part of a reference cycle. If tracked, millions
    # of them would be visited by the garbage collector again and again. Python untracks plain tuples of such objects
    # itself, but only when the collector first visits them.
    PyObject_GC_UnTrack(made)
    return made


cdef extern from "Python.h":
    bytearray PyByteArray_FromStringAndSize(char* contents, Py_ssize_t size)


cdef inline bytearray new_bytearray(Py_ssize_t size):
    # Unlike bytearray(size) this does not fill the memory with zeros, which would take as long as using it.
    return PyByteArray_FromStringAndSize(NULL, size)


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(object op)


cdef inline Py_ssize_t reference_count(object op):
    return Py_REFCNT(op)
