"""The W3C suites of a folder: their manifests, and what our readers make of each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyoxigraph

from jellyframe import formats
from jellyframe.errors import JellyError
from jellyframe.formats.settings import ReadSettings
from jellyframe.ops.isomorphism import compare
from jellyframe.terms import Quad

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFT = "http://www.w3.org/ns/rdftest#"
# Where the suites are published: what relative IRIs in their cases are resolved against.
BASES = {
    "ttl": "http://www.w3.org/2013/TurtleTests/",
    "trig": "http://www.w3.org/2013/TriGTests/",
    "rdfxml": "http://www.w3.org/2013/RDFXMLTests/",
    "nt": "http://www.w3.org/2013/N-TriplesTests/",
    "nq": "http://www.w3.org/2013/N-QuadsTests/",
}


class Case(NamedTuple):
    """A case of a suite: an input, and the file with the same statements, or None if only the syntax is tested."""

    suite: str
    name: str
    format: formats.Format
    is_positive: bool
    input: Path
    expected: Path | None
    base: str
    skip: str | None = None


def find_cases(root: Path) -> Iterator[Case]:
    """Yield the cases of all manifests below a folder."""
    for manifest in sorted(root.rglob("manifest.ttl")):
        suite = manifest.parent.relative_to(root).as_posix()
        if not any(other in suite for other in ("n3", "sparql", "dawg", "non-normative")):
            yield from _turtle_manifest(manifest, suite)
    for manifest in sorted(root.rglob("toRdf-manifest.jsonld")):
        yield from _json_manifest(manifest)


def _turtle_manifest(manifest: Path, suite: str) -> Iterator[Case]:
    statements = list(
        pyoxigraph.parse(manifest.read_bytes(), pyoxigraph.RdfFormat.TURTLE, base_iri=manifest.as_uri(), lenient=True)
    )
    actions = {q.subject: q.object for q in statements if q.predicate.value == MF + "action"}
    results = {q.subject: q.object for q in statements if q.predicate.value == MF + "result"}
    for quad in statements:
        kind = getattr(quad.object, "value", "")
        if quad.predicate.value != RDF + "type" or not kind.startswith(RDFT) or quad.subject not in actions:
            continue
        path = _path_of(actions[quad.subject])
        found = formats.format_by_path(path.name, formats.TEXT_FORMATS)
        if found is None or not path.exists() or "C14N" in kind:
            continue
        is_positive = "Negative" not in kind
        expected = results.get(quad.subject)
        base = BASES[found.name] + path.relative_to(manifest.parent).as_posix()
        name = str(getattr(quad.subject, "value", "")).rpartition("#")[2]
        yield Case(suite, name, found, is_positive, path, None if expected is None else _path_of(expected), base)


def _path_of(term: object) -> Path:
    from urllib.parse import unquote, urlparse

    return Path(unquote(urlparse(str(getattr(term, "value", ""))).path))


def _json_manifest(manifest: Path) -> Iterator[Case]:
    content = json.loads(manifest.read_text())
    if "json-ld-api" not in content.get("baseIri", ""):
        # The suite of JSON-LD 1.0.
        return
    for entry in content["sequence"]:
        option = entry.get("option", {})
        skip = None
        if option.get("specVersion") == "json-ld-1.0" or option.get("processingMode") == "json-ld-1.0":
            skip = "JSON-LD 1.0"
        elif option.get("produceGeneralizedRdf"):
            skip = "generalized RDF"
        elif option.get("rdfDirection") or "expandContext" in option or "html" in entry["input"]:
            skip = "an option that commands do not have"
        expected = entry.get("expect")
        yield Case(
            "json-ld/toRdf",
            entry["@id"].lstrip("#"),
            formats.JSON_LD,
            "jld:NegativeEvaluationTest" not in entry["@type"],
            manifest.parent / entry["input"],
            None if expected is None else manifest.parent / expected,
            option.get("base", content["baseIri"] + entry["input"]),
            skip,
        )


def statements_of(path: Path, found: formats.Format, base: str) -> set[Quad]:
    """Return the statements of a file, read strictly."""
    from jellyframe.ops.isomorphism import normalised

    settings = ReadSettings(base_iri=base, generalized=False)
    with formats.open_input(str(path), found, settings) as source:
        return {normalised(statement) for batch in source.batches() for statement in batch.statements()}


def problem_of(case: Case) -> str | None:
    """Return what is wrong with our reading of a case, or None."""
    try:
        statements = statements_of(case.input, case.format, case.base)
    except JellyError as error:
        return None if not case.is_positive else f"refused: {error}"
    if not case.is_positive:
        return f"accepted, with {len(statements)} statements"
    if case.expected is None:
        return None
    found = formats.format_by_path(case.expected.name, formats.TEXT_FORMATS)
    assert found is not None
    difference = compare(statements, statements_of(case.expected, found, case.base))
    return (
        None if difference is None else f"{difference.message} {difference.extra_in_first} {difference.extra_in_second}"
    )
