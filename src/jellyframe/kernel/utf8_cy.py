"""Check whether bytes are UTF-8.

Its loops, like those of `scan_cy`, index without a check at each step: the whole range is checked once, before them.
"""

from __future__ import annotations

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.jellyframe.kernel.runs import require_range

# Bytes below which a vectorised check costs more to set up than it saves.
SHORT = cython.declare(cython.Py_ssize_t, 24)


@cython.cfunc
@cython.exceptval(-1, check=False)
def valid_utf8(src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.bint:
    """Return whether `n` bytes are well-formed UTF-8: no surrogates, nothing overlong, nothing above U+10FFFF."""
    if cython.compiled:
        require_range(len(src), start, n)
        if n < SHORT:
            return _valid_one_by_one(src, start, start + n)
        return _valid_at_once(src, start, start + n)
    else:
        try:
            bytes(src[start : start + n]).decode()
        except UnicodeDecodeError:
            return False
        return True


@cython.cfunc
@cython.boundscheck(False)
@cython.exceptval(check=False)
def _valid_one_by_one(
    src: cython.const[cython.uchar][::1], i: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.bint:
    b: cython.uchar
    lowest: cython.uchar
    highest: cython.uchar
    due: cython.int
    while i < stop:
        b = src[i]
        i += 1
        if b < 0x80:
            continue
        if b < 0xC2 or b > 0xF4:
            return False
        due = 1 if b < 0xE0 else (2 if b < 0xF0 else 3)
        if stop - i < due:
            return False
        # Overlong forms, surrogates and numbers above U+10FFFF show in the second byte.
        lowest = 0xA0 if b == 0xE0 else (0x90 if b == 0xF0 else 0x80)
        highest = 0x9F if b == 0xED else (0x8F if b == 0xF4 else 0xBF)
        if src[i] < lowest or src[i] > highest:
            return False
        if (due > 1 and (src[i + 1] & 0xC0) != 0x80) or (due > 2 and (src[i + 2] & 0xC0) != 0x80):
            return False
        i += due
    return True


@cython.cfunc
@cython.boundscheck(False)
@cython.exceptval(check=False)
def _valid_at_once(
    src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t
) -> cython.bint:
    """Return the same for three bytes or more, with no branch for each byte, so that the C compiler vectorises it."""
    i: cython.Py_ssize_t
    bad: cython.uchar = 0
    highest: cython.uchar = 0
    for i in range(start, stop):
        highest = max(highest, src[i])
    if highest < 0xE0:
        # Characters of at most two bytes, as most alphabets have, need fewer checks.
        for i in range(start + 1, stop):
            bad |= ((src[i] & 0xC0) == 0x80) ^ (src[i - 1] >= 0xC0)
            bad |= (src[i] & 0xFE) == 0xC0
        bad |= (src[start] & 0xC0) == 0x80
        bad |= (src[start] & 0xFE) == 0xC0
        bad |= src[stop - 1] >= 0xC0
        return bad == 0
    for i in range(start + 3, stop):
        bad |= misplaced(src[i], src[i - 1], src[i - 2], src[i - 3])
    bad |= misplaced(src[start], 0, 0, 0)
    bad |= misplaced(src[start + 1], src[start], 0, 0)
    bad |= misplaced(src[start + 2], src[start + 1], src[start], 0)
    # The last character must be complete.
    bad |= (src[stop - 1] >= 0xC0) | (src[stop - 2] >= 0xE0) | (src[stop - 3] >= 0xF0)
    return bad == 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def misplaced(b: cython.uchar, p1: cython.uchar, p2: cython.uchar, p3: cython.uchar) -> cython.uchar:
    """Return 1 if byte `b` cannot follow the bytes `p3`, `p2` and `p1`, in this order, in UTF-8."""
    is_continuation: cython.uchar = (b & 0xC0) == 0x80
    is_due: cython.uchar = (p1 >= 0xC0) | (p2 >= 0xE0) | (p3 >= 0xF0)
    is_never: cython.uchar = (b == 0xC0) | (b == 0xC1) | (b >= 0xF5)
    # Overlong forms, surrogates, and numbers above U+10FFFF.
    is_excluded: cython.uchar = (
        ((p1 == 0xE0) & (b < 0xA0))
        | ((p1 == 0xED) & (b > 0x9F))
        | ((p1 == 0xF0) & (b < 0x90))
        | ((p1 == 0xF4) & (b > 0x8F))
    )
    return (is_continuation ^ is_due) | is_never | is_excluded
