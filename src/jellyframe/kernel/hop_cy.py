"""Hop from frame to frame by the lengths in front of them."""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.fields import FRAME_ROWS, ROW_OPTIONS
else:
    from jellyframe.kernel.fields import FRAME_ROWS, ROW_OPTIONS

# Enough for the length of any frame.
_MAX_LENGTH_BYTES = cython.declare(cython.int, 6)


def next_with_options(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> int:
    """Return where the next delimited frame lies whose first row is an options row.

    `at` is the position of a frame. The search ends at the first frame that begins at `stop` or later, which may be
    outside of `data`, and at a frame of which too little is in `data`, or whose length is not a valid one.
    """
    size: cython.Py_ssize_t = len(data)
    length: cython.longlong
    pos: cython.Py_ssize_t
    shift: cython.int
    while at < stop:
        length = 0
        shift = 0
        pos = at
        while pos < size and data[pos] > 0x7F and shift < 7 * _MAX_LENGTH_BYTES:
            length |= cython.cast(cython.longlong, data[pos] & 0x7F) << shift
            shift += 7
            pos += 1
        if pos >= size or data[pos] > 0x7F:
            return at
        length |= cython.cast(cython.longlong, data[pos]) << shift
        pos += 1
        if length > 0 and pos < size and data[pos] == (FRAME_ROWS << 3 | 2):
            row: cython.Py_ssize_t = pos + 1
            while row < size and data[row] > 0x7F:
                row += 1
            if row + 1 >= size or data[row + 1] == (ROW_OPTIONS << 3 | 2):
                return at
        at = pos + length
    return at
