"""Copying, comparing and hashing runs of bytes, as the uncompiled kernel does it; `runs.pxd` has the same for C."""

from __future__ import annotations

import os
import sys

# What hashes start from: unknown to whoever writes the input, so that no input can be made to collide on purpose.
HASH_SEED = int.from_bytes(os.urandom(4), "little")


def require_range(length: int, start: int, n: int) -> int:
    """Raise unless `n` bytes from `start` lie inside a buffer of `length` bytes."""
    if start < 0 or n < 0 or n > length - start:
        raise IndexError("a run of bytes outside of its buffer")
    return 0


def copy_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes, and return a number below 0x80 exactly when all of them are ASCII."""
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    piece = bytes(src[start : start + n])
    dst[at : at + n] = piece
    return 0 if piece.isascii() else 0x80


def move_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes whose contents are known already."""
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    dst[at : at + n] = src[start : start + n]
    return 0


def equal_bytes(a: memoryview, a_start: int, b: memoryview, b_start: int, n: int) -> bool:
    """Return whether two runs of `n` bytes are the same."""
    require_range(len(a), a_start, n)
    require_range(len(b), b_start, n)
    return a[a_start : a_start + n] == b[b_start : b_start + n]


def behind_last(src: memoryview, start: int, n: int, byte: int) -> int:
    """Return the position behind the last `byte` among `n` bytes, or `start` if there is none."""
    require_range(len(src), start, n)
    return start + 1 + bytes(src[start : start + n]).rfind(bytes([byte]))


def hash_bytes(src: memoryview, start: int, n: int, seed: int) -> int:
    """Return a quick hash of `n` bytes. Nothing may depend on its value, only on equal input giving equal output."""
    require_range(len(src), start, n)
    return hash((seed, bytes(src[start : start + n]))) & 0x7FFFFFFF


def append_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes to where nothing of use lies behind them: up to 63 bytes more may be overwritten."""
    return move_bytes(dst, at, src, start, n)


def put_word(dst: memoryview, at: int, word: int) -> int:
    """Write the eight bytes of a number, in the order of this machine."""
    dst[at : at + 8] = word.to_bytes(8, sys.byteorder)
    return 0
