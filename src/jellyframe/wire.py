"""The protobuf encoding of small messages: varints, fields, and the metadata of frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jellyframe.errors import ParseError

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5


def encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes | memoryview, pos: int) -> tuple[int, int]:
    """The number at `pos` and the position behind it."""
    value = shift = 0
    start = pos
    while pos < len(data):
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, pos
        shift += 7
        if shift >= 70:
            raise ParseError("a number runs over ten bytes: this is not a varint", offset=start)
    raise ParseError("the message ends inside a number", offset=start)


def encode_bytes_field(field: int, value: bytes) -> bytes:
    return encode_varint(field << 3 | BYTES) + encode_varint(len(value)) + value


def encode_metadata(metadata: Mapping[str, bytes]) -> bytes:
    """The metadata fields of an RdfStreamFrame."""
    return b"".join(
        encode_bytes_field(15, encode_bytes_field(1, key.encode()) + encode_bytes_field(2, value))
        for key, value in metadata.items()
    )


def decode_fields(data: bytes | memoryview) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, wire type, value."""
    pos = 0
    while pos < len(data):
        start = pos
        tag, pos = decode_varint(data, pos)
        wire_type = tag & 7
        if wire_type == VARINT:
            number, pos = decode_varint(data, pos)
            yield tag >> 3, wire_type, number
            continue
        if wire_type == BYTES:
            size, pos = decode_varint(data, pos)
        elif wire_type in (FIXED64, FIXED32):
            size = 8 if wire_type == FIXED64 else 4
        else:
            raise ParseError(f"a field with the wire type {wire_type}, which Jelly does not use", offset=start)
        if tag < 8 or size > len(data) - pos:
            raise ParseError("a field runs over the end of its message, or has the number 0", offset=start)
        yield tag >> 3, wire_type, bytes(data[pos : pos + size])
        pos += size
