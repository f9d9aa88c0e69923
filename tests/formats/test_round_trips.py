"""Round trips of text formats: every statement that a format can hold is read back unchanged."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import IRI, Batch, BlankNode, Literal, Triple, formats
from jellyframe.formats.settings import ReadSettings
from jellyframe.kernel.steps import DEEPEST_NESTING
from jellyframe.storage.sinks import ByteSink

S, P = IRI("http://a/s"), IRI("http://a/p")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
# Turtle refuses IRIs with characters that IRIs may not hold; N-Triples has escapes for them.
IRI_TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters='<>"{}|\\^` '), max_size=20)
LANGUAGES = st.from_regex(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,2}", fullmatch=True)


def triples(iri_text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Triple]]:
    """Statements whose IRIs are made of such text."""
    iris = st.builds(lambda rest: IRI(f"x:{rest}"), iri_text)
    literals = st.builds(Literal, TEXT) | st.builds(lambda lex, tag: Literal(lex, language=tag), TEXT, LANGUAGES)
    literals |= st.builds(lambda lex, datatype: Literal(lex, datatype.value), TEXT, iris)
    nodes = iris | st.builds(BlankNode, TEXT)
    quoted = st.recursive(
        st.builds(Triple, nodes, iris, nodes | literals),
        lambda inner: st.builds(Triple, nodes | inner, iris, nodes | literals | inner),
        max_leaves=6,
    )
    return st.lists(st.builds(Triple, nodes | quoted, iris, nodes | literals | quoted), min_size=1, max_size=4)


def written(statements: list[Triple], found: formats.Format) -> bytes:
    sink = io.BytesIO()
    with ByteSink(sink) as file:
        output = formats.open_output(file, found)
        output.write(Batch.from_statements(statements, quads=False))
        output.close()
    return sink.getvalue()


def read(text: bytes, found: formats.Format, *, lenient: bool = False) -> list[Triple]:
    with formats.open_input(text, found, ReadSettings(lenient=lenient)) as source:
        return [Triple(*statement[:3]) for batch in source.batches() for statement in batch.statements()]


def _key(statement: Triple) -> str:
    return statement.to_line()


@given(triples(TEXT))
def test_ntriples(statements: list[Triple]) -> None:
    text = written(statements, formats.NTRIPLES)
    assert [_key(one) for one in read(text, formats.NTRIPLES, lenient=True)] == [_key(one) for one in statements]
    # Strictly read, labels of blank nodes stay as they are written; all else is the same.
    assert written(read(text, formats.NTRIPLES), formats.NTRIPLES).count(b"\n") == len(statements)


@pytest.mark.parametrize("found", [formats.TURTLE, formats.TRIG], ids=lambda found: found.name)
@given(statements=triples(IRI_TEXT))
def test_turtle(found: formats.Format, statements: list[Triple]) -> None:
    lines = written(statements, formats.NTRIPLES)
    again = read(written(statements, found), found)
    assert [_key(one) for one in again] == [_key(one) for one in read(lines, formats.NTRIPLES)]


@pytest.mark.parametrize("depth", [1, 64, 65, DEEPEST_NESTING])
@pytest.mark.parametrize("found", [formats.NTRIPLES, formats.TURTLE], ids=lambda found: found.name)
def test_quoted_triples_as_deep_as_jelly_allows(found: formats.Format, depth: int) -> None:
    term: IRI | Triple = S
    for _ in range(depth):
        term = Triple(S, P, term)
    statement = Triple(S, P, term)
    assert read(written([statement], found), found) == [statement]


def test_iris_with_forbidden_characters_survive_ntriples() -> None:
    statement = Triple(S, P, IRI('http://a/ <>"{}|\\^`\t'))
    assert read(written([statement], formats.NTRIPLES), formats.NTRIPLES) == [statement]
