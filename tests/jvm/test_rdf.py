"""Jelly-JVM, on Jena and on RDF4J, reads what we write, and we read what it writes: every term to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jellyframe
from jellyframe import DEFAULT_GRAPH, Literal, PhysicalType, Quad, StreamOptions, Triple
from support.jvm import Jvm
from support.strategies import Shape, Statement, flat_terms, statement_lists, stream_options, with_room_for

LIBRARIES = ("jena", "rdf4j")
EXAMPLES = settings(max_examples=150)
SHAPES = st.builds(Shape, quads=st.booleans(), star=st.booleans())


def can_be_held(statement: Statement) -> bool:
    """Return whether Jena keeps a statement as it is: it changes language tags to the case that BCP 47 recommends."""
    return all(
        not isinstance(term, Literal) or term.language in (None, "en", "en-GB", "zh-Hant-TW")
        for term in flat_terms(statement)
    )


@st.composite
def data_sets(draw: st.DrawFn) -> list[Statement]:
    return list(filter(can_be_held, draw(SHAPES.flatmap(lambda shape: statement_lists(shape, min_size=1)))))


def as_quads(statements: list[Statement]) -> list[Quad]:
    return [statement if isinstance(statement, Quad) else Quad(*statement, DEFAULT_GRAPH) for statement in statements]


def read_text(path: Path) -> list[Quad]:
    return as_quads([statement for batch in jellyframe.ntriples.read(path) for statement in batch.statements()])


def write_text(statements: list[Statement], path: Path) -> None:
    path.write_text("".join(f"{line(statement)}\n" for statement in statements), encoding="utf-8")


def line(statement: Statement) -> str:
    terms = [str(term) for term in statement if term is not DEFAULT_GRAPH]
    return f"{' '.join(terms)} ."


@pytest.mark.parametrize("library", LIBRARIES)
@EXAMPLES
@given(case=st.data())
def test_the_jvm_reads_our_streams(jvm: Jvm, folder: Path, library: str, case: st.DataObject) -> None:
    statements = case.draw(data_sets())
    shape = Shape(quads=any(isinstance(statement, Quad) for statement in statements), star=True)
    options = with_room_for(case.draw(stream_options(shape)), statements)
    frame_rows = case.draw(st.sampled_from([1, 3, 256]))
    restart_every = case.draw(st.sampled_from([None, 1, 64]))
    if options.logical_type.is_grouped:
        restart_every = None
    with jellyframe.open_writer(
        folder / "ours.jelly", options, frame_rows=frame_rows, restart_every=restart_every
    ) as writer:
        writer.write(statements)
    jvm.run("decode", library, folder / "ours.jelly", folder / "theirs.nq")
    assert read_text(folder / "theirs.nq") == as_quads(statements)


@pytest.mark.parametrize("library", LIBRARIES)
@EXAMPLES
@given(
    statements=data_sets(),
    as_graphs=st.booleans(),
    preset=st.sampled_from(["small", "big"]),
    frame_rows=st.sampled_from([1, 3, 256]),
)
def test_we_read_streams_of_the_jvm(
    jvm: Jvm, folder: Path, library: str, statements: list[Statement], as_graphs: bool, preset: str, frame_rows: int
) -> None:
    has_graphs = any(isinstance(statement, Quad) for statement in statements)
    physical = ("graphs" if as_graphs else "quads") if has_graphs else "triples"
    write_text(statements, folder / "ours.nq")
    jvm.run("encode", library, folder / "ours.nq", folder / "theirs.jelly", physical, preset, frame_rows)
    with jellyframe.open_reader(folder / "theirs.jelly") as reader:
        assert as_quads(list(reader.statements())) == as_quads(statements)
        if statements:
            assert reader.options.physical_type is PhysicalType[physical.upper()]


@pytest.mark.parametrize("library", LIBRARIES)
def test_large_files_with_tables_that_evict(jvm: Jvm, folder: Path, library: str) -> None:
    statements: list[Statement] = [
        Triple(
            jellyframe.IRI(f"http://example.org/{number % 7}/subject{number % 5000}"),
            jellyframe.IRI(f"http://example.org/vocab#p{number % 23}"),
            Literal(str(number), datatype=f"http://example.org/type{number % 40}"),
        )
        for number in range(30_000)
    ]
    with jellyframe.open_writer(folder / "ours.jelly", StreamOptions.small(), restart_every=1 << 16) as writer:
        writer.write(statements)
    jvm.run("decode", library, folder / "ours.jelly", folder / "text.nq")
    assert read_text(folder / "text.nq") == as_quads(statements)
    jvm.run("encode", library, folder / "text.nq", folder / "theirs.jelly", "triples", "small", 256)
    with jellyframe.open_reader(folder / "theirs.jelly") as reader:
        assert list(reader.statements()) == statements
