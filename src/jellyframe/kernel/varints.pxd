# The functions of varints.py for the compiled kernel. Nearly all numbers have one or two bytes, which are read inline;
# the decoder's own method reads the others.

cimport cython
from jellyframe.kernel.decode_fields_cy cimport FieldDecoder


cdef inline long long read_varint(FieldDecoder decoder, Py_ssize_t pos, Py_ssize_t stop) except -1:
    cdef int first
    with cython.boundscheck(False):
        if 0 <= pos < stop <= decoder.buf.shape[0]:
            first = decoder.buf[pos]
            if first < 0x80:
                decoder.pos = pos + 1
                return first
            if pos + 1 < stop and decoder.buf[pos + 1] < 0x80:
                decoder.pos = pos + 2
                return (first & 0x7F) | (<int> decoder.buf[pos + 1] << 7)
        return decoder.long_varint(pos, stop)


cdef inline Py_ssize_t read_length(FieldDecoder decoder, Py_ssize_t pos, Py_ssize_t stop) except -1:
    cdef long long n = read_varint(decoder, pos, stop)
    if n > stop - decoder.pos:
        decoder.fail_length(n, pos, stop)
    return <Py_ssize_t> n
