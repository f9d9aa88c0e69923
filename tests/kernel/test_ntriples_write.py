"""The texts of terms and the lines of statements, on both kernels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import TextError
from jellyframe.kernel import kernel_name
from jellyframe.terms import IRI, BlankNode, Literal, Triple
from support.kernel_twins import load_twin_module
from support.plain import plain, plain_term
from support.strategies import Shape, any_statements, statement_lists
from support.text_kernel import TextKernel

S, P = IRI("x:s"), IRI("x:p")


class Kernel(TextKernel):
    """The functions of one kernel that are tested here."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.writing = load_twin_module(name, "kernel.ntriples_write_cy")
        self.line_writing = load_twin_module(name, "kernel.line_write_cy")
        self.streaming = load_twin_module(name, "kernel.ntriples_stream_cy")
        self.terms = load_twin_module(name, "terms")
        self.batches = load_twin_module(name, "batch")

    def own_term(self, term: Any) -> Any:
        """A term as the classes of this kernel have it."""
        if isinstance(term, Triple):
            return self.terms.Triple(*map(self.own_term, term))
        if isinstance(term, Literal):
            datatype = None if term.language else term.datatype
            return self.terms.Literal(term.lex, datatype=datatype, language=term.language)
        if isinstance(term, IRI):
            return self.terms.IRI(term.value)
        return self.terms.BlankNode(term.label) if isinstance(term, BlankNode) else self.terms.DEFAULT_GRAPH

    def batch(self, statements: list[Any]) -> Any:
        own = [getattr(self.terms, type(row).__name__)(*map(self.own_term, row)) for row in statements]
        return self.batches.Batch.from_statements(own, quads=bool(own) and len(own[0]) == 4)

    def text(self, term: Any) -> str:
        """The text of one term."""
        batch = self.batch([Triple(S, P, term)])
        return str(self.writing.term_strings(batch.terms).strings()[batch.o[0]])

    def lines(self, batch: Any, start: int = 0, stop: int | None = None) -> bytes:
        strings = self.writing.term_strings(batch.terms)
        stop = len(batch) if stop is None else stop
        lines, end = self.line_writing.write_lines(batch.s, batch.p, batch.o, batch.g, strings, start, stop)
        assert end == stop
        return bytes(lines)


@pytest.fixture(scope="session")
def kernel(twin: ModuleType) -> Kernel:
    return Kernel("pure" if twin.__name__.endswith("_pure") else kernel_name())


TEXTS: list[tuple[Any, str]] = [
    (IRI("http://example.org/é~\x7f"), "<http://example.org/é~\x7f>"),
    (IRI(""), "<>"),
    (IRI('a b\n<>"{}|^`\\\x00'), r"<a\u0020b\u000A\u003C\u003E\u0022\u007B\u007D\u007C\u005E\u0060\u005C\u0000>"),
    (IRI("x:" + "y" * 100 + " é"), "<x:" + "y" * 100 + r"\u0020é>"),
    (BlankNode("b"), "_:b"),
    (BlankNode("a.b-é·"), "_:a.b-é·"),
    (BlankNode("he"), "_:he"),
    (Literal(""), '""'),
    (Literal("\t\b\n\r\f\"\\'"), r'''"\t\b\n\r\f\"\\'"'''),
    (Literal("\x00\x1f\x7f\x80\u2028é🌍"), '"\\u0000\\u001F\\u007F\x80\u2028é🌍"'),
    (Literal("a" * 40 + "\n" + "é" * 40 + '"'), '"' + "a" * 40 + r"\n" + "é" * 40 + r'\""'),
    (Literal("x", language="en-GB"), '"x"@en-GB'),
    (Literal("\n", "http://www.w3.org/2001/XMLSchema#string"), r'"\n"'),
    (Literal("5", "x:t y"), r'"5"^^<x:t\u0020y>'),
    (Triple(S, P, Triple(BlankNode("b"), P, Literal("x"))), '<< <x:s> <x:p> << _:b <x:p> "x" >> >>'),
]


@pytest.mark.parametrize(("term", "text"), TEXTS, ids=[text[:30] for _, text in TEXTS])
def test_terms_are_written(kernel: Kernel, term: Any, text: str) -> None:
    assert kernel.text(term) == text == str(term)


ODD_LABELS = ["", "a b", "a.", ".a", "-a", "a:b", "é×", "·", "<x>", "a\nb", "hex-", "hex-61", "hex-6120"]


@pytest.mark.parametrize("label", ODD_LABELS)
def test_invalid_labels_are_written_in_hexadecimal(kernel: Kernel, label: str) -> None:
    text = kernel.text(BlankNode(label))
    assert text == f"_:hex-{label.encode().hex()}"
    assert kernel.parse_terms(text) == [("bnode", label)]


@given(labels=st.lists(st.one_of(st.sampled_from(ODD_LABELS), st.text(max_size=4)), unique=True, min_size=1))
def test_labels_stay_distinct(kernel: Kernel, labels: list[str]) -> None:
    batch = kernel.batch([Triple(S, P, BlankNode(label)) for label in labels])
    strings = kernel.writing.term_strings(batch.terms).strings()
    assert len(set(strings)) == len(labels) + 2
    assert [term[0] for term in kernel.parse_terms(*strings)] == ["iri", "iri"] + ["bnode"] * len(labels)


@pytest.mark.parametrize("tag", ["en_GB", "e n", "en-", "1", "é", "en .\n<x:s>"])
def test_invalid_language_tags_are_refused(kernel: Kernel, tag: str) -> None:
    with pytest.raises(TextError, match="is not a valid language tag"):
        kernel.text(Literal("x", language=tag))


@given(
    term=st.one_of(st.builds(IRI, st.text()), st.builds(Literal, st.text()), st.builds(Literal, st.text(), st.text()))
)
def test_any_text_survives_a_round_trip(kernel: Kernel, term: Any) -> None:
    assert kernel.parse_terms(kernel.text(term)) == [plain_term(term)]


@given(data=st.data())
def test_lines_are_those_of_the_statements(kernel: Kernel, data: st.DataObject) -> None:
    statements = data.draw(any_statements())
    expected = [f"{statement.to_line()}\n" for statement in statements]
    batch = kernel.batch(statements)
    assert kernel.lines(batch).decode() == "".join(expected)
    start = data.draw(st.integers(0, len(statements)))
    stop = data.draw(st.integers(start, len(statements)))
    assert kernel.lines(batch, start, stop).decode() == "".join(expected[start:stop])


@given(data=st.data())
def test_lines_survive_a_round_trip(kernel: Kernel, data: st.DataObject) -> None:
    shape = data.draw(st.builds(Shape, st.just(True), st.booleans(), st.booleans()))
    statements = data.draw(statement_lists(shape))
    text = kernel.lines(kernel.batch(statements))
    assert kernel.parse(text, quads=True, generalized=shape.generalized) == plain(statements)


@given(st.text() | st.text("ab.-_:é·̀", max_size=5))
def test_str_of_a_blank_node_equals_its_text(kernel: Kernel, label: str) -> None:
    assert str(BlankNode(label)) == kernel.text(BlankNode(label))


@given(statements=any_statements(), piece_bytes=st.sampled_from([1, 7, 50, 10_000]))
def test_pieces_join_to_the_lines(kernel: Kernel, statements: list[Any], piece_bytes: int) -> None:
    """Written without texts of terms, in pieces of any size, lines are the same; and so are their sizes."""
    batch = kernel.batch(statements)
    expected = kernel.lines(batch)
    stream = kernel.streaming.LineStream((batch.s, batch.p, batch.o, batch.g), batch.terms, 0, len(batch), piece_bytes)
    pieces = []
    while piece := bytes(stream.next_piece()):
        pieces.append(piece)
    assert b"".join(pieces) == expected
    sizes = kernel.writing.text_sizes(batch.terms)
    assert list(sizes) == [len(text.encode()) for text in kernel.writing.term_strings(batch.terms).strings()]
    columns = (batch.s, batch.p, batch.o, batch.g)
    only_used = kernel.writing.term_strings(batch.terms, columns=columns)
    lines, _ = kernel.line_writing.write_lines(*columns, only_used, 0, len(batch))
    assert bytes(lines) == expected


def test_long_terms_are_written_in_pieces(kernel: Kernel) -> None:
    long = "é\n" * 700_000
    rows = [Triple(IRI("x:" + "y " * 900_000), P, Literal(long)), Triple(S, P, Literal(long, "x:t"))]
    rows += [Triple(S, P, Literal(long, language="en")), Triple(S, P, Triple(S, P, Literal(long)))]
    batch = kernel.batch(rows)
    stream = kernel.streaming.LineStream((batch.s, batch.p, batch.o, batch.g), batch.terms, 0, len(batch), 1 << 20)
    pieces = []
    while piece := bytes(stream.next_piece()):
        pieces.append(piece)
    assert b"".join(pieces) == kernel.lines(batch)
    assert max(map(len, pieces)) < 9 << 20


def test_lines_are_cut_by_bytes(kernel: Kernel) -> None:
    batch = kernel.batch([Triple(S, P, Literal("x" * 100))] * 10)
    strings = kernel.writing.term_strings(batch.terms)
    lines, stop = kernel.line_writing.write_lines(batch.s, batch.p, batch.o, batch.g, strings, 0, 10, 300)
    assert (len(bytes(lines).splitlines()), stop) == (2, 2)
    lines, stop = kernel.line_writing.write_lines(batch.s, batch.p, batch.o, batch.g, strings, 4, 10, 50)
    assert (bytes(lines), stop) == (b"", 4)
