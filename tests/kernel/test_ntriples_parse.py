"""The parser of N-Triples and N-Quads: the grammar, the places of errors, text in pieces; on both kernels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from jellyframe.errors import TextError
from jellyframe.kernel import kernel_name
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, GraphName, Literal, Quad, Triple
from support.plain import plain, plain_term
from support.text_kernel import TextKernel, outcome

XSD = "http://www.w3.org/2001/XMLSchema#"
S, P, G = IRI("x:s"), IRI("x:p"), IRI("x:g")
OBJECT = IRI("x:o")
SPO = Triple(S, P, OBJECT)


@pytest.fixture(scope="session")
def kernel(twin: ModuleType) -> TextKernel:
    return TextKernel("pure" if twin.__name__.endswith("_pure") else kernel_name())


# ---- what is N-Triples --------------------------------------------------------------------------------
OBJECTS: list[tuple[str, Any]] = [
    ("<x:o>", OBJECT),
    ("<HTTP://example.org/%C3%A9?a=b#c>", IRI("HTTP://example.org/%C3%A9?a=b#c")),
    ("<a+b.c-1:>", IRI("a+b.c-1:")),
    ("<x:\\u00E9\\U0001F30D>", IRI("x:é🌍")),
    ("<\\u0078:y>", IRI("x:y")),
    ("<x:a\\u0020\\u003C\\U0000005c>", IRI("x:a <\\")),
    ("<x:é~\x7f例>", IRI("x:é~\x7f例")),
    ("<x:" + "long-" * 20 + "~end>", IRI("x:" + "long-" * 20 + "~end")),
    ("_:b", BlankNode("b")),
    ("_:0", BlankNode("0")),
    ("_:_", BlankNode("_")),
    ("_:a.b..c", BlankNode("a.b..c")),
    ("_:a-", BlankNode("a-")),
    ("_:é·\u0300\u203f", BlankNode("é·\u0300\u203f")),
    ("_:\U00010000x\U000effff", BlankNode("\U00010000x\U000effff")),
    ('""', Literal("")),
    ('"x"', Literal("x")),
    ('"it\'s\t<>{}|^`\x00\x7f\x85\u2028é🌍"', Literal("it's\t<>{}|^`\x00\x7f\x85\u2028é🌍")),
    (r'"\t\b\n\r\f\"\'\\"', Literal("\t\b\n\r\f\"'\\")),
    (r'"\u0041\U00000042\uFFFF\U0010FFFF\u0000"', Literal("AB\uffff\U0010ffff\0")),
    (r'"a\tb\u00e9c"', Literal("a\tbéc")),
    ('"' + "long " * 30 + r"\"" + "é " * 30 + '"', Literal("long " * 30 + '"' + "é " * 30)),
    ('"x"@en', Literal("x", language="en")),
    ('"x"@EN-gb-1996', Literal("x", language="EN-gb-1996")),
    ('"x" \t@en', Literal("x", language="en")),
    (f'"5"^^<{XSD}integer>', Literal("5", XSD + "integer")),
    (f'"5" ^^ <{XSD}integer>', Literal("5", XSD + "integer")),
    (f'"5"^^<{XSD}string>', Literal("5")),
    (f'"5"^^<{XSD.replace("#", chr(92) + "u0023")}string>', Literal("5")),
    (r'"\\"^^<x:\u0061>', Literal("\\", "x:a")),
    ("<< <x:s> <x:p> <x:o> >>", SPO),
    ("<<<x:s><x:p><x:o>>>", SPO),
    ('<<\t_:b <x:p> << <x:s><x:p> "x"@en>> >>', Triple(BlankNode("b"), P, Triple(S, P, Literal("x", language="en")))),
]


@pytest.mark.parametrize(("text", "term"), OBJECTS, ids=[text[:30] for text, _ in OBJECTS])
def test_objects_of_every_kind_are_read(kernel: TextKernel, text: str, term: Any) -> None:
    assert kernel.parse(f"<x:s> <x:p> {text} .\n".encode()) == plain([Triple(S, P, term)])
    assert kernel.parse(f"<x:s><x:p>{text}.".encode()) == plain([Triple(S, P, term)])
    assert kernel.parse_terms(text) == [plain_term(term)]


DOCUMENTS: list[tuple[str, list[Triple]]] = [
    ("", []),
    ("\n\r\r\n \t\n# only this\n#\n\t# and this", []),
    ("<x:s><x:p><x:o>.", [SPO]),
    ("\t <x:s>\t\t<x:p>  <x:o>\t . \t# done", [SPO]),
    ("<x:s> <x:p> <x:o> .#é\r<x:s> <x:p> <x:o> .\r\n\n<x:s> <x:p> <x:o> .\r", [SPO] * 3),
    (
        "_:b<x:p>_:b.\n_:b <x:p> _:b .\n_:bb <x:p> _:b. ",
        [Triple(BlankNode(b), P, BlankNode("b")) for b in ("b", "b", "bb")],
    ),
    (
        '<x:s> <x:p> "x"@en.\n<x:s> <x:p> "x"@en-a .',
        [Triple(S, P, Literal("x", language=tag)) for tag in ("en", "en-a")],
    ),
    (
        "<< <x:s> <x:p> <x:o> >> <x:p> <x:o> .\n<< <x:s> <x:p> <x:o> >> <x:p> <x:g> .",
        [Triple(SPO, P, OBJECT), Triple(SPO, P, G)],
    ),
    (
        "<<<<<x:s> <x:p> <x:o> >> <x:p> << <x:s> <x:p> <x:o> >> >> <x:p> << <x:s> <x:p> <x:o> >> .",
        [Triple(Triple(SPO, P, SPO), P, SPO)],
    ),
]


@pytest.mark.parametrize(("text", "statements"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_documents_are_read(kernel: TextKernel, text: str, statements: list[Triple]) -> None:
    assert kernel.parse(text.encode()) == plain(statements)


def test_quads_are_read(kernel: TextKernel) -> None:
    text = b"<x:s> <x:p> <x:o> <x:g> .\n<x:s> <x:p> <x:o> <x:g>.\n<x:s> <x:p> <x:o> .\n<x:s> <x:p> <x:o>_:g.\n"
    graphs: list[GraphName] = [G, G, DEFAULT_GRAPH, BlankNode("g")]
    assert kernel.parse(text, quads=True) == plain(Quad(*SPO, graph) for graph in graphs)


def test_generalized_statements(kernel: TextKernel) -> None:
    text = (
        b'"s" _:p << "a"@en "b" << <x:s> <x:p> <x:o> >> >> "g"@en .\n'
        b"<< <x:s> <x:p> <x:o> >> << <x:s> <x:p> <x:o> >> <x:o> .\n"
    )
    quoted = Triple(Literal("a", language="en"), Literal("b"), SPO)
    assert kernel.parse(text, quads=True, generalized=True) == plain(
        [
            Quad(Literal("s"), BlankNode("p"), quoted, Literal("g", language="en")),
            Quad(SPO, SPO, OBJECT, DEFAULT_GRAPH),
        ]
    )


def test_a_literal_that_came_before_without_language(kernel: TextKernel) -> None:
    """A cached literal must not match a longer one with the same start."""
    text = b'"x" <x:p> "x" .\n"x" @en <x:p> "x" @en .\n"x"  <x:p> "x"^^<x:o> .\n'
    tagged = Literal("x", language="en")
    assert kernel.parse(text, generalized=True) == plain(
        [
            Triple(Literal("x"), P, Literal("x")),
            Triple(tagged, P, tagged),
            Triple(Literal("x"), P, Literal("x", "x:o")),
        ]
    )


def test_terms_are_stored_once(kernel: TextKernel) -> None:
    builder = kernel.tables.BatchBuilder(False)
    text = b'<x:s> <x:p> "5"^^<x:t> .\n<x:s>  <x:p>   "5"^^<x:t> .\n<x:\\u0073> <x:p> "5"^^ <x:t> .\n'
    kernel.parsing.TextParser(False).parse(builder, text, 0, len(text), True, 100)
    assert [list(column) for column in builder.columns()[:3]] == [[0] * 3, [1] * 3, [2] * 3]
    assert builder.terms.datatypes.strings() == ["x:t"]


# ---- what is not --------------------------------------------------------------------------------------
BAD_LINES: list[tuple[bytes | str, int, str]] = [
    # the text, the column of the error, and words of its message
    ("x", 1, "quoted triple as subject, found 'x'"),
    ("\ufeff<x:s> <x:p> <x:o> .", 1, "U+FEFF"),
    ("<x:s>", 6, "an IRI as predicate, found the end of the text"),
    ("<x:s> # no", 7, "an IRI as predicate, found '#'"),
    ("<x:s> <x:p>", 12, "an IRI, a blank node, a literal or a quoted triple as object, found the end"),
    ("<x:s> <x:p> .", 13, "as object, found '.'"),
    ("<x:s> <x:p> <x:o>", 18, "expected '.', found the end of the text"),
    ("<x:s> <x:p> <x:o> x", 19, "'.'"),
    ("<x:s> <x:p> <x:o> . .", 21, "the end of the line, found '.'"),
    ("<x:s> <x:p> <x:o> . <x:s> <x:p> <x:o> .", 21, "the end of the line"),
    ("<x:s> <x:p> <x:o> <x:g> .", 19, "only N-Quads have a graph"),
    ('"x" <x:p> <x:o> .', 1, "as subject, found '\"'"),
    ("<x:s> _:p <x:o> .", 7, "an IRI as predicate"),
    ('<x:s> "p" <x:o> .', 7, "an IRI as predicate"),
    ("<x:s> << <x:s> <x:p> <x:o> >> <x:o> .", 7, "an IRI as predicate"),
    ("<x:s> <x:p> 'x' .", 13, "as object"),
    ("<x:s> <x:p> 5 .", 13, "as object"),
    ("<x:s> <x:p> a:b .", 13, "as object"),
    # IRIs
    ("<s> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<:s> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<1x:s> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<x/y:s> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<\\u0031x:s> <x:p> <x:o> .", 1, "absolute IRI"),
    ("<x:s> <x:p> <x:o .", 17, "'>' or a character that IRIs may hold, found ' '"),
    ("<x:s> <x:p> <x:éé<> .", 18, "found '<'"),
    ("<x:s> <x:p> <x:" + "long-" * 20 + '"> .', 116, "found '\"'"),
    ("<x:s> <x:p> <x:{> .", 16, "found '{'"),
    ("<x:s> <x:p> <x:}> .", 16, "found '}'"),
    ("<x:s> <x:p> <x:|> .", 16, "found '|'"),
    ("<x:s> <x:p> <x:^> .", 16, "found '^'"),
    ("<x:s> <x:p> <x:`> .", 16, "found '`'"),
    ("<x:s> <x:p> <x:\x00> .", 16, "found U+0000"),
    ("<x:s> <x:p> <x:\\> .", 17, "u or U after a backslash"),
    ("<x:s> <x:p> <x:\\n> .", 17, "u or U after a backslash"),
    ("<x:s> <x:p> <x:\\uD800> .", 16, "U+D800"),
    ("<x:s> <x:p> <x:o", 17, "the end of the text"),
    (b"<x:s> <x:p> <x:\xc3\xa9\xff> .", 17, "the byte 0xFF"),
    # blank nodes
    ("_ <x:p> <x:o> .", 2, "':' after '_'"),
    ("_: <x:p> <x:o> .", 3, "label"),
    ("_:-a <x:p> <x:o> .", 3, "label"),
    ("_:.a <x:p> <x:o> .", 3, "label"),
    ("_:· <x:p> <x:o> .", 3, "label"),
    ("_:\u0300 <x:p> <x:o> .", 3, "label"),
    ("_::a <x:p> <x:o> .", 3, "label, found ':'".replace("label", "the label of a blank node")),
    ("_:a:b <x:p> <x:o> .", 4, "found ':'"),
    ("_:a. <x:p> <x:o> .", 4, "an IRI as predicate, found '.'"),
    ("_:a\u00d7 <x:p> <x:o> .", 4, "found '×'"),
    ("_:a\u037e <x:p> <x:o> .", 4, "found '\u037e'"),
    ("_:a\U000f0000 <x:p> <x:o> .", 4, "U+F0000"),
    (b"_:a\xc3 <x:p> <x:o> .", 4, "the byte 0xC3"),
    # literals
    ('<x:s> <x:p> "x', 15, "the end of the text"),
    ('<x:s> <x:p> "x\\', 16, "after a backslash, found the end of the text"),
    ('<x:s> <x:p> "x\\q" .', 16, "after a backslash, found 'q'"),
    ('<x:s> <x:p> "\\u12" .', 18, "a hexadecimal digit, found '\"'"),
    ('<x:s> <x:p> "\\U0000004', 23, "a hexadecimal digit, found the end of the text"),
    ('<x:s> <x:p> "é\\uDFFF" .', 15, "U+DFFF"),
    ('<x:s> <x:p> "\\U00110000" .', 14, "U+110000"),
    ('<x:s> <x:p> "\\UFFFFFFFF" .', 14, "U+FFFFFFFF"),
    (b'<x:s> <x:p> "\xed\xa0\x80" .', 14, "the byte 0xED"),
    (b'<x:s> <x:p> "\\n\xc0\x80" .', 16, "the byte 0xC0"),
    (b'<x:s> <x:p> "\xe9" .', 14, "the byte 0xE9"),
    ('<x:s> <x:p> "x"@ .', 17, "a language tag, found ' '"),
    ('<x:s> <x:p> "x"@1 .', 17, "a language tag, found '1'"),
    ('<x:s> <x:p> "x"@en- .', 20, "more of a language tag"),
    ('<x:s> <x:p> "x"@en--ltr .', 19, "base direction: it came with RDF 1.2"),
    ('VERSION "1.2"', 1, "a version directive: it came with RDF 1.2"),
    ('<x:s> <x:p> "x"@e1 .', 18, "'.'"),
    ('<x:s> <x:p> "x"@en_GB .', 19, "'.'"),
    ('<x:s> <x:p> "x"^<x:o> .', 17, "'^^'"),
    ('<x:s> <x:p> "x"^^x:o .', 18, "the IRI of a datatype"),
    ('<x:s> <x:p> "x"^^<o> .', 18, "absolute IRI"),
    ('<x:s> <x:p> "x"@en^^<x:o> .', 19, "'.'"),
    # quoted triples
    ("<< <x:s> <x:p> <x:o> > <x:p> <x:o> .", 22, "'>>'"),
    ("<< <x:s> <x:p> >> <x:p> <x:o> .", 16, "as object, found '>'"),
    ("<< <x:s> <x:p> <x:o> <x:g> >> <x:p> <x:o> .", 22, "'>>'"),
    ("<< <x:s> _:p <x:o> >> <x:p> <x:o> .", 10, "an IRI as predicate"),
    ('<< "x" <x:p> <x:o> >> <x:p> <x:o> .', 4, "as subject"),
    ("<< <x:s> << <x:s> <x:p> <x:o> >> <x:o> >> <x:p> <x:o> .", 10, "an IRI as predicate"),
    ("<<( <x:s> <x:p> <x:o> )>> <x:p> <x:o> .", 1, "a triple term, <<( … )>>: it came with RDF 1.2"),
    ("<x:s> <x:p> << <x:s> <x:p> <x:o> >", 34, "'>>'"),
    (b"# \xff", 3, "the byte 0xFF"),
    (b"<x:s> <x:p> <x:o> . # \xc3\xa9\xc3", 24, "the byte 0xC3"),
]


@pytest.mark.parametrize(("text", "column", "words"), BAD_LINES, ids=[str(text)[:40] for text, _, _ in BAD_LINES])
def test_bad_lines_are_errors_with_a_position(kernel: TextKernel, text: bytes | str, column: int, words: str) -> None:
    line = text.encode() if isinstance(text, str) else text
    before = '<x:s> <x:p> "é" .\r\n# é\n\r'.encode()
    with pytest.raises(TextError) as raised:
        kernel.parse(before + line)
    error = raised.value
    assert words in error.message
    assert (error.line, error.column) == (4, column)
    assert error.offset == len(before) + len(
        line.decode(errors="surrogateescape")[: column - 1].encode(errors="surrogateescape")
    )
    assert str(error).startswith(f"line 4, column {column}: ")
    assert "expected " in error.message or "RDF 1.2" in error.message


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("<x:s> <x:p> <x:o> << <x:s> <x:p> <x:o> >> .", 19, "an IRI or a blank node as graph"),
        ('<x:s> <x:p> <x:o> "g" .', 19, "an IRI or a blank node as graph"),
        ("<x:s> <x:p> <x:o> <x:g> <x:g> .", 25, "expected '.', found '<'"),
    ],
)
def test_bad_graphs_are_refused(kernel: TextKernel, line: str, column: int, words: str) -> None:
    with pytest.raises(TextError, match=f"column {column}: .*{words}"):
        kernel.parse(line.encode(), quads=True)


def test_a_quoted_triple_is_never_a_graph(kernel: TextKernel) -> None:
    with pytest.raises(TextError, match="an IRI, a blank node or a literal as graph"):
        kernel.parse(b"<x:s> <x:p> <x:o> << <x:s> <x:p> <x:o> >> .", quads=True, generalized=True)


@pytest.mark.parametrize("depth", [1, 2, 20])
def test_nesting_is_bounded(kernel: TextKernel, depth: int) -> None:
    text = f"{'<< ' * depth}<x:s> <x:p> <x:o>{' >> <x:p> <x:o>' * depth} .".encode()
    assert len(kernel.parse(text, max_depth=depth)) == 1
    with pytest.raises(TextError, match=f"column {3 * depth - 2}: .*nested more than {depth - 1} deep"):
        kernel.parse(text, max_depth=depth - 1)
    assert kernel.parse_terms(text.decode()[: -len(" <x:p> <x:o> .")], max_depth=depth)


# ---- text in pieces -----------------------------------------------------------------------------------
WHOLE = (
    '# é\r\n<x:s> <x:p> "a\\u00E9\\n🌍"@en-GB . # 🌍\r<x:s>\t<x:p>  "b"^^<x:t>.\n\n\r\r\n'
    "<< _:a.b <x:p> << <x:s> <x:p> <x:é> >> >> <x:p> _:a.b.\r\n_:a.b <x:\\u00e9> _:c <x:g> ."
).encode()


def test_text_cut_at_any_byte_is_read(kernel: TextKernel) -> None:
    whole = kernel.parse(WHOLE, quads=True)
    assert len(whole) == 4
    for cut in range(len(WHOLE) + 1):
        assert kernel.parse(WHOLE[:cut], WHOLE[cut:], quads=True) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_text_in_small_pieces_is_read(kernel: TextKernel, size: int) -> None:
    pieces = [WHOLE[start : start + size] for start in range(0, len(WHOLE), size)]
    assert kernel.parse(*pieces, quads=True) == kernel.parse(WHOLE, quads=True)


def test_errors_of_text_in_pieces(kernel: TextKernel) -> None:
    text = WHOLE + b"\r\n<x:s> <x:p> \xc3\xa9\n"
    expected = outcome(lambda: kernel.parse(text, quads=True))
    assert expected[1:] == (9, 13, len(text) - 3)
    for cut in range(len(text) + 1):
        assert outcome(kernel.parse, text[:cut], text[cut:], quads=True) == expected


def test_a_full_batch_ends_at_a_line(kernel: TextKernel) -> None:
    lines = [f"<x:s> <x:p> <x:{number}> .\n".encode() for number in range(5)]
    text = b"# five\n" + b"".join(lines)
    parser = kernel.parsing.TextParser(False)
    position, found = 0, []
    while position < len(text):
        builder = kernel.tables.BatchBuilder(False)
        position = parser.parse(builder, text, position, len(text), True, 2)
        found.append(builder.rows)
        assert position == len(b"# five\n") + len(b"".join(lines[: sum(found)]))
    assert found == [2, 2, 1]


def test_a_batch_is_bounded_in_bytes(kernel: TextKernel) -> None:
    text = b'<x:s> <x:p> "12345" .\n' * 3 + b'<x:s> <x:p> "' + b"6" * 200 + b'" .\n<x:s> <x:p> "7" .\n'
    builder = kernel.tables.BatchBuilder(False)
    position = kernel.parsing.TextParser(False).parse(builder, text, 0, len(text), True, 100, 150)
    assert builder.rows == 4
    assert text[position:] == b'<x:s> <x:p> "7" .\n'


# ---- going on after an error --------------------------------------------------------------------------
def test_bad_lines_can_be_left_out(kernel: TextKernel) -> None:
    text = (
        b'<x:s> <x:p> <x:o> .\n<x:s> <x:bad "x" .\r\n<x:s> <x:p> "x\n# \xff\r'
        b"<x:s> <x:p> <x:o> . no\n<x:s> <x:p> <x:o> .\nno"
    )
    errors: list[TextError] = []
    assert kernel.parse(text, on_error=errors.append) == plain([SPO, SPO])
    assert [(error.line, error.column) for error in errors] == [(2, 13), (3, 15), (4, 3), (5, 21), (7, 1)]
    for cut in range(len(text) + 1):
        again: list[TextError] = []
        assert kernel.parse(text[:cut], text[cut:], on_error=again.append) == plain([SPO, SPO])
        assert [(error.line, error.column, error.offset) for error in again] == [
            (error.line, error.column, error.offset) for error in errors
        ]


def test_a_hook_may_stop_the_reading(kernel: TextKernel) -> None:
    def stop(error: TextError) -> None:
        raise RuntimeError(f"stopped at line {error.line}")

    with pytest.raises(RuntimeError, match="stopped at line 2"):
        kernel.parse(b"\nno\nno\n", on_error=stop)


# ---- single terms -------------------------------------------------------------------------------------
def test_terms_of_every_kind_are_read(kernel: TextKernel) -> None:
    strings = [
        "<x:s>",
        "_:b",
        '"x"',
        '"x"@en',
        '"5"^^<x:t>',
        "<< <x:s> <x:p> <x:o> >>",
        "<x:s>",
        '<< _:b "p" "x"@en >>',
    ]
    assert [term[0] for term in kernel.parse_terms(*strings)] == [
        *("iri", "bnode", "literal", "literal", "literal", "triple", "iri", "triple")
    ]


def test_repeated_strings_are_the_same_terms(kernel: TextKernel) -> None:
    long = '"' + 200 * "x" + '"'
    # Far more than are remembered, so that they push one another out and come back; lengths and hashes meet by chance.
    strings = [f"<x:{number % 7000}>" for number in range(20_000)]
    strings[::3] = [f'"{number % 11}"@{"en" if number % 2 else "de"}' for number in range(len(strings[::3]))]
    strings[::50] = [long] * len(strings[::50])
    expected = {string: kernel.parse_terms(string)[0] for string in set(strings)}
    assert kernel.parse_terms(*strings) == [expected[string] for string in strings]


def test_strings_that_are_not_iris_are_kept(kernel: TextKernel) -> None:
    assert kernel.parse_terms("<>", "<a b>".replace(" ", "\\u0020"), "<é>") == [
        ("iri", ""),
        ("iri", "a b"),
        ("iri", "é"),
    ]


@pytest.mark.parametrize(
    ("string", "column", "words"),
    [
        ("", 1, "found the end of the text"),
        (" <x:s>", 1, "found ' '"),
        ("<x:s> ", 6, "the end of the term, found ' '"),
        ("<x:s><x:p>", 6, "the end of the term, found '<'"),
        ('"x', 3, "found the end of the text"),
        ("_:a.", 4, "the end of the term, found '.'"),
        ("<a b>", 3, "found ' '"),
    ],
)
def test_bad_terms_are_refused(kernel: TextKernel, string: str, column: int, words: str) -> None:
    with pytest.raises(TextError) as raised:
        kernel.parse_terms("<x:before>", '"é"', string, "<x:after>")
    assert words in raised.value.message
    assert (raised.value.line, raised.value.column) == (3, column)
