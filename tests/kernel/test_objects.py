"""Statements into batches and out again, on both kernels."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import EncodeError
from jellyframe.kernel import kernel_name
from support.kernel_twins import KERNELS, NoTwinError, load_twin_module
from support.plain import build, plain
from support.strategies import Shape, any_statements, statement_lists


class Kit:
    """The functions of one kernel that are tested here, and some of its terms."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.objects: Any = load_twin_module(name, "kernel.from_objects_cy")
        self.Batch: Any = load_twin_module(name, "batch").Batch
        self.terms: ModuleType = load_twin_module(name, "terms")
        self.Triple, self.Quad = self.terms.Triple, self.terms.Quad
        self.s, self.p, self.o, self.g = (self.terms.IRI(f"http://example.org/{letter}") for letter in "spog")
        self.triple = self.Triple(self.s, self.p, self.o)

    def __repr__(self) -> str:
        return self.name


@pytest.fixture(scope="session", params=KERNELS)
def kit(request: pytest.FixtureRequest) -> Kit:
    try:
        return Kit(request.param)
    except NoTwinError as reason:
        pytest.skip(str(reason))


class TestRoundTrip:
    @given(statements=any_statements())
    def test_statements_survive_a_round_trip(self, kit: Kit, statements: list[Any]) -> None:
        ours = build(kit.terms, plain(statements))
        again = kit.Batch.from_statements(ours).statements()
        assert again == ours
        assert [type(statement) for statement in again] == [type(statement) for statement in ours]

    @given(statements=any_statements(), data=st.data())
    def test_any_rows_of_a_batch(self, kit: Kit, statements: list[Any], data: st.DataObject) -> None:
        ours = build(kit.terms, plain(statements))
        batch = kit.Batch.from_statements(ours)
        start = data.draw(st.integers(0, len(ours)))
        stop = data.draw(st.integers(start, len(ours)))
        assert batch.statements(start, stop) == ours[start:stop]
        assert batch.statements(start) == ours[start:]

    @given(statements=statement_lists(Shape(quads=True, star=True, generalized=True)))
    def test_a_term_is_stored_once(self, kit: Kit, statements: list[Any]) -> None:
        ours = build(kit.terms, plain(statements))
        # Longer strings are not looked up.
        terms = {term for statement in ours for term in _with_quoted(statement) if len(str(term)) < 128}
        batch = kit.Batch.from_statements(ours, quads=True)
        assert batch.terms.count >= len(terms)
        if all(len(str(statement)) < 128 for statement in ours):
            assert batch.terms.count == len(terms)

    def test_equal_terms_of_a_batch_are_one_object(self, kit: Kit) -> None:
        subjects = [kit.terms.IRI("urn:a") for _ in range(2)]
        batch = kit.Batch.from_statements(
            [kit.Triple(subjects[0], kit.p, kit.o), kit.Triple(subjects[1], kit.p, kit.triple)]
        )
        first, second = batch.statements(0, 1)[0], batch.statements(1, 2)[0]
        assert first.s is second.s
        assert second.o.p is first.p

    def test_plain_tuples_are_statements_and_quoted_triples_too(self, kit: Kit) -> None:
        quoting = kit.Triple(kit.s, kit.p, kit.triple)
        statements = kit.Batch.from_statements([(kit.s, kit.p, tuple(kit.triple)), quoting]).statements()
        assert statements == [quoting, quoting]
        assert type(statements[0]) is type(statements[0].o) is kit.Triple

    def test_the_first_statement_decides_about_graphs(self, kit: Kit) -> None:
        assert not kit.Batch.from_statements([kit.triple]).has_graph
        assert kit.Batch.from_statements([kit.Quad(*kit.triple, kit.g)]).has_graph
        assert not kit.Batch.from_statements([]).has_graph
        assert kit.Batch.from_statements([], quads=True).has_graph

    def test_a_lang_string_without_a_language_is_kept(self, kit: Kit) -> None:
        odd = kit.Triple(kit.s, kit.p, kit.terms.Literal("a", kit.terms.RDF_LANG_STRING))
        assert kit.Batch.from_statements([odd]).statements() == [odd]

    def test_a_triple_that_is_quoted_many_times_over_is_stored_once(self, kit: Kit) -> None:
        deep = kit.triple
        for _ in range(150):
            deep = kit.Triple(deep, kit.p, deep)
        batch = kit.Batch.from_statements([kit.Triple(kit.s, kit.p, deep)])
        assert batch.terms.count == 3 + 151
        assert batch.statements()[0].o.s.o.p == kit.p

    def test_statements_are_not_tracked_by_the_garbage_collector(self, kit: Kit) -> None:
        if kit.name != "compiled":
            pytest.skip("only compiled code can tell it so")
        batch = kit.Batch.from_statements([kit.Quad(kit.s, kit.p, kit.triple, kit.terms.DEFAULT_GRAPH)])
        (statement,) = batch.statements()
        assert not any(map(gc.is_tracked, [statement, *statement]))


class TestStatementBuilder:
    def test_the_iterator_is_drawn_no_further_than_asked(self, kit: Kit) -> None:
        endless = (kit.Triple(kit.terms.IRI(f"urn:{i}"), kit.p, kit.o) for i in itertools.count())
        builder = kit.objects.StatementBuilder(None)
        assert builder.add(endless, 3) == 3
        assert next(endless).s.value == "urn:3"
        assert builder.add(endless, 0) == 0
        assert builder.add(endless, 2) == 2
        assert builder.rows == 5

    def test_the_end_of_an_iterator_is_reported(self, kit: Kit) -> None:
        assert kit.objects.StatementBuilder(None).add(iter([kit.triple, kit.triple]), 5) == 2

    def test_take_starts_a_new_batch(self, kit: Kit) -> None:
        builder = kit.objects.StatementBuilder(None)
        assert builder.has_graph is None
        builder.add([kit.Quad(*kit.triple, kit.g)], 5)
        assert builder.has_graph is True
        taken = builder.take()
        assert (taken.rows, taken.terms.count) == (1, 4)
        assert (builder.rows, builder.has_graph) == (0, True)
        builder.add([kit.Quad(*kit.triple, kit.terms.DEFAULT_GRAPH)], 5)
        assert builder.take().terms.count == 4

    def test_errors_of_the_iterable_pass_through(self, kit: Kit) -> None:
        def failing() -> Iterator[Any]:
            yield kit.triple
            raise TypeError("mine")

        builder = kit.objects.StatementBuilder(None)
        with pytest.raises(TypeError, match="mine"):
            builder.add(failing(), 5)
        assert builder.rows == 1

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ("http://example.org/", r"the str 'http://example.org/' for a term; pass an IRI, a BlankNode"),
            (5, "a int for a term"),
            (None, "a NoneType for a term"),
            ([], "a list for a term"),
            ((), "a tuple of 0 for a term"),
            ("x" * 1000, r"x\.\.\."),
        ],
        ids=["str", "int", "None", "list", "tuple", "long str"],
    )
    def test_objects_other_than_terms_are_refused(self, kit: Kit, wrong: Any, said: str) -> None:
        for place, before in itertools.product(range(3), range(2)):
            terms = [*kit.triple]
            terms[place] = wrong
            for statement in (kit.Triple(*terms), kit.Triple(kit.s, kit.p, kit.Triple(*terms))):
                builder = kit.objects.StatementBuilder(None)
                with pytest.raises(EncodeError, match=f"^statement {before} has .*{said}"):
                    builder.add([kit.triple] * before + [statement], 5)
                assert builder.rows == before

    def test_quads_and_the_default_graph_are_not_terms(self, kit: Kit) -> None:
        quad = kit.Quad(*kit.triple, kit.g)
        with pytest.raises(EncodeError, match="a tuple of 4 for a term"):
            kit.objects.build_statements([kit.Triple(kit.s, kit.p, quad)])
        with pytest.raises(EncodeError, match="DEFAULT_GRAPH for a term"):
            kit.objects.build_statements([kit.Triple(kit.s, kit.p, kit.terms.DEFAULT_GRAPH)])

    @pytest.mark.parametrize("wrong", [None, "x", 5])
    def test_terms_that_cannot_be_graphs_are_refused(self, kit: Kit, wrong: Any) -> None:
        with pytest.raises(EncodeError, match=r"^statement 0 has .* for a term"):
            kit.objects.StatementBuilder(True).add([kit.Quad(*kit.triple, wrong)], 5)

    @pytest.mark.parametrize("wrong", ["<a> <b> <c> .", 5, None, ["s", "p", "o"]])
    def test_objects_other_than_statements_are_refused(self, kit: Kit, wrong: Any) -> None:
        with pytest.raises(EncodeError, match=r"^statement 0 is .*, not a Triple or a Quad"):
            kit.objects.StatementBuilder(None).add([wrong], 5)

    def test_triples_and_quads_do_not_mix(self, kit: Kit) -> None:
        quad = kit.Quad(*kit.triple, kit.g)
        with pytest.raises(EncodeError, match=r"^statement 1 has no graph.*DEFAULT_GRAPH"):
            kit.objects.build_statements([quad, kit.triple])
        with pytest.raises(EncodeError, match=r"^statement 1 has a graph"):
            kit.objects.build_statements([kit.triple, quad])
        with pytest.raises(EncodeError, match=r"^statement 0 has 2 terms, not 3"):
            kit.objects.build_statements([kit.triple[:2]])

    def test_statements_are_counted_over_all_batches(self, kit: Kit) -> None:
        builder = kit.objects.StatementBuilder(None)
        builder.add([kit.triple] * 3, 5)
        builder.take()
        with pytest.raises(EncodeError, match=r"^statement 4 "):
            builder.add([kit.triple, "x"], 5)

    @pytest.mark.parametrize(
        ("kind", "parts"),
        [
            ("IRI", ["urn:\ud800"]),
            ("BlankNode", ["\udfff"]),
            ("Literal", ["a\ud83d"]),
            ("Literal", ["a", "urn:\ud800"]),
            ("Literal", ["a", None, "e\ud800"]),
        ],
        ids=ascii,
    )
    def test_a_lone_surrogate_is_refused(self, kit: Kit, kind: str, parts: list[Any]) -> None:
        term = getattr(kit.terms, kind)(*parts)
        with pytest.raises(EncodeError, match=r"^statement 0 has a lone surrogate \(U\+D[8-F]"):
            kit.objects.build_statements([kit.Triple(kit.s, kit.p, term)])

    def test_nesting_is_bounded(self, kit: Kit) -> None:
        deep = kit.triple
        for _ in range(100_000):
            deep = kit.Triple(deep, kit.p, kit.o)
        with pytest.raises(EncodeError, match="nests quoted triples more than"):
            kit.objects.build_statements([kit.Triple(kit.s, kit.p, deep)])

    @given(statements=any_statements())
    def test_both_kernels_build_the_same(self, kit: Kit, statements: list[Any]) -> None:
        here = Kit(kernel_name()).objects.build_statements(statements)
        there = kit.objects.build_statements(build(kit.terms, plain(statements)))
        assert here.columns() == there.columns()
        assert here.terms.buffers() == there.terms.buffers()
        for name in ("values", "datatypes", "languages"):
            assert getattr(here.terms, name).buffers() == getattr(there.terms, name).buffers()


def _with_quoted(statement: tuple[Any, ...]) -> Iterator[Any]:
    for term in statement:
        yield term
        if isinstance(term, tuple):
            yield from _with_quoted(term)
