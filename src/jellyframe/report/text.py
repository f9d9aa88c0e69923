"""Numbers, sizes and names in readable form."""

from __future__ import annotations

from html import escape

from jellyframe.terms import RDF, XSD

NARROW_SPACE = "\u202f"
_SIZES = ("B", "kB", "MB", "GB", "TB")
_KNOWN_PREFIXES = {
    RDF: "rdf",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    XSD: "xsd",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://schema.org/": "schema",
    "https://schema.org/": "schema",
    "http://www.w3.org/ns/prov#": "prov",
    "http://www.w3.org/ns/sosa/": "sosa",
}


def number(value: float) -> str:
    """Return a whole number with its digits in groups."""
    return f"{round(value):,}".replace(",", NARROW_SPACE)


def short_number(value: float) -> str:
    """Return a number in a few digits, for axes: 1.5 M."""
    for letter in ("", " k", " M", " G"):
        if abs(value) < 1000:
            return _few_digits(value) + letter.replace(" ", NARROW_SPACE)
        value /= 1000
    return _few_digits(value) + NARROW_SPACE + "T"


def size(value: float) -> str:
    """Return a number of bytes in a unit that fits."""
    for unit in _SIZES[:-1]:
        if abs(value) < 1000:
            return f"{_few_digits(value)}{NARROW_SPACE}{unit}"
        value /= 1000
    return f"{_few_digits(value)}{NARROW_SPACE}{_SIZES[-1]}"


def share(part: float, whole: float) -> str:
    """Return a part as a percentage of the whole."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return f"<0.1{NARROW_SPACE}%"
    return f"{percent:.1f}{NARROW_SPACE}%" if percent < 99.95 or part == whole else f"99.9{NARROW_SPACE}%"


def clipped(text: str, length: int) -> str:
    """Return text of at most `length` characters. It is cut in the middle, since the ends of IRIs say most."""
    if len(text) <= length:
        return text
    tail = (length - 1) * 2 // 3
    return f"{text[: length - 1 - tail]}…{text[-tail:]}"


def short_iri(text: str) -> str:
    """Return an IRI in N-Triples form, with a prefix that everybody knows, or without the angle brackets."""
    iri = text.removeprefix("<").removesuffix(">") if text.startswith("<") and not text.startswith("<<") else text
    for namespace, prefix in _KNOWN_PREFIXES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri[len(namespace) :]}"
    return iri


def escaped(text: str) -> str:
    """Escape text for HTML, in attributes too."""
    return escape(text, quote=True)


def _few_digits(value: float) -> str:
    if value == round(value):
        return str(round(value))
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"
