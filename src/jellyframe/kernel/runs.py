"""Copy, compare and hash runs of bytes, for the uncompiled kernel; `runs.pxd` has the same for C."""

from __future__ import annotations

import os
import sys

# The start value of hashes, unknown to whoever writes the input, so that collisions cannot be made on purpose.
HASH_SEED = int.from_bytes(os.urandom(4), "little")
_WORD = (1 << 64) - 1


def require_range(length: int, start: int, n: int) -> int:
    """Raise unless `n` bytes from `start` lie inside a buffer of `length` bytes."""
    if start < 0 or n < 0 or n > length - start:
        raise IndexError("a run of bytes outside of its buffer")
    return 0


def copy_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes, and return a number that is below 0x80 if and only if all of them are ASCII."""
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    piece = bytes(src[start : start + n])
    dst[at : at + n] = piece
    return 0 if piece.isascii() else 0x80


def move_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes without looking at them."""
    require_range(len(dst), at, n)
    require_range(len(src), start, n)
    dst[at : at + n] = src[start : start + n]
    return 0


def equal_bytes(a: memoryview, a_start: int, b: memoryview, b_start: int, n: int) -> bool:
    """Return whether two runs of `n` bytes are the same."""
    require_range(len(a), a_start, n)
    require_range(len(b), b_start, n)
    return a[a_start : a_start + n] == b[b_start : b_start + n]


def after_last(src: memoryview, start: int, n: int, byte: int) -> int:
    """Return the position after the last `byte` among `n` bytes, or `start` if there is none."""
    require_range(len(src), start, n)
    return start + 1 + bytes(src[start : start + n]).rfind(bytes([byte]))


def hash_bytes(src: memoryview, start: int, n: int, seed: int) -> int:
    """Return a quick hash of `n` bytes. Nothing may depend on its value, only on equal input giving equal output."""
    require_range(len(src), start, n)
    return hash((seed, bytes(src[start : start + n]))) & 0x7FFFFFFF


def append_bytes(dst: memoryview, at: int, src: memoryview, start: int, n: int) -> int:
    """Copy `n` bytes to a place with no data after it: up to 64 bytes more may be overwritten."""
    return move_bytes(dst, at, src, start, n)


def put_word(dst: memoryview, at: int, word: int) -> int:
    """Write the eight bytes of a number, in the order of this machine."""
    dst[at : at + 8] = word.to_bytes(8, sys.byteorder)
    return 0


def fingerprint_bytes(out: memoryview, at: int, src: memoryview, start: int, n: int, key: int, other_key: int) -> int:
    """Write a keyed hash of `n` bytes: the two halves of SipHash-2-4 with 128 bits.

    Without the key nobody can construct two inputs with the same hash.
    """
    require_range(len(src), start, n)
    require_range(len(out), at, 2)
    piece = bytes(src[start : start + n])
    v = [
        key ^ 0x736F6D6570736575,
        other_key ^ 0x646F72616E646F6D ^ 0xEE,
        key ^ 0x6C7967656E657261,
        other_key ^ 0x7465646279746573,
    ]
    words = [int.from_bytes(piece[i : i + 8], sys.byteorder) for i in range(0, n - 7, 8)]
    words.append(((n & 0xFF) << 56) | int.from_bytes(piece[n - n % 8 :], "little"))
    for word in words:
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xEE
    _sip_rounds(v, 4)
    out[at] = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    _sip_rounds(v, 4)
    out[at + 1] = v[0] ^ v[1] ^ v[2] ^ v[3]
    return 0


def _sip_rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        v[0] = (v[0] + v[1]) & _WORD
        v[2] = (v[2] + v[3]) & _WORD
        v[1] = _rotated(v[1], 13) ^ v[0]
        v[3] = _rotated(v[3], 16) ^ v[2]
        v[0] = _rotated(v[0], 32)
        v[2] = (v[2] + v[1]) & _WORD
        v[0] = (v[0] + v[3]) & _WORD
        v[1] = _rotated(v[1], 17) ^ v[2]
        v[3] = _rotated(v[3], 21) ^ v[0]
        v[2] = _rotated(v[2], 32)


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & _WORD
