# The numbers of steps.py as C constants.

cdef enum:
    DEEPEST_NESTING = 96
    LARGEST_MESSAGE = 0x7FFFFFFF
    STEP_OVERHEAD = 48
    CLOSE_TRIPLE = 8
