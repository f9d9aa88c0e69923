"""The outcome of a conformance run as an EARL report in Turtle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata

_PREFIXES = """\
@prefix dc: <http://purl.org/dc/terms/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

SUBJECT = "urn:x-project:jellyframe"
ASSERTOR = "urn:x-project:jellyframe:tests"


@dataclass(frozen=True)
class Result:
    """The result of a test of the suite: `outcome` is passed, failed or untested."""

    test: str
    outcome: str


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _subject(revision: str, summary: str, when: str) -> str:
    return f"""
<> foaf:primaryTopic <{SUBJECT}> ;
    foaf:maker <{ASSERTOR}> ;
    dc:issued {when} .

<{SUBJECT}> a doap:Project, earl:Software, earl:TestSubject ;
    doap:name "jellyframe" ;
    doap:shortdesc {_text(summary)}@en ;
    doap:license <https://www.apache.org/licenses/LICENSE-2.0> ;
    doap:programming-language "Python", "Cython" ;
    doap:developer <{ASSERTOR}> ;
    doap:release [
        doap:name {_text("jellyframe " + revision)} ;
        doap:revision {_text(revision)}
    ] .

<{ASSERTOR}> a foaf:Agent, earl:Assertor, earl:Software ;
    foaf:name "The conformance tests of jellyframe" .
"""


def report(results: list[Result], now: datetime | None = None) -> str:
    """The whole report. Tests come in the order they ran."""
    about = metadata.metadata("jellyframe")
    when = f'"{(now or datetime.now(UTC)).isoformat(timespec="seconds")}"^^xsd:dateTime'
    parts = ["@base <urn:x-project:jellyframe:earl> .\n", _PREFIXES]
    parts.append(_subject(about["Version"], about["Summary"] or "", when))
    for result in results:
        parts.append(f"""
[] a earl:Assertion ;
    earl:assertedBy <{ASSERTOR}> ;
    earl:subject <{SUBJECT}> ;
    earl:test <{result.test}> ;
    earl:mode earl:automatic ;
    earl:result [
        a earl:TestResult ;
        earl:outcome earl:{result.outcome} ;
        dc:date {when}
    ] .
""")
    return "".join(parts)
