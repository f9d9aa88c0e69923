"""A slow, plain decoder of Jelly-Patch that follows the written rules one by one.

Protobuf's own parser reads the frames; terms and lookups are those of the oracle for Jelly. Rows are plain tuples:
`("A", s, p, o, g)`, `("PA", name, iri, g)`, `("H", key, value)`, `("TX",)`, with None for what is not there.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from google.protobuf.message import DecodeError

from support import messages
from support.oracle import LARGEST_TABLE, SMALLEST_NAME_TABLE, Decoder, Lookup, RefusedError, split_frames
from support.plain import build_term, plain_term

PlainRow = tuple[Any, ...]
FRAME, FLAT, PUNCTUATED = 1, 2, 3


class PatchDecoder(Decoder):
    """The state of a patch stream, and a method for each kind of row; strict about transactions and graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[PlainRow] = []
        self.in_transaction = False

    def read_frame(self, message: Any) -> None:
        for row in message.rows:
            self.row(row)
        if self.in_transaction and self.options.stream_type == FRAME:
            raise RefusedError("a transaction goes over the end of a frame")

    def options_row(self, options: Any) -> None:
        options.DiscardUnknownFields()
        if self.options is not None:
            if self.options != options:
                raise RefusedError("options that differ from the first ones")
            return
        if options.version != 1:
            raise RefusedError(f"version {options.version}")
        if options.statement_type not in (1, 2) or options.stream_type not in (FRAME, FLAT, PUNCTUATED):
            raise RefusedError("an unknown statement type or stream type")
        sizes = options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size
        if sizes[0] < SMALLEST_NAME_TABLE or max(sizes) > LARGEST_TABLE:
            raise RefusedError(f"table sizes {sizes}")
        self.options = options
        self.names, self.prefixes, self.datatypes = map(Lookup, sizes, ("name", "prefix", "datatype"))

    def statement_add_row(self, quad: Any) -> None:
        self.rows.append(("A", *self._spog(quad)))

    def statement_delete_row(self, quad: Any) -> None:
        self.rows.append(("D", *self._spog(quad)))

    def _spog(self, quad: Any) -> tuple[Any, ...]:
        return (*self.statement(quad, ("subject", "predicate", "object")), self._graph(quad))

    def _graph(self, message: Any) -> Any:
        if self.options.statement_type == 2:
            return self.statement(message, ("graph",))[0]
        if message.WhichOneof("graph") is not None:
            raise RefusedError("a graph in a stream of triples")
        return None

    def namespace_add_row(self, declaration: Any) -> None:
        if not declaration.HasField("value"):
            raise RefusedError("a namespace without its IRI")
        self.rows.append(("PA", *self._namespace(declaration)))

    def namespace_delete_row(self, declaration: Any) -> None:
        self.rows.append(("PD", *self._namespace(declaration)))

    def _namespace(self, declaration: Any) -> tuple[Any, ...]:
        value = self.iri(declaration.value) if declaration.HasField("value") else None
        return declaration.name, value, self._graph(declaration)

    def header_row(self, header: Any) -> None:
        if header.WhichOneof("value") is None:
            raise RefusedError("a header without a value")
        self.rows.append(("H", header.key, self.term(header, "value")))

    def transaction_start_row(self, _: Any) -> None:
        if self.in_transaction:
            raise RefusedError("a transaction in a transaction")
        self.in_transaction = True
        self.rows.append(("TX",))

    def transaction_commit_row(self, _: Any) -> None:
        self._end_transaction("TC")

    def transaction_abort_row(self, _: Any) -> None:
        self._end_transaction("TA")

    def _end_transaction(self, kind: str) -> None:
        if not self.in_transaction:
            raise RefusedError("a transaction ends that was not started")
        self.in_transaction = False
        self.rows.append((kind,))

    def punctuation_row(self, _: Any) -> None:
        if self.options.stream_type != PUNCTUATED or self.in_transaction:
            raise RefusedError("a punctuation mark out of place")
        self.rows.append(("P",))


def parse_frames(data: bytes, delimited: bool | None = None) -> list[Any]:
    """The frames as protobuf messages."""
    try:
        return [messages.RdfPatchFrame.FromString(frame) for frame in split_frames(data, delimited)]
    except DecodeError as error:
        raise RefusedError(str(error)) from error


def decode(data: bytes, delimited: bool | None = None) -> list[PlainRow]:
    """All rows of a stream. Raises a RefusedError where a rule is broken."""
    decoder = PatchDecoder()
    for message in parse_frames(data, delimited):
        decoder.read_frame(message)
    if decoder.in_transaction:
        raise RefusedError("the stream ends in a transaction")
    return decoder.rows


def plain_row(row: Any) -> PlainRow:
    """A row of this package, on either kernel, as a tuple."""
    kind = _KINDS[type(row).__name__]
    optional = lambda term: None if term is None else plain_term(term)  # noqa: E731
    if kind in ("A", "D"):
        return kind, *map(plain_term, (row.s, row.p, row.o)), optional(row.g)
    if kind in ("PA", "PD"):
        return kind, row.name, optional(row.iri), optional(row.g)
    if kind == "H":
        return kind, row.key, plain_term(row.value)
    return (kind,)


def build_row(package: ModuleType, row: PlainRow) -> Any:
    """A plain row as an object of one kernel."""
    make = getattr(package, _CLASSES[row[0]])
    return make(*(build_term(package, part) if isinstance(part, tuple) else part for part in row[1:]))


_CLASSES = {
    "A": "Add",
    "D": "Delete",
    "PA": "NamespaceAdd",
    "PD": "NamespaceDelete",
    "H": "Header",
    "TX": "TransactionStart",
    "TC": "TransactionCommit",
    "TA": "TransactionAbort",
    "P": "Punctuation",
}
_KINDS = {name: kind for kind, name in _CLASSES.items()}
