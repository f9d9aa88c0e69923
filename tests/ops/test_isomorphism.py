"""Isomorphism of datasets: relabelled ones are equal; changed and similar ones are not."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.errors import LimitError
from jellyframe.ops.isomorphism import compare, isomorphic
from jellyframe.terms import DEFAULT_GRAPH, IRI, BlankNode, Literal, Quad, Triple
from support.strategies import XSD

P = IRI("http://example.org/p")
NODES = [BlankNode(f"n{i}") for i in range(5)]


def edges(pairs, prefix="n"):
    """A graph with a statement each way for each pair of numbers."""
    both = [pair for a, b in pairs for pair in ((a, b), (b, a))]
    return [Triple(BlankNode(f"{prefix}{a}"), P, BlankNode(f"{prefix}{b}")) for a, b in both]


def cycle(length, start=0):
    return [(start + i, start + (i + 1) % length) for i in range(length)]


def relabelled(statements, seed):
    """The same statements with other labels, in another order, some of them twice."""
    dice = random.Random(seed)
    labels: dict[BlankNode, BlankNode] = {}

    def renamed(term):
        if isinstance(term, BlankNode):
            if term not in labels:
                labels[term] = BlankNode(f"x{dice.randrange(10**9)}-{len(labels)}")
            return labels[term]
        return Triple(*map(renamed, term)) if isinstance(term, Triple) else term

    new = [type(statement)(*map(renamed, statement)) for statement in statements]
    new += dice.sample(new, len(new) // 3)
    dice.shuffle(new)
    return new


nodes = st.sampled_from(NODES)
ground = st.sampled_from(
    [
        IRI("http://example.org/a"),
        IRI("http://example.org/b"),
        Literal("x"),
        Literal("x", language="en"),
        Literal("1", datatype=XSD + "integer"),
    ]
)
quoted = st.builds(Triple, st.one_of(nodes, ground), st.just(P), st.one_of(nodes, ground))
quads = st.builds(
    Quad,
    st.one_of(nodes, nodes, quoted, st.builds(Triple, quoted, st.just(P), nodes)),
    st.sampled_from([P, IRI("http://example.org/q")]),
    st.one_of(nodes, ground, quoted),
    st.one_of(st.just(DEFAULT_GRAPH), nodes),
)
datasets = st.lists(quads, max_size=9)


def by_trying_all(first, second):
    """The definition: is there a bijection of blank nodes that maps one set onto the other?"""

    def found_in(term):
        if isinstance(term, BlankNode):
            return {term}
        return set().union(*map(found_in, term)) if isinstance(term, tuple) else set()

    def mapped(term, mapping):
        if isinstance(term, BlankNode):
            return mapping[term]
        return type(term)(*(mapped(part, mapping) for part in term)) if isinstance(term, tuple) else term

    ours, theirs = (sorted(found_in(tuple(side))) for side in (first, second))
    if len(ours) != len(theirs):
        return False
    return any(
        {mapped(quad, dict(zip(ours, order, strict=True))) for quad in first} == set(second)
        for order in permutations(theirs)
    )


@given(datasets, st.integers())
def test_other_labels_and_another_order_make_no_difference(statements, seed):
    assert compare(statements, relabelled(statements, seed)) is None


@given(datasets, datasets)
def test_the_answer_is_that_of_trying_all_mappings(first, second):
    assert isomorphic(first, second) == by_trying_all(first, second)


@given(st.lists(quads, min_size=1, max_size=9, unique=True), st.data())
def test_one_changed_statement_is_seen(statements, data):
    changed = list(statements)
    changed[data.draw(st.integers(0, len(statements) - 1))] = data.draw(quads)
    assert isomorphic(statements, relabelled(changed, 1)) == by_trying_all(statements, changed)


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30), st.integers())
def test_dense_graphs_are_compared(pairs, seed):
    statements = edges(pairs)
    assert isomorphic(statements, relabelled(statements, seed))
    assert not isomorphic(statements, relabelled([*statements, Triple(BlankNode("n0"), P, Literal("mark"))], seed))


# Pairs of graphs that colouring alone cannot tell apart: every node has the same surroundings.
PRISM = [*cycle(3), *cycle(3, 3), (0, 3), (1, 4), (2, 5)]
BIPARTITE = [(a, b) for a in (0, 1, 2) for b in (3, 4, 5)]
SHRIKHANDE = sorted(
    {
        tuple(sorted((4 * a + b, 4 * ((a + x) % 4) + (b + y) % 4)))
        for a in range(4)
        for b in range(4)
        for x, y in ((0, 1), (1, 0), (1, 1))
    }
)
ROOKS = [(a, b) for a, b in combinations(range(16), 2) if a // 4 == b // 4 or a % 4 == b % 4]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cycle(6), [*cycle(3), *cycle(3, 3)]),
        (cycle(12), [*cycle(5), *cycle(7, 5)]),
        (PRISM, BIPARTITE),
        (SHRIKHANDE, ROOKS),
    ],
    ids=["hexagon-triangles", "cycles", "prism-bipartite", "strongly-regular"],
)
def test_similar_graphs_are_told_apart(first, second):
    assert len(first) == len(second)
    assert not isomorphic(edges(first), edges(second))
    for pairs in (first, second):
        assert isomorphic(edges(pairs), relabelled(edges(pairs), 7))


def test_symmetric_graphs_are_compared_quickly():
    alike = [Triple(BlankNode(f"b{i}"), P, Literal("same")) for i in range(3000)]
    assert isomorphic(alike, relabelled(alike, 1))
    pairs = edges((2 * i, 2 * i + 1) for i in range(400))
    assert isomorphic(pairs, relabelled(pairs, 2))
    clique = edges(combinations(range(14), 2))
    assert isomorphic(clique, relabelled(clique, 3))
    ring = edges(cycle(500))
    assert isomorphic(ring, relabelled(ring, 4))
    chain = edges((i, i + 1) for i in range(2000))
    assert isomorphic(chain, relabelled(chain, 5))


def test_differences_are_reported():
    a, b = IRI("http://example.org/a"), BlankNode("b")
    difference = compare([Triple(a, P, a)], [Triple(a, P, Literal("1")), Triple(a, P, Literal("2"))])
    assert difference is not None
    assert "without blank nodes" in difference.message
    assert (difference.first_count, difference.second_count) == (1, 2)
    assert difference.extra_in_first == ["<http://example.org/a> <http://example.org/p> <http://example.org/a> ."]
    assert len(difference.extra_in_second) == 2
    difference = compare([Triple(b, P, a)], [Triple(b, P, b)])
    assert difference is not None
    assert "with blank nodes" in difference.message
    assert difference.extra_in_second == ["_:b <http://example.org/p> _:b ."]
    difference = compare(edges(PRISM), edges(BIPARTITE))
    assert difference is not None
    assert "no mapping" in difference.message


def test_a_triple_is_a_quad_in_the_default_graph_and_languages_have_no_case():
    a = IRI("http://example.org/a")
    assert isomorphic(
        [Triple(a, P, Literal("x", language="en-GB"))], [Quad(a, P, Literal("x", language="en-gb"), DEFAULT_GRAPH)]
    )
    assert not isomorphic([Triple(a, P, a)], [Quad(a, P, a, a)])


def test_the_work_is_limited():
    with pytest.raises(LimitError, match="too much alike"):
        compare(edges(SHRIKHANDE), edges(ROOKS), max_steps=-9000)
