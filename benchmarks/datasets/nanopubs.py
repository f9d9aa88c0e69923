"""Nanopublications as quads: each has four named graphs (head, assertion, provenance, publication info)."""

import base64
import random
from collections.abc import Callable, Iterator

from .vocabulary import RDF_TYPE, RDFS_COMMENT, RDFS_LABEL, XSD_DATE_TIME, XSD_DOUBLE
from .wording import Prose, RandomFloat, person_name, ranked

NP = "http://www.nanopub.org/nschema#"
NPX = "http://purl.org/nanopub/x/"
PROV = "http://www.w3.org/ns/prov#"
DCT = "http://purl.org/dc/terms/"
SIO = "http://semanticscience.org/resource/"
FOAF_NAME = "<http://xmlns.com/foaf/0.1/name>"
LICENCE = "<https://creativecommons.org/licenses/by/4.0/>"
BASE = "https://np.example.org/"
GENES = 20_000
DISEASES = 8000
PAPERS = 30_000_000
CREATORS = 400
_EVIDENCE = ("SIO_001121", "SIO_001122", "SIO_001123", "SIO_001119", "SIO_001120")


def _code(length: int, rng: random.Random) -> str:
    """Return letters and digits that look like the base-64 text of a hash or a key."""
    return base64.urlsafe_b64encode(rng.randbytes(length)).decode()[:length]


def _orcid(creator: int) -> str:
    return f"<https://orcid.example.org/0000-0002-{creator // 10_000:04}-{creator % 10_000:04}>"


def _time_stamp(uniform: RandomFloat) -> str:
    day = f"{2015 + int(uniform() * 10)}-{1 + int(uniform() * 12):02}-{1 + int(uniform() * 28):02}"
    return f"{day}T{int(uniform() * 24):02}:{int(uniform() * 60):02}:{uniform() * 59:06.3f}Z"


def _head(base: str) -> list[str]:
    publication, graph = f"<{base}>", f"<{base}#Head>"
    return [
        f"{publication} <{NP}hasAssertion> <{base}#assertion> {graph} .\n",
        f"{publication} <{NP}hasProvenance> <{base}#provenance> {graph} .\n",
        f"{publication} <{NP}hasPublicationInfo> <{base}#pubinfo> {graph} .\n",
        f"{publication} {RDF_TYPE} <{NP}Nanopublication> {graph} .\n",
    ]


def _assertion(base: str, uniform: RandomFloat) -> list[str]:
    gene = f"<http://identifiers.example.org/ncbigene/{ranked(uniform, GENES)}>"
    disease = f"<http://linkedlifedata.example.org/resource/umls/id/C{ranked(uniform, DISEASES):07}>"
    graph, association = f"<{base}#assertion>", f"<{base}#association>"
    lines = [
        f"{association} {RDF_TYPE} <{SIO}{_EVIDENCE[ranked(uniform, len(_EVIDENCE)) - 1]}> {graph} .\n",
        f"{association} <{SIO}SIO_000628> {gene} {graph} .\n",
        f"{association} <{SIO}SIO_000628> {disease} {graph} .\n",
    ]
    if uniform() < 0.4:
        lines += (
            f"{association} <{SIO}SIO_000216> _:score{base[-8:]} {graph} .\n",
            f'_:score{base[-8:]} <{SIO}SIO_000300> "{uniform():.4f}"^^{XSD_DOUBLE} {graph} .\n',
        )
    return lines


def _provenance(base: str, uniform: RandomFloat, comment: str) -> list[str]:
    graph, assertion = f"<{base}#provenance>", f"<{base}#assertion>"
    paper = f"<http://identifiers.example.org/pubmed/{ranked(uniform, PAPERS)}>"
    return [
        f"{assertion} <{PROV}wasDerivedFrom> {paper} {graph} .\n",
        f"{assertion} <{PROV}wasAttributedTo> {_orcid(ranked(uniform, CREATORS))} {graph} .\n",
        f'{assertion} {RDFS_COMMENT} "{comment}"@en {graph} .\n',
    ]


def _publication_info(base: str, uniform: RandomFloat) -> list[str]:
    graph, publication = f"<{base}#pubinfo>", f"<{base}>"
    return [
        f'{publication} <{DCT}created> "{_time_stamp(uniform)}"^^{XSD_DATE_TIME} {graph} .\n',
        f"{publication} <{DCT}creator> {_orcid(ranked(uniform, CREATORS))} {graph} .\n",
        f"{publication} <{DCT}license> {LICENCE} {graph} .\n",
    ]


def _signature(base: str, key: str, rng: random.Random) -> list[str]:
    graph, signature = f"<{base}#pubinfo>", f"<{base}#sig>"
    given, family = person_name(rng.random)
    creator = _orcid(ranked(rng.random, CREATORS))
    return [
        f'{signature} <{NPX}hasAlgorithm> "RSA" {graph} .\n',
        f'{signature} <{NPX}hasPublicKey> "{key}" {graph} .\n',
        f'{signature} <{NPX}hasSignature> "{_code(172, rng)}" {graph} .\n',
        f"{signature} <{NPX}hasSignatureTarget> <{base}> {graph} .\n",
        f"{signature} <{NPX}signedBy> {creator} {graph} .\n",
        f'{creator} {FOAF_NAME} "{given} {family}" {graph} .\n',
        f'<{base}> {RDFS_LABEL} "Association {base[-6:]}" {graph} .\n',
    ]


def _publications(rng: random.Random, quads_of: Callable[[str], list[str]]) -> Iterator[list[str]]:
    while True:
        yield quads_of(f"{BASE}RA{_code(43, rng)}")


def blocks(rng: random.Random) -> Iterator[list[str]]:
    """Yield signed nanopublications of some twenty quads each."""
    uniform = rng.random
    prose = Prose("nanopubs")
    keys = [_code(216, rng) for _ in range(64)]

    def quads(base: str) -> list[str]:
        comment = prose.paragraphs("en", 1 + int(uniform() * 3), uniform)
        return (
            _head(base)
            + _assertion(base, uniform)
            + _provenance(base, uniform, comment)
            + _publication_info(base, uniform)
            + _signature(base, keys[ranked(uniform, len(keys)) - 1], rng)
        )

    return _publications(rng, quads)


def small_blocks(rng: random.Random) -> Iterator[list[str]]:
    """Yield unsigned nanopublications of seven to fifteen quads, for streams of very many small data sets."""
    uniform = rng.random
    prose = Prose("small nanopubs", sentences=300)

    def quads(base: str) -> list[str]:
        lines = _head(base) if uniform() < 0.7 else _head(base)[-1:]
        lines += _assertion(base, uniform)
        if uniform() < 0.8:
            lines += _provenance(base, uniform, prose.paragraphs("en", 1, uniform))
        lines += _publication_info(base, uniform)
        return lines[:15]

    return _publications(rng, quads)
