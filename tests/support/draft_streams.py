"""Streams in the draft dialect: messages made by hand, an encoder that takes liberties, and an oracle.

The messages are protobuf's own, so that nothing here shares code with what it tests.
"""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import JellyError, ParseError
from jellyframe.options import PhysicalType, StreamOptions
from jellyframe.proto import draft_pb2 as draft
from support.oracle import RefusedError, split_frames
from support.plain import PlainStatement, PlainTerm, plain_literal, plain_statement
from support.strategies import StreamCase
from support.wire import block, filled, varint

TRIPLES, QUADS, GRAPHS = 1, 2, 3
STREAM_TYPES = {"TRIPLES": TRIPLES, "QUADS": QUADS, "GRAPHS": GRAPHS}
EX = "http://example.org/"


def row(**content: Any) -> Any:
    """A row with one content; True for a message without fields."""
    return filled(draft.RdfStreamRow(), content)


def options(stream_type: int = TRIPLES, **more: Any) -> Any:
    fields = {
        "stream_type": stream_type,
        "use_repeat": True,
        "max_name_table_size": 16,
        "max_prefix_table_size": 16,
        "max_datatype_table_size": 16,
        "version": 1,
        **more,
    }
    return row(options=draft.RdfStreamOptions(**fields))


def name(entry_id: int, value: str) -> Any:
    return row(name=draft.RdfNameEntry(id=entry_id, value=value))


def prefix(entry_id: int, value: str) -> Any:
    return row(prefix=draft.RdfPrefixEntry(id=entry_id, value=value))


def datatype(entry_id: int, value: str) -> Any:
    return row(datatype=draft.RdfDatatypeEntry(id=entry_id, value=value))


def iri(prefix_id: int = 0, name_id: int = 0) -> Any:
    return draft.RdfTerm(iri=draft.RdfIri(prefix_id=prefix_id, name_id=name_id))


def bnode(label: str) -> Any:
    return draft.RdfTerm(bnode=label)


def literal(lex: str = "", **kind: Any) -> Any:
    """A literal; without a language or a datatype a simple one."""
    return draft.RdfTerm(literal=plain_message(lex, **kind))


def plain_message(lex: str = "", **kind: Any) -> Any:
    return draft.RdfLiteral(lex=lex, **(kind or {"simple": draft.RdfLiteralSimple()}))


def quoted(s: Any, p: Any, o: Any) -> Any:
    return draft.RdfTerm(triple_term=draft.RdfTriple(s=s, p=p, o=o))


REPEAT = draft.RdfTerm(repeat=draft.RdfRepeat())
DEFAULT = draft.RdfGraph(default_graph=draft.RdfDefaultGraph())
REPEAT_GRAPH = draft.RdfGraph(repeat=draft.RdfRepeat())


def graph(term: Any) -> Any:
    """The graph node of an IRI, blank node or literal."""
    return draft.RdfGraph.FromString(term.SerializeToString())


def triple(s: Any = REPEAT, p: Any = REPEAT, o: Any = REPEAT) -> Any:
    return row(triple=draft.RdfTriple(s=s, p=p, o=o))


def quad(s: Any = REPEAT, p: Any = REPEAT, o: Any = REPEAT, g: Any = REPEAT_GRAPH) -> Any:
    return row(quad=draft.RdfQuad(s=s, p=p, o=o, g=g))


def graph_start(g: Any) -> Any:
    return row(graph_start=draft.RdfGraphStart(graph=g))


GRAPH_END = row(graph_end=True)
# The prefix 1 and the names 1 to 4: http://example.org/a, b, c and g.
ENTRIES = (prefix(1, EX), *(name(number, letter) for number, letter in enumerate("abcg", 1)))
A, B, C, G = (iri(1, number) for number in range(1, 5))


def frame(*rows: Any) -> bytes:
    data: bytes = draft.RdfStreamFrame(rows=rows).SerializeToString()
    return data


def delimited(*frames: bytes) -> bytes:
    return b"".join(varint(len(data)) + data for data in frames)


def stream(*rows: Any) -> bytes:
    return delimited(frame(*rows))


def lines(package: ModuleType, data: bytes, **settings: Any) -> list[str]:
    """The statements of a draft stream as text."""
    with package.open_reader(data, dialect="draft", **settings) as reader:
        statements = list(reader.statements())
    return [" ".join([*(str(term) for term in one if term is not package.DEFAULT_GRAPH), "."]) for one in statements]


# ---- an oracle ----


class _Oracle:
    def __init__(self) -> None:
        self.options: Any = None
        self.tables: dict[str, dict[int, str]] = {}
        self.previous: dict[str, PlainTerm] = {}
        self.graph: PlainTerm | None = None

    def frame(self, data: bytes) -> list[PlainStatement]:
        statements: list[PlainStatement] = []
        for one in draft.RdfStreamFrame.FromString(data).rows:
            kind = one.WhichOneof("row")
            self._require(kind is not None and (kind == "options" or self.options is not None))
            content = getattr(one, kind)
            if kind == "options":
                self._options(content)
            elif kind in self.tables:
                self._require(1 <= content.id <= getattr(self.options, f"max_{kind}_table_size"))
                self.tables[kind][content.id] = content.value
            else:
                statements += self._content(kind, content)
        return statements

    def finish(self) -> None:
        self._require(self.graph is None)

    def _options(self, message: Any) -> None:
        message.DiscardUnknownFields()
        if self.options is None:
            self.options = message
            self.tables = {"name": {}, "prefix": {}, "datatype": {}}
            self._require(message.version == 1 and message.stream_type in STREAM_TYPES.values())
        self._require(message == self.options)

    def _content(self, kind: str, content: Any) -> list[PlainStatement]:
        stream_type = self.options.stream_type
        if kind in ("graph_start", "graph_end"):
            self._require(stream_type == GRAPHS and (self.graph is None) == (kind == "graph_start"))
            self.graph = None
            if kind == "graph_start":
                self._require(content.HasField("graph") and not content.graph.HasField("repeat"))
                self.graph = self._term(content.graph, "g")
            return []
        self._require((kind == "quad") == (stream_type == QUADS))
        self._require(stream_type != GRAPHS or self.graph is not None)
        terms = []
        for position in "spog" if kind == "quad" else "spo":
            self._require(content.HasField(position))
            term = getattr(content, position)
            if term.HasField("repeat"):
                self._require(self.options.use_repeat and position in self.previous)
            else:
                self.previous[position] = self._term(term, position)
            terms.append(self.previous[position])
        return [(*terms, self.graph) if self.graph is not None else tuple(terms)]

    def _term(self, message: Any, position: str) -> PlainTerm:
        kind = message.WhichOneof("graph" if position == "g" else "term")
        self._require(kind not in (None, "repeat"))
        content = getattr(message, kind)
        if kind == "default_graph":
            return ("default",)
        if kind == "iri":
            self._require(content.prefix_id > 0 or content.name_id > 0)
            return "iri", self._string("prefix", content.prefix_id) + self._string("name", content.name_id)
        if kind == "triple_term":
            self._require(self.options.rdf_star and (position != "p" or self.options.generalized_statements))
            self._require(all(content.HasField(inner) for inner in "spo"))
            return "triple", *(self._term(getattr(content, inner), inner) for inner in "spo")
        allowed = ("s", "o", "g") if kind == "bnode" else ("o",)
        self._require(self.options.generalized_statements or position in allowed)
        return ("bnode", content) if kind == "bnode" else self._literal(content)

    def _literal(self, message: Any) -> PlainTerm:
        kind = message.WhichOneof("literalKind")
        self._require(kind is not None)
        if kind == "langtag":
            self._require(message.langtag != "")
            return plain_literal(message.lex, None, message.langtag)
        if kind == "datatype":
            self._require(message.datatype > 0)
            return plain_literal(message.lex, self._string("datatype", message.datatype), None)
        return plain_literal(message.lex, None, None)

    def _string(self, table: str, entry_id: int) -> str:
        if entry_id == 0:
            return ""
        self._require(entry_id in self.tables[table])
        return self.tables[table][entry_id]

    @staticmethod
    def _require(holds: bool) -> None:
        if not holds:
            raise RefusedError("a rule of the draft is broken")


def decode(data: bytes) -> list[list[PlainStatement]]:
    """The statements of each frame of a delimited stream. Raises RefusedError, or protobuf's DecodeError."""
    oracle = _Oracle()
    frames = [oracle.frame(one) for one in split_frames(data, delimited=True)]
    oracle.finish()
    return frames


# ---- an encoder that takes liberties ----


class RandomDraftEncoder:
    """Puts entries into any slot, splits IRIs anywhere, repeats terms or not, repeats the options now and then."""

    def __init__(self, given: StreamOptions, rng: Random) -> None:
        self.rng = rng
        self.physical_type = given.physical_type
        self.use_repeat = given.use_repeat
        self.options = options(
            int(given.physical_type),
            stream_name=given.stream_name,
            generalized_statements=given.generalized_statements,
            rdf_star=given.rdf_star,
            use_repeat=given.use_repeat,
            max_name_table_size=given.max_name_table_size,
            max_prefix_table_size=given.max_prefix_table_size,
            max_datatype_table_size=given.max_datatype_table_size,
        )
        self.slots: dict[str, dict[int, str]] = {"name": {}, "prefix": {}, "datatype": {}}
        self.pinned: dict[str, set[int]] = {}
        self.split: dict[str, Any] = {}
        self.previous: list[PlainTerm | None] = [None] * 4
        self.graph: PlainTerm | None = None
        self.rows: list[Any] = []

    def encode(self, case: StreamCase) -> list[Any]:
        """The frames of the stream as messages."""
        frames = []
        for number, part in enumerate(case.frames):
            self.rows = [self.options] if number == 0 else []
            for statement in part.statements:
                self._statement(plain_statement(statement))
            if number == len(case.frames) - 1:
                self._change_graph(None)
            frames.append(draft.RdfStreamFrame(rows=self.rows))
        return frames

    def _statement(self, terms: PlainStatement) -> None:
        if self.physical_type is PhysicalType.GRAPHS:
            self._change_graph(terms[3])
        self._begin()
        parts = {}
        count = 4 if self.physical_type is PhysicalType.QUADS else 3
        for position, (letter, term) in enumerate(zip("spog"[:count], terms, strict=False)):
            if self.use_repeat and self.previous[position] == term and self.rng.random() < 0.8:
                parts[letter] = REPEAT_GRAPH if letter == "g" else REPEAT
            else:
                parts[letter] = self._graph(term) if letter == "g" else self._term(term)
            self.previous[position] = term
        self.rows.append(quad(**parts) if count == 4 else triple(**parts))

    def _change_graph(self, wanted: PlainTerm | None) -> None:
        if self.graph is not None and (self.graph != wanted or self.rng.random() < 0.1):
            self.rows.append(GRAPH_END)
            self.graph = None
        if self.graph is None and wanted is not None:
            if self.rng.random() < 0.1:
                self.rows += [graph_start(DEFAULT), GRAPH_END]
            self._begin()
            self.rows.append(graph_start(self._graph(wanted)))
            self.graph = wanted

    def _begin(self) -> None:
        self.pinned = {"name": set(), "prefix": set(), "datatype": set()}
        self.split = {}
        if self.rng.random() < 0.05:
            self.rows.append(self.options)

    def _graph(self, term: PlainTerm) -> Any:
        return DEFAULT if term == ("default",) else graph(self._term(term))

    def _term(self, term: PlainTerm) -> Any:
        match term:
            case ("iri", value):
                return self._iri(value)
            case ("bnode", label):
                return bnode(label)
            case ("triple", s, p, o):
                return quoted(*map(self._term, (s, p, o)))
            case ("literal", lex, None, None):
                return literal(lex)
            case ("literal", lex, None, language):
                return literal(lex, langtag=language)
            case ("literal", lex, kind, None):
                return literal(lex, datatype=self._entry("datatype", kind))
        raise TypeError(f"not a plain term: {term!r}")

    def _iri(self, value: str) -> Any:
        """An IRI, in one statement always with the same ids, so that it takes no more than one name."""
        if value not in self.split:
            self.split[value] = self._new_iri(value)
        return self.split[value]

    def _new_iri(self, value: str) -> Any:
        sizes = self.options.options
        has_prefixes = sizes.max_prefix_table_size > len(self.pinned["prefix"])
        cut = self.rng.randint(0, len(value)) if has_prefixes else 0
        if self.rng.random() < 0.5 and has_prefixes:
            cut = value.rfind("/") + 1
        prefix_id = self._entry("prefix", value[:cut]) if cut or (has_prefixes and self.rng.random() < 0.2) else 0
        name_id = self._entry("name", value[cut:]) if cut < len(value) or self.rng.random() < 0.2 else 0
        if prefix_id == name_id == 0:
            name_id = self._entry("name", "")
        return iri(prefix_id, name_id)

    def _entry(self, table: str, value: str) -> int:
        slots = self.slots[table]
        known = [slot for slot, entry in slots.items() if entry == value]
        if known and self.rng.random() < 0.9:
            slot = known[0]
        else:
            size = getattr(self.options.options, f"max_{table}_table_size")
            free = [slot for slot in range(1, size + 1) if slot not in self.pinned[table]]
            slot = self.rng.choice(free[:12]) if free else known[0]
            slots[slot] = value
            self.rows.append({"name": name, "prefix": prefix, "datatype": datatype}[table](slot, value))
        self.pinned[table].add(slot)
        return slot


def refusal(package: ModuleType, data: bytes, kind: type[JellyError] = ParseError, **settings: Any) -> str:
    with pytest.raises(kind) as caught:
        lines(package, data, **settings)
    return caught.value.message


def with_term(term: bytes, **more: Any) -> bytes:
    """A stream whose only object is a message of these bytes."""
    fields = block(1, A.SerializeToString()) + block(2, B.SerializeToString()) + block(3, term)
    return delimited(frame(options(**more), *ENTRIES) + block(1, block(2, fields)))


def written(package: ModuleType, statements: list[Any], given: StreamOptions | None = None, **settings: Any) -> Any:
    """The rows of the stream that our writer makes, as protobuf reads them."""
    data = package.dumps(statements, given, dialect="draft", **settings)
    return draft.RdfStreamFrame.FromString(data).rows
