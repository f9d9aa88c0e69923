"""A slow, plain decoder of Jelly that follows the written rules one by one: what the kernel is compared with.

Protobuf's own parser reads the frames; the rest is a straightforward walk over the rows. It shares no code
with the package under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from support import messages
from support.plain import PlainStatement, PlainTerm, plain_literal

TRIPLES, QUADS, GRAPHS = 1, 2, 3
LOGICAL_TYPES = {0: {1, 2, 3}, 1: {1}, 3: {1}, 13: {1}, 2: {2, 3}, 4: {2, 3}, 14: {2, 3}, 114: {2, 3}}
NEWEST_VERSION = 2
LARGEST_TABLE = 4096
SMALLEST_NAME_TABLE = 8


class RefusedError(Exception):
    """The stream breaks a rule of the format."""

    def __init__(self, reason: str, frame: int | None = None, row: int | None = None) -> None:
        super().__init__(f"frame {frame}, row {row}: {reason}")
        self.reason, self.frame, self.row = reason, frame, row


class UnsettledError(Exception):
    """The stream has something on which the format does not say whether readers accept it."""


@dataclass
class OracleFrame:
    statements: list[PlainStatement] = field(default_factory=list)
    namespaces: list[tuple[str, str]] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The value at `position` and the position after it."""
    value = shift = 0
    while True:
        if position == len(data) or shift > 63:
            raise RefusedError("broken length")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def is_delimited(data: bytes) -> bool:
    if len(data) < 3:
        return bool(data) and not any(data)
    return data[0] != 0x0A or (data[1] == 0x0A and data[2] != 0x0A)


def split_frames(data: bytes, delimited: bool | None = None) -> list[bytes]:
    """The frames of a file, as bare messages."""
    if delimited is None:
        delimited = is_delimited(data)
    if not data:
        raise UnsettledError("no bytes at all")
    if not delimited:
        return [data]
    frames: list[bytes] = []
    position = 0
    while position < len(data):
        length, position = read_varint(data, position)
        if length > len(data) - position:
            raise RefusedError("truncated frame", len(frames))
        frames.append(data[position : position + length])
        position += length
    return frames


class Lookup:
    def __init__(self, size: int, what: str) -> None:
        self.size, self.what = size, what
        self.entries: dict[int, str] = {}
        self.last_entry = 0

    def put(self, entry: Any) -> None:
        self.last_entry = entry.id or self.last_entry + 1
        if self.last_entry > self.size:
            raise RefusedError(f"{self.what} entry {self.last_entry} in a table of {self.size}")
        self.entries[self.last_entry] = entry.value

    def get(self, entry_id: int) -> str:
        if entry_id > self.size:
            raise RefusedError(f"{self.what} id {entry_id} in a table of {self.size}")
        if entry_id not in self.entries:
            raise RefusedError(f"{self.what} {entry_id} was never set")
        return self.entries[entry_id]


class Decoder:
    """The state of a stream, and a method for each kind of row."""

    def __init__(self) -> None:
        self.options: Any = None
        self.previous: dict[str, PlainTerm] = {}
        self.last_prefix = self.last_name = 0
        self.graph: PlainTerm | None = None
        self.frame = OracleFrame()

    def decode_frame(self, message: Any) -> OracleFrame:
        self.frame = OracleFrame(metadata=dict(message.metadata))
        for index, row in enumerate(message.rows):
            try:
                self.row(row)
            except RefusedError as refusal:
                refusal.row = index
                raise
        return self.frame

    def row(self, row: Any) -> None:
        kind = row.WhichOneof("row")
        if kind is None:
            raise UnsettledError("a row of no known kind")
        if self.options is None and kind != "options":
            raise RefusedError("the first row is not the options")
        getattr(self, f"{kind}_row")(getattr(row, kind))

    def options_row(self, options: Any) -> None:
        options.DiscardUnknownFields()
        if self.options is not None:
            if self.options != options:
                raise RefusedError("options that differ from the first ones")
            return
        if not 1 <= options.version <= NEWEST_VERSION:
            raise RefusedError(f"version {options.version}")
        if options.physical_type not in (TRIPLES, QUADS, GRAPHS):
            raise RefusedError(f"physical type {options.physical_type}")
        if options.logical_type not in LOGICAL_TYPES:
            raise UnsettledError(f"logical type {options.logical_type}")
        if options.physical_type not in LOGICAL_TYPES[options.logical_type]:
            raise RefusedError("physical and logical type do not fit")
        sizes = options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size
        if sizes[0] < SMALLEST_NAME_TABLE or max(sizes) > LARGEST_TABLE:
            raise RefusedError(f"table sizes {sizes}")
        self.options = options
        self.names, self.prefixes, self.datatypes = map(Lookup, sizes, ("name", "prefix", "datatype"))

    def name_row(self, entry: Any) -> None:
        self.names.put(entry)

    def prefix_row(self, entry: Any) -> None:
        self.prefixes.put(entry)

    def datatype_row(self, entry: Any) -> None:
        self.datatypes.put(entry)

    def namespace_row(self, declaration: Any) -> None:
        if self.options.version < 2 or not declaration.HasField("value"):
            raise UnsettledError("a namespace declaration in version 1, or without IRI")
        self.frame.namespaces.append((declaration.name, self.iri(declaration.value)[1]))

    def _only_in(self, what: str, *physical_types: int) -> None:
        if self.options.physical_type not in physical_types:
            raise RefusedError(f"{what} in a stream of physical type {self.options.physical_type}")

    def triple_row(self, triple: Any) -> None:
        self._only_in("triple", TRIPLES, GRAPHS)
        terms = self.statement(triple, ("subject", "predicate", "object"))
        if self.options.physical_type == GRAPHS:
            if self.graph is None:
                raise RefusedError("a triple outside a graph")
            terms = (*terms, self.graph)
        self.frame.statements.append(terms)

    def quad_row(self, quad: Any) -> None:
        self._only_in("quad", QUADS)
        self.frame.statements.append(self.statement(quad, ("subject", "predicate", "object", "graph")))

    def graph_start_row(self, start: Any) -> None:
        self._only_in("graph start", GRAPHS)
        if self.graph is not None:
            raise RefusedError("a graph starts within a graph")
        if start.WhichOneof("graph") is None:
            raise RefusedError("a graph without name")
        self.graph = self.term(start, "graph")

    def graph_end_row(self, _: Any) -> None:
        self._only_in("graph end", GRAPHS)
        if self.graph is None:
            raise RefusedError("a graph ends that was not started")
        self.graph = None

    def statement(self, message: Any, positions: tuple[str, ...]) -> PlainStatement:
        terms = []
        for position in positions:
            if message.WhichOneof(position) is not None:
                self.previous[position] = self.term(message, position)
            elif position not in self.previous:
                raise RefusedError(f"{position} repeats in the first statement")
            terms.append(self.previous[position])
        return tuple(terms)

    def term(self, message: Any, position: str) -> PlainTerm:
        field_name = message.WhichOneof(position)
        if field_name is None:
            raise RefusedError(f"{position} repeats in a quoted triple")
        kind = field_name.partition("_")[2]
        unusual = (kind, position) in {
            ("literal", "subject"),
            ("literal", "predicate"),
            ("literal", "graph"),
            ("bnode", "predicate"),
            ("triple_term", "predicate"),
        }
        if unusual and not self.options.generalized_statements:
            raise RefusedError(f"{kind} as {position} in a stream without generalized statements")
        value = getattr(message, field_name)
        if kind == "iri":
            return self.iri(value)
        if kind == "bnode":
            return "bnode", value
        if kind == "literal":
            return self.literal(value)
        if kind == "default_graph":
            return ("default",)
        if not self.options.rdf_star:
            raise RefusedError("a quoted triple in a stream without RDF-star")
        return "triple", *(self.term(value, role) for role in ("subject", "predicate", "object"))

    def iri(self, value: Any) -> PlainTerm:
        if value.prefix_id:
            self.last_prefix = value.prefix_id
        self.last_name = value.name_id or self.last_name + 1
        prefix = self.prefixes.get(self.last_prefix) if self.last_prefix else ""
        return "iri", prefix + self.names.get(self.last_name)

    def literal(self, value: Any) -> PlainTerm:
        kind = value.WhichOneof("literalKind")
        if kind == "langtag":
            if not value.langtag:
                raise UnsettledError("an empty language tag")
            return plain_literal(value.lex, None, value.langtag)
        if kind == "datatype":
            if value.datatype == 0:
                raise RefusedError("datatype 0")
            return plain_literal(value.lex, self.datatypes.get(value.datatype), None)
        return plain_literal(value.lex, None, None)


def parse_frames(data: bytes, delimited: bool | None = None) -> list[Any]:
    """The frames as protobuf messages."""
    parsed = []
    for index, frame in enumerate(split_frames(data, delimited)):
        try:
            parsed.append(messages.RdfStreamFrame.FromString(frame))
        except DecodeError as error:
            raise RefusedError(str(error), index) from error
    return parsed


def decode(data: bytes, delimited: bool | None = None) -> list[OracleFrame]:
    """All frames of a stream. Raises one of the errors above where a rule is broken or missing."""
    decoder = Decoder()
    frames = []
    for index, message in enumerate(parse_frames(data, delimited)):
        try:
            frames.append(decoder.decode_frame(message))
        except RefusedError as refusal:
            refusal.frame = index
            raise
    if decoder.graph is not None:
        raise UnsettledError("the stream ends within a graph")
    return frames
