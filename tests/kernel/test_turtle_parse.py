"""The parser of Turtle and TriG: the grammar, the places of errors, text in pieces, full batches; on both kernels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import TextError
from jellyframe.kernel import kernel_name
from support.kernel_twins import load_twin_module
from support.plain import PlainStatement
from support.tables import table_statements

PREFIXES = b"@prefix : <http://e/> . PREFIX x: <http://x/#>\n"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


class TurtleKernel:
    """The parts of a kernel that read Turtle."""

    def __init__(self, name: str) -> None:
        self._parsing = load_twin_module(name, "kernel.turtle_parse_cy")
        self._tables = load_twin_module(name, "kernel.table_cy")

    def parse(
        self, *pieces: bytes, graphs: bool = False, rows: int = 1000, base: str | None = None, **options: Any
    ) -> list[PlainStatement]:
        """The statements of a text that comes in pieces, in batches of at most about `rows`."""
        parser = self._parsing.TurtleParser(graphs, base, b"anon", **options)
        statements: list[PlainStatement] = []
        builder = self._tables.BatchBuilder(graphs)
        rest = b""
        for number, piece in enumerate(pieces, 1):
            rest += piece
            is_final = number == len(pieces)
            while True:
                rest = rest[parser.parse(builder, rest, 0, len(rest), is_final, rows) :]
                if builder.rows < rows:
                    break
                statements += table_statements(builder.columns(), builder.terms)
                builder = self._tables.BatchBuilder(graphs)
        assert rest == b""
        return statements + table_statements(builder.columns(), builder.terms)


@pytest.fixture(scope="session")
def kernel(twin: ModuleType) -> TurtleKernel:
    return TurtleKernel("pure" if twin.__name__.endswith("_pure") else kernel_name())


GOOD = {
    "names": b":s x:p :o, x:a.b, x:%41\\~c:d, : .",
    "lists": b":s :p :o ; :q 1 , 1.5 , -1e3 , .5E0 , true ;; :r false ; .",
    "strings": b":s :p 'b', \"\"\"c \"quoted\"\n\n\"\"\", '''d''e\\t\\u00e9''', \"\"@en-GB, 'x'^^x:t, ''^^<http://t> .",
    "spaces": b':s # comment\n :p\t"x" # another\n  @EN .',
    "properties": b":s :p [ :q [ :r 1 ] , [] ; a :T ] . [ :p :o ] . [ :p :o ] :q :r . [] :p [ ] .",
    "collections": b":s :p ( 1 ( 2 ) () [ :q 3 ] ) . ( 1 ) :p () .",
    "quoted": b"<< :s :p << :a a 1 >> >> :q << _:b :p [] >> . :s :p :o {| :q 1 ; :r [ :z 2 ] {| :w 3 |} |} , 4 .",
    "relative": b"@base <http://base/a/b> . <c> <../d> <#e> . BASE <http://other/> <> <?q> <//h/x> .",
    "bytes": ":é :p \"é\", 'ü\\U0001F30D', <http://é/> , _:é.é .".encode(),
}
GOOD_TRIG = {
    "graphs": b"{ :s :p :o } :g { :s :p :o . :s :q 1 } GRAPH _:b { } [] { :a :b :c . } :s :p :o .",
    "nested": b":g { [ :p ( 1 2 ) ] . << :s :p :o >> :q [] }",
}


@pytest.mark.parametrize("name", [*GOOD, *GOOD_TRIG])
def test_pieces_and_batches_make_no_difference(kernel: TurtleKernel, name: str) -> None:
    is_trig = name in GOOD_TRIG
    text = PREFIXES + (GOOD_TRIG[name] if is_trig else GOOD[name])
    whole = kernel.parse(text, graphs=is_trig)
    assert whole
    for cut in range(len(text)):
        assert kernel.parse(text[:cut], text[cut:], graphs=is_trig) == whole
    assert kernel.parse(*(text[i : i + 1] for i in range(len(text))), graphs=is_trig) == whole
    assert kernel.parse(text, graphs=is_trig, rows=1) == whole


def lines(kernel: TurtleKernel, text: bytes, **options: Any) -> list[str]:
    return [str(statement) for statement in kernel.parse(PREFIXES + text, **options)]


def test_language_tags_keep_their_case(kernel: TurtleKernel) -> None:
    (statement,) = lines(kernel, b':s :p "x"@EN-gb-Latn .')
    assert "EN-gb-Latn" in statement


def test_a_literal_may_be_longer_than_sixteen_mebibytes(kernel: TurtleKernel) -> None:
    value = b"x" * (17 << 20)
    half = len(value) // 2
    (statement,) = kernel.parse(b'<a:s> <a:p> "' + value[:half], value[half:] + b'" .')
    assert len(str(statement)) > len(value)


BAD = [
    (b":s :p :o", 2, 9, "the end of the list"),
    (b":s :p\n  oops .", 3, 3, "found 'oops'"),
    (b":s :p y:o .", 2, 7, "the prefix 'y:' is not declared"),
    (b":s :p <rel> .", 2, 7, "relative IRI"),
    (b":s :p <http://a/\\u0020> .", 2, 17, "IRIs may hold"),
    (b":s :p 'a\nb' .", 2, 9, "the rest of a literal"),
    (b':s :p """a\nb .', 3, 4, "the rest of a literal"),
    (b":s 'p' :o .", 2, 4, "a predicate"),
    (b"'s' :p :o .", 2, 1, "a statement"),
    (b":s :p ( 1 .", 2, 11, "an item"),
    (b":s :p [ :q 1 .", 2, 14, "the end of the list"),
    (b":s :p << ( 1 ) :p :o >> .", 2, 10, "the subject of a quoted triple"),
    (b"{ :s :p :o }", 2, 1, "a statement"),
    (b":s :p 1e .", 2, 9, "exponent"),
    (b":s a a .", 2, 6, "an object"),
    (b"@prefix z <http://z/> .", 2, 10, "a prefix and ':'"),
    (b"@prefix z: <http://z/> :s :p :o .", 2, 24, "'.' at the end"),
    (b':s :p "x"@en- .', 2, 14, "more of a language tag"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BAD)
def test_errors_have_a_position(kernel: TurtleKernel, text: bytes, line: int, column: int, message: str) -> None:
    for pieces in ((PREFIXES + text,), tuple(bytes([byte]) for byte in PREFIXES + text)):
        with pytest.raises(TextError, match=message) as caught:
            kernel.parse(*pieces)
        assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        b":s :p <<( :a :b :c )>> .",
        b':s :p "x"@en--ltr .',
        b":s :p :o ~ :r .",
        b'VERSION "1.2"',
        b'@version "1.2" .',
    ],
)
def test_rdf_1_2_syntax_is_refused_by_name(kernel: TurtleKernel, text: bytes) -> None:
    with pytest.raises(TextError, match=r"RDF 1\.2, and Jelly has no place for it yet"):
        lines(kernel, text)


def test_nesting_is_bounded(kernel: TurtleKernel) -> None:
    deep = b":s :p " + b"[ :p " * 95 + b"1" + b" ]" * 95 + b" ."
    assert len(lines(kernel, deep)) == 96
    with pytest.raises(TextError, match="nested more than 96 deep"):
        lines(kernel, deep.replace(b"1", b"[ :p [ :p 1 ] ]"))


def test_relative_iris_may_stay(kernel: TurtleKernel) -> None:
    (statement,) = lines(kernel, b":s :p <rel> .", any_iri=True)
    assert "rel" in statement
