"""Copying, comparing, hashing and checking runs of bytes.

These are the only loops of the kernel that index without a check at each step: every function here
checks its whole range once, before the loop, which lets the C compiler vectorise what follows.
"""

from __future__ import annotations

import os

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

# What hashes start from: unknown to whoever writes the input, so that no input can be made to collide on purpose.
HASH_SEED = int.from_bytes(os.urandom(4), "little")


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
            for i in range(n):
                seen |= src[start + i]
                dst[at + i] = src[start + i]
        return seen
    else:
        piece = bytes(src[start : start + n])
        dst[at : at + n] = piece
        return 0 if piece.isascii() else 0x80


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
    i: cython.Py_ssize_t
    differing: cython.uchar = 0
    require_range(len(a), a_start, n)
    require_range(len(b), b_start, n)
    if cython.compiled:
        with cython.boundscheck(False):
            # RDF strings differ near their ends far more often than near their starts.
            if n > 0 and a[a_start + n - 1] != b[b_start + n - 1]:
                return False
            for i in range(n):
                differing |= a[a_start + i] ^ b[b_start + i]
        return differing == 0
    else:
        return bool(a[a_start : a_start + n] == b[b_start : b_start + n])


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
    h: cython.uint
    require_range(len(src), start, n)
    if cython.compiled:
        h = seed ^ cython.cast(cython.uint, n)
        with cython.boundscheck(False):
            while i + 4 <= stop:
                # The C compiler turns the four loads into one.
                h ^= (
                    src[i]
                    | (cython.cast(cython.uint, src[i + 1]) << 8)
                    | (cython.cast(cython.uint, src[i + 2]) << 16)
                    | (cython.cast(cython.uint, src[i + 3]) << 24)
                )
                h *= 0x1E3779B1
                h ^= h >> 15
                i += 4
            while i < stop:
                h = (h ^ src[i]) * 0x05EBCA6B
                i += 1
        h ^= h >> 13
        h *= 0x42B2AE35
        h ^= h >> 16
        return h & 0x7FFFFFFF
    else:
        return hash((seed, bytes(src[start:stop]))) & 0x7FFFFFFF


@cython.cfunc
@cython.exceptval(-1, check=False)
def valid_utf8(
    src: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, n: cython.Py_ssize_t
) -> cython.bint:
    """Whether `n` bytes are well-formed UTF-8: no surrogates, nothing overlong, nothing above U+10FFFF."""
    i: cython.Py_ssize_t = start
    stop: cython.Py_ssize_t = start + n
    lead: cython.uint
    second: cython.uint
    extra: cython.Py_ssize_t
    require_range(len(src), start, n)
    if not cython.compiled:
        try:
            bytes(src[start:stop]).decode()
        except UnicodeDecodeError:
            return False
        return True
    with cython.boundscheck(False):
        while i < stop:
            lead = src[i]
            if lead < 0x80:
                i += 1
                continue
            if lead < 0xC2 or lead > 0xF4:
                return False
            extra = 1 if lead < 0xE0 else (2 if lead < 0xF0 else 3)
            if i + extra >= stop:
                return False
            second = src[i + 1]
            if (
                (second & 0xC0) != 0x80
                or (lead == 0xE0 and second < 0xA0)
                or (lead == 0xED and second > 0x9F)
                or (lead == 0xF0 and second < 0x90)
                or (lead == 0xF4 and second > 0x8F)
            ):
                return False
            if extra > 1 and (src[i + 2] & 0xC0) != 0x80:
                return False
            if extra > 2 and (src[i + 3] & 0xC0) != 0x80:
                return False
            i += extra + 1
    return True
