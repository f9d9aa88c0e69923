"""RDF/XML and JSON-LD: what pyoxigraph has not checked changes no other statement, and errors lose none before them."""

from __future__ import annotations

import json

import pytest

from jellyframe import IRI, BlankNode, Literal, Quad, Triple, formats
from jellyframe.errors import TextError
from jellyframe.formats.settings import ReadSettings

S, P = IRI("http://a/s"), IRI("http://a/p")
# Each would end a term of N-Quads and begin something else.
INJECTED = ["http://a/o> <http://a/g", "http://a/o> .\n<http://a/x> <http://a/y> <http://a/z"]


def read(text: str, found: formats.Format, *, lenient: bool) -> list[Triple | Quad]:
    statements: list[Triple | Quad] = []
    with formats.open_input(text.encode(), found, ReadSettings(lenient=lenient)) as source:
        for batch in source.batches():
            statements += batch.statements()
    return statements


def json_ld(value: object) -> str:
    return json.dumps({"@id": S.value, P.value: value})


@pytest.mark.parametrize("odd", INJECTED)
def test_lenient_terms_are_one_term_each(odd: str) -> None:
    def objects(value: object) -> list[object]:
        return [tuple(one)[2] for one in read(json_ld(value), formats.JSON_LD, lenient=True)]

    assert objects({"@id": odd}) == [IRI(odd)]
    assert objects({"@id": f"_:{odd}"}) == [BlankNode(odd)]
    assert objects({"@value": "x", "@type": odd}) == [Literal("x", odd)]
    (named,) = read(json.dumps({"@id": odd, "@graph": {"@id": odd, odd: "x"}}), formats.JSON_LD, lenient=True)
    assert named == Quad(IRI(odd), IRI(odd), Literal("x"), IRI(odd))


@pytest.mark.parametrize("tag", ["en <http://a/g>", "en .\n<http://a/x> <http://a/y> <http://a/z> .\n#", "en_GB", "1"])
def test_a_language_tag_that_no_format_can_write_is_refused(tag: str) -> None:
    good = {"@value": "y", "@language": "en"}
    with pytest.raises(TextError, match=r"statement 2: '.*' is not a valid language tag"):
        read(json_ld([good, {"@value": "x", "@language": tag}]), formats.JSON_LD, lenient=True)
    assert [one[2] for one in read(json_ld(good), formats.JSON_LD, lenient=True)] == [Literal("y", language="en")]


def test_lenient_rdf_xml() -> None:
    text = (
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">'
        '<r:Description r:about="http://a/s"><a:p r:resource="http://a/&gt; &lt;b"/></r:Description></r:RDF>'
    )
    assert read(text, formats.RDF_XML, lenient=True) == [Triple(S, P, IRI("http://a/> <b"))]
    with pytest.raises(TextError, match="line 1"):
        read(text, formats.RDF_XML, lenient=False)


@pytest.mark.parametrize("lenient", [False, True])
def test_statements_before_an_error_are_given(lenient: bool) -> None:
    rows = "".join(f"<a:p>{number}</a:p>\n" for number in range(1000))
    text = (
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">\n'
        f'<r:Description r:about="http://a/s">\n{rows}<a:p></a:q>'
    )
    found: list[object] = []

    def collect() -> None:
        with formats.open_input(text.encode(), formats.RDF_XML, ReadSettings(lenient=lenient)) as source:
            for batch in source.batches():
                found.extend(one.o.lex for one in batch.statements() if isinstance(one.o, Literal))

    with pytest.raises(TextError, match="line 1003"):
        collect()
    assert found == [str(number) for number in range(1000)]


@pytest.mark.parametrize("lenient", [False, True])
def test_labels_that_end_with_a_dot(lenient: bool) -> None:
    """Names of XML may, labels of N-Quads may not."""
    nodes = "".join(
        f'<r:Description r:nodeID="{label}"><a:p r:nodeID="x."/><a:p>_:x. </a:p></r:Description>'
        for label in ("x", "x.", "x..", "y.")
    )
    text = f'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">{nodes}</r:RDF>'
    found = read(text, formats.RDF_XML, lenient=lenient)
    assert [one.o for one in found[1::2]] == [Literal("_:x. ")] * 4
    subjects = [one.s for one in found[::2]]
    assert len(set(subjects)) == 4
    assert {one.o for one in found[::2]} == {subjects[1]}
    assert subjects[0] == BlankNode("x")
