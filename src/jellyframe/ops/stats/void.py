"""Statistics as a VoID description, in Turtle."""

from __future__ import annotations

import re

from jellyframe.errors import OptionsError
from jellyframe.ops.stats.result import Counts, Statistics
from jellyframe.terms import Literal

_PREFIXES = """\
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix void: <http://rdfs.org/ns/void#> .
"""
# An absolute IRI, as in Turtle: data may have others, which VoID cannot describe.
_ABSOLUTE_IRI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*')
_BLANK_DATASET = "_:dataset"


def void_description(statistics: Statistics, *, dataset: str | None = None, title: str | None = None) -> str:
    """Return the description of a data set, an IRI or a blank node, with all predicates and classes."""
    require_dataset_iri(dataset)
    distinct = statistics.distinct
    lines = [f"{_BLANK_DATASET if dataset is None else f'<{dataset}>'} a void:Dataset"]
    if title is not None:
        lines.append(f"dcterms:title {Literal(title)}")
    lines += [
        f"void:triples {statistics.statements}",
        f"void:distinctSubjects {distinct['subjects']}",
        f"void:distinctObjects {distinct['objects']}",
        f"void:properties {distinct['predicates']}",
        f"void:classes {distinct['classes']}",
    ]
    lines += [
        f"void:propertyPartition [ void:property <{iri}> ; void:triples {count.uses} ]"
        for iri, count in _with_iris(statistics.predicates).items()
    ]
    lines += [
        f"void:classPartition [ void:class <{iri}> ; void:entities {count.distinct} ]"
        for iri, count in _with_iris(statistics.classes).items()
    ]
    return f"{_PREFIXES}\n" + " ;\n    ".join(lines) + " .\n"


def require_dataset_iri(dataset: str | None) -> None:
    """Raise if an IRI cannot be the name of a data set."""
    if dataset is not None and not _ABSOLUTE_IRI.fullmatch(dataset):
        raise OptionsError(f"{dataset!r} is not an absolute IRI, so it cannot name a data set")


def _with_iris(counts: Counts) -> Counts:
    return {name: count for name, count in counts.items() if _ABSOLUTE_IRI.fullmatch(name)}
