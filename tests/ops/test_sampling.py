"""Samples that depend only on statements and a seed."""

from __future__ import annotations

import random

import pytest

from jellyframe import Batch, BlankNode, Literal, OptionsError, Quad, Triple
from jellyframe.ops.fingerprints import seeded_fingerprints
from jellyframe.ops.hashing import statement_hashes, term_hashes
from jellyframe.ops.sampling import Sampler
from jellyframe.terms import DefaultGraph, Term
from support.spark_data import SPECIAL, iri, quads, texts

STATEMENTS = quads(3000) + SPECIAL


def batches(statements, rows):
    return [Batch.from_statements(statements[at : at + rows], quads=True) for at in range(0, len(statements), rows)]


def sampled(sampler, statements, rows=500):
    return texts(statement for batch in sampler.sample(batches(statements, rows)) for statement in batch.statements())


def test_a_sample_is_independent_of_order_and_batches():
    shuffled = random.Random(1).sample(STATEMENTS, len(STATEMENTS))
    for whole_subjects in (False, True):
        sampler = Sampler(7, whole_subjects).of_fraction(0.3)
        sample = sampled(sampler, STATEMENTS)
        assert sample == sampled(sampler, shuffled, 77)
        assert 0.25 * len(STATEMENTS) < sample.total() < 0.35 * len(STATEMENTS)
        assert sample != sampled(Sampler(8, whole_subjects).of_fraction(0.3), STATEMENTS)
        # A larger fraction has all that a smaller one has.
        assert sampled(Sampler(7, whole_subjects).of_fraction(0.1), STATEMENTS) < sample


def test_fractions_0_and_1_take_nothing_and_everything():
    assert sampled(Sampler().of_fraction(1), STATEMENTS) == texts(STATEMENTS)
    assert not sampled(Sampler().of_fraction(0), STATEMENTS)
    for fraction in (-0.1, 1.1, float("nan")):
        with pytest.raises(OptionsError, match="must be between 0 and 1"):
            Sampler().of_fraction(fraction)


def test_seeds_are_independent():
    """Two seeds select independently: the seed does not only move a threshold."""
    first = sampled(Sampler(1).of_fraction(0.5), STATEMENTS)
    both = first & sampled(Sampler(2).of_fraction(0.5), STATEMENTS)
    assert 0.4 * first.total() < both.total() < 0.6 * first.total()


@pytest.mark.parametrize("number", [0, 1, 10, 1001, len(STATEMENTS), 10_000])
def test_a_count_takes_exactly_that_many_statements(number):
    sampler = Sampler(3)
    smallest = sampler.smallest(batches(STATEMENTS, 100), number).to_pylist()
    assert smallest == sorted(smallest)
    assert smallest == sampler.smallest(batches(STATEMENTS[::-1], 333), number).to_pylist()
    assert len(smallest) == min(number, len(STATEMENTS))
    if smallest:
        limited = sampler.up_to(smallest[-1], smallest.count(smallest[-1]))
        assert sampled(limited, STATEMENTS).total() == len(smallest)


def test_a_count_of_subjects_takes_whole_subjects():
    sampler = Sampler(3, whole_subjects=True)
    smallest = sampler.smallest(batches(STATEMENTS, 100), 20).to_pylist()
    assert len(set(smallest)) == 20
    sample = sampled(sampler.up_to(smallest[-1] + 1, 0), STATEMENTS)
    subjects = {s for s, *_ in sample}
    assert len(subjects) == 20
    assert sample == texts(quad for quad in STATEMENTS if str(quad.s) in subjects)


def test_hashes_tell_positions_and_graphs_apart():
    a, b, c = iri("a"), iri("b"), iri("c")
    rows = [Quad(a, b, c, a), Quad(b, a, c, a), Quad(a, c, b, a), Quad(a, b, c, b)]
    fingerprints = seeded_fingerprints(0)
    high, low = statement_hashes(Batch.from_statements(rows), fingerprints)
    assert len(set(high.to_pylist())) == len(set(low.to_pylist())) == len(rows)
    triple = statement_hashes(Batch.from_statements([Triple(a, b, c)]), fingerprints)
    in_default = statement_hashes(Batch.from_statements([Triple(a, b, c)]).with_graph(), fingerprints)
    assert triple == in_default


def test_terms_have_the_same_hash_in_every_batch():
    """Those that differ in their kind, datatype or language alone have others; tasks of a job agree on all of them."""
    terms: list[Term] = [
        iri("a"),
        BlankNode("a"),
        Literal("a"),
        Literal("a", language="en"),
        Literal("a", "http://example.org/a"),
    ]
    rows = [Triple(iri("s"), iri("p"), term) for term in terms]
    found: dict[Term | DefaultGraph, tuple[int, int]] = {}
    for batch in (Batch.from_statements(rows), Batch.from_statements(rows[::-1])):
        highs, lows = (half.to_pylist() for half in term_hashes(batch, seeded_fingerprints(0)))
        for number, pair in enumerate(zip(highs, lows, strict=True)):
            assert found.setdefault(batch.term(number), pair) == pair
    assert len(set(found.values())) == len(found) == len(terms) + 2


def test_a_sample_is_the_same_on_every_machine():
    """It must not change between versions: a pipeline may compare samples of two days."""
    sample = sampled(Sampler(7).of_fraction(0.002), quads(3000))
    assert sorted(subject for subject, *_ in sample) == [
        f"<http://example.org/s{number}>" for number in (20, 257, 333, 447, 48, 499, 54)
    ]
