"""RDF terms as Python objects: small, immutable, hashable, ordered.

Users import them from `jellyframe.terms`, under which name they are also pickled.
"""

from __future__ import annotations

import re

try:
    from jellyframe.kernel import _uncompiled as cython
except ModuleNotFoundError:  # never: Cython's compiler looks for the next line
    import cython

from jellyframe.errors import TermError
from jellyframe.kernel.labels import written_label
from jellyframe.kernel.statements import Triple

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
RDF_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

_CONTROLS = [*range(0x20), 0x7F]
# Canonical N-Triples: short escapes where there are any, numbers for the other control characters.
_LITERAL_ESCAPES = {code: f"\\u{code:04X}" for code in _CONTROLS} | {
    ord(char): f"\\{letter}" for char, letter in zip('\t\b\n\r\f"\\', 'tbnrf"\\', strict=True)
}
# An IRI can hold these only as numbers.
_IRI_ESCAPES = {code: f"\\u{code:04X}" for code in [*range(0x21), *map(ord, '<>"{}|^`\\')]}


# Labels that N-Triples can hold unchanged, by far the most. The writer of N-Triples converts the others.
_COMMON_LABEL = re.compile(r"(?!hex-)[A-Za-z0-9_][A-Za-z0-9_-]*")


def exact_str(value: object, what: str) -> str:
    """Return the value as a plain `str`. Raises a TypeError that names `what` it is if it is not one."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{what} must be a str, not {type(value).__name__}")


@cython.cclass
class SimpleTerm:
    """A term that is not a quoted triple: a string of some kind.

    Terms are ordered by kind (the default graph, blank nodes, IRIs, literals, quoted triples), then by their strings,
    code point by code point: for literals the lexical form, the datatype, the language.
    """

    __slots__ = ("_text",)

    def __eq__(self, other: object) -> bool:
        that: SimpleTerm
        if type(other) is not type(self):
            return NotImplemented
        that = other
        return self._text == that._text

    def __hash__(self) -> int:
        return hash(self._text) ^ 0x5A17E4

    def _order(self) -> tuple[int, str, str, str]:
        raise NotImplementedError

    def __lt__(self, other: object) -> bool:
        if isinstance(other, SimpleTerm):
            return self._order() < other._order()
        return True if isinstance(other, Triple) else NotImplemented

    def __le__(self, other: object) -> bool:
        if isinstance(other, SimpleTerm):
            return self._order() <= other._order()
        return True if isinstance(other, Triple) else NotImplemented

    def __gt__(self, other: object) -> bool:
        if isinstance(other, SimpleTerm):
            return self._order() > other._order()
        return False if isinstance(other, Triple) else NotImplemented

    def __ge__(self, other: object) -> bool:
        if isinstance(other, SimpleTerm):
            return self._order() >= other._order()
        return False if isinstance(other, Triple) else NotImplemented


@cython.final
@cython.cclass
class IRI(SimpleTerm):
    """An IRI. Its syntax is not checked.

    Attributes:
        value: the IRI, without `<` and `>`
    """

    __slots__ = ()
    __match_args__ = ("value",)

    @cython.annotation_typing(False)
    def __init__(self, value: str) -> None:
        self._text = exact_str(value, "the value of an IRI")

    @property
    def value(self) -> str:
        """The IRI, without `<` and `>`."""
        return self._text

    def _order(self) -> tuple[int, str, str, str]:
        return (2, self._text, "", "")

    def __str__(self) -> str:
        return f"<{self._text.translate(_IRI_ESCAPES)}>"

    def __repr__(self) -> str:
        return f"IRI({self._text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return restore_term, ("IRI", self._text)


@cython.final
@cython.cclass
class BlankNode(SimpleTerm):
    """A blank node.

    Attributes:
        label: its label, without `_:`; it is not checked
    """

    __slots__ = ()
    __match_args__ = ("label",)

    @cython.annotation_typing(False)
    def __init__(self, label: str) -> None:
        self._text = exact_str(label, "the label of a blank node")

    @property
    def label(self) -> str:
        """The label, without `_:`."""
        return self._text

    def _order(self) -> tuple[int, str, str, str]:
        return (1, self._text, "", "")

    def __str__(self) -> str:
        return f"_:{self._text}" if _COMMON_LABEL.fullmatch(self._text) else f"_:{written_label(self._text)}"

    def __repr__(self) -> str:
        return f"BlankNode({self._text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return restore_term, ("BlankNode", self._text)


@cython.final
@cython.cclass
class Literal(SimpleTerm):
    """A literal: a lexical form with a datatype or, instead, a language.

    With neither it is a simple literal, which is the same as one of the datatype xsd:string. With a language the
    datatype is rdf:langString, and may be given as such. A language is kept as it is given and compared exactly,
    so `en` and `EN` make two literals. Whether a lexical form fits its datatype is not checked.

    Attributes:
        lex: the lexical form
        datatype: the IRI of the datatype, as text
        language: the language tag, or None
    """

    __slots__ = ("_datatype", "_language")
    __match_args__ = ("lex", "datatype", "language")

    @cython.annotation_typing(False)
    def __init__(self, lex: str, datatype: str | None = None, language: str | None = None) -> None:
        self._text = exact_str(lex, "the lexical form of a literal")
        self._language = None
        if language is not None:
            self._language = exact_str(language, "the language of a literal")
            if not self._language:
                raise TermError("the language of a literal is empty; leave it out")
            if datatype is not None and datatype != RDF_LANG_STRING:
                raise TermError(f"a literal with the language {self._language!r} cannot have the datatype {datatype!r}")
            self._datatype = RDF_LANG_STRING
        elif datatype is None:
            self._datatype = XSD_STRING
        else:
            self._datatype = exact_str(datatype, "the datatype of a literal (an IRI)")

    @property
    def lex(self) -> str:
        """The lexical form."""
        return self._text

    @property
    def datatype(self) -> str:
        """The IRI of the datatype, as text."""
        return self._datatype

    @property
    def language(self) -> str | None:
        """The language tag, or None."""
        return self._language

    def __eq__(self, other: object) -> bool:
        that: Literal
        if type(other) is not type(self):
            return NotImplemented
        that = other
        return self._text == that._text and self._datatype == that._datatype and self._language == that._language

    def __hash__(self) -> int:
        return hash(self._text) ^ hash(self._datatype) ^ hash(self._language)

    def _order(self) -> tuple[int, str, str, str]:
        return (3, self._text, self._datatype, self._language or "")

    def __str__(self) -> str:
        quoted = f'"{self._text.translate(_LITERAL_ESCAPES)}"'
        if self._language is not None:
            return f"{quoted}@{self._language}"
        if self._datatype == XSD_STRING:
            return quoted
        return f"{quoted}^^<{self._datatype.translate(_IRI_ESCAPES)}>"

    def __repr__(self) -> str:
        if self._language is not None:
            return f"Literal({self._text!r}, language={self._language!r})"
        if self._datatype == XSD_STRING:
            return f"Literal({self._text!r})"
        return f"Literal({self._text!r}, datatype={self._datatype!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return restore_term, ("Literal", self._text, self._datatype, self._language)


@cython.final
@cython.cclass
class DefaultGraph(SimpleTerm):
    """The graph that has no name. DEFAULT_GRAPH is the only one; its text is empty, as N-Quads leave it out."""

    __slots__ = ()

    def __init__(self) -> None:
        if DEFAULT_GRAPH is not None:
            raise TypeError("there is one default graph only: DEFAULT_GRAPH")
        self._text = ""

    def _order(self) -> tuple[int, str, str, str]:
        return (0, "", "", "")

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "DEFAULT_GRAPH"

    def __reduce__(self) -> tuple[object, ...]:
        return restore_term, ("DefaultGraph",)


DEFAULT_GRAPH: DefaultGraph = None  # type: ignore[assignment]  # until the next line
DEFAULT_GRAPH = DefaultGraph()


def restore_term(kind: str, *parts: str) -> SimpleTerm:
    """Return a term from its pickle."""
    if kind == "IRI":
        return IRI(*parts)
    if kind == "BlankNode":
        return BlankNode(*parts)
    if kind == "Literal":
        return Literal(*parts)
    if kind == "DefaultGraph":
        return DEFAULT_GRAPH
    raise TermError(f"a pickled term of an unknown kind: {kind!r}")


# A pickle names the module that users know. It is the same whichever kernel made the pickle or reads it.
restore_term.__module__ = "jellyframe.terms"
