"""Damaged N-Quads: both kernels and another parser have to read them alike."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.kernel import kernel_name
from support.plain import PlainStatement, PlainTerm, plain_literal
from support.strategies import Shape, statement_lists
from support.text_kernel import TextKernel, outcome


@pytest.fixture(scope="session")
def kernel(twin: ModuleType) -> TextKernel:
    return TextKernel("pure" if twin.__name__.endswith("_pure") else kernel_name())


def oxigraph_term(term: Any) -> PlainTerm:
    if isinstance(term, pyoxigraph.NamedNode):
        return "iri", term.value
    if isinstance(term, pyoxigraph.BlankNode):
        return "bnode", term.value
    if isinstance(term, pyoxigraph.Literal):
        return plain_literal(term.value, term.datatype.value, term.language)
    assert isinstance(term, pyoxigraph.DefaultGraph)
    return ("default",)


def parse_with_oxigraph(text: bytes) -> list[PlainStatement] | None:
    """Quads as plain tuples; None for what it does not accept, or accepts as something that only RDF 1.2 has."""
    try:
        quads = list(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError:
        return None
    if any(isinstance(quad.object, pyoxigraph.Triple) or getattr(quad.object, "direction", None) for quad in quads):
        return None
    return [tuple(map(oxigraph_term, (q.subject, q.predicate, q.object, q.graph_name))) for q in quads]


def with_small_tags(statements: list[PlainStatement]) -> list[PlainStatement]:
    """Language tags in lower case, as oxigraph has them."""
    return [
        tuple((*term[:3], term[3].lower()) if term[0] == "literal" and term[3] else term for term in statement)
        for statement in statements
    ]


MATERIAL = [
    *("<http://example.org/a>", "<x:é>", "<x:\\u00E9>", "_:b", "_:a.b-1"),
    *('"x"', '"é\\n\\u00E9"', '"x"@en-GB', '"5"^^<x:t>'),
    *(
        " ",
        " ",
        "\t",
        ".",
        " .\n",
        "\r\n",
        "# é\n",
        "<<",
        ">>",
        '"',
        "<",
        ">",
        "@",
        "^^",
        "\\",
        "_:",
        ":",
        "-",
        "é",
        "\0",
    ),
]
LINES = [
    '<x:s> <x:p> "é\\t\\U0001F30D"@en-GB <x:g> .\n',
    "_:a.b <x:p> _:c .\r\n",
    '<http://example.org/%20> <x:p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> _:g . # é\n',
]


@st.composite
def damaged_texts(draw: st.DrawFn) -> bytes:
    """A few lines, in which some characters are replaced by others, or some put in."""
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=3))
    lines += [f"{quad.to_line()}\n" for quad in draw(statement_lists(Shape(quads=True), max_size=3))]
    text = "".join(draw(st.permutations(lines)))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 3)))
        text = text[:start] + draw(st.sampled_from(MATERIAL)) + text[stop:]
    return text.encode()


@given(
    text=st.one_of(
        damaged_texts(), st.lists(st.sampled_from(MATERIAL), max_size=10).map(lambda parts: "".join(parts).encode())
    )
)
def test_text_that_oxigraph_accepts_is_read_alike(kernel: TextKernel, text: bytes) -> None:
    """It checks IRIs and language tags more closely, so what it accepts is a part of what the grammar allows."""
    expected = parse_with_oxigraph(text)
    if expected is not None:
        assert with_small_tags(kernel.parse(text, quads=True)) == expected


@given(text=damaged_texts(), cut=st.integers(0, 200))
def test_twins_agree_on_damaged_text(text: bytes, cut: int) -> None:
    if kernel_name() != "compiled":
        pytest.skip("there is only the pure kernel here")
    outcomes = [outcome(TextKernel(name).parse, text[:cut], text[cut:], quads=True) for name in ("compiled", "pure")]
    assert outcomes[0] == outcomes[1]
