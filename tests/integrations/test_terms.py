"""Terms survive a round trip through rdflib and pyoxigraph, or are refused with a message."""

import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import TermError
from jellyframe.formats import pyoxigraph_terms
from jellyframe.integrations import rdflib_terms
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Triple

XSD = "http://www.w3.org/2001/XMLSchema#"
A = IRI("http://example.org/a")
LETTERS = st.characters(codec="utf-8")
IRIS = st.from_regex(r"[a-z]+:[a-zA-Z0-9/#._-]{0,20}", fullmatch=True)
LABELS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,10}", fullmatch=True)
TERMS = st.one_of(
    st.builds(IRI, IRIS),
    st.builds(BlankNode, LABELS),
    st.builds(Literal, st.text(LETTERS)),
    st.builds(Literal, st.text(LETTERS), IRIS | st.sampled_from([XSD + "integer", XSD + "boolean", XSD + "date"])),
    st.builds(lambda lex, tag: Literal(lex, language=tag), st.text(LETTERS), st.sampled_from(["en", "de-at", "fr"])),
)


@given(TERMS)
def test_terms_survive_a_round_trip_through_rdflib(term):
    assert rdflib_terms.from_rdflib(rdflib_terms.to_rdflib(term)) == term


@given(TERMS)
def test_terms_survive_a_round_trip_through_pyoxigraph(term):
    assert pyoxigraph_terms.from_pyoxigraph(pyoxigraph_terms.to_pyoxigraph(term)) == term


def test_lexical_forms_are_not_normalised():
    for lex, name in (("007", "integer"), ("TRUE", "boolean"), ("1.50", "decimal"), ("x", "integer")):
        term = Literal(lex, XSD + name)
        assert str(rdflib_terms.to_rdflib(term)) == lex
        assert pyoxigraph_terms.to_pyoxigraph(term).value == lex


def test_a_simple_literal_has_no_datatype_in_rdflib():
    assert rdflib_terms.to_rdflib(Literal("a")) == rdflib.Literal("a")
    assert rdflib_terms.from_rdflib(rdflib.Literal("a", datatype=rdflib.XSD.string)) == Literal("a")


def test_graphs_have_names_or_are_the_default_graph():
    name = rdflib_terms.graph_to_rdflib
    assert name(None) == name(DEFAULT_GRAPH) == rdflib.Dataset().default_graph.identifier
    assert rdflib_terms.graph_from_rdflib(rdflib.Dataset().default_graph) is DEFAULT_GRAPH
    assert rdflib_terms.graph_from_rdflib(rdflib.Graph(identifier="http://example.org/a")) == A
    assert rdflib_terms.graph_from_rdflib(None) is DEFAULT_GRAPH
    assert rdflib_terms.graph_from_rdflib(name(A)) == A
    for graph in (None, DEFAULT_GRAPH):
        assert pyoxigraph_terms.graph_to_pyoxigraph(graph) == pyoxigraph.DefaultGraph()
    assert pyoxigraph_terms.graph_from_pyoxigraph(pyoxigraph.DefaultGraph()) is DEFAULT_GRAPH
    assert pyoxigraph_terms.graph_from_pyoxigraph(pyoxigraph_terms.graph_to_pyoxigraph(A)) == A


@pytest.mark.parametrize(
    ("convert", "given", "says"),
    [
        (rdflib_terms.to_rdflib, Triple(A, A, A), "quoted triples"),
        (rdflib_terms.to_rdflib, Literal("a", language="no tag"), "language tag 'no tag'"),
        (rdflib_terms.from_rdflib, rdflib.Variable("v"), "Variable"),
        (rdflib_terms.from_rdflib, "text", "str"),
        (pyoxigraph_terms.to_pyoxigraph, Triple(A, A, A), "quoted triples"),
        (pyoxigraph_terms.to_pyoxigraph, IRI("relative"), "the IRI 'relative'"),
        (pyoxigraph_terms.to_pyoxigraph, BlankNode("a b"), "label of a blank node 'a b'"),
        (pyoxigraph_terms.to_pyoxigraph, Literal("a", language="no tag"), "language tag 'no tag'"),
        (pyoxigraph_terms.to_pyoxigraph, Literal("a", "relative"), "datatype 'relative'"),
        (pyoxigraph_terms.graph_to_pyoxigraph, Literal("g"), "name of a graph"),
        (pyoxigraph_terms.from_pyoxigraph, pyoxigraph.Variable("v"), "Variable"),
        (
            pyoxigraph_terms.from_pyoxigraph,
            pyoxigraph.Triple(*[pyoxigraph.NamedNode("http://example.org/a")] * 3),
            "triple term",
        ),
    ],
)
def test_values_that_do_not_fit_are_refused_with_a_message(convert, given, says):
    with pytest.raises(TermError, match=says):
        convert(given)


@pytest.mark.parametrize("convert", [rdflib_terms.to_rdflib, pyoxigraph_terms.to_pyoxigraph])
def test_an_object_that_is_not_a_term_is_a_type_error(convert):
    with pytest.raises(TypeError, match="a term was expected, not a str"):
        convert("http://example.org/a")
