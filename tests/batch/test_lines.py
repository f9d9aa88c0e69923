"""Statements as messages quote them."""

from __future__ import annotations

import pytest

from jellyframe import DEFAULT_GRAPH, IRI, Batch, BlankNode, Literal, Quad, Triple
from jellyframe.batch.lines import LINE_BYTES, row_line, statement_line

S, P = IRI("http://a/s"), IRI("http://a/p")


@pytest.mark.parametrize(
    "statement",
    [
        Triple(S, P, Literal("a\n")),
        Quad(S, P, BlankNode("b"), IRI("http://a/g")),
        Quad(S, P, Literal("x", language="en"), DEFAULT_GRAPH),
        Triple(Triple(S, P, S), P, Literal("1", datatype="http://a/d")),
    ],
)
def test_short_lines_are_whole(statement: Triple | Quad) -> None:
    assert statement_line(statement) == statement.to_line()
    assert row_line(Batch.from_statements([statement, statement]), 1) == statement.to_line()


@pytest.mark.parametrize("letter", ["x", "\n", "ä", "\U0001f600"])
def test_long_lines_are_cut_between_characters(letter: str) -> None:
    statement = Triple(S, P, Literal(letter * 1_000_000))
    line = statement_line(statement)
    assert line.endswith("…")
    assert statement.to_line().startswith(line[:-1])
    assert LINE_BYTES - 4 <= len(line[:-1].encode()) <= LINE_BYTES
    assert row_line(Batch.from_statements([statement]), 0) == line


def test_statements_invalid_in_ntriples_have_a_line() -> None:
    statement = Triple(S, P, Literal("x", language="not a tag"))
    assert "not a tag" in statement_line(statement)
    assert "not a tag" in row_line(Batch.from_statements([statement]), 0)
