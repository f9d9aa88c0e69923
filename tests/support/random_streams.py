"""An encoder that takes every liberty the format allows, at random.

Our own writer and pyjelly's are both tidy: entries in order, least-recently-used eviction, deltas wherever
they can be. A reader has to cope with more: any slot for any entry, ids spelled out where 0 would do, IRIs
split anywhere, repeats not used, options rows in between, empty graphs. Here also the protobuf itself gets
untidy: fields in any order, unknown fields, needlessly long varints.
"""

from __future__ import annotations

from random import Random
from typing import Any

from jellyframe.options import PhysicalType, StreamOptions
from support import messages, wire
from support.plain import PlainStatement, PlainTerm, plain_statement
from support.strategies import StreamCase

_ROLES = (("s", "subject"), ("p", "predicate"), ("o", "object"), ("g", "graph"))


class _Table:
    """A lookup as the encoder sees it. Slots that the statement under way refers to are pinned."""

    def __init__(self, rng: Random, size: int) -> None:
        self.rng, self.size = rng, size
        self.entries: dict[int, str] = {}
        self.pinned: set[int] = set()
        self.last_entry = 0

    def find(self, value: str) -> int | None:
        found = [slot for slot, entry in self.entries.items() if entry == value]
        return self.rng.choice(found) if found else None

    def free_slot(self) -> int:
        # Mostly low ones, so that entries are overwritten although the table is large.
        free = [slot for slot in range(1, min(self.size, 12) + 1) if slot not in self.pinned]
        return self.rng.choice(free or [slot for slot in range(1, self.size + 1) if slot not in self.pinned])

    def free_slots(self) -> int:
        return self.size - len(self.pinned)

    def put(self, slot: int, value: str) -> int:
        """Set a slot; returns the id to write in the entry."""
        in_order = slot == self.last_entry + 1
        self.entries[slot] = value
        self.last_entry = slot
        return 0 if in_order and self.rng.random() < 0.7 else slot


class RandomEncoder:
    def __init__(self, options: StreamOptions, rng: Random) -> None:
        self.rng = rng
        self.physical_type = options.physical_type
        self.options = messages.RdfStreamOptions.FromString(_options_bytes(options))
        self.names = _Table(rng, options.max_name_table_size)
        self.prefixes = _Table(rng, options.max_prefix_table_size)
        self.datatypes = _Table(rng, options.max_datatype_table_size)
        self.last_prefix = self.last_name = 0
        self.previous: dict[str, PlainTerm] = {}
        self.splits: dict[str, tuple[int, int]] = {}
        self.graph: PlainTerm | None = None
        self.started = False
        self.rows: list[Any] = []

    def encode(self, case: StreamCase) -> list[Any]:
        """The frames of the stream as protobuf messages."""
        frames = []
        for number, frame in enumerate(case.frames):
            self.rows = []
            for label, iri in frame.namespaces:
                self._begin()
                row = messages.RdfStreamRow()
                row.namespace.name = label
                row.namespace.value.SetInParent()
                self._iri(iri, row.namespace.value)
                self.rows.append(row)
            for statement in frame.statements:
                self._statement(plain_statement(statement))
            if self.graph is not None and number == len(case.frames) - 1:
                self._end_graph()
            frames.append(messages.RdfStreamFrame(rows=self.rows, metadata=frame.metadata))
        return frames

    def _begin(self) -> None:
        """Before each row with terms: the options row if it is due, or now and then again."""
        self.splits.clear()
        for table in (self.names, self.prefixes, self.datatypes):
            table.pinned.clear()
        if not self.started or self.rng.random() < 0.05:
            self.rows.append(messages.RdfStreamRow(options=self.options))
            self.started = True

    def _statement(self, statement: PlainStatement) -> None:
        if self.physical_type is PhysicalType.GRAPHS:
            self._graph(statement[3])
        self._begin()
        row = messages.RdfStreamRow()
        message = row.quad if self.physical_type is PhysicalType.QUADS else row.triple
        message.SetInParent()
        roles = _ROLES if self.physical_type is PhysicalType.QUADS else _ROLES[:3]
        for (letter, position), term in zip(roles, statement, strict=False):
            if self.previous.get(position) == term and self.rng.random() < 0.8:
                continue
            self._term(term, message, letter)
            self.previous[position] = term
        self.rows.append(row)

    def _graph(self, graph: PlainTerm) -> None:
        if self.graph == graph and self.rng.random() < 0.9:
            return
        if self.graph is not None:
            self._end_graph()
        if self.rng.random() < 0.1:
            self._start_graph(("default",))
            self._end_graph()
        self._start_graph(graph)

    def _start_graph(self, graph: PlainTerm) -> None:
        self._begin()
        row = messages.RdfStreamRow()
        row.graph_start.SetInParent()
        self._term(graph, row.graph_start, "g")
        self.rows.append(row)
        self.graph = graph

    def _end_graph(self) -> None:
        row = messages.RdfStreamRow()
        row.graph_end.SetInParent()
        self.rows.append(row)
        self.graph = None

    def _term(self, term: PlainTerm, message: Any, letter: str) -> None:
        kind = term[0]
        if kind == "bnode":
            setattr(message, f"{letter}_bnode", term[1])
            return
        field = getattr(message, f"{letter}_{ {'default': 'default_graph', 'triple': 'triple_term'}.get(kind, kind) }")
        field.SetInParent()
        if kind == "iri":
            self._iri(term[1], field)
        elif kind == "literal":
            self._literal(term, field)
        elif kind == "triple":
            for (role, _), part in zip(_ROLES, term[1:], strict=False):
                self._term(part, field, role)

    def _literal(self, term: PlainTerm, message: Any) -> None:
        _, message.lex, datatype, language = term
        if language is not None:
            message.langtag = language
        elif datatype is not None:
            message.datatype = self._entry(self.datatypes, datatype, "datatype")

    def _entry(self, table: _Table, value: str, row_field: str) -> int:
        """The slot of a value, after writing an entry if it has none (or, at times, for no reason)."""
        slot = table.find(value)
        if slot is None or (slot not in table.pinned and self.rng.random() < 0.05):
            slot = table.free_slot()
            row = messages.RdfStreamRow()
            entry = getattr(row, row_field)
            entry.SetInParent()
            entry.id, entry.value = table.put(slot, value), value
            self.rows.append(row)
        table.pinned.add(slot)
        return slot

    def _prefix(self, iri: str) -> tuple[str, int]:
        """A prefix of the IRI, and its id (0: no prefix was ever given)."""
        table = self.prefixes
        if table.size == 0 or (self.last_prefix == 0 and self.rng.random() < 0.2):
            return "", 0
        cut = self.rng.choice([0, len(iri), iri.rfind("/") + 1, iri.rfind("#") + 1, self.rng.randint(0, len(iri))])
        known = [entry for entry in table.entries.values() if iri.startswith(entry)]
        prefix = self.rng.choice(known) if known and self.rng.random() < 0.5 else iri[:cut]
        slot = table.find(prefix)
        # The last free slot is kept for the empty prefix, with which any IRI can be written.
        if (slot is None or slot not in table.pinned) and table.free_slots() < 2:
            prefix = ""
        return prefix, self._entry(table, prefix, "prefix")

    def _iri(self, iri: str, message: Any) -> None:
        if iri not in self.splits:
            prefix, prefix_id = self._prefix(iri)
            self.splits[iri] = prefix_id, self._entry(self.names, iri[len(prefix) :], "name")
        prefix_id, name_id = self.splits[iri]
        # Without any prefix so far, id 0 means the empty prefix; later it would mean the last one.
        if prefix_id == 0 and self.last_prefix:
            prefix_id = self._entry(self.prefixes, "", "prefix")
            name_id = self._entry(self.names, iri, "name")
            self.splits[iri] = prefix_id, name_id
        if prefix_id != self.last_prefix or self.rng.random() < 0.2:
            message.prefix_id = prefix_id
        if name_id != self.last_name + 1 or self.rng.random() < 0.2:
            message.name_id = name_id
        self.last_prefix, self.last_name = prefix_id, name_id


def _options_bytes(options: StreamOptions) -> bytes:
    row = wire.options(
        name=options.stream_name,
        physical=int(options.physical_type),
        generalized=options.generalized_statements,
        star=options.rdf_star,
        names=options.max_name_table_size,
        prefixes=options.max_prefix_table_size,
        datatypes=options.max_datatype_table_size,
        logical=int(options.logical_type),
        version=options.version or 1,
    )
    return bytes(messages.RdfStreamRow.FromString(row).options.SerializeToString())


def untidy(message: Any, rng: Random) -> bytes:
    """The message as bytes that mean the same and look different."""
    chunks: list[tuple[str, bytes]] = []
    for field, value in message.ListFields():
        if field.name == "metadata":
            for key, content in value.items():
                pair = [_chunk(1, key.encode(), rng), _chunk(2, content, rng)]
                rng.shuffle(pair)
                chunks.append(("", _chunk(field.number, b"".join(pair), rng)))
        elif field.name == "rows":
            chunks += [("row", _chunk(field.number, untidy(row, rng), rng)) for row in value]
        else:
            chunks.append(("", _field(field.number, value, rng)))
    for field in message.DESCRIPTOR.fields:
        scalar = field.containing_oneof is None and isinstance(field.default_value, int)
        if scalar and not getattr(message, field.name) and rng.random() < 0.2:
            chunks.append(("", _field(field.number, 0, rng)))
    while rng.random() < 0.1:
        number = rng.choice([0x70, 5000, 2**29 - 1])
        chunks.append(("", wire.unknown_fields(number - 3)))
    return b"".join(_shuffled(chunks, rng))


def _shuffled(chunks: list[tuple[str, bytes]], rng: Random) -> list[bytes]:
    """In any order, except that rows stay in theirs."""
    rows = iter([data for kind, data in chunks if kind])
    rng.shuffle(chunks)
    return [next(rows) if kind else data for kind, data in chunks]


def _varint(value: int, longest: int, rng: Random) -> bytes:
    return wire.varint(value, width=rng.randint(2, longest) if rng.random() < 0.1 else 0)


def _chunk(number: int, payload: bytes, rng: Random) -> bytes:
    head = _varint(number << 3 | wire.LENGTH_DELIMITED, 5, rng)
    return head + _varint(len(payload), 5, rng) + payload


def _field(number: int, value: Any, rng: Random) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | wire.VARINT, 5, rng) + _varint(int(value), 10, rng)
    return _chunk(number, value.encode() if isinstance(value, str) else untidy(value, rng), rng)
