"""Terms and statements as users meet them. Those of both kernels, where a kernel makes a difference."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import re
import subprocess
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe import terms as public
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, TermError
from jellyframe.kernel.ntriples_write_cy import term_strings
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Term, Triple
from support.kernel_twins import KERNELS, NoTwinError, load_twin_module
from support.strategies import any_statements, literals

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
STRING = "http://www.w3.org/2001/XMLSchema#string"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

A_TRIPLE = Triple(IRI("urn:s"), IRI("urn:p"), Literal("o"))
SAMPLES = [
    IRI("http://example.org/é"),
    BlankNode("b0"),
    Literal("a"),
    Literal("a", language="en"),
    Literal("1", datatype=INTEGER),
    DEFAULT_GRAPH,
    A_TRIPLE,
    Triple(A_TRIPLE, IRI("urn:p"), A_TRIPLE),
    Quad(*A_TRIPLE, DEFAULT_GRAPH),
]


@pytest.fixture(scope="module", params=KERNELS)
def terms(request: pytest.FixtureRequest) -> ModuleType:
    """The classes of simple terms of either kernel."""
    try:
        return load_twin_module(request.param, "kernel.terms_cy")
    except NoTwinError as reason:
        pytest.skip(str(reason))


class TestSimpleTerms:
    def test_terms_have_their_parts(self, terms: ModuleType) -> None:
        assert terms.IRI("urn:a").value == "urn:a"
        assert terms.BlankNode("b").label == "b"
        literal = terms.Literal("1", INTEGER)
        assert (literal.lex, literal.datatype, literal.language) == ("1", INTEGER, None)

    def test_a_simple_literal_is_an_xsd_string(self, terms: ModuleType) -> None:
        assert terms.Literal("a").datatype == STRING
        assert terms.Literal("a") == terms.Literal("a", datatype=STRING)
        assert hash(terms.Literal("a")) == hash(terms.Literal("a", datatype=STRING))

    def test_a_literal_with_a_language_is_a_lang_string(self, terms: ModuleType) -> None:
        literal = terms.Literal("a", language="en")
        assert (literal.datatype, literal.language) == (LANG_STRING, "en")
        assert literal == terms.Literal("a", LANG_STRING, "en")

    def test_equal_means_same_kind_and_same_parts(self, terms: ModuleType) -> None:
        made = [
            [
                terms.IRI("a"),
                terms.BlankNode("a"),
                terms.Literal("a"),
                terms.Literal("a", language="en"),
                terms.Literal("a", language="EN"),
                terms.Literal("a", INTEGER),
                terms.IRI("b"),
                terms.DEFAULT_GRAPH,
            ]
            for _ in range(2)
        ]
        for (i, left), (j, right) in itertools.product(*map(enumerate, made)):
            assert (left == right) == (i == j)
            assert (left != right) == (i != j)
            if i == j:
                assert hash(left) == hash(right)
        assert len({*made[0], *made[1]}) == len(made[0])
        assert terms.IRI("a") != "a"

    def test_terms_are_immutable(self, terms: ModuleType) -> None:
        for term, names in (
            (terms.IRI("a"), ["value"]),
            (terms.BlankNode("a"), ["label"]),
            (terms.Literal("a"), ["lex", "datatype", "language"]),
            (terms.DEFAULT_GRAPH, []),
        ):
            for name in [*names, "something_new"]:
                with pytest.raises(AttributeError):
                    setattr(term, name, "b")
            for name in names:
                with pytest.raises(AttributeError):
                    delattr(term, name)
            assert not hasattr(term, "__dict__")

    @pytest.mark.parametrize("wrong", [5, None, b"a", ["a"]])
    def test_parts_of_terms_are_strings(self, terms: ModuleType, wrong: object) -> None:
        for make in (terms.IRI, terms.BlankNode, terms.Literal):
            with pytest.raises(TypeError, match="must be a str"):
                make(wrong)
        if wrong is not None:
            with pytest.raises(TypeError, match="must be a str"):
                terms.Literal("a", wrong)
            with pytest.raises(TypeError, match="must be a str"):
                terms.Literal("a", None, wrong)

    def test_a_special_string_becomes_a_plain_one(self, terms: ModuleType) -> None:
        class Special(str):
            __slots__ = ()

        for term in (terms.IRI(Special("a")), terms.IRI("a")):
            assert type(term.value) is str
        literal = terms.Literal(Special("a"), language=Special("en"))
        assert literal == terms.Literal("a", language="en")
        assert type(literal.lex) is type(literal.language) is str

    def test_an_empty_language_is_refused(self, terms: ModuleType) -> None:
        with pytest.raises(TermError, match="empty"):
            terms.Literal("a", language="")

    def test_a_language_goes_with_no_other_datatype(self, terms: ModuleType) -> None:
        with pytest.raises(JellyError, match=r"'en'.*integer"):
            terms.Literal("1", INTEGER, "en")
        with pytest.raises(JellyError):
            terms.Literal("a", STRING, "en")

    def test_there_is_one_default_graph(self, terms: ModuleType) -> None:
        with pytest.raises(TypeError, match="DEFAULT_GRAPH"):
            terms.DefaultGraph()

    def test_repr_can_be_read_back(self, terms: ModuleType) -> None:
        for term in (
            terms.IRI("urn:'a'"),
            terms.BlankNode("b"),
            terms.Literal("a\n"),
            terms.Literal("a", language="en"),
            terms.Literal("1", INTEGER),
            terms.DEFAULT_GRAPH,
        ):
            assert eval(repr(term), vars(terms)) == term

    def test_terms_match_patterns(self, terms: ModuleType) -> None:
        match terms.Literal("a", language="en"):
            case terms.Literal(lex, _, "en"):
                assert lex == "a"
            case _:
                pytest.fail("no match")
        match terms.IRI("urn:a"):
            case terms.BlankNode(_):
                pytest.fail("an IRI is no blank node")
            case terms.IRI(value):
                assert value == "urn:a"

    def test_terms_are_ordered_by_kind_then_value(self, terms: ModuleType) -> None:
        ordered = [
            terms.DEFAULT_GRAPH,
            terms.BlankNode("a"),
            terms.BlankNode("b"),
            terms.IRI("a"),
            terms.IRI("b"),
            terms.Literal("a", language="en"),
            terms.Literal("a", language="fr"),
            terms.Literal("a", INTEGER),
            terms.Literal("a"),
            terms.Literal("b"),
        ]
        assert sorted({*ordered}) == ordered
        for (i, left), (j, right) in itertools.product(enumerate(ordered), repeat=2):
            assert (left < right, left <= right, left > right, left >= right) == (i < j, i <= j, i > j, i >= j)

    def test_terms_are_not_ordered_against_other_objects(self, terms: ModuleType) -> None:
        with pytest.raises(TypeError):
            terms.IRI("a") < "b"  # noqa: B015

    def test_str_is_the_ntriples_form(self, terms: ModuleType) -> None:
        assert str(terms.IRI("http://example.org/é")) == "<http://example.org/é>"
        assert (
            str(terms.IRI('a b<>"{}|^`\\\x00'))
            == "<a"
            + "".join(f"\\u{ord(char):04X}" for char in " ")
            + "b"
            + "".join(f"\\u{ord(char):04X}" for char in '<>"{}|^`\\\x00')
            + ">"
        )
        assert str(terms.BlankNode("b0")) == "_:b0"
        assert str(terms.Literal("é😊")) == '"é😊"'
        assert str(terms.Literal("a", language="en-GB")) == '"a"@en-GB'
        assert str(terms.Literal("1", INTEGER)) == f'"1"^^<{INTEGER}>'
        assert str(terms.Literal('"\\\n\r\t\b\f')) == r'"\"\\\n\r\t\b\f"'
        assert str(terms.Literal("\x00\x1f\x7f\x80")) == '"\\u0000\\u001F\\u007F\x80"'
        assert str(terms.DEFAULT_GRAPH) == ""

    def test_a_label_invalid_in_ntriples_is_written_in_hexadecimal(self, terms: ModuleType) -> None:
        odd = ["a b", "", "-a", "a.", "hex-61", "é b"]
        texts = [str(terms.BlankNode(label)) for label in odd]
        assert len(set(texts)) == len(odd)
        assert all(re.fullmatch(r"_:\w[\w-]*", text) for text in texts)
        assert str(terms.BlankNode("a.b-é")) == "_:a.b-é"
        assert str(terms.BlankNode("\ud800")) == "_:hex-eda080"  # no text can hold it, but it can be shown


class TestStatements:
    def test_statements_are_tuples(self) -> None:
        s, p, o = A_TRIPLE
        assert (s, p, o) == A_TRIPLE == (A_TRIPLE.s, A_TRIPLE.p, A_TRIPLE.o)
        assert Quad(s, p, o, DEFAULT_GRAPH).g is DEFAULT_GRAPH
        assert A_TRIPLE._replace(o=s) == Triple(s, p, s)

    def test_to_line_is_the_ntriples_line(self) -> None:
        assert A_TRIPLE.to_line() == '<urn:s> <urn:p> "o" .'
        assert Quad(*A_TRIPLE, IRI("urn:g")).to_line() == '<urn:s> <urn:p> "o" <urn:g> .'
        assert Quad(*A_TRIPLE, DEFAULT_GRAPH).to_line() == '<urn:s> <urn:p> "o" .'

    def test_a_triple_as_a_term(self) -> None:
        assert str(A_TRIPLE) == '<< <urn:s> <urn:p> "o" >>'
        nested = Triple(A_TRIPLE, IRI("urn:p"), A_TRIPLE)
        assert str(nested) == f"<< {A_TRIPLE} <urn:p> {A_TRIPLE} >>"
        assert nested.to_line() == f"{A_TRIPLE} <urn:p> {A_TRIPLE} ."

    def test_text_of_deep_nesting_needs_no_stack(self) -> None:
        deep = A_TRIPLE
        for _ in range(5000):
            deep = Triple(deep, IRI("urn:p"), IRI("urn:o"))
        assert str(deep).count("<<") == 5001

    def test_quoted_triples_are_ordered_last(self) -> None:
        other = Triple(BlankNode("a"), *A_TRIPLE[1:])
        terms: list[Term] = [A_TRIPLE, Literal("z"), other, IRI("a")]
        assert sorted(terms) == [IRI("a"), Literal("z"), other, A_TRIPLE]
        assert IRI("z") < A_TRIPLE
        assert IRI("z") <= A_TRIPLE
        assert not IRI("z") > A_TRIPLE
        assert not IRI("z") >= A_TRIPLE


class TestCopies:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("value", SAMPLES, ids=repr)
    def test_a_pickle_gives_an_equal_one(self, value: object, protocol: int) -> None:
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again == value
        assert type(again) is type(value)
        assert hash(again) == hash(value)

    @pytest.mark.parametrize("value", SAMPLES, ids=repr)
    def test_copies_are_equal(self, value: object) -> None:
        assert copy.copy(value) == value
        assert copy.deepcopy(value) == value

    def test_the_default_graph_stays_the_same_object(self) -> None:
        assert pickle.loads(pickle.dumps(DEFAULT_GRAPH)) is DEFAULT_GRAPH
        assert copy.deepcopy(DEFAULT_GRAPH) is DEFAULT_GRAPH

    def test_a_pickle_names_the_public_module_only(self) -> None:
        for value in SAMPLES:
            assert b"kernel" not in pickle.dumps(value)

    @pytest.mark.parametrize("kernel", ["", "pure"])
    def test_a_process_with_another_kernel_reads_it(self, kernel: str) -> None:
        program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=pickle.dumps(SAMPLES),
            capture_output=True,
            check=True,
            env={**os.environ, "JELLYFRAME_KERNEL": kernel},
        )
        assert pickle.loads(done.stdout) == SAMPLES

    def test_a_pickle_of_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(TermError):
            public.restore_term("Variable", "x")


def test_importing_terms_does_not_import_pyarrow() -> None:
    program = "import sys, jellyframe.terms; sys.exit('pyarrow' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@given(any_statements())
def test_str_of_terms_equals_their_ntriples(statements: list[Triple | Quad]) -> None:
    batch = Batch.from_statements(statements)
    texts = term_strings(batch.terms).strings()
    columns = [batch.s, batch.p, batch.o] if batch.g is None else [batch.s, batch.p, batch.o, batch.g]
    for place, column in enumerate(columns):
        assert [texts[term] for term in column] == [str(statement[place]) for statement in statements[: len(column)]]


@given(literals())
def test_literals_differ_exactly_if_their_texts_do(literal: Literal) -> None:
    other = Literal(literal.lex + "x", literal.datatype, literal.language)
    assert other != literal
    assert str(other) != str(literal)
    assert "\n" not in str(literal)


@given(any_statements(), st.randoms())
def test_sorting_is_independent_of_the_order(statements: list[Triple | Quad], random: object) -> None:
    shuffled = [*statements]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sorted(shuffled) == sorted(statements)
