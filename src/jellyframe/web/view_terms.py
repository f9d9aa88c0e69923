"""Terms for the page of `view`."""

from __future__ import annotations

from typing import Any

from jellyframe.report.text import short_iri
from jellyframe.terms import IRI, XSD_STRING, BlankNode, DefaultGraph, Literal, Term

# Characters of a term in the table; the page can request the whole of a longer one.
SHOWN_LETTERS = 300
# Terms up to this length can be followed, as they are part of a URL.
FOLLOWED_LETTERS = 4000


def term_document(term: Term | DefaultGraph) -> dict[str, Any]:
    """Return a term for the page: its kind, its value and other parts, and its text for filters."""
    if isinstance(term, DefaultGraph):
        return {"kind": "default", "value": "", "text": "default"}
    text = str(term)
    document: dict[str, Any] = {"text": text if len(text) <= FOLLOWED_LETTERS else None, "length": len(text)}
    if isinstance(term, IRI):
        document |= {"kind": "iri", "value": short_iri(term.value)}
    elif isinstance(term, BlankNode):
        document |= {"kind": "bnode", "value": text}
    elif isinstance(term, Literal):
        document |= {"kind": "literal", "value": term.lex}
        if term.language:
            document["detail"] = f"@{term.language}"
        elif term.datatype != XSD_STRING:
            document["detail"] = short_iri(str(term.datatype))
    else:
        document |= {"kind": "triple", "value": text}
    if len(document["value"]) > SHOWN_LETTERS:
        document["value"] = document["value"][:SHOWN_LETTERS] + "…"
        document["cut"] = True
    return document
