# The function of framing.py for the compiled kernel, inline because it is called for every row.

from jellyframe.kernel.encode_frames_cy cimport FrameEncoder


cdef inline bint is_frame_full(FrameEncoder encoder) except -1:
    return (
        encoder.restart_due
        or (encoder.frame_row_limit > 0 and encoder.frame_rows >= encoder.frame_row_limit)
        or (encoder.frame_byte_limit > 0 and encoder.frame_size >= encoder.frame_byte_soft_limit)
    )
