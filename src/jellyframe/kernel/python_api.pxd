# What the kernel needs of Python's own C interface beyond what Cython writes by itself.

from cpython.object cimport PyObject, PyTypeObject

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(object op)


cdef inline object new_statement(type kind, tuple terms):
    # tuple.__new__(kind, terms), without the way through attribute lookup and argument parsing.
    cdef tuple arguments = (terms,)
    made = (<PyTypeObject*> tuple).tp_new(kind, <PyObject*> arguments, NULL)
    # Terms are strings, and statements hold nothing but terms, so no cycle can ever go through one. The garbage
    # collector need not know of them: it would else walk through millions, again and again. Python itself does
    # the same with plain tuples of such things, but only once it has met them.
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
