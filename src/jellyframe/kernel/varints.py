"""Reading the numbers of protobuf messages, as the uncompiled kernel does it; `varints.pxd` has the same for C."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jellyframe.kernel.decode_fields_cy import FieldDecoder


def read_varint(decoder: FieldDecoder, pos: int, stop: int) -> int:
    """The number at `pos` of a message that ends at `stop`; `decoder.pos` is then behind it."""
    if pos < stop and decoder.buf[pos] < 0x80:
        decoder.pos = pos + 1
        return int(decoder.buf[pos])
    return decoder.long_varint(pos, stop)


def read_length(decoder: FieldDecoder, pos: int, stop: int) -> int:
    """The length at `pos` of something that has to end by `stop`."""
    n = read_varint(decoder, pos, stop)
    if n > stop - decoder.pos:
        decoder.fail_length(n, pos, stop)
    return n
