"""The protobuf encoding of small messages: varints, fields, and the metadata of frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jellyframe.errors import EncodeError, ParseError, shortened

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5
MAX_VARINT_BYTES = 10


def encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes | memoryview, pos: int) -> tuple[int, int]:
    """Return the number at `pos` and the position after it."""
    value = shift = 0
    start = pos
    while pos < len(data):
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, pos
        shift += 7
        if shift >= 7 * MAX_VARINT_BYTES:
            raise ParseError("a number runs over ten bytes: this is not a varint", offset=start)
    raise ParseError("the message ends inside a number", offset=start)


def encode_bytes_field(field: int, value: bytes) -> bytes:
    return encode_varint(field << 3 | BYTES) + encode_varint(len(value)) + value


def encode_string(text: str, what: str) -> bytes:
    """Return a string as UTF-8. `what` names it in the EncodeError for one that has no UTF-8."""
    require_str(text, what)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EncodeError(f"{what} has {lone_surrogate(text, error)}") from None


def require_str(text: object, what: str) -> None:
    """Raise an EncodeError that names `what` it is unless this is a string."""
    if not isinstance(text, str):
        raise EncodeError(f"{what} is a {type(text).__name__}, and must be a str")


def lone_surrogate(text: str, error: UnicodeEncodeError) -> str:
    """Describe what keeps a string from being encoded as UTF-8."""
    return f"a lone surrogate (U+{ord(text[error.start]):04X}) in {shortened(text)}, which is in no UTF-8 text"


def encode_metadata(metadata: Mapping[str, bytes]) -> bytes:
    """Return the metadata fields of an RdfStreamFrame."""
    return b"".join(encode_bytes_field(15, _metadata_entry(key, value)) for key, value in metadata.items())


def _metadata_entry(key: str, value: bytes) -> bytes:
    name = encode_string(key, "a key of the frame's metadata")
    if not isinstance(value, bytes | bytearray | memoryview):
        raise EncodeError(f"the frame's metadata under {shortened(key)} is a {type(value).__name__}, and must be bytes")
    return encode_bytes_field(1, name) + encode_bytes_field(2, bytes(value))


def decode_fields(data: bytes | memoryview) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield the fields of a message: number, wire type, value."""
    pos = 0
    while pos < len(data):
        start = pos
        tag, pos = decode_varint(data, pos)
        wire_type = tag & 7
        if tag < 8:
            raise ParseError("a field with the number 0", offset=start)
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
        if size > len(data) - pos:
            raise ParseError("a field runs over the end of its message", offset=start)
        yield tag >> 3, wire_type, bytes(data[pos : pos + size])
        pos += size
