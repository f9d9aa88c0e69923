"""Fingerprints of statements, and the table of them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jellyframe.batch import Batch
from jellyframe.kernel.fingerprint_cy import Fingerprints
from jellyframe.terms import DEFAULT_GRAPH, IRI, Literal, Quad, Triple
from support.kernel_twins import load_twin_module
from support.patch_models import DATA, Twin
from support.strategies import Shape, statement_lists

KEY = bytes(range(16))


def test_the_hash_is_siphash_with_128_bits():
    """Vectors of the reference: the input of length n is the bytes from 0 to n - 1."""
    runs = load_twin_module("pure", "kernel.runs")
    halves = [int.from_bytes(KEY[:8], "little"), int.from_bytes(KEY[8:], "little")]
    vectors = {0: "a3817f04ba25a8e66df67214c7550293", 63: "5150d1772f50834a503e069a973fbd7c"}
    for length, expected in vectors.items():
        out = memoryview(bytearray(16)).cast("Q")
        runs.fingerprint_bytes(out, 0, memoryview(bytes(range(length))), 0, length, *halves)
        assert out.tobytes().hex() == expected


@given(data=statement_lists(Shape(quads=True, star=True, generalized=True), max_size=20))
def test_both_kernels_have_the_same_fingerprints(data):
    found = []
    for kernel in ("compiled", "pure"):
        module = load_twin_module(kernel, "kernel.fingerprint_cy")
        sides = Twin(import_module(module.__name__.partition(".")[0]))
        found.append([module.Fingerprints(KEY).of_statements(b.columns, b.terms).tolist() for b in sides.data(data)()])
    assert found[0] == found[1]


@given(data=statement_lists(Shape(quads=True, star=True, generalized=True), max_size=20))
def test_statements_have_equal_fingerprints_if_they_are_equal(data):
    batch = Batch.from_statements(data, quads=True)
    prints = Fingerprints(KEY).of_statements(batch.columns, batch.terms).tolist()
    pairs = list(zip(prints[::2], prints[1::2], strict=True))
    assert len(set(zip(pairs, data, strict=True))) == len(set(pairs)) == len(set(data))
    # In other batches, over other tables, they are the same.
    alone = [Batch.from_statements([statement], quads=True) for statement in data]
    assert [tuple(Fingerprints(KEY).of_statements(one.columns, one.terms).tolist()) for one in alone] == pairs


def test_similar_terms_have_different_fingerprints():
    a = IRI("a")
    objects: list[Any] = [
        a,
        Literal("a"),
        Literal("a", language="b"),
        Literal("a", language="c"),
        Literal("a", datatype="b"),
        Literal("a", datatype="c"),
        Literal("b", datatype="a"),
        Triple(a, a, a),
        Triple(a, a, Triple(a, a, a)),
    ]
    quads = [Quad(s, a, o, g) for s in objects for o in objects for g in (DEFAULT_GRAPH, a, IRI(""))]
    batch = Batch.from_statements(quads, quads=True)
    prints = Fingerprints(KEY).of_statements(batch.columns, batch.terms).tolist()
    assert len(set(zip(prints[::2], prints[1::2], strict=True))) == len(quads)


def test_a_triple_has_the_fingerprint_of_the_quad_in_the_default_graph():
    a = IRI("a")
    batch = Batch.from_statements([Triple(a, a, a)])
    quad = batch.with_graph()
    prints = Fingerprints(KEY)
    assert prints.of_statements(batch.columns, batch.terms) == prints.of_statements(quad.columns, quad.terms)


def test_another_key_gives_other_fingerprints():
    batch = Batch.from_statements([Triple(IRI("a"), IRI("a"), IRI("a"))])
    first, second = (Fingerprints(key).of_statements(batch.columns, batch.terms) for key in (KEY, bytes(16)))
    assert not set(first.tolist()) & set(second.tolist())
    with pytest.raises(ValueError, match="16"):
        Fingerprints(b"short")


@given(
    first=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30),
    second=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30),
)
def test_the_table_agrees_with_a_dictionary(twin: ModuleType, first, second):
    """Fingerprints that choose the same slot, and differ in one half only."""
    table_module = import_module(f"{twin.__name__}.kernel.fingerprint_table_cy")

    def records(pairs):
        flat = [word for row, (high, low) in enumerate(pairs) for word in (high, low, row)]
        return memoryview(b"".join(word.to_bytes(8, "little") for word in flat)).cast("Q")

    def bits(data):
        return {row for row in range(8 * len(data)) if data[row >> 3] >> (row & 7) & 1}

    table = table_module.FingerprintTable(len(first) + len(second))
    ours, theirs = bytearray(8), bytearray(8)
    if first:
        table.add_first(records(first))
    assert (table.compare(records(second), theirs) if second else 0) == len(set(second) - set(first))
    assert table.set_unshared(ours) == len(set(first) - set(second))
    assert bits(ours) == {first.index(pair) for pair in set(first) - set(second)}
    assert bits(theirs) == {second.index(pair) for pair in set(second) - set(first)}


def test_a_table_refuses_more_than_it_was_made_for(twin: ModuleType):
    table_module = import_module(f"{twin.__name__}.kernel.fingerprint_table_cy")
    table = table_module.FingerprintTable(1)
    with pytest.raises(IndexError, match="more than 1 fingerprints"):
        table.add_first(memoryview(b"".join(word.to_bytes(8, "little") for word in range(6))).cast("Q"))


@given(data=DATA)
def test_rows_with_blank_nodes_are_found(twin: ModuleType, data):
    module = import_module(f"{twin.__name__}.kernel.fingerprint_cy")
    for batch in Twin(twin).data(data, rows=100)():
        mask = module.mask_of_blank_nodes(batch.columns, batch.terms)
        found = [False] * len(data) if mask is None else [bool(one) for one in mask]
        assert found == ["_:" in str(quad) for quad in data]
