"""The protobuf encoding of the small messages that are read and written once: options and frame metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from jellyframe.errors import OptionsError, ParseError

if TYPE_CHECKING:
    from jellyframe.options import StreamOptions

_VARINT = 0
_FIXED64 = 1
_BYTES = 2
_FIXED32 = 5

# RdfStreamOptions: field number to (name in StreamOptions, wire type).
_OPTION_FIELDS = {
    1: ("stream_name", _BYTES),
    2: ("physical_type", _VARINT),
    3: ("generalized_statements", _VARINT),
    4: ("rdf_star", _VARINT),
    9: ("max_name_table_size", _VARINT),
    10: ("max_prefix_table_size", _VARINT),
    11: ("max_datatype_table_size", _VARINT),
    14: ("logical_type", _VARINT),
    15: ("version", _VARINT),
}


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
    return encode_varint(field << 3 | _BYTES) + encode_varint(len(value)) + value


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
        if wire_type == _VARINT:
            number, pos = decode_varint(data, pos)
            yield tag >> 3, wire_type, number
            continue
        if wire_type == _BYTES:
            size, pos = decode_varint(data, pos)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise ParseError(f"a field with the wire type {wire_type}, which Jelly does not use", offset=start)
        if tag < 8 or size > len(data) - pos:
            raise ParseError("a field runs over the end of its message, or has the number 0", offset=start)
        yield tag >> 3, wire_type, bytes(data[pos : pos + size])
        pos += size


def encode_options(options: StreamOptions) -> bytes:
    out = bytearray()
    for field, (name, wire_type) in _OPTION_FIELDS.items():
        value = getattr(options, name)
        if not value:
            continue
        if wire_type == _BYTES:
            out += encode_bytes_field(field, value.encode())
        else:
            out += encode_varint(field << 3) + encode_varint(int(value))
    return bytes(out)


def decode_options(message: bytes) -> StreamOptions:
    from jellyframe.options import StreamOptions

    values: dict[str, object] = {
        "physical_type": 0,
        "max_name_table_size": 0,
        "max_prefix_table_size": 0,
        "max_datatype_table_size": 0,
    }
    for field, wire_type, value in decode_fields(message):
        if field not in _OPTION_FIELDS:
            continue
        name, expected = _OPTION_FIELDS[field]
        if wire_type != expected:
            raise OptionsError(f"the option {name} has the wire type {wire_type}, and must have {expected}")
        if isinstance(value, bytes):
            try:
                values[name] = value.decode()
            except UnicodeDecodeError:
                raise OptionsError(f"the option {name} is not valid UTF-8") from None
        elif name in ("generalized_statements", "rdf_star"):
            values[name] = value != 0
        else:
            values[name] = value
    return StreamOptions(**values)  # type: ignore[arg-type]
