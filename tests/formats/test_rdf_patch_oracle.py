"""RDF Patch text against rdflib's own parser and serializer, as far as those follow the specification.

rdflib's serializer leaves out the full stop behind `H prev`, and its parser expects a word after the name in `PD`:
both are left out here.
"""

from __future__ import annotations

import io
from typing import Any

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

import jellyframe
from jellyframe.formats.patches import open_patch_input
from jellyframe.formats.rdf_patch import PatchTextWriter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6), st.sampled_from(['"', "\\", "a\nb", "\t"])
)
IRIS = st.sampled_from([rdflib.URIRef(f"http://example.org/{name}") for name in ("a", "b#c", "é", "x?y=1")])
LITERALS = st.one_of(
    st.builds(rdflib.Literal, TEXTS),
    st.builds(lambda text: rdflib.Literal(text, lang="en"), TEXTS),
    st.builds(lambda text: rdflib.Literal(text, datatype=rdflib.URIRef("urn:type")), TEXTS),
)
NODES = st.sampled_from([rdflib.BNode("b1"), rdflib.BNode("b2")])
QUADS = st.tuples(IRIS | NODES, IRIS, IRIS | NODES | LITERALS, st.none() | IRIS)
QUAD_LISTS = st.lists(QUADS, max_size=8)


def dataset(quads: list[tuple[object, ...]]) -> rdflib.Dataset:
    made = rdflib.Dataset()
    for s, p, o, g in quads:
        made.get_context(DATASET_DEFAULT_GRAPH_ID if g is None else g).add((s, p, o))  # type: ignore[arg-type]
    return made


def lines_of(data: rdflib.Dataset) -> set[tuple[str, ...]]:
    """The quads as texts of terms, the default graph as nothing."""
    return {
        (*(term.n3() for term in (s, p, o)), "" if g in (None, DATASET_DEFAULT_GRAPH_ID) else g.n3())
        for s, p, o, g in data.quads()
    }


def our_term(term: object) -> Any:
    if isinstance(term, rdflib.URIRef):
        return jellyframe.IRI(str(term))
    if isinstance(term, rdflib.BNode):
        return jellyframe.BlankNode(str(term))
    assert isinstance(term, rdflib.Literal)
    datatype = None if term.language or term.datatype is None else str(term.datatype)
    return jellyframe.Literal(str(term), datatype, language=term.language)


def change(kind: Any, quad: tuple[object, ...]) -> Any:
    """A row that adds or deletes a quad of rdflib's."""
    *terms, graph = quad
    return kind(*map(our_term, terms), None if graph is None else our_term(graph))


@pytest.mark.parametrize(("operation", "kind"), [("add", jellyframe.Add), ("remove", jellyframe.Delete)])
@given(quads=QUAD_LISTS)
def test_patches_of_rdflib_are_read(operation: str, kind: Any, quads: list[tuple[object, ...]]) -> None:
    text = dataset(quads).serialize(format="patch", operation=operation, header_id="urn:1")
    with open_patch_input(text.encode(), "rdfp") as reader:
        rows = list(reader)
    assert [str(row) for row in (*rows[:2], rows[-1])] == ["H id <urn:1> .", "TX .", "TC ."]
    assert {str(row) for row in rows[2:-1]} == {str(change(kind, quad)) for quad in quads}


@given(before=QUAD_LISTS, deleted=QUAD_LISTS, added=QUAD_LISTS)
def test_our_patches_have_the_same_effect_in_rdflib(
    before: list[tuple[object, ...]], deleted: list[tuple[object, ...]], added: list[tuple[object, ...]]
) -> None:
    rows: list[jellyframe.PatchRow] = [jellyframe.Header("id", jellyframe.IRI("urn:1")), jellyframe.TransactionStart()]
    expected = lines_of(dataset(before))
    for kind, quads in ((jellyframe.Delete, deleted), (jellyframe.Add, added)):
        for quad in quads:
            rows.append(change(kind, quad))
        touched = lines_of(dataset(quads))
        expected = expected - touched if kind is jellyframe.Delete else expected | touched
    rows.append(jellyframe.TransactionCommit())
    sink = io.BytesIO()
    with PatchTextWriter(sink) as writer:
        writer.write(rows)
        writer.end_patch()
    data = dataset(before)
    # Labels stay as they are, as those of the data do.
    context = {name: rdflib.BNode(name) for name in ("b1", "b2")}
    data.parse(data=sink.getvalue().decode(), format="patch", bnode_context=context)
    assert lines_of(data) == expected
