"""Hypothesis strategies for terms, statements, options and whole streams.

Importing this module also picks the Hypothesis profile: `quick`, or the one that $HYPOTHESIS_PROFILE names
(`thorough` looks at many more examples, at new ones each time, and makes those that fail small).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from jellyframe.options import LogicalType, PhysicalType, StreamOptions
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple

Term = Any
Statement = Triple | Quad

# Time says nothing about right or wrong, and the pure kernel is slow: no deadline.
_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
# Shrinking a failure takes minutes, with streams this size; `thorough` does it.
_QUICK: dict[str, Any] = {"phases": [Phase.explicit, Phase.generate], "report_multiple_bugs": False, "database": None}
settings.register_profile("quick", max_examples=40, derandomize=True, **_QUICK, **_COMMON)
settings.register_profile("thorough", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

XSD = "http://www.w3.org/2001/XMLSchema#"

# Characters that an IRI may not hold in N-Triples, beside the controls and the space.
_NOT_IN_IRI = '<>"{}|^`\\'
_IRI_TEXT = st.text(
    st.characters(min_codepoint=0x21, exclude_characters=_NOT_IN_IRI, exclude_categories=("Cs", "Cc")),
    max_size=6,
)

# Few prefixes and names, so that the same come again and the lookups have to evict. They split in odd places:
# after # and /, nowhere at all, with nothing after the last separator, with both kinds of separator.
_PREFIXES = st.sampled_from(
    [
        "http://example.org/",
        "http://example.org/vocab#",
        "http://example.org/a/b/c/",
        "http://example.org/q?x=/y#z/",
        "https://例え.組織/Свойство/",
        "urn:isbn:",
        "mailto:",
        "x:/#",
    ]
)
_NAMES = st.one_of(st.sampled_from(["", "a", "b", "name", "é", "😊", "%C3%BC", "a/b", "a#b", "#", "/"]), _IRI_TEXT)


def iris() -> st.SearchStrategy[IRI]:
    return st.builds(lambda prefix, name: IRI(prefix + name), _PREFIXES, _NAMES)


def blank_nodes() -> st.SearchStrategy[BlankNode]:
    """Labels that N-Triples can write."""
    labels = st.sampled_from(
        ["b", "b0", "b1", "0", "_x", "a.b", "a-1", "é", "x·y", "B1ac95232c41a37b4ae9cad97cd487277"]
    )
    return labels.map(BlankNode)


def _lexical_forms() -> st.SearchStrategy[str]:
    awkward = [
        "",
        " ",
        "\n",
        "\r\n",
        '"',
        "\\",
        '\\"\n\t\b\f',
        "a\u0000b",
        "\u0085\u2028",
        "é😊\U0010fffd",
        "\ufeff",
        "x" * 200,
    ]
    return st.one_of(st.sampled_from(awkward), st.text(max_size=12))


LANGUAGES = st.sampled_from(["en", "EN", "en-GB", "de-CH-1996", "x-klingon", "zh-Hant-TW"])
DATATYPES = st.sampled_from(
    [
        XSD + "integer",
        XSD + "dateTime",
        XSD + "string",
        "http://example.org/type#é",
        "urn:type",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML",
    ]
)


def literals() -> st.SearchStrategy[Literal]:
    return st.one_of(
        st.builds(Literal, _lexical_forms()),
        st.builds(lambda lex, language: Literal(lex, language=language), _lexical_forms(), LANGUAGES),
        st.builds(lambda lex, datatype: Literal(lex, datatype=datatype), _lexical_forms(), DATATYPES),
    )


@dataclass(frozen=True)
class Shape:
    """The terms that generated statements may have."""

    quads: bool = False
    star: bool = False
    generalized: bool = False


def _position(
    pool: list[Term], allowed: tuple[type, ...], fallback: st.SearchStrategy[Term]
) -> st.SearchStrategy[Term]:
    fitting = [term for term in pool if isinstance(term, allowed)]
    return st.one_of(st.sampled_from(fitting), fallback) if fitting else fallback


def _positions(pool: list[Term], shape: Shape, in_quoted: bool) -> list[st.SearchStrategy[Term]]:
    simple: tuple[type, ...] = (IRI, BlankNode, Literal) if shape.generalized else (IRI,)
    nested: tuple[type, ...] = (Triple,) if shape.star else ()
    anywhere = st.one_of(iris(), blank_nodes(), literals())
    if shape.generalized:
        kinds = [simple + nested] * 3
        fresh: list[st.SearchStrategy[Term]] = [anywhere] * 3
    else:
        kinds = [(IRI, BlankNode, *nested), (IRI,), (IRI, BlankNode, Literal, *nested)]
        fresh = [st.one_of(iris(), blank_nodes()), iris(), anywhere]
    spo = [_position(pool, allowed, other) for allowed, other in zip(kinds, fresh, strict=True)]
    if not shape.quads or in_quoted:
        return spo
    graphs = (IRI, BlankNode, Literal) if shape.generalized else (IRI, BlankNode)
    default = st.just(DEFAULT_GRAPH)
    return [*spo, st.one_of(default, _position(pool, graphs, iris()))]


@st.composite
def term_pools(draw: st.DrawFn, shape: Shape) -> list[Term]:
    """Terms for statements to draw on, quoted triples (nested up to three deep) among them."""
    pool: list[Term] = draw(st.lists(st.one_of(iris(), blank_nodes(), literals()), min_size=1, max_size=12))
    if shape.star:
        for _ in range(draw(st.integers(0, 3))):
            pool.append(Triple(*(draw(position) for position in _positions(pool, shape, in_quoted=True))))
    return pool


@st.composite
def statement_lists(draw: st.DrawFn, shape: Shape, min_size: int = 0, max_size: int = 25) -> list[Statement]:
    """Statements over a small pool of terms, some of them equal to the one before in some position."""
    pool = draw(term_pools(shape))
    positions = _positions(pool, shape, in_quoted=False)
    build: Callable[..., Statement] = Quad if shape.quads else Triple
    fresh: st.SearchStrategy[Statement] = st.builds(build, *positions)
    statements: list[Statement] = []
    for _ in range(draw(st.integers(min_size, max_size))):
        statement = draw(fresh)
        if len(statements) > 0 and draw(st.booleans()):
            kept = draw(st.integers(1, 2 ** len(positions) - 1))
            terms = zip(statements[-1], statement, strict=True)
            statement = build(*(old if kept >> place & 1 else new for place, (old, new) in enumerate(terms)))
        statements.append(statement)
    return statements


SHAPES = st.builds(Shape, st.booleans(), st.booleans(), st.booleans())


def any_statements(min_size: int = 0, max_size: int = 25) -> st.SearchStrategy[list[Statement]]:
    return SHAPES.flatmap(lambda shape: statement_lists(shape, min_size, max_size))


_FITTING = {
    PhysicalType.TRIPLES: [LogicalType.FLAT_TRIPLES, LogicalType.GRAPHS, LogicalType.SUBJECT_GRAPHS],
    PhysicalType.QUADS: [
        LogicalType.FLAT_QUADS,
        LogicalType.DATASETS,
        LogicalType.NAMED_GRAPHS,
        LogicalType.TIMESTAMPED_NAMED_GRAPHS,
    ],
}
_FITTING[PhysicalType.GRAPHS] = _FITTING[PhysicalType.QUADS]
TYPE_PAIRS = [
    (physical, logical) for physical, fitting in _FITTING.items() for logical in (LogicalType.UNSPECIFIED, *fitting)
]


@st.composite
def stream_options(draw: st.DrawFn, shape: Shape, *, version: int = 0, flat: bool = False) -> StreamOptions:
    """Options of every physical and logical type, with tables from tiny to big."""
    pairs = [pair for pair in TYPE_PAIRS if (pair[0] is not PhysicalType.TRIPLES) == shape.quads]
    if flat:
        pairs = [pair for pair in pairs if not pair[1].is_grouped]
    physical, logical = draw(st.sampled_from(pairs))
    return StreamOptions(
        physical_type=physical,
        logical_type=logical,
        stream_name=draw(st.sampled_from(["", "a stream", "поток"])),
        generalized_statements=shape.generalized,
        rdf_star=shape.star,
        max_name_table_size=draw(st.sampled_from([8, 9, 12, 16, 128, 4000])),
        max_prefix_table_size=draw(st.sampled_from([0, 1, 2, 3, 4, 16, 150])),
        max_datatype_table_size=draw(st.sampled_from([0, 1, 2, 3, 16, 32])),
        version=version,
    )


NAMESPACES = st.lists(
    st.tuples(st.sampled_from(["", "ex", "é", "rdf"]), _PREFIXES.map(str)),
    max_size=3,
    unique_by=lambda pair: pair[0],
)
METADATA = st.dictionaries(st.sampled_from(["", "key", "ключ", "_:index"]), st.binary(max_size=8), max_size=3)


@dataclass
class FrameCase:
    statements: list[Statement]
    namespaces: list[tuple[str, str]] = field(default_factory=list)
    metadata: dict[str, bytes] = field(default_factory=dict)


@dataclass
class StreamCase:
    options: StreamOptions
    frames: list[FrameCase]

    @property
    def statements(self) -> list[Statement]:
        return [statement for frame in self.frames for statement in frame.statements]


@st.composite
def streams(draw: st.DrawFn, *, extras: bool = False, flat: bool = False, fitting: bool = True) -> StreamCase:
    """Options, and statements cut into frames. `extras`: with namespaces and metadata, in version 2.

    `flat`: of a logical type that leaves it to the writer where frames are cut.
    `fitting`: the tables are as large as the statements need, at least; see `table_needs`.
    """
    shape = draw(SHAPES)
    options = draw(stream_options(shape, version=2 if extras else 0, flat=flat))
    statements = draw(statement_lists(shape))
    if fitting:
        options = with_room_for(options, statements)
    frames = []
    for size in draw(st.lists(st.integers(0, 8), max_size=5)):
        frames.append(FrameCase(statements[:size]))
        statements = statements[size:]
    if statements or not frames:
        frames.append(FrameCase(statements))
    if extras:
        for frame in frames:
            frame.namespaces = draw(NAMESPACES)
            frame.metadata = draw(METADATA)
    return StreamCase(options, frames)


def flat_terms(terms: Iterable[Term]) -> Iterator[Term]:
    """The terms of a statement, those in its quoted triples included."""
    for term in terms:
        if isinstance(term, Triple):
            yield from flat_terms(term)
        else:
            yield term


def table_needs(statement: Iterable[Term]) -> tuple[int, int]:
    """Return the largest numbers of names (one for each IRI) and datatypes that one statement refers to."""
    terms = list(flat_terms(statement))
    names = {term.value for term in terms if isinstance(term, IRI)}
    datatypes = {
        term.datatype
        for term in terms
        if isinstance(term, Literal) and term.language is None and term.datatype != XSD + "string"
    }
    return len(names), len(datatypes)


def with_room_for(options: StreamOptions, statements: Iterable[Statement]) -> StreamOptions:
    """The options with tables for names and datatypes that hold what any one statement refers to.

    Prefixes are another matter: whatever the size of their table, IRIs can be written whole.
    """
    needs = [table_needs(statement) for statement in statements]
    most_names = max((names for names, _ in needs), default=0)
    most_datatypes = max((datatypes for _, datatypes in needs), default=0)
    return options.replace(
        max_name_table_size=max(options.max_name_table_size, most_names),
        max_datatype_table_size=max(options.max_datatype_table_size, most_datatypes),
    )
