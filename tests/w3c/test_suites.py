"""The W3C suites, if JELLYFRAME_W3C_TESTS names a folder that has them: every manifest below it is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.w3c_suites import Case, find_cases, problem_of

FOLDER = os.environ.get("JELLYFRAME_W3C_TESTS")
# Cases that differ from what the specification says, and why.
KNOWN = {
    "rdf-xml xml-canon-test001": "pyoxigraph does not write XML literals in their canonical form",
    "json-ld/toRdf t0122": "pyoxigraph does not remove dot segments there",
    "json-ld/toRdf t0123": "pyoxigraph does not remove dot segments there",
    "json-ld/toRdf te062": "pyoxigraph does not remove dot segments there",
    "json-ld/toRdf te091": "pyoxigraph does not remove dot segments there",
    "json-ld/toRdf tc013": "pyoxigraph takes another context there",
    "json-ld/toRdf tli12": "pyoxigraph refuses the invalid base, which is not used",
}
REMOTE = "No LoadDocumentCallback"
DIRECTION = "a literal with a base direction"


def cases() -> list[Case]:
    return [] if FOLDER is None else list(find_cases(Path(FOLDER)))


@pytest.mark.skipif(FOLDER is None, reason="JELLYFRAME_W3C_TESTS names no folder with the W3C suites")
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.suite} {case.name}")
def test_every_case_of_the_manifests_passes(case: Case) -> None:
    if case.skip is not None:
        pytest.skip(case.skip)
    problem = problem_of(case)
    known = KNOWN.get(f"{case.suite.rpartition('w3c/')[2]} {case.name}")
    if problem is not None and (known or REMOTE in problem or DIRECTION in problem):
        pytest.xfail(known or problem)
    assert problem is None
