"""The content of term tables and batches as plain tuples (see `plain`), read from their columns only."""

from __future__ import annotations

from typing import Any

from jellyframe.kernel.kinds import (
    KIND_BLANK_NODE,
    KIND_DEFAULT_GRAPH,
    KIND_IRI,
    KIND_LANG_LITERAL,
    KIND_QUOTED_TRIPLE,
    KIND_TYPED_LITERAL,
)
from support.plain import PlainStatement, PlainTerm, plain_literal


def table_terms(table: Any) -> list[PlainTerm]:
    """Every term of a table, of either kernel."""
    kinds, details, quoted = table.buffers()
    datatypes, languages = table.datatypes.strings(), table.languages.strings()
    terms: list[PlainTerm] = []
    for kind, detail, value in zip(kinds, details, table.values.strings(), strict=True):
        if kind == KIND_IRI:
            terms.append(("iri", value))
        elif kind == KIND_BLANK_NODE:
            terms.append(("bnode", value))
        elif kind == KIND_QUOTED_TRIPLE:
            terms.append(("triple", *(terms[part] for part in quoted[3 * detail : 3 * detail + 3])))
        elif kind == KIND_DEFAULT_GRAPH:
            terms.append(("default",))
        else:
            datatype = datatypes[detail] if kind == KIND_TYPED_LITERAL else None
            terms.append(plain_literal(value, datatype, languages[detail] if kind == KIND_LANG_LITERAL else None))
    return terms


def table_statements(columns: tuple[Any, Any, Any, Any], table: Any) -> list[PlainStatement]:
    """The statements of a batch, given as its columns and its terms."""
    terms = table_terms(table)
    given = [column for column in columns if column is not None]
    return [tuple(terms[term] for term in row) for row in zip(*given, strict=True)]
