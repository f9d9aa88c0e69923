"""The algebra of batches, compared with the same operations on lists of statements."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jellyframe
from jellyframe import DEFAULT_GRAPH, IRI, Batch, BlankNode, Literal, NamedGraphError, Quad, StreamOptions, Triple
from jellyframe.batch import NamespaceDeclaration
from jellyframe.errors import UsageError
from support.kernel_twins import KERNELS, NoTwinError, load_twin_module
from support.plain import build, plain
from support.strategies import any_statements

A, P, Q = IRI("http://example.org/a"), IRI("http://example.org/p"), IRI("http://example.org/q")
G = IRI("http://example.org/g")


def triples(count: int) -> list[Triple]:
    return [Triple(A, P, Literal(str(number))) for number in range(count)]


def framed(sizes: list[int], *, is_open: bool = False) -> Batch:
    """A batch of frames of these sizes, numbered from 5, each with metadata and a namespace."""
    from array import array
    from itertools import accumulate

    return Batch.from_statements(triples(sum(sizes)), quads=False).replace(
        options=StreamOptions(),
        first_frame=5,
        frame_ends=memoryview(array("i", accumulate(sizes))),
        last_frame_open=is_open,
        metadata={5 + number: {"n": b"%d" % number} for number in range(len(sizes))},
        namespaces=[NamespaceDeclaration(5 + number, f"n{number}", "x:") for number in range(len(sizes))],
    )


def frames(batch: Batch) -> list[tuple[int, int, int, bool]]:
    return [(span.number, span.start, span.stop, span.is_complete) for span in batch.frame_spans()]


@pytest.fixture(scope="module", params=KERNELS)
def twin(request: pytest.FixtureRequest) -> Callable[[list[Any]], Any]:
    """Makes batches on one of the kernels."""
    try:
        batch, terms = (load_twin_module(request.param, name) for name in ("batch", "terms"))
    except NoTwinError as reason:
        pytest.skip(str(reason))
    return lambda statements: batch.Batch.from_statements(build(terms, plain(statements)), quads=_has_graph(statements))


def _has_graph(statements: list[Any]) -> bool:
    return bool(statements) and len(statements[0]) == 4


class TestSlice:
    @given(st.lists(st.integers(0, 3), max_size=5), st.integers(0, 15), st.booleans())
    def test_two_slices_make_the_whole(self, sizes: list[int], at: int, is_open: bool) -> None:
        batch = framed(sizes, is_open=is_open)
        at = min(at, len(batch))
        first, second = batch.slice(0, at), batch.slice(at)
        assert first.statements() + second.statements() == batch.statements()
        joined = Batch.concat([part for part in (first, second) if len(part)] or [batch])
        assert frames(joined) == frames(batch)
        assert joined.metadata == batch.metadata
        assert joined.namespaces == batch.namespaces

    def test_a_frame_that_is_cut_continues_in_the_next_slice(self) -> None:
        first, second = framed([3]).slice(0, 2), framed([3]).slice(2)
        assert frames(first) == [(5, 0, 2, False)]
        assert frames(second) == [(5, 0, 1, True)]
        assert [declaration.name for declaration in first.namespaces] == ["n0"]
        assert second.namespaces == []
        assert first.metadata == second.metadata == {5: {"n": b"0"}}

    def test_empty_frames_belong_to_one_slice_only(self) -> None:
        batch = framed([2, 0, 0, 2, 0])
        assert frames(batch.slice(0, 2)) == [(5, 0, 2, True)]
        assert frames(batch.slice(2)) == [(6, 0, 0, True), (7, 0, 0, True), (8, 0, 2, True), (9, 2, 2, True)]

    def test_bounds_are_those_of_lists(self) -> None:
        batch = Batch.from_statements(triples(4))
        assert batch.slice(1, 99).statements() == triples(4)[1:]
        assert batch.slice(3, 1).statements() == []
        assert batch.slice() is batch

    def test_columns_are_not_copied(self) -> None:
        batch = Batch.from_statements(triples(4))
        assert batch.slice(1, 3).terms is batch.terms
        assert batch.slice(1, 3).o.obj is batch.o.obj


class TestTake:
    @given(any_statements(), st.data())
    def test_rows_in_any_order(self, twin: Callable[[list[Any]], Any], statements: list[Any], data: Any) -> None:
        batch = twin(statements)
        rows = data.draw(st.lists(st.integers(0, len(statements) - 1), max_size=8)) if statements else []
        assert plain(batch.take(rows).statements()) == [plain(statements)[row] for row in rows]

    @pytest.mark.parametrize("rows", [[4], [-1], [0, 1 << 30]])
    def test_rows_outside_of_the_batch_are_refused(self, twin: Callable[[list[Any]], Any], rows: list[int]) -> None:
        with pytest.raises(IndexError, match="of a column of 4 rows"):
            twin(triples(4)).take(rows)

    def test_frames_are_dropped_and_options_kept(self) -> None:
        batch = framed([2, 2]).take([3, 0])
        assert batch.frame_ends is None
        assert batch.metadata == {}
        assert batch.options == StreamOptions()
        assert [declaration.name for declaration in batch.namespaces] == ["n0", "n1"]


class TestFilter:
    @given(any_statements(), st.data())
    def test_rows_where_the_mask_is_true(
        self, twin: Callable[[list[Any]], Any], statements: list[Any], data: Any
    ) -> None:
        batch = twin(statements)
        mask = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
        expected = [row for row, is_wanted in zip(plain(statements), mask, strict=True) if is_wanted]
        assert plain(batch.filter(mask).statements()) == expected
        assert plain(batch.filter(bytes(mask)).statements()) == expected

    def test_frames_keep_their_numbers(self) -> None:
        batch = framed([2, 1, 2]).filter([True, False, False, True, True])
        assert frames(batch) == [(5, 0, 1, True), (6, 1, 1, True), (7, 1, 3, True)]
        assert batch.metadata == framed([2, 1, 2]).metadata
        assert batch.options == StreamOptions()

    def test_a_mask_of_another_length_is_refused(self) -> None:
        with pytest.raises(ValueError, match="a mask of 3 rows for a batch of 4"):
            Batch.from_statements(triples(4)).filter([True] * 3)


class TestConcat:
    @given(st.lists(any_statements(), min_size=1, max_size=4))
    def test_statements_follow_each_other(self, twin: Callable[[list[Any]], Any], parts: list[list[Any]]) -> None:
        has_graph = any(map(_has_graph, parts))
        joined = twin([]).concat([twin(part) for part in parts])
        expected = [
            Quad(*statement, DEFAULT_GRAPH) if has_graph and isinstance(statement, Triple) else statement
            for part in parts
            for statement in part
        ]
        assert plain(joined.statements()) == plain(expected)

    def test_equal_terms_are_stored_once(self) -> None:
        joined = Batch.concat([Batch.from_statements(triples(1))] * 50)
        assert joined.terms.count == 3

    def test_batches_of_a_stream_make_its_frames(self) -> None:
        file = io.BytesIO()
        with jellyframe.open_writer(file, frame_rows=7) as writer:
            writer.write(triples(50))
        with jellyframe.open_reader(file.getvalue(), batch_rows=4) as reader:
            batches = list(reader.batches())
        with jellyframe.open_reader(file.getvalue()) as reader:
            (whole,) = reader.batches()
        joined = Batch.concat(batches)
        assert frames(joined) == frames(whole)
        assert joined.options == whole.options

    def test_concat_of_no_batch_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no batch to concatenate"):
            Batch.concat([])


class TestGraphs:
    @pytest.mark.parametrize("graph", [G, BlankNode("g"), Literal("g", language="en"), DEFAULT_GRAPH])
    def test_with_graph_puts_every_statement_there(self, graph: Any) -> None:
        expected = [Quad(*statement, graph) for statement in triples(3)]
        assert Batch.from_statements(triples(3)).with_graph(graph).statements() == expected
        quads = [Quad(*statement, Q) for statement in triples(3)]
        assert Batch.from_statements(quads).with_graph(graph).statements() == expected

    def test_a_decoded_batch_takes_a_graph(self) -> None:
        with jellyframe.open_reader(jellyframe.dumps(triples(3))) as reader:
            (batch,) = reader.batches()
        expected = [Quad(*statement, G) for statement in triples(3)]
        assert batch.with_graph(G).with_graph(Q).with_graph(G).statements() == expected
        assert batch.statements() == triples(3)

    def test_without_graph_refuses_a_named_graph_and_names_the_row(self) -> None:
        batch = Batch.from_statements([Quad(A, P, Q, DEFAULT_GRAPH), Quad(A, P, Q, G)])
        with pytest.raises(NamedGraphError, match="named graph") as caught:
            batch.without_graph()
        assert caught.value.row == 1
        assert batch.without_graph(merge=True).statements() == [Triple(A, P, Q)] * 2

    def test_the_default_graph_needs_no_merging(self) -> None:
        batch = Batch.from_statements([Quad(A, P, Q, DEFAULT_GRAPH)]).replace(options=StreamOptions())
        assert batch.without_graph().statements() == [Triple(A, P, Q)]
        assert batch.without_graph().options is None

    def test_fitted_adds_or_removes_the_default_graph(self) -> None:
        batch = Batch.from_statements(triples(2))
        assert batch.fitted(has_graph=False) is batch
        assert batch.fitted(has_graph=True).fitted(has_graph=False).statements() == triples(2)
        with pytest.raises(NamedGraphError):
            batch.with_graph(G).fitted(has_graph=False)


def test_the_last_frame():
    assert framed([2, 0, 1]).last_frame == 7
    assert framed([2]).last_frame == 5
    assert framed([]).last_frame == 5
    assert Batch.from_statements(triples(3), quads=False).last_frame == 0


def test_only_batches_of_patches_have_operations():
    with pytest.raises(UsageError, match="one of statements, not of a patch"):
        _ = Batch.from_statements(triples(1), quads=False).operations
