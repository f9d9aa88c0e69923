"""The EARL report is valid Turtle with the results."""

from __future__ import annotations

from datetime import UTC, datetime

import pyoxigraph as ox

from support.conformance_earl import SUBJECT, Result, report

EARL = "http://www.w3.org/ns/earl#"


def test_report_is_turtle_with_one_assertion_per_result() -> None:
    results = [Result("http://example.org/one", "passed"), Result("http://example.org/two", "failed")]
    text = report(results, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))

    store = ox.Store()
    store.load(text.encode(), format=ox.RdfFormat.TURTLE)
    outcomes = {}
    for quad in store.quads_for_pattern(None, ox.NamedNode(EARL + "test"), None):
        (subject,) = store.quads_for_pattern(quad.subject, ox.NamedNode(EARL + "subject"), None)
        (result,) = store.quads_for_pattern(quad.subject, ox.NamedNode(EARL + "result"), None)
        assert isinstance(result.object, ox.NamedNode | ox.BlankNode)
        (outcome,) = store.quads_for_pattern(result.object, ox.NamedNode(EARL + "outcome"), None)
        assert subject.object == ox.NamedNode(SUBJECT)
        assert isinstance(quad.object, ox.NamedNode)
        assert isinstance(outcome.object, ox.NamedNode)
        outcomes[quad.object.value] = outcome.object.value.removeprefix(EARL)
    assert outcomes == {result.test: result.outcome for result in results}
