"""Operations on whole tables of terms, on both kernels."""

from __future__ import annotations

import pytest

from support.kernel_twins import KERNELS, NoTwinError, load_twin_module


@pytest.mark.parametrize("name", KERNELS)
def test_labels_get_a_prefix_and_nothing_else_does(name: str) -> None:
    try:
        terms, batch, columns = (load_twin_module(name, module) for module in ("terms", "batch", "kernel.columns_cy"))
    except NoTwinError as reason:
        pytest.skip(str(reason))
    node, prefixed = terms.BlankNode("é"), terms.BlankNode("file-é")
    iri, literal = terms.IRI("http://a/é"), terms.Literal("é", language="en")

    def statements(node: object) -> list[object]:
        return [
            terms.Triple(node, iri, literal),
            terms.Triple(terms.Triple(node, iri, node), iri, terms.Triple(iri, iri, terms.Triple(iri, iri, node))),
        ]

    made = batch.Batch.from_statements(statements(node))
    columns.prefix_labels(made.terms, b"file-")
    assert made.statements() == statements(prefixed)
