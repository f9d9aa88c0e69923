"""Jena reads the RDF Patch text that we make of Jelly-Patch, writes it again, and makes the same of data as we do.

With Jelly-JVM's patch modules it converts Jelly-Patch to text and back.
"""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import jellyframe
from jellyframe import (
    DEFAULT_GRAPH,
    IRI,
    Add,
    BlankNode,
    Delete,
    Header,
    Literal,
    NamespaceAdd,
    PatchOptions,
    PatchRow,
    PatchStatementType,
    PatchStreamType,
    Punctuation,
    Quad,
    TransactionCommit,
    TransactionStart,
)
from jellyframe.formats.patches import open_patch_input, open_patch_output
from jellyframe.ops import patches as patches_ops
from support.jvm import Jvm
from support.strategies import Shape, Statement, flat_terms, statement_lists

EXAMPLES = settings(max_examples=150)


def can_be_held(statement: Statement) -> bool:
    """Return whether Jena keeps a statement as it is.

    It changes language tags to the case that BCP 47 recommends, and takes labels of blank nodes for ones that it has
    escaped itself.
    """
    return not any(
        isinstance(term, BlankNode) or (isinstance(term, Literal) and term.language not in (None, "en", "en-GB"))
        for term in flat_terms(statement)
    )


@st.composite
def patches(draw: st.DrawFn) -> tuple[PatchOptions, list[PatchRow]]:
    """One patch: headers, then namespaces and changes in transactions. Jena's text has no quoted triples."""
    shape = Shape(quads=draw(st.booleans()))
    statements = filter(can_be_held, draw(statement_lists(shape)))
    rows: list[PatchRow] = [Header("id", IRI("urn:uuid:0d4f")), TransactionStart()]
    if draw(st.booleans()):
        rows.append(NamespaceAdd("ex", IRI("http://example.org/")))
    for statement in statements:
        rows.append(Add(*statement) if draw(st.booleans()) else Delete(*statement))
        if draw(st.integers(0, 5)) == 0:
            rows += [TransactionCommit(), TransactionStart()]
    rows.append(TransactionCommit())
    return PatchOptions.small(
        statement_type=PatchStatementType.QUADS if shape.quads else PatchStatementType.TRIPLES,
        stream_type=draw(st.sampled_from([PatchStreamType.FRAME, PatchStreamType.FLAT, PatchStreamType.PUNCTUATED])),
    ), rows


def as_quads(rows: list[PatchRow]) -> list[PatchRow]:
    """Rows without ends of patches, and with the default graph where there is none: text has one way to say both."""
    return [
        type(row)(row.s, row.p, row.o, row.g or DEFAULT_GRAPH) if isinstance(row, Add | Delete) else row
        for row in rows
        if not isinstance(row, Punctuation)
    ]


def without_graphs_of_namespaces(rows: list[PatchRow]) -> list[PatchRow]:
    return [NamespaceAdd(row.name, row.iri) if isinstance(row, NamespaceAdd) else row for row in rows]


def read(path: Path) -> list[PatchRow]:
    with open_patch_input(path) as reader:
        return without_graphs_of_namespaces(as_quads(list(reader.rows())))


@EXAMPLES
@given(patch=patches())
def test_jena_reads_and_writes_the_text_of_our_patches(
    jvm: Jvm, folder: Path, patch: tuple[PatchOptions, list[PatchRow]]
) -> None:
    options, rows = patch
    with jellyframe.open_patch_writer(folder / "ours.jellyp", options) as writer:
        writer.write(rows)
    with open_patch_input(folder / "ours.jellyp") as reader, open_patch_output(folder / "ours.rdfp") as text:
        for batch in reader.batches():
            text.write_batch(batch)
    jvm.run("patch-copy", folder / "ours.rdfp", folder / "theirs.rdfp")
    assert read(folder / "theirs.rdfp") == without_graphs_of_namespaces(as_quads(rows))


@EXAMPLES
@given(patch=patches(), frame_rows=st.sampled_from([1, 3, 256]))
def test_jena_converts_our_patches_to_text_and_back(
    patch_jvm: Jvm, folder: Path, patch: tuple[PatchOptions, list[PatchRow]], frame_rows: int
) -> None:
    options, rows = patch
    expected = without_graphs_of_namespaces(as_quads(rows))
    with jellyframe.open_patch_writer(folder / "ours.jellyp", options, frame_rows=frame_rows) as writer:
        writer.write(rows)
    patch_jvm.run("from-jelly", folder / "ours.jellyp", folder / "theirs.rdfp")
    assert read(folder / "theirs.rdfp") == expected
    sizes = (options.max_name_table_size, options.max_prefix_table_size, options.max_datatype_table_size)
    types = (options.statement_type.name, options.stream_type.name)
    patch_jvm.run("to-jelly", folder / "theirs.rdfp", folder / "theirs.jellyp", *types, *sizes, frame_rows)
    # Namespaces have no graph in Jena's text, and so neither in a stream of quads that Jelly-JVM makes of it.
    with jellyframe.open_patch_reader(folder / "theirs.jellyp", strict=False) as reader:
        assert reader.options.stream_type is options.stream_type
        assert without_graphs_of_namespaces(as_quads(list(reader.rows()))) == expected


@EXAMPLES
@given(patch=patches(), shared=st.data())
def test_jena_applies_our_patches_with_the_same_result(
    jvm: Jvm, folder: Path, patch: tuple[PatchOptions, list[PatchRow]], shared: st.DataObject
) -> None:
    rows = as_quads(patch[1])
    changed = [Quad(row.s, row.p, row.o, row.g or DEFAULT_GRAPH) for row in rows if isinstance(row, Add | Delete)]
    data = shared.draw(st.lists(st.sampled_from(changed), max_size=8)) if changed else []
    (folder / "data.nq").write_text("".join(f"{line(quad)}\n" for quad in data), encoding="utf-8")
    with open_patch_output(folder / "ours.rdfp") as text:
        text.write(rows)
    jvm.run("patch-apply", folder / "data.nq", folder / "ours.rdfp", folder / "theirs.nq")
    patches_ops.apply(folder / "data.nq", folder / "ours.rdfp", folder / "ours.nq")
    assert jellyframe.compare(folder / "ours.nq", folder / "theirs.nq").is_equal


def line(quad: Quad) -> str:
    return f"{' '.join(str(term) for term in quad if term is not DEFAULT_GRAPH)} ."


def test_blank_nodes_stay_the_same_nodes(jvm: Jvm, folder: Path) -> None:
    rows: list[PatchRow] = [
        Add(BlankNode("Bone"), IRI("urn:p"), BlankNode("Btwo"), DEFAULT_GRAPH),
        Delete(BlankNode("Btwo"), IRI("urn:p"), BlankNode("Bone"), DEFAULT_GRAPH),
    ]
    with open_patch_output(folder / "ours.rdfp") as text:
        text.write(rows)
    jvm.run("patch-copy", folder / "ours.rdfp", folder / "theirs.rdfp")
    first, second = read(folder / "theirs.rdfp")
    assert isinstance(first, Add)
    assert isinstance(second, Delete)
    assert (first.s, first.o) == (second.o, second.s)
    assert first.s != first.o
