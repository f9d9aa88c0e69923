"""Check whether terms are valid: IRIs and datatypes by RFC 3987, language tags by BCP 47.

Each distinct term of a batch is checked once, so that repeated terms cost little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jellyframe.errors import TermError
from jellyframe.kernel.kinds import KIND_IRI, KIND_LANG_LITERAL, KIND_TYPED_LITERAL

if TYPE_CHECKING:
    from jellyframe.batch.batch import Batch

__all__ = ["BadTerm", "bad_terms", "check_batch", "why_bad_iri", "why_bad_language"]


@cache
def _iri_pattern() -> re.Pattern[str]:
    """Return a pattern for absolute IRIs by RFC 3987, compiled at the first call, as it is large and seldom needed."""
    # Every character beyond ASCII that is allowed somewhere; private use ones are allowed in a query only.
    planes = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
    private = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
    unreserved = rf"A-Za-z0-9\-._~\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{planes}\U000e1000-\U000efffd"
    delimiters = "!$&'()*+,;="
    escape = "%[0-9A-Fa-f]{2}"
    in_path = rf"(?:[{unreserved}{delimiters}:@]|{escape})"
    host = (
        r"(?:\[[0-9A-Fa-f:.]+\]"
        rf"|\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~{delimiters}:]+\]"
        rf"|(?:[{unreserved}{delimiters}]|{escape})*)"
    )
    authority = rf"(?:(?:[{unreserved}{delimiters}:]|{escape})*@)?{host}(?::[0-9]*)?"
    segments = rf"{in_path}+(?:/{in_path}*)*"
    return re.compile(
        rf"[A-Za-z][A-Za-z0-9+.\-]*:(?://{authority}(?:/{in_path}*)*|/(?:{segments})?|{segments}|)"
        rf"(?:\?(?:[{unreserved}{delimiters}:@/?{private}]|{escape})*)?"
        rf"(?:#(?:[{unreserved}{delimiters}:@/?]|{escape})*)?"
    )


# Nearly every IRI matches this, as bytes, without a copy. Only terms that do not match are checked closely.
_PLAIN_IRI = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.\-]*:(?://[A-Za-z0-9\-.]+(?::[0-9]+)?/)?[A-Za-z0-9\-._~!$&'()*+,;=:@]+"
    rb"(?:/[A-Za-z0-9\-._~!$&'()*+,;=:@]*)*(?:#[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*)?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NEVER_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`\x7f-\x9f]")


@cache
def _language_pattern() -> re.Pattern[str]:
    """Return a pattern for language tags that are well-formed by BCP 47."""
    return re.compile(
        r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})"  # language
        r"(?:-[a-z]{4})?"  # script
        r"(?:-(?:[a-z]{2}|[0-9]{3}))?"  # region
        r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
        r"(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*"  # extensions
        r"(?:-x(?:-[a-z0-9]{1,8})+)?"  # private use
        r"|x(?:-[a-z0-9]{1,8})+",
        re.IGNORECASE,
    )


# Tags that are older than the rules and do not follow them, but are valid.
_GRANDFATHERED = frozenset(
    "en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu "
    "sgn-be-fr sgn-be-nl sgn-ch-de".split()
)


_KIND_WITH = {"datatype": KIND_TYPED_LITERAL, "language tag": KIND_LANG_LITERAL}


class BadTerm(NamedTuple):
    """A term of a batch that is not valid, and why. `term` is None for a datatype or language that no term uses."""

    term: int | None
    reason: str


def why_bad_iri(iri: str) -> str | None:
    """Return the problem with an IRI; None if it is an absolute IRI by RFC 3987."""
    if _iri_pattern().fullmatch(iri):
        return None
    if not _SCHEME.match(iri):
        return "it is not absolute (there is no scheme)"
    never = _NEVER_IN_IRI.search(iri)
    if never:
        return f"{never[0]!r} is not allowed in an IRI"
    if _BAD_ESCAPE.search(iri):
        return "a % is not followed by two hexadecimal digits"
    return "it breaks the syntax of RFC 3987"


def why_bad_language(tag: str) -> str | None:
    """Return the problem with a language tag; None if it is well-formed by BCP 47."""
    if _language_pattern().fullmatch(tag) or tag.lower() in _GRANDFATHERED:
        return None
    return "it is not well-formed by BCP 47"


def bad_terms(batch: Batch) -> Iterator[BadTerm]:
    """Yield the terms of a batch with a bad IRI, a bad datatype or a bad language tag."""
    terms = batch.terms
    kinds, details, _quoted = terms.buffers()
    offsets, data = terms.values.buffers()
    text = bytes(data)
    is_plain = _PLAIN_IRI.fullmatch
    start = 0
    for term, kind in enumerate(kinds):
        stop = offsets[term + 1]
        if kind == KIND_IRI and not is_plain(text, start, stop):
            iri = str(text[start:stop], "utf-8")
            reason = why_bad_iri(iri)
            if reason is not None:
                yield BadTerm(term, f"the IRI <{iri}> is not valid: {reason}")
        start = stop
    for table, what, why in (
        (terms.datatypes, "datatype", why_bad_iri),
        (terms.languages, "language tag", why_bad_language),
    ):
        for row, value in enumerate(table.strings()):
            reason = why(value)
            if reason is not None:
                kind = _KIND_WITH[what]
                users = (t for t in range(terms.count) if kinds[t] == kind and details[t] == row)
                yield BadTerm(next(users, None), f"the {what} {value!r} is not valid: {reason}")


def check_batch(batch: Batch, statements_before: int = 0, source: str | None = None) -> None:
    """Raise a TermError for the first bad term of a batch, naming the statement that it is in."""
    for bad in bad_terms(batch):
        row = first_row_with(batch, bad.term)
        place = "" if row is None else f"statement {statements_before + row + 1}: "
        raise TermError(f"{place}{bad.reason}", source=source)


def first_row_with(batch: Batch, term: int | None) -> int | None:
    """Return the first row that has a term at a position; None if none has, as for parts of quoted triples."""
    if term is None:
        return None
    rows = [
        column.tolist().index(term)
        for column in (batch.s, batch.p, batch.o, batch.g)
        if column is not None and term in column
    ]
    return min(rows, default=None)
