"""Read the numbers of protobuf messages, for the uncompiled kernel; `varints.pxd` has the same for C."""

from __future__ import annotations

from typing import Protocol


class VarintDecoder(Protocol):
    """The part of a field decoder that reading numbers needs."""

    buf: memoryview
    pos: int

    def long_varint(self, pos: int, stop: int) -> int: ...

    def fail_length(self, n: int, pos: int, stop: int) -> object: ...


def read_varint(decoder: VarintDecoder, pos: int, stop: int) -> int:
    """Return the number at `pos` of a message that ends at `stop`; `decoder.pos` is then after it."""
    if pos < stop and decoder.buf[pos] < 0x80:
        decoder.pos = pos + 1
        return int(decoder.buf[pos])
    return decoder.long_varint(pos, stop)


def read_length(decoder: VarintDecoder, pos: int, stop: int) -> int:
    """Return the length at `pos`. Raises if the field would end after `stop`."""
    n = read_varint(decoder, pos, stop)
    if n > stop - decoder.pos:
        decoder.fail_length(n, pos, stop)
    return n
