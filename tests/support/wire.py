"""A tiny Protocol Buffers writer, and the rows and frames of Jelly made with it.

The hand-written cases of the tests need bytes that no sensible writer produces (a repeat in the first
statement, an id out of range, a field twice), so everything here writes exactly what it is told to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

VARINT, FIXED64, LENGTH_DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)


def varint(value: int, width: int = 0) -> bytes:
    """`value` in base 128; `width` pads it with needless continuation bytes up to that length."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    while len(out) < width:
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def number(field: int, value: int) -> bytes:
    """A varint field, also when the value is the default 0."""
    return tag(field, VARINT) + varint(value)


def block(field: int, payload: bytes | str) -> bytes:
    """A length-delimited field: bytes, text or a message."""
    data = payload.encode() if isinstance(payload, str) else payload
    return tag(field, LENGTH_DELIMITED) + varint(len(data)) + data


def unknown_fields(first: int = 100) -> bytes:
    """One field that no Jelly message has of each wire type that a parser must be able to skip."""
    return (
        number(first, 7)
        + tag(first + 1, FIXED64)
        + b"\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"
        + block(first + 2, b"\x0a\xff\x00")
        + tag(first + 3, FIXED32)
        + b"\xff\xff\xff\xff"
    )


# Terms: a term is a pair of the field's place among the members of its oneof and the field's payload.

Term = tuple[int, bytes]


def iri(prefix_id: int = 0, name_id: int = 0) -> Term:
    """An IRI; ids of 0 are left out, as proto3 does."""
    return 0, (number(1, prefix_id) if prefix_id else b"") + (number(2, name_id) if name_id else b"")


def bnode(label: bytes | str) -> Term:
    return 1, label.encode() if isinstance(label, str) else label


def literal(lex: bytes | str = b"", lang: bytes | str | None = None, datatype: int | None = None) -> Term:
    payload = block(1, lex) if lex else b""
    if lang is not None:
        payload += block(2, lang)
    if datatype is not None:
        payload += number(3, datatype)
    return 2, payload


def quoted(s: Term | None = None, p: Term | None = None, o: Term | None = None) -> Term:
    return 3, spo(s, p, o)


DEFAULT_GRAPH: Term = (2, b"")  # g_default_graph stands where a subject has its literal


def graph_literal(lex: bytes | str, lang: bytes | str | None = None, datatype: int | None = None) -> Term:
    return 3, literal(lex, lang, datatype)[1]


def spo(s: Term | None, p: Term | None, o: Term | None) -> bytes:
    """The fields of an RdfTriple; None leaves a position out (a repeat)."""
    return b"".join(block(first + term[0], term[1]) for first, term in ((1, s), (5, p), (9, o)) if term is not None)


# Rows, without the tag of `rows`: `frame` adds it.


def options(
    *,
    name: bytes | str = b"",
    physical: int = 1,
    generalized: int = 0,
    star: int = 0,
    names: int = 128,
    prefixes: int = 16,
    datatypes: int = 16,
    logical: int = 0,
    version: int = 1,
    extra: bytes = b"",
) -> bytes:
    """An options row. Values of 0 are left out."""
    fields = (2, physical), (3, generalized), (4, star), (9, names), (10, prefixes), (11, datatypes)
    payload = block(1, name) if name else b""
    for field, value in (*fields, (14, logical), (15, version)):
        payload += number(field, value) if value else b""
    return block(1, payload + extra)


def triple(s: Term | None = None, p: Term | None = None, o: Term | None = None, *, extra: bytes = b"") -> bytes:
    return block(2, spo(s, p, o) + extra)


def quad(s: Term | None = None, p: Term | None = None, o: Term | None = None, g: Term | None = None) -> bytes:
    return block(3, spo(s, p, o) + (block(13 + g[0], g[1]) if g is not None else b""))


def graph_start(g: Term | None) -> bytes:
    return block(4, block(1 + g[0], g[1]) if g is not None else b"")


GRAPH_END = block(5, b"")


def namespace(label: bytes | str, value: Term | None) -> bytes:
    return block(6, block(1, label) + (block(2, value[1]) if value is not None else b""))


def _entry(row_field: int, value: bytes | str, entry_id: int) -> bytes:
    return block(row_field, (number(1, entry_id) if entry_id else b"") + (block(2, value) if value else b""))


def name(value: bytes | str, entry_id: int = 0) -> bytes:
    return _entry(9, value, entry_id)


def prefix(value: bytes | str, entry_id: int = 0) -> bytes:
    return _entry(10, value, entry_id)


def datatype(value: bytes | str, entry_id: int = 0) -> bytes:
    return _entry(11, value, entry_id)


def frame(*rows: bytes, metadata: Mapping[bytes | str, bytes] | None = None, extra: bytes = b"") -> bytes:
    """A frame as a bare message."""
    body = b"".join(block(1, row) for row in rows)
    for key, value in (metadata or {}).items():
        body += block(15, block(1, key) + block(2, value))
    return body + extra


def delimited(*frames: bytes) -> bytes:
    """Frames with their lengths in front."""
    return b"".join(varint(len(one)) + one for one in frames)


def stream(*rows: bytes) -> bytes:
    """A delimited stream of one frame."""
    return delimited(frame(*rows))


def row_spans(frames: Iterable[Iterable[bytes]]) -> list[list[tuple[int, int]]]:
    """For each frame of a delimited stream the byte range of each of its rows, the tag of `rows` included."""
    spans: list[list[tuple[int, int]]] = []
    position = 0
    for rows in frames:
        blocks = [block(1, row) for row in rows]
        position += len(varint(sum(map(len, blocks))))
        spans.append([])
        for one in blocks:
            spans[-1].append((position, position + len(one)))
            position += len(one)
    return spans


def filled(message: Any, content: Mapping[str, Any]) -> Any:
    """A message with some submessages; True stands for one without fields."""
    for name, value in content.items():
        if value is True:
            getattr(message, name).SetInParent()
        else:
            getattr(message, name).CopyFrom(value)
    return message
