"""Validity of IRIs and language tags, and the search for invalid ones in batches."""

from __future__ import annotations

import pytest

from jellyframe import IRI, Batch, Literal, Quad, Triple
from jellyframe.batch.validation import bad_terms, check_batch, why_bad_iri, why_bad_language
from jellyframe.errors import TermError

S = IRI("http://example.org/s")


@pytest.mark.parametrize(
    "iri",
    [
        "http://example.org/",
        "http://example.org",
        "http://user:pw@example.org:8080/a/b;c?q=1#frag",
        "http://[::1]/x",
        "urn:isbn:0451450523",
        "mailto:a@example.org",
        "file:///etc/passwd",
        "tag:x",
        "http://example.org/été/日本",
        "http://example.org/%C3%A9",
        "x:",
        "http://example.org/?\ue000",
    ],
)
def test_valid_iris_are_accepted(iri: str) -> None:
    assert why_bad_iri(iri) is None


@pytest.mark.parametrize(
    ("iri", "reason"),
    [
        ("", "absolute"),
        ("relative/path", "absolute"),
        ("//example.org/", "absolute"),
        ("1http://x/", "absolute"),
        ("http://a b/", "' '"),
        ("http://a/<x>", "'<'"),
        ("http://a/{x}", "'{'"),
        ("http://a/x|y", "'|'"),
        ("http://a/\x00", "'\\x00'"),
        ("http://a/%", "hexadecimal"),
        ("http://a/%zz", "hexadecimal"),
        ("http://a/[x]", "RFC 3987"),
        ("http://a/#b#c", "RFC 3987"),
        ("http://a:port/", "RFC 3987"),
        ("http://a/\ue000", "RFC 3987"),
    ],
)
def test_invalid_iris_are_refused(iri: str, reason: str) -> None:
    assert reason in (why_bad_iri(iri) or "")


@pytest.mark.parametrize(
    "tag", "en en-GB zh-Hant-TW de-CH-1996 sl-rozaj-biske es-419 x-mine en-x-mine i-klingon".split()
)
def test_valid_language_tags_are_accepted(tag: str) -> None:
    assert why_bad_language(tag) is None


@pytest.mark.parametrize("tag", ["e", "1", "en-", "-en", "en_GB", "englishlanguage", "en-GB-", "en--GB", ""])
def test_invalid_language_tags_are_refused(tag: str) -> None:
    assert why_bad_language(tag) is not None


def test_bad_terms_are_found_wherever_they_stand() -> None:
    bad = IRI("http://a/%zz")
    statements = [
        Quad(S, S, S, S),
        Quad(S, S, Literal("x", language="much-too-long-language"), S),
        Quad(S, S, Literal("x", datatype="not absolute"), S),
        Quad(S, S, Triple(S, S, bad), S),
    ]
    batch = Batch.from_statements(statements)
    assert len(list(bad_terms(batch))) == 3
    assert list(bad_terms(Batch.from_statements(statements[:1]))) == []
    with pytest.raises(TermError, match=r"data\.nq: statement 103: the IRI <http://a/%zz> is not valid"):
        check_batch(Batch.from_statements([Quad(S, S, S, S)] * 2 + [Quad(S, S, S, bad)]), 100, "data.nq")
