"""Random patch streams for property tests: plain rows, the options that they need, and settings of writers."""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

from hypothesis import strategies as st

import jellyframe
from support import patch_oracle
from support.plain import plain_term
from support.strategies import SHAPES, Shape, iris, statement_lists, table_needs, term_pools

FRAME, FLAT, PUNCTUATED = 1, 2, 3
NAMES = st.sampled_from(["", "ex", "é", "rdf", "a b"])
Case = tuple[dict[str, Any], dict[str, Any], list[patch_oracle.PlainRow]]


@st.composite
def row_lists(draw: st.DrawFn, shape: Shape, stream_type: int) -> list[patch_oracle.PlainRow]:
    """Plain rows that a stream of the type can hold, transactions and punctuation marks in their places."""
    statements = draw(statement_lists(shape, max_size=20))
    graphs: Any = st.none()
    if shape.quads:
        graphs = st.sampled_from([plain_term(graph) for *_, graph in statements] or [("default",)])
    values = draw(term_pools(shape))
    headers = st.builds(lambda key, value: ("H", key, plain_term(value)), NAMES, st.sampled_from(values))
    added = st.builds(lambda name, iri, graph: ("PA", name, plain_term(iri), graph), NAMES, iris(), graphs)
    deleted = st.builds(
        lambda name, iri, graph: ("PD", name, iri and plain_term(iri), graph), NAMES, st.none() | iris(), graphs
    )
    rows: list[patch_oracle.PlainRow] = []
    in_transaction = False
    for statement in statements:
        choice = draw(st.integers(0, 7))
        if choice < 3:
            rows.append(draw([headers, added, deleted][choice]))
        elif choice == 3:
            rows.append((draw(st.sampled_from(["TC", "TA"])),) if in_transaction else ("TX",))
            in_transaction = not in_transaction
        elif choice == 4 and stream_type == PUNCTUATED and not in_transaction:
            rows.append(("P",))
        terms = [plain_term(term) for term in statement]
        rows.append((draw(st.sampled_from("AD")), *terms, *[None] * (4 - len(terms))))
    if in_transaction:
        rows.append(("TC",))
    if stream_type == PUNCTUATED:
        rows.append(("P",))
    return rows


@st.composite
def patch_streams(draw: st.DrawFn) -> Case:
    """Options, settings of the writer, and rows."""
    shape = draw(SHAPES)
    stream_type = draw(st.sampled_from([FRAME, FLAT, PUNCTUATED]))
    rows = draw(row_lists(shape, stream_type))
    options = draw(fitting_options(shape, stream_type, rows))
    # A bare frame holds one patch only.
    delimited = ("P",) in rows[:-1] or draw(st.sampled_from([True, True, False]))
    writing = {
        "frame_rows": draw(st.sampled_from([None, 1, 2, 7, 256])),
        "frame_bytes": draw(st.sampled_from([None, 40, 1000])),
        "restart_every": draw(st.sampled_from([None, 1, 60, 700])),
        "delimited": delimited,
        "index": delimited and stream_type != FRAME and draw(st.booleans()),
    }
    return options, writing, rows


@st.composite
def fitting_options(
    draw: st.DrawFn, shape: Shape, stream_type: int, rows: list[patch_oracle.PlainRow]
) -> dict[str, Any]:
    """Options of a stream with these rows: tables from tiny to big, with room for each of the rows."""
    needs = [table_needs(terms_of(patch_oracle.build_row(jellyframe, row))) for row in rows]
    return {
        "statement_type": 2 if shape.quads else 1,
        "stream_type": stream_type,
        "generalized_statements": shape.generalized,
        "rdf_star": shape.star,
        "max_name_table_size": max([draw(st.sampled_from([8, 9, 16, 4000])), *(names for names, _ in needs)]),
        "max_prefix_table_size": draw(st.sampled_from([0, 1, 2, 4, 150])),
        "max_datatype_table_size": max([draw(st.sampled_from([0, 1, 2, 32])), *(types for _, types in needs)]),
    }


def terms_of(row: Any) -> list[Any]:
    return [term for name in ("s", "p", "o", "iri", "g", "value") if (term := getattr(row, name, None)) is not None]


def write(package: ModuleType, case: Case, pieces: int = 1) -> bytes:
    options, writing, rows = case
    sink = io.BytesIO()
    with package.open_patch_writer(sink, package.PatchOptions(**options), **writing) as writer:
        objects = [patch_oracle.build_row(package, row) for row in rows]
        size = max(1, len(objects) // pieces)
        for start in range(0, len(objects), size):
            writer.write(objects[start : start + size])
    return sink.getvalue()
