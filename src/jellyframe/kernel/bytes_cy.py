"""Copying, comparing, hashing and checking runs of bytes.

This is the only module that hands addresses to C's own functions, and one of two (with `scan_cy`) whose loops index
without a check at each step: every function here checks its whole range once, before anything else.
"""

from __future__ import annotations

import os

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

if cython.compiled:
    from cython.cimports.libc.string import memcmp, memcpy

# What hashes start from: unknown to whoever writes the input, so that no input can be made to collide on purpose.
HASH_SEED = int.from_bytes(os.urandom(4), "little")
# An odd number without a pattern, which spreads every bit over the higher ones.
MIX = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def require_range(length: cython.Py_ssize_t, start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.int:
    """Raise unless `n` bytes from `start` lie inside a buffer of `length` bytes."""
    if start < 0 or n < 0 or start > length or n > length - start:
        raise IndexError(f"bytes {start} to {start + n} of a buffer of {length}")
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def copy_bytes(
    dst: cython.uchar[::1],
    at: cython.Py_ssize_t,
    src: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.int:
    """Copy `n` bytes; the answer is below 0x80 exactly when all of them are ASCII."""
    i: cython.Py_ssize_t
    seen: cython.uchar = 0
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    if cython.compiled:
        with cython.boundscheck(False):
            if n > 0:
                memcpy(cython.address(dst[at]), cython.address(src[start]), n)
            for i in range(start, start + n):
                seen |= src[i]
        return seen
    else:
        piece = bytes(src[start : start + n])
        dst[at : at + n] = piece
        return 0 if piece.isascii() else 0x80


@cython.cfunc
@cython.exceptval(-1, check=False)
def move_bytes(
    dst: cython.uchar[::1],
    at: cython.Py_ssize_t,
    src: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.int:
    """Copy `n` bytes whose contents are known already."""
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    if cython.compiled:
        with cython.boundscheck(False):
            if n > 0:
                memcpy(cython.address(dst[at]), cython.address(src[start]), n)
    else:
        dst[at : at + n] = src[start : start + n]
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def equal_bytes(
    a: cython.const[cython.uchar][::1],
    a_start: cython.Py_ssize_t,
    b: cython.const[cython.uchar][::1],
    b_start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.bint:
    """Whether two runs of `n` bytes are the same."""
    require_range(len(a), a_start, n)
    require_range(len(b), b_start, n)
    if cython.compiled:
        with cython.boundscheck(False):
            # RDF strings differ near their ends far more often than near their starts.
            if n > 0 and a[a_start + n - 1] != b[b_start + n - 1]:
                return False
            return n == 0 or memcmp(cython.address(a[a_start]), cython.address(b[b_start]), n) == 0
    else:
        return bool(a[a_start : a_start + n] == b[b_start : b_start + n])


@cython.cfunc
@cython.exceptval(-1, check=False)
def behind_last(
    src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t, byte: cython.uchar
) -> cython.Py_ssize_t:
    """The position behind the last `byte` among `n` bytes, or `start` if there is none."""
    i: cython.Py_ssize_t = start + n
    require_range(len(src), start, n)
    if cython.compiled:
        with cython.boundscheck(False):
            while i > start and src[i - 1] != byte:
                i -= 1
        return i
    else:
        return start + 1 + bytes(src[start : start + n]).rfind(bytes([byte]))


@cython.cfunc
@cython.exceptval(-1, check=False)
def hash_bytes(
    src: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    seed: cython.uint,
) -> cython.longlong:
    """A quick hash of `n` bytes. Nothing may depend on its value, only on equal input giving equal output."""
    i: cython.Py_ssize_t = start
    stop: cython.Py_ssize_t = start + n
    h: cython.ulonglong
    word: cython.ulonglong = 0
    require_range(len(src), start, n)
    if cython.compiled:
        h = (cython.cast(cython.ulonglong, n) << 32) | seed
        with cython.boundscheck(False):
            while i + 8 <= stop:
                memcpy(cython.address(word), cython.address(src[i]), 8)
                h = (h ^ word) * MIX
                h ^= h >> 32
                i += 8
            if i < stop:
                if n >= 8:
                    # The last eight bytes again, some of which have been counted: that is quicker than one by one.
                    memcpy(cython.address(word), cython.address(src[stop - 8]), 8)
                else:
                    while i < stop:
                        word = (word << 8) | src[i]
                        i += 1
                h = (h ^ word) * MIX
                h ^= h >> 32
        h *= MIX
        return cython.cast(cython.longlong, h >> 33)
    else:
        return hash((seed, bytes(src[start:stop]))) & 0x7FFFFFFF


@cython.cfunc
@cython.exceptval(-1, check=False)
def valid_utf8(src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.bint:
    """Whether `n` bytes are well-formed UTF-8: no surrogates, nothing overlong, nothing above U+10FFFF."""
    i: cython.Py_ssize_t
    stop: cython.Py_ssize_t = start + n
    bad: cython.uchar = 0
    b: cython.uchar
    p1: cython.uchar
    p2: cython.uchar
    p3: cython.uchar
    require_range(len(src), start, n)
    if not cython.compiled:
        try:
            bytes(src[start:stop]).decode()
        except UnicodeDecodeError:
            return False
        return True
    # Each byte is judged by itself and the three before it, with no branch, so that many are judged at once.
    with cython.boundscheck(False):
        for i in range(start + 3, stop):
            bad |= misplaced(src[i], src[i - 1], src[i - 2], src[i - 3])
        p1 = p2 = p3 = 0
        for i in range(start, min(start + 3, stop)):
            b = src[i]
            bad |= misplaced(b, p1, p2, p3)
            p3 = p2
            p2 = p1
            p1 = b
        # Nothing may be wanting behind the end.
        if n > 0 and src[stop - 1] >= 0xC0:
            bad = 1
        if n > 1 and src[stop - 2] >= 0xE0:
            bad = 1
        if n > 2 and src[stop - 3] >= 0xF0:
            bad = 1
    return bad == 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def misplaced(b: cython.uchar, p1: cython.uchar, p2: cython.uchar, p3: cython.uchar) -> cython.uchar:
    """1 if byte `b` cannot stand behind `p1`, `p1` behind `p2`, and `p2` behind `p3`, in UTF-8."""
    is_continuation: cython.uchar = (b & 0xC0) == 0x80
    is_due: cython.uchar = (p1 >= 0xC0) | (p2 >= 0xE0) | (p3 >= 0xF0)
    is_never: cython.uchar = (b == 0xC0) | (b == 0xC1) | (b >= 0xF5)
    # Overlong forms, surrogates, and what lies above U+10FFFF.
    is_excluded: cython.uchar = (
        ((p1 == 0xE0) & (b < 0xA0))
        | ((p1 == 0xED) & (b > 0x9F))
        | ((p1 == 0xF0) & (b < 0x90))
        | ((p1 == 0xF4) & (b > 0x8F))
    )
    return (is_continuation ^ is_due) | is_never | is_excluded
