"""Facts annotated in RDF-star: quoted triples as subjects and objects, some of them nested.

The same annotations can be spelled for RDF 1.2 readers, which know no quoted subjects: there a blank node
stands for the quoted triple and `rdf:reifies` says which one.
"""

import random
from collections.abc import Iterator

from .vocabulary import RDF_REIFIES, RDF_TYPE, RDFS_LABEL, XSD_DECIMAL, XSD_YEAR
from .wording import RandomFloat, ranked

BASE = "https://facts.example.org/"
PROV = "http://www.w3.org/ns/prov#"
ENTITIES = 300_000
SOURCES = 5000
_PREDICATES = (
    "memberOf bornIn locatedIn employedBy educatedAt authorOf spouseOf partOf capitalOf headOf ownerOf"
).split()


class _StarSpelling:
    """Writes quoted triples as `<< s p o >>`."""

    def subject(self, triple: str, lines: list[str]) -> str:
        return f"<< {triple} >>"

    def object(self, triple: str) -> str:
        return f"<< {triple} >>"


class _ReifyingSpelling:
    """Writes a new blank node with `rdf:reifies` for a quoted subject, and `<<( s p o )>>` for an object."""

    def __init__(self) -> None:
        self._reifiers = 0

    def subject(self, triple: str, lines: list[str]) -> str:
        self._reifiers += 1
        reifier = f"_:q{self._reifiers:x}"
        lines.append(f"{reifier} {RDF_REIFIES} {self.object(triple)} .\n")
        return reifier

    def object(self, triple: str) -> str:
        return f"<<( {triple} )>>"


def _entity(uniform: RandomFloat) -> str:
    return f"<{BASE}entity/Q{ranked(uniform, ENTITIES)}>"


def _confidence(uniform: RandomFloat) -> str:
    return f'<{BASE}def/confidence> "{0.5 + uniform() / 2:.3f}"^^{XSD_DECIMAL}'


def blocks(rng: random.Random) -> Iterator[list[str]]:
    return _blocks(rng, _StarSpelling())


def reified_blocks(rng: random.Random) -> Iterator[list[str]]:
    """Yield the same facts and annotations for a reader of RDF 1.2, in more and shorter statements."""
    return _blocks(rng, _ReifyingSpelling())


def _blocks(rng: random.Random, spelling: _StarSpelling | _ReifyingSpelling) -> Iterator[list[str]]:
    uniform = rng.random
    number = 0
    while True:
        number += 1
        predicate = f"<{BASE}def/{_PREDICATES[ranked(uniform, len(_PREDICATES)) - 1]}>"
        fact = f"<{BASE}entity/Q{ENTITIES + number}> {predicate} {_entity(uniform)}"
        source = f"<{BASE}source/{ranked(uniform, SOURCES)}>"
        lines = [f"{fact} .\n"]
        quoted = spelling.subject(fact, lines)
        lines += (
            f"{quoted} <{PROV}wasDerivedFrom> {source} .\n",
            f"{quoted} {_confidence(uniform)} .\n",
        )
        if uniform() < 0.6:
            start = 1950 + int(uniform() * 60)
            lines.append(f'{quoted} <{BASE}def/start> "{start}"^^{XSD_YEAR} .\n')
            if uniform() < 0.5:
                lines.append(f'{quoted} <{BASE}def/end> "{start + ranked(uniform, 15)}"^^{XSD_YEAR} .\n')
        if uniform() < 0.3:
            claim = f"_:claim{number:x}"
            lines += (
                f"{claim} {RDF_TYPE} <{BASE}def/Claim> .\n",
                f"{claim} <{BASE}def/supports> {spelling.object(fact)} .\n",
                f'{claim} {RDFS_LABEL} "claim no. {number}"@en .\n',
            )
        if uniform() < 0.15:
            # An annotation that is itself annotated.
            outer = spelling.subject(f"{quoted} <{BASE}def/statedBy> {source}", lines)
            lines.append(f"{outer} {_confidence(uniform)} .\n")
        yield lines
