"""Generated text into pyjelly's objects, so that the peer's own writer makes the files that both sides read.

It reads only what the generator writes, and checks nothing.
"""

import re
from collections.abc import Iterator

from pyjelly.integrations.generic.generic_sink import IRI, BlankNode, Literal, Node, Quad, Triple

_TERM = re.compile(
    r"(?P<open><<)|(?P<close>>>)"
    r"|<(?P<iri>[^>]*)>"
    r"|_:(?P<label>\S+)"
    r'|"(?P<lex>(?:[^"\\]|\\.)*)"(?:@(?P<lang>[\w-]+)|\^\^<(?P<datatype>[^>]*)>)?'
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SHORT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _unescaped(match: re.Match[str]) -> str:
    code, long_code, character = match.groups()
    if character is not None:
        return _SHORT_ESCAPES.get(character, character)
    return chr(int(code or long_code, 16))


def _term(match: re.Match[str]) -> Node:
    iri, label, lex, language, datatype = match.group("iri", "label", "lex", "lang", "datatype")
    if iri is not None:
        return IRI(iri)
    if label is not None:
        return BlankNode(label)
    if "\\" in lex:
        lex = _ESCAPE.sub(_unescaped, lex)
    return Literal(lex, language, datatype)


def statements(text: bytes) -> Iterator[Triple | Quad]:
    for line in text.decode().split("\n"):
        if line:
            terms = _terms(line)
            yield Triple(*terms) if len(terms) == 3 else Quad(*terms)


def _terms(line: str) -> list[Node]:
    """Return the terms of a line; on `>>` the last three become one."""
    terms: list[Node] = []
    for match in _TERM.finditer(line):
        if match["close"]:
            terms[-3:] = [Triple(*terms[-3:])]
        elif not match["open"]:
            terms.append(_term(match))
    return terms
