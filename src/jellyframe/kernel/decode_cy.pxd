from jellyframe.kernel.decode_frames_cy cimport FrameDecoder


cdef class Decoder(FrameDecoder):
    cdef int physical_type

    cdef int namespace_row(self, Py_ssize_t pos, Py_ssize_t stop) except -1
